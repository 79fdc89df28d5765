/* Arithmetic and bit functions that CUDA gives to kernels besides <math.h>. Names and meaning as in
 * the CUDA Math API reference. The "fast" ones (__expf, __fdividef) are the exact ones here: their
 * error bound is met, their bits are not those of a GPU. */
#ifndef SIMT_DEVICE_MATH_H
#define SIMT_DEVICE_MATH_H

#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <math.h>
#include <stdlib.h>
#include <type_traits>

#include "grid.h"

/* ---- min and max: of two numbers of any types; a NaN gives way, as in fminf and fmaxf ---- */
namespace simt {
template <class A, class B>
using Common =
    std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>, std::common_type_t<A, B>>;
} // namespace simt
template <class A, class B> inline simt::Common<A, B> min(A a, B b) {
    typedef simt::Common<A, B> T;
    if constexpr (std::is_floating_point_v<T>) {
        return (T)b != (T)b || (T)a < (T)b ? (T)a : (T)b;
    } else {
        return (T)b < (T)a ? (T)b : (T)a;
    }
}
template <class A, class B> inline simt::Common<A, B> max(A a, B b) {
    typedef simt::Common<A, B> T;
    if constexpr (std::is_floating_point_v<T>) {
        return (T)b != (T)b || (T)a > (T)b ? (T)a : (T)b;
    } else {
        return (T)a < (T)b ? (T)b : (T)a;
    }
}
inline int umin(unsigned a, unsigned b) {
    return (int)min(a, b);
}
inline int umax(unsigned a, unsigned b) {
    return (int)max(a, b);
}

/* ---- single precision ---- */
inline float rsqrtf(float x) {
    return (float)(1.0 / sqrt((double)x));
}
inline double rsqrt(double x) {
    return 1.0 / sqrt(x);
}
inline float rcbrtf(float x) {
    return (float)(1.0 / cbrt((double)x));
}
inline float sinpif(float x) {
    return (float)sin(3.14159265358979323846 * remainder((double)x, 2.0));
}
inline float cospif(float x) {
    return (float)cos(3.14159265358979323846 * remainder((double)x, 2.0));
}
inline float normcdff(float x) {
    return (float)(0.5 * erfc(-(double)x * 0.70710678118654752440));
}
inline float norm3df(float x, float y, float z) {
    return (float)sqrt((double)x * x + (double)y * y + (double)z * z);
}
inline float norm4df(float x, float y, float z, float w) {
    return (float)sqrt((double)x * x + (double)y * y + (double)z * z + (double)w * w);
}
inline float rhypotf(float x, float y) {
    return (float)(1.0 / hypot((double)x, (double)y));
}
inline float __saturatef(float x) {
    return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; /* a NaN becomes 0 */
}
inline float __expf(float x) {
    return expf(x);
}
inline float __exp10f(float x) {
    return (float)pow(10.0, (double)x);
}
inline float __logf(float x) {
    return logf(x);
}
inline float __log2f(float x) {
    return log2f(x);
}
inline float __log10f(float x) {
    return log10f(x);
}
inline float __sinf(float x) {
    return sinf(x);
}
inline float __cosf(float x) {
    return cosf(x);
}
inline float __tanf(float x) {
    return tanf(x);
}
inline void __sincosf(float x, float *s, float *c) {
    *s = sinf(x);
    *c = cosf(x);
}
inline float __powf(float x, float y) {
    return powf(x, y);
}
inline float __fdividef(float x, float y) {
    return x / y;
}
inline float fdividef(float x, float y) {
    return x / y;
}

