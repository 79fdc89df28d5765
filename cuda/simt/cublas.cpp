/* cuBLAS on the host's BLAS (CBLAS interface). Calls run in order in the handle's stream, and
 * become nodes of its graph while it captures. */
#include "include/cublas_v2.h"

#include "blas.h"

#include <cblas.h>
#include <vector>

#include "include/cuda_bf16.h"
#include "include/cuda_fp16.h"

namespace simt {

cublasStatus_t submit_blas(cublasHandle_t handle, const std::function<void()> &work) {
    cudaError_t error = begin_call();
    if (error == cudaSuccess) {
        error = check_stream(handle->stream);
    }
    if (error == cudaSuccess) {
        error = submit(handle->stream, [work] {
            work();
            return cudaSuccess;
        });
    }
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

/* Leading dimensions as the reference asks; 0 where all is well. */
static bool wrong_sizes(int m, int n, int k, int lda, int rows_a, int ldb, int rows_b, int ldc) {
    return m < 0 || n < 0 || k < 0 || lda < (rows_a > 1 ? rows_a : 1) ||
           ldb < (rows_b > 1 ? rows_b : 1) || ldc < (m > 1 ? m : 1);
}

static CBLAS_TRANSPOSE transpose(cublasOperation_t operation) {
    return operation == CUBLAS_OP_N ? CblasNoTrans : CblasTrans;
}

float load_element(const void *memory, cudaDataType_t type, size_t i) {
    return type == CUDA_R_32F   ? ((const float *)memory)[i]
           : type == CUDA_R_16F ? (float)((const __half *)memory)[i]
                                : (float)((const __nv_bfloat16 *)memory)[i];
}

void store_element(void *memory, cudaDataType_t type, size_t i, float value) {
    if (type == CUDA_R_32F) {
        ((float *)memory)[i] = value;
    } else if (type == CUDA_R_16F) {
        ((__half *)memory)[i] = __half(value);
    } else {
        ((__nv_bfloat16 *)memory)[i] = __nv_bfloat16(value);
    }
}

bool known_type(cudaDataType_t type) {
    return type == CUDA_R_32F || type == CUDA_R_16F || type == CUDA_R_16BF;
}

static size_t type_bytes(cudaDataType_t type) {
    return type == CUDA_R_32F ? 4 : 2;
}

/* The matrix as floats without gaps; the memory itself if it is of floats already. */
static const float *as_floats(const Matrix &m, std::vector<float> &copy, int *leading) {
    if (m.type == CUDA_R_32F) {
        *leading = m.leading;
        return (const float *)m.memory;
    }
    copy.resize((size_t)m.rows * m.columns);
    for (int column = 0; column < m.columns; column++) {
        for (int row = 0; row < m.rows; row++) {
            copy[(size_t)column * m.rows + row] =
                load_element(m.memory, m.type, (size_t)column * m.leading + row);
        }
    }
    *leading = m.rows > 0 ? m.rows : 1;
    return copy.data();
}

/* One product of any types; c's values count only if beta is not 0. */
void multiply(cublasOperation_t transa, cublasOperation_t transb, int k, float alpha,
              const Matrix &a, const Matrix &b, float beta, const Matrix &c) {
    std::vector<float> copy_a, copy_b, copy_c;
    int lda, ldb, ldc = c.leading;
    const float *fa = as_floats(a, copy_a, &lda), *fb = as_floats(b, copy_b, &ldb);
    float *fc = (float *)c.memory;
    if (c.type != CUDA_R_32F) {
        fc = (float *)as_floats(c, copy_c, &ldc);
    }
    cblas_sgemm(CblasColMajor, transpose(transa), transpose(transb), c.rows, c.columns, k, alpha,
                fa, lda, fb, ldb, beta, fc, ldc);
    if (c.type != CUDA_R_32F) {
        for (size_t i = 0; i < (size_t)c.rows * c.columns; i++) {
            size_t column = i / (size_t)c.rows, row = i % (size_t)c.rows;
            store_element((void *)c.memory, c.type, column * (size_t)c.leading + row, fc[i]);
        }
    }
}

} // namespace simt

using namespace simt;

#define SIMT_BLAS_NAMES(X)                                                                         \
    X(SUCCESS, "success")                                                                          \
    X(NOT_INITIALIZED, "the library was not initialized")                                          \
    X(ALLOC_FAILED, "the resource allocation failed")                                              \
    X(INVALID_VALUE, "an invalid value was used")                                                  \
    X(ARCH_MISMATCH, "the architecture does not match")                                            \
    X(MAPPING_ERROR, "an access to GPU memory space failed")                                       \
    X(EXECUTION_FAILED, "the function failed to launch on the GPU")                                \
    X(INTERNAL_ERROR, "an internal operation failed")                                              \
    X(NOT_SUPPORTED, "the requested functionality is not supported")

const char *cublasGetStatusName(cublasStatus_t status) {
    switch (status) {
#define X(name, text)                                                                              \
    case CUBLAS_STATUS_##name:                                                                     \
        return "CUBLAS_STATUS_" #name;
        SIMT_BLAS_NAMES(X)
#undef X
    }
    return "unknown cublasStatus_t";
}

const char *cublasGetStatusString(cublasStatus_t status) {
    switch (status) {
#define X(name, text)                                                                              \
    case CUBLAS_STATUS_##name:                                                                     \
        return text;
        SIMT_BLAS_NAMES(X)
#undef X
    }
    return "unknown cublasStatus_t";
}

cublasStatus_t cublasCreate(cublasHandle_t *handle) {
    if (handle == nullptr) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    *handle = new SimtBlas;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
    SIMT_NEED_HANDLE();
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion(cublasHandle_t handle, int *version) {
    SIMT_NEED_HANDLE();
    *version = CUDART_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
    SIMT_NEED_HANDLE();
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t *stream) {
    SIMT_NEED_HANDLE();
    *stream = handle->stream;
    return CUBLAS_STATUS_SUCCESS;
}

/* Products are always made in full single precision, which every mode allows. */
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t) {
    SIMT_NEED_HANDLE();
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
    SIMT_NEED_HANDLE();
    handle->pointer_mode = mode;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *, size_t) {
    SIMT_NEED_HANDLE();
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k,
                                          const void *alpha, const void *a, cudaDataType_t type_a,
                                          int lda, long long stride_a, const void *b,
                                          cudaDataType_t type_b, int ldb, long long stride_b,
                                          const void *beta, void *c, cudaDataType_t type_c, int ldc,
                                          long long stride_c, int batches,
                                          cublasComputeType_t compute, cublasGemmAlgo_t) {
    SIMT_NEED_HANDLE();
    int rows_a = transa == CUBLAS_OP_N ? m : k, rows_b = transb == CUBLAS_OP_N ? k : n;
    if (alpha == nullptr || beta == nullptr || batches < 0 ||
        wrong_sizes(m, n, k, lda, rows_a, ldb, rows_b, ldc)) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (!known_type(type_a) || !known_type(type_b) || !known_type(type_c) ||
        compute == CUBLAS_COMPUTE_16F) {
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    if (m == 0 || n == 0 || batches == 0) {
        return CUBLAS_STATUS_SUCCESS;
    }
    bool late = handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE; /* read when it runs */
    float alpha_now = late ? 0 : *(const float *)alpha, beta_now = late ? 0 : *(const float *)beta;
    return submit_blas(handle, [=] {
        for (long long i = 0; i < batches; i++) {
            Matrix ma = {(const char *)a + i * stride_a * (long long)type_bytes(type_a), type_a,
                         rows_a, transa == CUBLAS_OP_N ? k : m, lda};
            Matrix mb = {(const char *)b + i * stride_b * (long long)type_bytes(type_b), type_b,
                         rows_b, transb == CUBLAS_OP_N ? n : k, ldb};
            Matrix mc = {(char *)c + i * stride_c * (long long)type_bytes(type_c), type_c, m, n,
                         ldc};
            multiply(transa, transb, k, late ? *(const float *)alpha : alpha_now, ma, mb,
                     late ? *(const float *)beta : beta_now, mc);
        }
    });
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k, const void *alpha,
                            const void *a, cudaDataType_t type_a, int lda, const void *b,
                            cudaDataType_t type_b, int ldb, const void *beta, void *c,
                            cudaDataType_t type_c, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algorithm) {
    return cublasGemmStridedBatchedEx(handle, transa, transb, m, n, k, alpha, a, type_a, lda, 0, b,
                                      type_b, ldb, 0, beta, c, type_c, ldc, 0, 1, compute,
                                      algorithm);
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, int m, int n, int k,
                                         const float *alpha, const float *a, int lda,
                                         long long stride_a, const float *b, int ldb,
                                         long long stride_b, const float *beta, float *c, int ldc,
                                         long long stride_c, int batches) {
    return cublasGemmStridedBatchedEx(handle, transa, transb, m, n, k, alpha, a, CUDA_R_32F, lda,
                                      stride_a, b, CUDA_R_32F, ldb, stride_b, beta, c, CUDA_R_32F,
                                      ldc, stride_c, batches, CUBLAS_COMPUTE_32F,
                                      CUBLAS_GEMM_DEFAULT);
}

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, int k, const float *alpha,
                           const float *a, int lda, const float *b, int ldb, const float *beta,
                           float *c, int ldc) {
    return cublasSgemmStridedBatched(handle, transa, transb, m, n, k, alpha, a, lda, 0, b, ldb, 0,
                                     beta, c, ldc, 0, 1);
}

/* The pointer to a scalar as a function that reads it: now on the host, later on the device. */
static std::function<float()> scalar(cublasHandle_t handle, const float *pointer) {
    if (handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE) {
        return [=] { return *pointer; };
    }
    float value = *pointer;
    return [=] { return value; };
}

cublasStatus_t cublasSgemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n,
                           const float *alpha, const float *a, int lda, const float *x, int incx,
                           const float *beta, float *y, int incy) {
    SIMT_NEED_HANDLE();
    if (m < 0 || n < 0 || lda < (m > 1 ? m : 1) || incx == 0 || incy == 0) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    auto read_alpha = scalar(handle, alpha), read_beta = scalar(handle, beta);
    return submit_blas(handle, [=] {
        cblas_sgemv(CblasColMajor, transpose(trans), m, n, read_alpha(), a, lda, x, incx,
                    read_beta(), y, incy);
    });
}

