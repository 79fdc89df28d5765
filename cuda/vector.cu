/* Vectors: fill, copy, add, axpy over n elements.
 *
 * One thread, one element (or four); no thread needs another. Neighbouring threads touch
 * neighbouring elements, so a warp's 32 loads fall into 4 sectors of 32 bytes: coalesced.
 * Limit: memory; the arithmetic vanishes behind it. */
#include "cuda/cuda.h"

#include <stdint.h>

/* ---- naive: one thread for each element ------------------------------------------------------ */

__global__ void vector_add_naive_kernel(float *out, const float *a, const float *b, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { /* the last block may stick out over the end */
        out[i] = a[i] + b[i];
    }
}

static void vector_add_naive(float *out, const float *a, const float *b, size_t n) {
    vector_add_naive_kernel<<<blocks_for(n, BLOCK_THREADS), BLOCK_THREADS>>>(out, a, b, n);
    cuda_launched(OP_vector_add, "naive", n, 1, 1);
}

/* ---- grid_stride: as many threads as the GPU can hold, each in a loop ------------------------ */

/* Saves the start of most blocks, and takes any n with any grid. */
__global__ void vector_add_grid_stride_kernel(float *out, const float *a, const float *b,
                                              size_t n) {
    GRID_STRIDE(i, n) {
        out[i] = a[i] + b[i];
    }
}

static void vector_add_grid_stride(float *out, const float *a, const float *b, size_t n) {
    vector_add_grid_stride_kernel<<<blocks_to_fill(n), BLOCK_THREADS>>>(out, a, b, n);
    cuda_launched(OP_vector_add, "grid_stride", n, 1, 1);
}

/* ---- vectorized: 128 bits a load ------------------------------------------------------------- */

/* A quarter of the instructions for the same bytes. float4 must lie on 16 bytes, so arrays that
 * begin elsewhere (a slice of a larger one) go through the scalar loop, in the same kernel. */
__global__ void vector_add_vectorized_kernel(float *out, const float *a, const float *b, size_t n,
                                             size_t quads) {
    GRID_STRIDE(q, quads) {
        float4 x = ((const float4 *)a)[q], y = ((const float4 *)b)[q];
        ((float4 *)out)[q] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }
    size_t first = 4 * quads; /* what no float4 covers: fewer than 4 elements, or all */
    GRID_STRIDE(j, n - first) {
        out[first + j] = a[first + j] + b[first + j];
    }
}

static bool on_16_bytes(const void *a, const void *b, const void *c) {
    return (((uintptr_t)a | (uintptr_t)b | (uintptr_t)c) & 15) == 0;
}

static void vector_add_vectorized(float *out, const float *a, const float *b, size_t n) {
    size_t quads = on_16_bytes(out, a, b) ? n / 4 : 0;
    unsigned blocks = blocks_to_fill(quads > 0 ? quads : n);
    vector_add_vectorized_kernel<<<blocks, BLOCK_THREADS>>>(out, a, b, n, quads);
    cuda_launched(OP_vector_add, "vectorized", n, 1, 1);
}

/* ---- fill, copy, axpy ------------------------------------------------------------------------ */

__global__ void fill_kernel(float *x, float value, size_t n) {
    GRID_STRIDE(i, n) {
        x[i] = value;
    }
}

static void fill_grid_stride(float *x, float value, size_t n) {
    fill_kernel<<<blocks_to_fill(n), BLOCK_THREADS>>>(x, value, n);
    cuda_launched(OP_fill, "grid_stride", n, 1, 1);
}

__global__ void copy_kernel(float *out, const float *inp, size_t n) {
    GRID_STRIDE(i, n) {
        out[i] = inp[i];
    }
}

static void copy_grid_stride(float *out, const float *inp, size_t n) {
    copy_kernel<<<blocks_to_fill(n), BLOCK_THREADS>>>(out, inp, n);
    cuda_launched(OP_copy, "grid_stride", n, 1, 1);
}

__global__ void axpy_kernel(float *y, const float *x, float alpha, size_t n) {
    GRID_STRIDE(i, n) {
        y[i] += alpha * x[i];
    }
}

static void axpy_grid_stride(float *y, const float *x, float alpha, size_t n) {
    axpy_kernel<<<blocks_to_fill(n), BLOCK_THREADS>>>(y, x, alpha, n);
    cuda_launched(OP_axpy, "grid_stride", n, 1, 1);
}

const Kernel CUDA_TABLE(vector)[] = {
    KERNEL_DEFAULT(fill, "grid_stride", "each thread in a loop over the grid", 0, fill_grid_stride),
    KERNEL_DEFAULT(copy, "grid_stride", "each thread in a loop over the grid", 0, copy_grid_stride),
    KERNEL(vector_add, "naive", "a thread for each element", 1, vector_add_naive),
    KERNEL(vector_add, "grid_stride", "each thread in a loop over the grid", 1,
           vector_add_grid_stride),
    KERNEL_DEFAULT(vector_add, "vectorized", "128 bits a load: four elements a thread", 1,
                   vector_add_vectorized),
    KERNEL_DEFAULT(axpy, "grid_stride", "each thread in a loop over the grid", 0, axpy_grid_stride),
    KERNEL_TABLE_END,
};
