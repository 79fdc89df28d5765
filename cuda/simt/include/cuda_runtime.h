/* What <cuda_runtime.h> brings, for sources compiled by g++ for the interpreter. */
#ifndef SIMT_CUDA_RUNTIME_H
#define SIMT_CUDA_RUNTIME_H

#define SIMT_INTERPRETER     1 /* for sources that must know; ours do not */
#define __CUDACC__           1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 0

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static thread_local
#define __managed__
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n)    __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __grid_constant__
#define CUDART_CB

#include "../atomics.h"
#include "../device_bits.h"
#include "../device_math.h"
#include "../launch.h"
#include "../runtime.h"
#include "../vector_types.h"
#include "../warp.h"

#endif
