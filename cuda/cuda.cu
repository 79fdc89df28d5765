/* The CUDA backend: device memory, copies, the record of failed launches, the self-test. Compiled
 * twice like the kernels (see cuda.h): for a GPU it is backend cuda, for the interpreter simt. */
#include "cuda/cuda.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/trace.h"
#include "cuda/backends.h"

#ifdef LOCKSTEP_SIMT
#define BACKEND      backend_simt
#define BACKEND_NAME "simt"
#else
#define BACKEND      backend_cuda
#define BACKEND_NAME "cuda"
#endif

static char device_text[320];
static char first_failure[512]; /* since the last synchronize; "" is none */
static void *scratch;
static size_t scratch_bytes;

static void record(const char *what, cudaError_t error) {
    if (first_failure[0] == '\0') {
        snprintf(first_failure, sizeof first_failure, "%s: %s (%s)", what,
                 cudaGetErrorString(error), cudaGetErrorName(error));
    }
}

void cuda_launched(OpId op, const char *kernel, size_t a, size_t b, size_t c) {
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        char what[160];
        snprintf(what, sizeof what, "%s/%s: launch for sizes %zu %zu %zu", op_name(op), kernel, a,
                 b, c);
        record(what, error);
    }
}

void *cuda_scratch(OpId op, size_t bytes) {
    if (bytes > scratch_bytes) {
        cudaFree(scratch); /* waits for kernels that still use it */
        scratch_bytes = 0;
        cudaError_t error = cudaMalloc(&scratch, bytes);
        if (error != cudaSuccess) {
            char what[120];
            snprintf(what, sizeof what, "%s: %zu bytes of scratch memory", op_name(op), bytes);
            record(what, error);
            scratch = NULL;
            return NULL;
        }
        scratch_bytes = bytes;
    }
    return scratch;
}

/* ---- opening: a device, and the proof that kernels really run on it ----------------------------
 */

enum { SELF_TEST_COUNT = 1000 };

__global__ void self_test_kernel(unsigned *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = 2654435761u * i + 1u;
    }
}

/* A program built for another architecture, or a dead device, launches without a word and writes
 * nothing: only the values tell. */
static Status self_test(void) {
    unsigned host[SELF_TEST_COUNT] = {0}, *device = NULL;
    cudaError_t error = cudaMalloc((void **)&device, sizeof host);
    if (error == cudaSuccess) {
        self_test_kernel<<<blocks_for(SELF_TEST_COUNT, BLOCK_THREADS), BLOCK_THREADS>>>(
            device, SELF_TEST_COUNT);
        error = cudaGetLastError();
    }
    if (error == cudaSuccess) {
        error = cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    }
    cudaFree(device);
    if (error != cudaSuccess) {
        return fail_missing(BACKEND_NAME ": the self-test's kernel did not run: %s; was it built "
                                         "for this GPU's architecture?",
                            cudaGetErrorString(error));
    }
    for (unsigned i = 0; i < SELF_TEST_COUNT; i++) {
        if (host[i] != 2654435761u * i + 1u) {
            return fail_missing(BACKEND_NAME ": the self-test's kernel wrote %u at %u where %u is "
                                             "right; the device or its driver is faulty",
                                host[i], i, 2654435761u * i + 1u);
        }
    }
    return STATUS_OK;
}

/* Is there a device at all? */
static const char *probe(void) {
    static char answer[200];
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0) {
        return NULL;
    }
    cudaGetLastError(); /* no launch is to blame for it */
    snprintf(answer, sizeof answer, "no GPU can be used: %s; lockstep doctor looks closer",
             error == cudaSuccess ? "none found" : cudaGetErrorString(error));
    return answer;
}

/* threads: the interpreter's; a GPU has its own. */
static Status open_device(int threads) {
    struct cudaDeviceProp properties;
    cudaError_t error = cudaGetDeviceProperties(&properties, 0);
    if (error != cudaSuccess) {
        return fail_missing(BACKEND_NAME ": device 0: %s", cudaGetErrorString(error));
    }
#ifdef LOCKSTEP_SIMT
    simt::set_worker_count(threads);
#else
    (void)threads;
#endif
    snprintf(device_text, sizeof device_text, "%s (compute capability %d.%d, %d multiprocessors)",
             properties.name, properties.major, properties.minor, properties.multiProcessorCount);
    return self_test();
}

static void close_device(void) {
    cudaFree(scratch);
    scratch = NULL;
    scratch_bytes = 0;
}

static const char *device(void) {
    return device_text;
}

/* ---- memory and copies ------------------------------------------------------------------------
 */

static void *alloc_device(size_t bytes) {
    void *memory = NULL;
    if (cudaMalloc(&memory, bytes > 0 ? bytes : 1) != cudaSuccess) {
        cudaGetLastError(); /* the caller knows from NULL; later calls must not see it */
        return NULL;
    }
    return memory;
}

static void release_device(void *memory) {
    cudaFree(memory);
}

static Status copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                   const char *name) {
    uint64_t start_ns = trace_enabled ? clock_now_ns() : 0;
    cudaError_t error = bytes > 0 ? cudaMemcpy(to, from, bytes, kind) : cudaSuccess;
    if (start_ns != 0 && trace_enabled) {
        trace_record(TRACE_COPY, name, BACKEND_NAME, start_ns, clock_now_ns());
    }
    return error == cudaSuccess
               ? STATUS_OK
               : fail(BACKEND_NAME ": %s of %zu bytes: %s", name, bytes, cudaGetErrorString(error));
}

static Status upload(void *to, const void *from, size_t bytes) {
    return copy(to, from, bytes, cudaMemcpyHostToDevice, "upload");
}

static Status download(void *to, const void *from, size_t bytes) {
    return copy(to, from, bytes, cudaMemcpyDeviceToHost, "download");
}

static Status synchronize(void) {
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        record("a kernel failed while it ran", error);
    }
    if (first_failure[0] == '\0') {
        return STATUS_OK;
    }
    Status status = fail(BACKEND_NAME ": %s", first_failure);
    first_failure[0] = '\0';
    return status;
}

static const Kernel *const tables[] = {
    CUDA_TABLE(vector),     CUDA_TABLE(transpose), CUDA_TABLE(reduce),    CUDA_TABLE(matmul),
    CUDA_TABLE(activation), CUDA_TABLE(loss),      CUDA_TABLE(optimizer), NULL,
};

/* Member by member: C++ before 2020 has no designated initializers. */
static Backend make_backend(void) {
    Backend backend = {};
    backend.name = BACKEND_NAME;
#ifdef LOCKSTEP_SIMT
    backend.summary = "the CUDA kernels, interpreted on the CPU: EMULATED";
    backend.emulated = true;
#else
    backend.summary = "CUDA kernels on an NVIDIA GPU";
#endif
    backend.probe = probe;
    backend.open = open_device;
    backend.close = close_device;
    backend.device = device;
    backend.alloc = alloc_device;
    backend.release = release_device;
    backend.upload = upload;
    backend.download = download;
    backend.synchronize = synchronize;
    backend.now_ns = clock_now_ns;
    backend.tables = tables;
    return backend;
}

const Backend BACKEND = make_backend();
