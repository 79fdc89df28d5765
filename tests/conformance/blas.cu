/* cuBLAS: products of matrices that are kept column by column, every combination of transposes,
 * leading dimensions, alpha and beta, batches, half and bfloat16; vectors. Small whole numbers, so
 * that every order of summing gives the same answer. */
#include "check.h"
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>

#define CHECK_BLAS(call) CHECK((call) == CUBLAS_STATUS_SUCCESS)

enum { M = 5, N = 7, K = 4, LDA = 9, LDB = 8, LDC = 6, BATCHES = 3, SIZE = 80 };

static cublasHandle_t handle;
static float a[BATCHES * SIZE], b[BATCHES * SIZE], c[BATCHES * SIZE], got[BATCHES * SIZE];
static float *device_a, *device_b, *device_c;

static void make_inputs(void) {
    for (int i = 0; i < BATCHES * SIZE; i++) {
        a[i] = (float)(i * 5 % 11 - 5);
        b[i] = (float)(i * 7 % 9 - 4);
        c[i] = (float)(i % 8);
    }
    device_a = device_array<float>(BATCHES * SIZE);
    device_b = device_array<float>(BATCHES * SIZE);
    device_c = device_array<float>(BATCHES * SIZE);
    to_device(device_a, a, BATCHES * SIZE);
    to_device(device_b, b, BATCHES * SIZE);
}

/* alpha op(A) op(B) + beta C at (row, column), of batch i */
static float product(int ta, int tb, int row, int column, float alpha, float beta, int i) {
    float sum = 0;
    for (int k = 0; k < K; k++) {
        float x = a[i * SIZE + (ta ? row * LDA + k : k * LDA + row)];
        float y = b[i * SIZE + (tb ? k * LDB + column : column * LDB + k)];
        sum += x * y;
    }
    return alpha * sum + (beta == 0 ? 0 : beta * c[i * SIZE + column * LDC + row]);
}

static int count_wrong(int ta, int tb, float alpha, float beta, int batches) {
    int wrong = 0;
    to_host(got, device_c, BATCHES * SIZE);
    for (int i = 0; i < BATCHES * SIZE; i++) {
        int batch = i / SIZE, column = i % SIZE / LDC, row = i % SIZE % LDC;
        bool inside = batch < batches && row < M && column < N;
        wrong += got[i] != (inside ? product(ta, tb, row, column, alpha, beta, batch) : c[i]);
    }
    return wrong;
}

static void check_products(void) {
    for (int which = 0; which < 8; which++) {
        int ta = which & 1, tb = which >> 1 & 1;
        float alpha = 2, beta = which >> 2 ? -3.0f : 0.0f;
        cublasOperation_t opa = ta ? CUBLAS_OP_T : CUBLAS_OP_N;
        cublasOperation_t opb = tb ? CUBLAS_OP_T : CUBLAS_OP_N;
        to_device(device_c, c, BATCHES * SIZE);
        CHECK_BLAS(cublasSgemm(handle, opa, opb, M, N, K, &alpha, device_a, LDA, device_b, LDB,
                               &beta, device_c, LDC));
        CHECK(count_wrong(ta, tb, alpha, beta, 1) == 0);
        to_device(device_c, c, BATCHES * SIZE);
        CHECK_BLAS(cublasSgemmStridedBatched(handle, opa, opb, M, N, K, &alpha, device_a, LDA, SIZE,
                                             device_b, LDB, SIZE, &beta, device_c, LDC, SIZE,
                                             BATCHES));
        CHECK(count_wrong(ta, tb, alpha, beta, BATCHES) == 0);
    }
}

template <class T>
static void check_short_types(cudaDataType_t type, T (*from_float)(float), float (*to_float)(T)) {
    static T sa[SIZE], sb[SIZE], sc[SIZE];
    T *da = device_array<T>(SIZE), *db = device_array<T>(SIZE), *dc = device_array<T>(SIZE);
    float alpha = 1, beta = 0;
    int wrong = 0;
    for (int i = 0; i < SIZE; i++) {
        sa[i] = from_float(a[i]);
        sb[i] = from_float(b[i]);
    }
    to_device(da, sa, SIZE);
    to_device(db, sb, SIZE);
    CHECK_BLAS(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, M, N, K, &alpha, da, type, LDA, db,
                            type, LDB, &beta, dc, type, LDC, CUBLAS_COMPUTE_32F,
                            CUBLAS_GEMM_DEFAULT));
    to_host(sc, dc, SIZE);
    for (int i = 0; i < M * N; i++) {
        int row = i % M, column = i / M;
        wrong += to_float(sc[column * LDC + row]) != product(1, 0, row, column, 1, 0, 0);
    }
    CHECK(wrong == 0);
}

static __half to_half(float x) {
    return __float2half(x);
}
static float from_half(__half x) {
    return __half2float(x);
}
static __nv_bfloat16 to_bfloat16(float x) {
    return __float2bfloat16(x);
}
static float from_bfloat16(__nv_bfloat16 x) {
    return __bfloat162float(x);
}

