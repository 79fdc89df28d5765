/* What cuBLAS (cublas.cpp) and cuBLASLt (cublaslt.cpp) share. */
#ifndef SIMT_BLAS_H
#define SIMT_BLAS_H

#include "include/cublas_v2.h"
#include "state.h"

struct SimtBlas {
    cudaStream_t stream = nullptr;
    cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
};

namespace simt {

/* Runs `work` in the handle's stream, or keeps it for a graph. */
cublasStatus_t submit_blas(cublasHandle_t handle, const std::function<void()> &work);

/* Elements of float, half and bfloat16 arrays, and whether a type is one of these. */
bool known_type(cudaDataType_t type);
float load_element(const void *memory, cudaDataType_t type, size_t i);
void store_element(void *memory, cudaDataType_t type, size_t i, float value);

struct Matrix { /* columns of `rows` elements, `leading` apart */
    const void *memory;
    cudaDataType_t type;
    int rows, columns, leading;
};

/* c = alpha op(a) . op(b) + beta c, of any types; c's values count only if beta is not 0. */
void multiply(cublasOperation_t transa, cublasOperation_t transb, int k, float alpha,
              const Matrix &a, const Matrix &b, float beta, const Matrix &c);

} // namespace simt

#define SIMT_NEED_HANDLE()                                                                         \
    do {                                                                                           \
        if (handle == nullptr) {                                                                   \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                  \
        }                                                                                          \
    } while (0)

#endif