cublasStatus_t cublasSger(cublasHandle_t handle, int m, int n, const float *alpha, const float *x,
                          int incx, const float *y, int incy, float *a, int lda) {
    SIMT_NEED_HANDLE();
    if (m < 0 || n < 0 || lda < (m > 1 ? m : 1) || incx == 0 || incy == 0) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    auto read_alpha = scalar(handle, alpha);
    return submit_blas(
        handle, [=] { cblas_sger(CblasColMajor, m, n, read_alpha(), x, incx, y, incy, a, lda); });
}

cublasStatus_t cublasSaxpy(cublasHandle_t handle, int n, const float *alpha, const float *x,
                           int incx, float *y, int incy) {
    SIMT_NEED_HANDLE();
    auto read_alpha = scalar(handle, alpha);
    return submit_blas(handle, [=] { cblas_saxpy(n, read_alpha(), x, incx, y, incy); });
}

cublasStatus_t cublasSscal(cublasHandle_t handle, int n, const float *alpha, float *x, int incx) {
    SIMT_NEED_HANDLE();
    auto read_alpha = scalar(handle, alpha);
    return submit_blas(handle, [=] { cblas_sscal(n, read_alpha(), x, incx); });
}

cublasStatus_t cublasScopy(cublasHandle_t handle, int n, const float *x, int incx, float *y,
                           int incy) {
    SIMT_NEED_HANDLE();
    return submit_blas(handle, [=] { cblas_scopy(n, x, incx, y, incy); });
}

cublasStatus_t cublasSdot(cublasHandle_t handle, int n, const float *x, int incx, const float *y,
                          int incy, float *result) {
    SIMT_NEED_HANDLE();
    return submit_blas(handle, [=] { *result = cblas_sdot(n, x, incx, y, incy); });
}

cublasStatus_t cublasSnrm2(cublasHandle_t handle, int n, const float *x, int incx, float *result) {
    SIMT_NEED_HANDLE();
    return submit_blas(handle, [=] { *result = cblas_snrm2(n, x, incx); });
}

cublasStatus_t cublasSasum(cublasHandle_t handle, int n, const float *x, int incx, float *result) {
    SIMT_NEED_HANDLE();
    return submit_blas(handle, [=] { *result = cblas_sasum(n, x, incx); });
}

/* Counted from 1, as Fortran does; 0 for an empty vector. */
cublasStatus_t cublasIsamax(cublasHandle_t handle, int n, const float *x, int incx, int *result) {
    SIMT_NEED_HANDLE();
    return submit_blas(
        handle, [=] { *result = n < 1 || incx < 1 ? 0 : (int)cblas_isamax(n, x, incx) + 1; });
}
