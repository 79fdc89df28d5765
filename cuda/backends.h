/* The backends of this folder's kernels: on an NVIDIA GPU, and interpreted on the CPU. */
#ifndef LOCKSTEP_CUDA_BACKENDS_H
#define LOCKSTEP_CUDA_BACKENDS_H

#include "ops/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const Backend backend_cuda, backend_simt;

#ifdef __cplusplus
}
#endif
#endif
