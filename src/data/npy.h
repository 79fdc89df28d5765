/* NumPy's .npy files, versions 1 and 2, little end first, C order: "\x93NUMPY", the version, the
 * header's length, a Python dictionary of descr, fortran_order and shape, then the values. */
#ifndef LOCKSTEP_DATA_NPY_H
#define LOCKSTEP_DATA_NPY_H

#include <stdbool.h>

#include "base/tensor.h"

/* Reads a file, plain or gzip, into *tensor (named after the file; data from memory_alloc, to be
 * freed with memory_free). float32 and float64 become fp32, int32 and int64 int32; *was_double
 * tells that float64 was rounded, for the caller to say so. Fails, and leaves nothing to free, on
 * other types, big-endian values, Fortran order, objects, more than TENSOR_MAX_RANK dimensions,
 * values that do not fit, and files that are cut or longer than their shape. */
Status npy_read(Tensor *tensor, bool *was_double, const char *path);

/* Writes the host memory of tensor as version 1. path then holds the whole file, or what it held
 * before. */
Status npy_write(const char *path, const Tensor *tensor);

#endif
