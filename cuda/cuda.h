/* What the .cu files of this folder share: the launch helper, the tables. They are compiled twice:
 * by nvcc for a GPU (backend cuda), and by g++ for the interpreter of cuda/simt/ (backend simt).
 * Only the names of the tables differ. */
#ifndef LOCKSTEP_CUDA_H
#define LOCKSTEP_CUDA_H

#include <cuda_runtime.h>

#define FORMULA static inline __host__ __device__ /* before ops/scalar.h */

#include "ops/backend.h"
#include "ops/scalar.h"

#ifdef LOCKSTEP_SIMT
#define CUDA_TABLE(family) family##_kernels_simt
#else
#define CUDA_TABLE(family) family##_kernels_cuda
#endif

extern "C" {
extern const Kernel CUDA_TABLE(vector)[];
extern const Kernel CUDA_TABLE(transpose)[];
extern const Kernel CUDA_TABLE(reduce)[];
extern const Kernel CUDA_TABLE(matmul)[];
extern const Kernel CUDA_TABLE(activation)[];
extern const Kernel CUDA_TABLE(loss)[];
extern const Kernel CUDA_TABLE(optimizer)[];
}

/* Threads of a block for kernels that do not care: a multiple of 32, small enough that several
 * blocks share a multiprocessor. */
enum { BLOCK_THREADS = 256, WARP_THREADS = 32 };

/* Blocks that cover n items at per_block each. A grid has at most 2^31 - 1 blocks along x; more
 * items than that need a loop in the kernel (GRID_STRIDE), which then takes several rounds. */
static inline unsigned blocks_for(size_t n, size_t per_block) {
    const size_t most = 0x7fffffff;
    size_t blocks = (n + per_block - 1) / per_block;
    return (unsigned)(blocks < most ? blocks : most);
}

/* Blocks enough to fill any GPU of today several times, and no more: kernels with GRID_STRIDE. */
static inline unsigned blocks_to_fill(size_t n) {
    const unsigned most = 4096;
    unsigned blocks = blocks_for(n, BLOCK_THREADS);
    return blocks < most ? blocks : most;
}

/* for (size_t i = this thread's number; i < n; i += all threads of the grid), in 64 bits. */
#define GRID_STRIDE(i, n)                                                                          \
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x,                                 \
                grid_threads = (size_t)gridDim.x * blockDim.x;                                     \
         i < (n); i += grid_threads)

/* To be called right after each launch: records the first failure since the last synchronize, with
 * operation, kernel and shape, which synchronize then returns. */
void cuda_launched(OpId op, const char *kernel, size_t a, size_t b, size_t c);

/* Scratch memory on the device for reductions in several blocks: at least bytes, kept from call to
 * call, not cleared. NULL when there is none; the failure is recorded. */
void *cuda_scratch(OpId op, size_t bytes);

#endif