/* Rounded to nearest, and never fused with a neighbour, which is what these are for. */
namespace simt {
template <class T> inline T unfused(T x) {
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
    return __builtin_assoc_barrier(x);
#else
    volatile T kept = x;
    return kept;
#endif
}
} // namespace simt
inline float __fadd_rn(float x, float y) {
    return simt::unfused(x + y);
}
inline float __fsub_rn(float x, float y) {
    return simt::unfused(x - y);
}
inline float __fmul_rn(float x, float y) {
    return simt::unfused(x * y);
}
inline float __fmaf_rn(float x, float y, float z) {
    return fmaf(x, y, z);
}
inline float __fdiv_rn(float x, float y) {
    return x / y;
}
inline float __fsqrt_rn(float x) {
    return sqrtf(x);
}
inline float __frcp_rn(float x) {
    return 1.0f / x;
}
inline float __frsqrt_rn(float x) {
    return rsqrtf(x);
}
inline double __dadd_rn(double x, double y) {
    return simt::unfused(x + y);
}
inline double __dsub_rn(double x, double y) {
    return simt::unfused(x - y);
}
inline double __dmul_rn(double x, double y) {
    return simt::unfused(x * y);
}
inline double __fma_rn(double x, double y, double z) {
    return fma(x, y, z);
}
inline double __ddiv_rn(double x, double y) {
    return x / y;
}
inline double __dsqrt_rn(double x) {
    return sqrt(x);
}

/* ---- conversions: out of range saturates, a NaN becomes 0 (what the hardware's cvt does) ---- */
namespace simt {
template <class To, class From> inline To saturate(From rounded) {
    const From low = (From)std::numeric_limits<To>::min();
    const From high = (From)std::numeric_limits<To>::max(); /* may round up to one past the end */
    if (rounded != rounded) {
        return 0;
    }
    return rounded >= high  ? std::numeric_limits<To>::max()
           : rounded <= low ? std::numeric_limits<To>::min()
                            : (To)rounded;
}
} // namespace simt
#define SIMT_TO_INTEGER(from, From, to, To)                                                        \
    inline To __##from##2##to##_rn(From x) {                                                       \
        return simt::saturate<To>(nearbyint(x));                                                   \
    }                                                                                              \
    inline To __##from##2##to##_rz(From x) {                                                       \
        return simt::saturate<To>(trunc(x));                                                       \
    }                                                                                              \
    inline To __##from##2##to##_ru(From x) {                                                       \
        return simt::saturate<To>(ceil(x));                                                        \
    }                                                                                              \
    inline To __##from##2##to##_rd(From x) {                                                       \
        return simt::saturate<To>(floor(x));                                                       \
    }
SIMT_TO_INTEGER(float, float, int, int)
SIMT_TO_INTEGER(float, float, uint, unsigned)
SIMT_TO_INTEGER(float, float, ll, long long)
SIMT_TO_INTEGER(float, float, ull, unsigned long long)
SIMT_TO_INTEGER(double, double, int, int)
SIMT_TO_INTEGER(double, double, uint, unsigned)
SIMT_TO_INTEGER(double, double, ll, long long)
SIMT_TO_INTEGER(double, double, ull, unsigned long long)
#undef SIMT_TO_INTEGER
inline float __int2float_rn(int x) {
    return (float)x;
}
inline float __uint2float_rn(unsigned x) {
    return (float)x;
}
inline float __ll2float_rn(long long x) {
    return (float)x;
}
inline float __ull2float_rn(unsigned long long x) {
    return (float)x;
}
inline double __int2double_rn(int x) {
    return x;
}
inline double __uint2double_rn(unsigned x) {
    return x;
}
inline double __ll2double_rn(long long x) {
    return (double)x;
}
inline float __double2float_rn(double x) {
    return (float)x;
}

namespace simt {
template <class To, class From> inline To same_bits(From x) {
    To y;
    static_assert(sizeof x == sizeof y, "the same bits need the same size");
    memcpy(&y, &x, sizeof y);
    return y;
}
} // namespace simt
inline int __float_as_int(float x) {
    return simt::same_bits<int>(x);
}
inline unsigned __float_as_uint(float x) {
    return simt::same_bits<unsigned>(x);
}
inline float __int_as_float(int x) {
    return simt::same_bits<float>(x);
}
inline float __uint_as_float(unsigned x) {
    return simt::same_bits<float>(x);
}
inline long long __double_as_longlong(double x) {
    return simt::same_bits<long long>(x);
}
inline double __longlong_as_double(long long x) {
    return simt::same_bits<double>(x);
}
inline int __double2hiint(double x) {
    return (int)(simt::same_bits<uint64_t>(x) >> 32);
}
inline int __double2loint(double x) {
    return (int)simt::same_bits<uint64_t>(x);
}
inline double __hiloint2double(int high, int low) {
    return simt::same_bits<double>((uint64_t)(unsigned)high << 32 | (unsigned)low);
}

#endif