static void check_vectors(void) {
    float alpha = 3, beta = 1, result = 0;
    int index = 0, wrong = 0;
    to_device(device_c, c, SIZE);
    CHECK_BLAS(cublasSaxpy(handle, SIZE, &alpha, device_a, 1, device_c, 1));
    to_host(got, device_c, SIZE);
    for (int i = 0; i < SIZE; i++) {
        wrong += got[i] != 3 * a[i] + c[i];
    }
    CHECK(wrong == 0);
    CHECK_BLAS(cublasSdot(handle, SIZE / 2, device_a, 2, device_b, 1, &result));
    float dot = 0;
    for (int i = 0; i < SIZE / 2; i++) {
        dot += a[2 * i] * b[i];
    }
    CHECK(result == dot);
    CHECK_BLAS(cublasIsamax(handle, 5, device_a, 1, &index));
    CHECK(index == 1); /* |-5| stands first; counted from 1 */
    to_device(device_c, c, SIZE);
    CHECK_BLAS(cublasSgemv(handle, CUBLAS_OP_N, M, K, &alpha, device_a, LDA, device_b, 1, &beta,
                           device_c, 1));
    to_host(got, device_c, SIZE);
    wrong = 0;
    for (int row = 0; row < M; row++) {
        float sum = c[row];
        for (int k = 0; k < K; k++) {
            sum += 3 * a[k * LDA + row] * b[k];
        }
        wrong += got[row] != sum;
    }
    CHECK(wrong == 0);
}

/* A product with a bias for each row and a GELU behind it. */
static void check_epilogue(cublasLtEpilogue_t epilogue, bool bias, bool gelu) {
    cublasLtHandle_t lt;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t la, lb, lc;
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t heuristic;
    cublasOperation_t transposed = CUBLAS_OP_T;
    const float *bias_pointer = device_b;
    float alpha = 1, beta = 0;
    size_t workspace = 0;
    int found = 0;
    CHECK_BLAS(cublasLtCreate(&lt));
    CHECK_BLAS(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    CHECK_BLAS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                              sizeof transposed));
    CHECK_BLAS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                              sizeof epilogue));
    CHECK_BLAS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                              &bias_pointer, sizeof bias_pointer));
    CHECK_BLAS(cublasLtMatrixLayoutCreate(&la, CUDA_R_32F, K, M, LDA));
    CHECK_BLAS(cublasLtMatrixLayoutCreate(&lb, CUDA_R_32F, K, N, LDB));
    CHECK_BLAS(cublasLtMatrixLayoutCreate(&lc, CUDA_R_32F, M, N, LDC));
    CHECK_BLAS(cublasLtMatmulPreferenceCreate(&preference));
    CHECK_BLAS(cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace));
    CHECK_BLAS(cublasLtMatmulAlgoGetHeuristic(lt, desc, la, lb, lc, lc, preference, 1, &heuristic,
                                              &found));
    CHECK(found == 1);
    CHECK_BLAS(cublasLtMatmul(lt, desc, &alpha, device_a, la, device_b, lb, &beta, device_c, lc,
                              device_c, lc, &heuristic.algo, NULL, 0, 0));
    to_host(got, device_c, SIZE);
    double worst = 0;
    for (int i = 0; i < M * N; i++) {
        int row = i % M, column = i / M;
        double x = (double)product(1, 0, row, column, 1, 0, 0) + (bias ? (double)b[row] : 0);
        double expected =
            gelu ? 0.5 * x * (1 + tanh(sqrt(2 / acos(-1.0)) * (x + 0.044715 * x * x * x))) : x;
        worst = fmax(worst, fabs((double)got[column * LDC + row] - expected) / (1 + fabs(x)));
    }
    CHECK(worst < 1e-3); /* a card's tanh is an approximation */
    CHECK_BLAS(cublasLtMatmulPreferenceDestroy(preference));
    CHECK_BLAS(cublasLtMatrixLayoutDestroy(la));
    CHECK_BLAS(cublasLtMatrixLayoutDestroy(lb));
    CHECK_BLAS(cublasLtMatrixLayoutDestroy(lc));
    CHECK_BLAS(cublasLtMatmulDescDestroy(desc));
    CHECK_BLAS(cublasLtDestroy(lt));
}

static void check_errors(void) {
    float one = 1;
    CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, -1, N, K, &one, device_a, LDA, device_b,
                      LDB, &one, device_c, LDC) == CUBLAS_STATUS_INVALID_VALUE);
    CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &one, device_a, M - 1, device_b,
                      LDB, &one, device_c, LDC) == CUBLAS_STATUS_INVALID_VALUE);
    CHECK_BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 0, N, K, &one, device_a, LDA, device_b,
                           LDB, &one, device_c, LDC));
}

int main(void) {
    cudaStream_t stream;
    CHECK_BLAS(cublasCreate(&handle));
    CHECK_OK(cudaStreamCreate(&stream));
    CHECK_BLAS(cublasSetStream(handle, stream));
    make_inputs();
    check_products();
    check_short_types<__half>(CUDA_R_16F, to_half, from_half);
    check_short_types<__nv_bfloat16>(CUDA_R_16BF, to_bfloat16, from_bfloat16);
    check_vectors();
    check_epilogue(CUBLASLT_EPILOGUE_DEFAULT, false, false);
    check_epilogue(CUBLASLT_EPILOGUE_BIAS, true, false);
    check_epilogue(CUBLASLT_EPILOGUE_GELU_BIAS, true, true);
    check_errors();
    CHECK_BLAS(cublasDestroy(handle));
    CHECK_DONE();
}
