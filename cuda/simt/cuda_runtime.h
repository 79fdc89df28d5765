/* What <cuda_runtime.h> brings, for sources compiled by g++ for the interpreter. */
#ifndef SIMT_CUDA_RUNTIME_H
#define SIMT_CUDA_RUNTIME_H

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static thread_local
#define __managed__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __grid_constant__

#include "vector_types.h"
#include "runtime.h"
#include "grid.h"
#include "intrinsics.h"
#include "launch.h"

#endif
