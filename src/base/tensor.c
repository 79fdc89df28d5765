#include "base/tensor.h"

#include <stdint.h>
#include <stdio.h>

size_t dtype_bytes(DType dtype) {
    static const size_t bytes[DTYPE_COUNT] = {[DTYPE_FP32] = 4, [DTYPE_INT32] = 4};
    return bytes[dtype];
}

const char *dtype_name(DType dtype) {
    static const char *const name[DTYPE_COUNT] = {[DTYPE_FP32] = "fp32", [DTYPE_INT32] = "int32"};
    return name[dtype];
}

char *shape_text(char *text, size_t text_bytes, int rank, const int *dim) {
    size_t used = 0;
    if (rank == 0) {
        snprintf(text, text_bytes, "1");
    }
    for (int i = 0; i < rank && used < text_bytes; i++) {
        used += (size_t)snprintf(text + used, text_bytes - used, "%s%d", i > 0 ? "x" : "", dim[i]);
    }
    return text;
}

Status checked_bytes(size_t *bytes, const char *what, size_t element_bytes, int rank,
                     const int *dim) {
    char shape[80];
    size_t product = element_bytes;
    for (int i = 0; i < rank; i++) {
        if (dim[i] < 0) {
            return fail("%s: dimension %d is %d; sizes cannot be negative", what, i, dim[i]);
        }
        if (__builtin_mul_overflow(product, (size_t)dim[i], &product) || product > SIZE_MAX / 2) {
            return fail("%s: shape %s needs more bytes than an address can hold; make it smaller",
                        what, shape_text(shape, sizeof shape, rank, dim));
        }
    }
    *bytes = product;
    return STATUS_OK;
}

Status tensor_init(Tensor *tensor, const char *name, DType dtype, int rank, const int *dim) {
    if (rank < 0 || rank > TENSOR_MAX_RANK) {
        return fail("%s: rank %d; tensors have 0 to %d dimensions", name, rank, TENSOR_MAX_RANK);
    }
    *tensor = (Tensor){.dtype = dtype, .rank = rank};
    snprintf(tensor->name, sizeof tensor->name, "%s", name);
    for (int i = 0; i < rank; i++) {
        tensor->dim[i] = dim[i];
    }
    TRY(checked_bytes(&tensor->bytes, name, dtype_bytes(dtype), rank, dim));
    tensor->count = tensor->bytes / dtype_bytes(dtype);
    return STATUS_OK;
}
