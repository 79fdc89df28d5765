/* The part of the CUDA runtime that teaching code uses, on host memory. Meaning and errors as in
 * the CUDA Runtime API reference; where nothing is said, a function returns cudaSuccess or the
 * error that the reference names.
 *
 * A launch runs to its end before the launching line is left, and so does everything in a stream:
 * one of the orders that a card may choose. What goes wrong inside a kernel is still told late, by
 * the next call that would have to wait, and then by every call: as on a card. */
#ifndef SIMT_RUNTIME_H
#define SIMT_RUNTIME_H

#include "runtime_types.h"
#include "vector_types.h"

#define CUDART_VERSION 12000

/* ---- errors (errors.cpp) ---- */
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();

/* ---- the device (device.cpp) ---- */
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit);
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value);
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();

/* ---- memory (memory.cpp) ---- */
cudaError_t cudaFree(void *memory);
cudaError_t cudaFreeHost(void *memory);
cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream);
cudaError_t cudaHostRegister(void *memory, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void *memory);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *memory);
cudaError_t cudaMemPrefetchAsync(const void *memory, size_t bytes, int device,
                                 cudaStream_t stream = nullptr);
cudaError_t cudaMemAdvise(const void *memory, size_t bytes, cudaMemoryAdvise advice, int device);

/* ---- copies (copy.cpp) ---- */
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width_bytes, size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width_bytes, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void *memory, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream = nullptr);
cudaError_t cudaMemset2D(void *memory, size_t pitch, int value, size_t width_bytes, size_t height);

/* ---- streams and events (stream.cpp) ---- */
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data,
                                  unsigned flags);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
/* Milliseconds that the interpreter took: EMULATED time, which says nothing about a GPU. */
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end);

/* ---- graphs (graph.cpp) ---- */
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status);
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                 unsigned long long flags = 0);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *error,
                                 char *log, size_t log_bytes);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);

/* ---- behind the templates ---- */
namespace simt {
cudaError_t device_properties(cudaDeviceProp *properties, int device, int warp_width);
cudaError_t device_attribute(int *value, cudaDeviceAttr attribute, int device, int warp_width);
cudaError_t device_malloc(void **memory, size_t bytes);
cudaError_t device_malloc_pitch(void **memory, size_t *pitch, size_t width_bytes, size_t height);
cudaError_t host_malloc(void **memory, size_t bytes);
cudaError_t managed_malloc(void **memory, size_t bytes, unsigned flags);
cudaError_t symbol_address(void **address, const void *symbol, size_t bytes);
cudaError_t copy_symbol(void *to, const void *from, size_t bytes, const void *symbol,
                        size_t symbol_bytes, size_t offset, cudaMemcpyKind kind,
                        cudaStream_t stream, bool wait);
cudaError_t function_set_attribute(const void *function, cudaFuncAttribute attribute, int value);
cudaError_t function_attributes(cudaFuncAttributes *attributes, const void *function);
cudaError_t blocks_per_multiprocessor(int *blocks, int block_threads, size_t shared_bytes);
cudaError_t best_block_size(int *grid_blocks, int *block_threads, size_t shared_bytes, int limit);
cudaError_t launch_failed(cudaError_t error); /* records it for cudaGetLastError */
} // namespace simt

inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device) {
    return simt::device_properties(properties, device, SIMT_WARP_WIDTH);
}
inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
    return simt::device_attribute(value, attribute, device, SIMT_WARP_WIDTH);
}
template <class T> inline cudaError_t cudaMalloc(T **memory, size_t bytes) {
    return simt::device_malloc((void **)memory, bytes);
}
template <class T> inline cudaError_t cudaMallocAsync(T **memory, size_t bytes, cudaStream_t) {
    return simt::device_malloc((void **)memory, bytes);
}
template <class T>
inline cudaError_t cudaMallocPitch(T **memory, size_t *pitch, size_t width_bytes, size_t height) {
    return simt::device_malloc_pitch((void **)memory, pitch, width_bytes, height);
}
template <class T> inline cudaError_t cudaMallocHost(T **memory, size_t bytes, unsigned = 0) {
    return simt::host_malloc((void **)memory, bytes);
}
template <class T> inline cudaError_t cudaHostAlloc(T **memory, size_t bytes, unsigned) {
    return simt::host_malloc((void **)memory, bytes);
}
template <class T>
inline cudaError_t cudaMallocManaged(T **memory, size_t bytes,
                                     unsigned flags = cudaMemAttachGlobal) {
    return simt::managed_malloc((void **)memory, bytes, flags);
}
template <class T> inline cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned) {
    *device = (T *)host;
    return cudaSuccess;
}
template <class T> inline cudaError_t cudaGetSymbolAddress(void **address, const T &symbol) {
    return simt::symbol_address(address, &symbol, sizeof symbol);
}
template <class T> inline cudaError_t cudaGetSymbolSize(size_t *bytes, const T &symbol) {
    *bytes = sizeof symbol;
    return cudaSuccess;
}
template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes,
                                      size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return simt::copy_symbol(nullptr, from, bytes, &symbol, sizeof symbol, offset, kind, nullptr,
                             true);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                        cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return simt::copy_symbol(to, nullptr, bytes, &symbol, sizeof symbol, offset, kind, nullptr,
                             true);
}
template <class T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t bytes,
                                           size_t offset, cudaMemcpyKind kind,
                                           cudaStream_t stream = nullptr) {
    return simt::copy_symbol(nullptr, from, bytes, &symbol, sizeof symbol, offset, kind, stream,
                             false);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t bytes, size_t offset,
                                             cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
    return simt::copy_symbol(to, nullptr, bytes, &symbol, sizeof symbol, offset, kind, stream,
                             false);
}
template <class F>
inline cudaError_t cudaFuncSetAttribute(F *function, cudaFuncAttribute attribute, int value) {
    return simt::function_set_attribute((const void *)function, attribute, value);
}
template <class F> inline cudaError_t cudaFuncSetCacheConfig(F *, cudaFuncCache) {
    return cudaSuccess; /* a hint, and there is no such cache */
}
template <class F>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, F *function) {
    return simt::function_attributes(attributes, (const void *)function);
}
template <class F>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, F *, int threads,
                                                                 size_t shared_bytes) {
    return simt::blocks_per_multiprocessor(blocks, threads, shared_bytes);
}
template <class F>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid_blocks, int *block_threads, F *,
                                                      size_t shared_bytes = 0, int limit = 0) {
    return simt::best_block_size(grid_blocks, block_threads, shared_bytes, limit);
}

#endif
