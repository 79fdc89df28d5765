/* Tensors: a name, a shape and the memory behind it. Row-major and contiguous; images are NCHW.
 * Kernels never see one: they take the raw pointer and plain sizes. */
#ifndef LOCKSTEP_TENSOR_H
#define LOCKSTEP_TENSOR_H

#include <stddef.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TENSOR_MAX_RANK = 5, TENSOR_NAME_BYTES = 64 };

typedef enum DType { DTYPE_FP32, DTYPE_INT32, DTYPE_COUNT } DType;

size_t dtype_bytes(DType dtype);     /* of one element */
const char *dtype_name(DType dtype); /* "fp32", "int32" */

typedef struct Tensor {
    char name[TENSOR_NAME_BYTES];
    DType dtype;
    int rank;                 /* 0 is a scalar */
    int dim[TENSOR_MAX_RANK]; /* outermost first */
    size_t count;             /* elements */
    size_t bytes;             /* count * dtype_bytes(dtype) */
    void *data;               /* on the backend's device; NULL until it is allocated */
} Tensor;

/* Fills *tensor (data = NULL). Fails when a dimension is negative or the size overflows. */
Status tensor_init(Tensor *tensor, const char *name, DType dtype, int rank, const int *dim);

/* The product of rank sizes times element_bytes, checked: the only place where sizes are multiplied
 * before an allocation. Fails with what's name when it passes SIZE_MAX / 2 or a size is negative.
 */
Status checked_bytes(size_t *bytes, const char *what, size_t element_bytes, int rank,
                     const int *dim);

/* Writes "64x784" (a scalar: "1") into text. Returns text. */
char *shape_text(char *text, size_t text_bytes, int rank, const int *dim);

#ifdef __cplusplus
}
#endif
#endif
