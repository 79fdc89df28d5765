/* What the parts of the runtime share: recorded errors, the table of memory, streams, capture, the
 * pool of workers. Nothing outside cuda/simt/ includes this. */
#ifndef SIMT_STATE_H
#define SIMT_STATE_H

#include <cstdint>
#include <functional>

#include "grid.h"
#include "runtime.h"

namespace simt {

/* ---- errors.cpp ---- */
/* Records a failure for cudaGetLastError (success records nothing) and returns it. */
cudaError_t report(cudaError_t error);
/* To be called first by each runtime function: a fault of an earlier kernel comes up, now and for
 * ever after. */
cudaError_t begin_call();
/* A kernel failed: kept until the next call that would have waited for it. */
void set_kernel_fault(cudaError_t error);
bool kernel_fault();

#define SIMT_BEGIN_CALL()                                                                          \
    do {                                                                                           \
        cudaError_t before_ = ::simt::begin_call();                                                \
        if (before_ != cudaSuccess) {                                                              \
            return before_;                                                                        \
        }                                                                                          \
    } while (0)

/* ---- memory.cpp ---- */
enum class Place { UNKNOWN, DEVICE, MANAGED, PINNED }; /* UNKNOWN: plain host memory */
/* Where [memory, memory + bytes) lies; *fits says whether the allocation holds all of it. */
Place find_memory(const void *memory, size_t bytes, bool *fits);
size_t device_memory_bytes();
void free_all_memory();

/* ---- stream.cpp, graph.cpp ---- */
struct Capture;
Capture *&capture_of(cudaStream_t stream); /* NULL: the stream does not capture */
bool is_stream(cudaStream_t stream);
/* Runs `work` at once, or keeps it if the stream captures. */
cudaError_t submit(cudaStream_t stream, const std::function<cudaError_t()> &work);
/* cudaErrorStreamCaptureUnsupported while any stream captures in global mode; else success. */
cudaError_t refuse_during_capture();
/* Legacy default stream work that would make it wait for a capturing stream. */
cudaError_t check_stream(cudaStream_t stream);
void join_capture(cudaStream_t stream, Capture *capture);
void spoil_capture(Capture *capture);

/* ---- device.cpp ---- */
/* The most dynamic shared memory that a launch of the function may ask for. */
size_t dynamic_shared_limit(const void *function);
/* What the device can do; warpSize is left to the source that asks. */
const cudaDeviceProp &device_limits();

/* ---- pool.cpp ---- */
int worker_count();
cudaError_t run_grid(const Launch *launch);

/* ---- fault.cpp ---- */
/* Turns bad accesses of kernels into failures of their launch; for each OS thread. */
void catch_faults();

} // namespace simt

#endif
