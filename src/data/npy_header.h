/* The header of a .npy file: its dictionary as text, parsed and made. */
#ifndef LOCKSTEP_DATA_NPY_HEADER_H
#define LOCKSTEP_DATA_NPY_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "base/tensor.h"

enum { NPY_HEADER_ALIGNMENT = 64, NPY_MADE_BYTES = 4 * NPY_HEADER_ALIGNMENT };

#define NPY_CURE "save it with numpy.save(file, numpy.ascontiguousarray(x, dtype=numpy.float32))"

/* out[0..count-1] = in, where first is the index of in[0]; fails on values that do not fit. */
typedef Status npy_convert_fn(void *out, const void *in, size_t first, size_t count,
                              const char *path);

typedef struct NpyType {
    const char *descr;
    DType dtype;
    size_t bytes;            /* of one value in the file */
    npy_convert_fn *convert; /* NULL: taken as it is */
} NpyType;

typedef struct NpyHeader {
    const char *path;     /* for messages */
    const char *at;       /* the rest of the text that is still to be parsed */
    const NpyType *types; /* those that are welcome */
    int type_count;
    const NpyType *type; /* the one that the file has */
    char descr[16];      /* its name in the file */
    int rank;
    int dim[TENSOR_MAX_RANK];
    int keys;       /* 1 descr, 2 fortran_order, 4 shape: those that were seen */
    uint64_t bytes; /* up to the first value */
} NpyHeader;

/* Parses the dictionary at header->at, which ends with a zero byte, into descr, type, rank and dim.
 * Fails on types that are not in the table, on Fortran order and on anything malformed. */
Status npy_header_parse(NpyHeader *header);

/* text (NPY_MADE_BYTES) = magic, version 1, dictionary, padded so that the values start at a
 * multiple of 64 bytes. Returns their length. */
size_t npy_header_make(char *text, const Tensor *tensor);

#endif
