/* The imaginary device: its limits are those of a GPU of compute capability 8.0, its
 * multiprocessors are the workers. */
#include <cstdio>
#include <map>
#include <mutex>

#include "state.h"

namespace simt {

enum {
    SHARED_PER_BLOCK = 48 * 1024,
    SHARED_PER_BLOCK_OPTIN = 163 * 1024,
    SHARED_PER_MULTIPROCESSOR = 164 * 1024,
    SHARED_RESERVED = 1024, /* of each block, as compute capability 8.x takes it */
    THREADS_PER_MULTIPROCESSOR = 2048,
    BLOCKS_PER_MULTIPROCESSOR = 32
};

static cudaDeviceProp make_properties() {
    cudaDeviceProp p = {};
    snprintf(p.name, sizeof p.name, "SIMT interpreter, emulated (%d CPU worker%s)", worker_count(),
             worker_count() == 1 ? "" : "s");
    p.totalGlobalMem = device_memory_bytes();
    p.sharedMemPerBlock = SHARED_PER_BLOCK;
    p.sharedMemPerBlockOptin = SHARED_PER_BLOCK_OPTIN;
    p.sharedMemPerMultiprocessor = SHARED_PER_MULTIPROCESSOR;
    p.reservedSharedMemPerBlock = SHARED_RESERVED;
    p.regsPerBlock = p.regsPerMultiprocessor = 65536;
    p.memPitch = 0x7fffffff;
    p.maxThreadsPerBlock = p.maxThreadsDim[0] = p.maxThreadsDim[1] = MAX_BLOCK_THREADS;
    p.maxThreadsDim[2] = 64;
    p.maxGridSize[0] = 0x7fffffff;
    p.maxGridSize[1] = p.maxGridSize[2] = 65535;
    p.totalConstMem = 65536;
    p.major = 8;
    p.clockRate = 1000000; /* of the imaginary clock, kHz: programs divide by it */
    p.textureAlignment = p.surfaceAlignment = 512;
    p.texturePitchAlignment = 32;
    p.multiProcessorCount = worker_count();
    p.integrated = p.canMapHostMemory = p.concurrentKernels = p.unifiedAddressing = 1;
    p.memoryClockRate = 1000000;
    p.memoryBusWidth = 64;
    p.l2CacheSize = 4 << 20;
    p.maxThreadsPerMultiProcessor = THREADS_PER_MULTIPROCESSOR;
    p.maxBlocksPerMultiProcessor = BLOCKS_PER_MULTIPROCESSOR;
    p.streamPrioritiesSupported = p.globalL1CacheSupported = p.localL1CacheSupported = 1;
    p.managedMemory = p.hostNativeAtomicSupported = p.concurrentManagedAccess = 1;
    p.singleToDoublePrecisionPerfRatio = 2;
    p.canUseHostPointerForRegisteredMem = p.hostRegisterSupported = 1;
    return p;
}

const cudaDeviceProp &device_limits() {
    static const cudaDeviceProp properties = make_properties();
    return properties;
}

static cudaError_t check_device(int device) {
    return device == 0 ? cudaSuccess : report(cudaErrorInvalidDevice);
}

cudaError_t device_properties(cudaDeviceProp *properties, int device, int warp_width) {
    SIMT_BEGIN_CALL();
    if (properties == nullptr) {
        return report(cudaErrorInvalidValue);
    }
    *properties = device_limits();
    properties->warpSize = warp_width;
    return check_device(device);
}

cudaError_t device_attribute(int *value, cudaDeviceAttr attribute, int device, int warp_width) {
    SIMT_BEGIN_CALL();
    cudaDeviceProp p = device_limits();
    p.warpSize = warp_width;
    if (value == nullptr) {
        return report(cudaErrorInvalidValue);
    }
    switch (attribute) {
#define X(name, number, field)                                                                     \
    case cudaDevAttr##name:                                                                        \
        *value = (int)p.field;                                                                     \
        return check_device(device);
        SIMT_DEVICE_ATTRIBUTES(X)
#undef X
    }
    return report(cudaErrorInvalidValue);
}

struct FunctionSettings {
    int dynamic_shared_bytes = SHARED_PER_BLOCK;
    int carveout = cudaSharedmemCarveoutDefault;
};

static std::mutex settings_mutex;
static std::map<const void *, FunctionSettings> settings;

/* A kernel whose address the source step could not take (an overloaded template) may use what any
 * kernel was allowed. */
size_t dynamic_shared_limit(const void *function) {
    std::lock_guard<std::mutex> lock(settings_mutex);
    int limit = SHARED_PER_BLOCK;
    for (const auto &entry : settings) {
        if (entry.first == function ||
            (function == nullptr && entry.second.dynamic_shared_bytes > limit)) {
            limit = entry.second.dynamic_shared_bytes;
        }
    }
    return (size_t)limit;
}

cudaError_t function_set_attribute(const void *function, cudaFuncAttribute attribute, int value) {
    SIMT_BEGIN_CALL();
    if (function == nullptr) {
        return report(cudaErrorInvalidDeviceFunction);
    }
    std::lock_guard<std::mutex> lock(settings_mutex);
    FunctionSettings &own = settings[function];
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize && value >= 0 &&
        value <= SHARED_PER_BLOCK_OPTIN) {
        own.dynamic_shared_bytes = value < SHARED_PER_BLOCK ? SHARED_PER_BLOCK : value;
    } else if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout && value >= -1 &&
               value <= 100) {
        own.carveout = value;
    } else {
        return report(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

/* Registers and static shared memory are known to nvcc alone: 0 here. */
cudaError_t function_attributes(cudaFuncAttributes *attributes, const void *function) {
    SIMT_BEGIN_CALL();
    if (attributes == nullptr || function == nullptr) {
        return report(attributes == nullptr ? cudaErrorInvalidValue
                                            : cudaErrorInvalidDeviceFunction);
    }
    std::lock_guard<std::mutex> lock(settings_mutex);
    *attributes = {};
    attributes->maxThreadsPerBlock = MAX_BLOCK_THREADS;
    attributes->ptxVersion = attributes->binaryVersion = 80;
    auto found = settings.find(function);
    FunctionSettings own = found == settings.end() ? FunctionSettings{} : found->second;
    attributes->maxDynamicSharedSizeBytes = own.dynamic_shared_bytes;
    attributes->preferredShmemCarveout = own.carveout;
    return cudaSuccess;
}

static int blocks_that_fit(int block_threads, size_t shared_bytes) {
    int warps = (block_threads + SIMT_WARP_WIDTH - 1) / SIMT_WARP_WIDTH;
    int by_threads = THREADS_PER_MULTIPROCESSOR / (warps * SIMT_WARP_WIDTH);
    int by_shared = (int)(SHARED_PER_MULTIPROCESSOR / (shared_bytes + SHARED_RESERVED));
    int blocks = by_threads < by_shared ? by_threads : by_shared;
    return blocks < BLOCKS_PER_MULTIPROCESSOR ? blocks : BLOCKS_PER_MULTIPROCESSOR;
}

/* From threads and dynamic shared memory only: registers are not known here. */
cudaError_t blocks_per_multiprocessor(int *blocks, int block_threads, size_t shared_bytes) {
    SIMT_BEGIN_CALL();
    if (blocks == nullptr || block_threads <= 0) {
        return report(cudaErrorInvalidValue);
    }
    bool too_much = block_threads > MAX_BLOCK_THREADS || shared_bytes > SHARED_PER_BLOCK_OPTIN;
    *blocks = too_much ? 0 : blocks_that_fit(block_threads, shared_bytes);
    return cudaSuccess;
}

cudaError_t best_block_size(int *grid_blocks, int *block_threads, size_t shared_bytes, int limit) {
    SIMT_BEGIN_CALL();
    if (grid_blocks == nullptr || block_threads == nullptr || limit < 0) {
        return report(cudaErrorInvalidValue);
    }
    int most = limit == 0 || limit > MAX_BLOCK_THREADS ? MAX_BLOCK_THREADS : limit, best = 0;
    for (int threads = most; threads > 0; threads -= SIMT_WARP_WIDTH) {
        int active = threads * blocks_that_fit(threads, shared_bytes);
        if (active > best) {
            best = active;
            *block_threads = threads;
        }
    }
    *grid_blocks = worker_count() * (best / *block_threads);
    return cudaSuccess;
}

} // namespace simt

using namespace simt;

cudaError_t cudaGetDeviceCount(int *count) {
    SIMT_BEGIN_CALL();
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device) {
    SIMT_BEGIN_CALL();
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    SIMT_BEGIN_CALL();
    return check_device(device);
}

cudaError_t cudaSetDeviceFlags(unsigned) {
    SIMT_BEGIN_CALL();
    return cudaSuccess;
}

/* Stacks and the print buffer are as large as they are; what is asked for is reported back. */
static size_t limits[] = {256 * 1024, 1 << 20, 8 << 20};

cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit) {
    SIMT_BEGIN_CALL();
    if (value == nullptr || (unsigned)limit > cudaLimitMallocHeapSize) {
        return report(value == nullptr ? cudaErrorInvalidValue : cudaErrorUnsupportedLimit);
    }
    *value = limits[limit];
    return cudaSuccess;
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
    SIMT_BEGIN_CALL();
    if ((unsigned)limit > cudaLimitMallocHeapSize) {
        return report(cudaErrorUnsupportedLimit);
    }
    limits[limit] = value;
    return cudaSuccess;
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
    SIMT_BEGIN_CALL();
    return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    SIMT_BEGIN_CALL();
    *least = *greatest = 0;
    return cudaSuccess;
}

/* One device, which is not its own peer. */
cudaError_t cudaDeviceCanAccessPeer(int *can, int, int) {
    SIMT_BEGIN_CALL();
    *can = 0;
    return report(cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
    SIMT_BEGIN_CALL();
    return report(cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceSynchronize() {
    SIMT_BEGIN_CALL();
    return report(refuse_during_capture());
}

cudaError_t cudaDeviceReset() {
    SIMT_BEGIN_CALL();
    free_all_memory();
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaProfilerStart() {
    return cudaSuccess;
}

cudaError_t cudaProfilerStop() {
    return cudaSuccess;
}
