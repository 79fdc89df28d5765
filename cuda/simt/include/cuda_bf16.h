/* bfloat16 and its pair, as <cuda_bf16.h> names them. */
#ifndef SIMT_CUDA_BF16_H
#define SIMT_CUDA_BF16_H

#include "cuda_runtime.h"

#include "../short_float_functions.h"

typedef simt::ShortFloat<simt::BfloatFormat> __nv_bfloat16;
typedef simt::ShortFloat2<simt::BfloatFormat> __nv_bfloat162;
typedef simt::RawShort __nv_bfloat16_raw;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

SIMT_SHORT_CONVERSIONS(bfloat16, __nv_bfloat16, __nv_bfloat162, simt::BfloatFormat)

inline float2 __bfloat1622float2(__nv_bfloat162 a) {
    return float2{a.x, a.y};
}
inline __nv_bfloat162 __float22bfloat162_rn(float2 a) {
    return __floats2bfloat162_rn(a.x, a.y);
}

#endif
