/* half and half2, as <cuda_fp16.h> names them. */
#ifndef SIMT_CUDA_FP16_H
#define SIMT_CUDA_FP16_H

#include "cuda_runtime.h"

#include "../short_float_functions.h"

typedef simt::ShortFloat<simt::HalfFormat> __half;
typedef simt::ShortFloat2<simt::HalfFormat> __half2;
typedef simt::RawShort __half_raw;
typedef __half half;
typedef __half2 half2;

SIMT_SHORT_CONVERSIONS(half, __half, __half2, simt::HalfFormat)

inline float2 __half22float2(__half2 a) {
    return float2{a.x, a.y};
}
inline __half2 __float22half2_rn(float2 a) {
    return __floats2half2_rn(a.x, a.y);
}
inline __half2 __lowhigh2highlow(__half2 a) {
    return __half2(a.y, a.x);
}

#endif
