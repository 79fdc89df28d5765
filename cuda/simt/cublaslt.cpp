/* cuBLASLt: descriptions of a product, and the product with its epilogue. */
#include "include/cublasLt.h"

#include <cmath>
#include <cstring>

#include "blas.h"

namespace simt {

/* The approximation by tanh, which cuBLASLt uses. */
static float gelu(float x) {
    return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}

static void apply_epilogue(int epilogue, const void *bias, const Matrix &d) {
    for (int column = 0; column < d.columns; column++) {
        for (int row = 0; row < d.rows; row++) {
            size_t i = (size_t)column * d.leading + row;
            float value = load_element(d.memory, d.type, i);
            if ((epilogue & CUBLASLT_EPILOGUE_BIAS) != 0) {
                value += load_element(bias, d.type, (size_t)row);
            }
            if ((epilogue & CUBLASLT_EPILOGUE_RELU) != 0) {
                value = value > 0 ? value : 0;
            } else if ((epilogue & CUBLASLT_EPILOGUE_GELU) != 0) {
                value = gelu(value);
            }
            store_element((void *)d.memory, d.type, i, value);
        }
    }
}

static void copy_matrix(const Matrix &to, const Matrix &from) {
    for (int column = 0; column < to.columns; column++) {
        for (int row = 0; row < to.rows; row++) {
            float value = load_element(from.memory, from.type, (size_t)column * from.leading + row);
            store_element((void *)to.memory, to.type, (size_t)column * to.leading + row, value);
        }
    }
}

static Matrix matrix(const void *memory, const cublasLtMatrixLayoutOpaque_t &layout) {
    return {memory, layout.type, (int)layout.rows, (int)layout.columns, (int)layout.leading};
}

} // namespace simt

using namespace simt;

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
    return cublasCreate(handle);
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
    return cublasDestroy(handle);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc, cublasComputeType_t compute,
                                        cudaDataType_t scale_type) {
    if (scale_type != CUDA_R_32F || compute == CUBLAS_COMPUTE_16F) {
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    *desc = new cublasLtMatmulDescOpaque_t{compute, CUBLAS_OP_N, CUBLAS_OP_N,
                                           CUBLASLT_EPILOGUE_DEFAULT, nullptr};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
    delete desc;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void *value, size_t bytes) {
    void *to = attribute == CUBLASLT_MATMUL_DESC_TRANSA         ? (void *)&desc->transa
               : attribute == CUBLASLT_MATMUL_DESC_TRANSB       ? (void *)&desc->transb
               : attribute == CUBLASLT_MATMUL_DESC_EPILOGUE     ? (void *)&desc->epilogue
               : attribute == CUBLASLT_MATMUL_DESC_BIAS_POINTER ? (void *)&desc->bias
                                                                : nullptr;
    size_t wanted = attribute == CUBLASLT_MATMUL_DESC_BIAS_POINTER ? sizeof(void *) : 4;
    if (to == nullptr || value == nullptr || bytes != wanted) {
        return to == nullptr ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_INVALID_VALUE;
    }
    memcpy(to, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType_t type,
                                          unsigned long long rows, unsigned long long columns,
                                          long long leading) {
    *layout = new cublasLtMatrixLayoutOpaque_t{type, rows, columns, leading};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
    delete layout;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
    *preference = new cublasLtMatmulPreferenceOpaque_t{0};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
    delete preference;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void *value, size_t bytes) {
    if (attribute != CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES || bytes != sizeof(size_t)) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    memcpy(&preference->most_workspace_bytes, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int *found) {
    SIMT_NEED_HANDLE();
    if (wanted < 1 || results == nullptr || found == nullptr) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    results[0] = {{{0}}, 0, CUBLAS_STATUS_SUCCESS, 1.0f};
    *found = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha,
                              const void *a, cublasLtMatrixLayout_t layout_a, const void *b,
                              cublasLtMatrixLayout_t layout_b, const void *beta, const void *c,
                              cublasLtMatrixLayout_t layout_c, void *d,
                              cublasLtMatrixLayout_t layout_d, const cublasLtMatmulAlgo_t *, void *,
                              size_t, cudaStream_t stream) {
    SIMT_NEED_HANDLE();
    if (desc == nullptr || alpha == nullptr || beta == nullptr) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    Matrix ma = matrix(a, *layout_a), mb = matrix(b, *layout_b), md = matrix(d, *layout_d);
    int k = desc->transa == CUBLAS_OP_N ? ma.columns : ma.rows;
    int rows = desc->transa == CUBLAS_OP_N ? ma.rows : ma.columns;
    int k_of_b = desc->transb == CUBLAS_OP_N ? mb.rows : mb.columns;
    int columns = desc->transb == CUBLAS_OP_N ? mb.columns : mb.rows;
    if (k != k_of_b || rows != md.rows || columns != md.columns || !known_type(ma.type) ||
        !known_type(mb.type) || !known_type(md.type)) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    cublasLtMatmulDescOpaque_t options = *desc;
    float alpha_now = *(const float *)alpha, beta_now = *(const float *)beta;
    Matrix mc = beta_now != 0 && c != d ? matrix(c, *layout_c) : md;
    handle->stream = stream;
    return submit_blas(handle, [=] {
        if (mc.memory != md.memory) {
            copy_matrix(md, mc);
        }
        multiply(options.transa, options.transb, k, alpha_now, ma, mb, beta_now, md);
        if (options.epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
            apply_epilogue(options.epilogue, options.bias, md);
        }
    });
}
