/* The part of the CUDA runtime that teaching code uses, on host memory. Names, values and meaning
 * are those of the CUDA runtime API. */
#ifndef SIMT_RUNTIME_H
#define SIMT_RUNTIME_H

#include <cstddef>

#include "vector_types.h"

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorLaunchFailure = 719,
};
typedef struct simt_stream *cudaStream_t;

cudaError_t simt_malloc(void **memory, size_t bytes);
template <class T> inline cudaError_t cudaMalloc(T **memory, size_t bytes) {
    return simt_malloc((void **)memory, bytes);
}
cudaError_t cudaFree(void *memory);

#endif
