/* The functions that half and bfloat16 have in common, once for both. Names and meaning as in the
 * CUDA Math API reference, "Half Precision Intrinsics" and "Bfloat16 Precision Intrinsics". */
#ifndef SIMT_SHORT_FLOAT_FUNCTIONS_H
#define SIMT_SHORT_FLOAT_FUNCTIONS_H

#include "device_math.h"
#include "short_float.h"

namespace simt {
template <class F> using S = ShortFloat<F>;
template <class F> using S2 = ShortFloat2<F>;
template <class F> inline bool is_nan(S<F> a) {
    return (a.bits & 0x7fff) > infinity_bits<F>();
}
template <class F> inline S<F> clamp_to_one(S<F> a) {
    return is_nan(a) ? S<F>::from_bits(0) : S<F>(__saturatef((float)a));
}
template <class F> inline S<F> not_negative(S<F> a) {
    return !is_nan(a) && (float)a <= 0 ? S<F>::from_bits(0) : a;
}
} // namespace simt

/* A function of one number, and of two at a time under another name. */
#define SIMT_SHORT_1(name, name2, expression)                                                      \
    template <class F> inline simt::S<F> name(simt::S<F> a) {                                      \
        return expression;                                                                         \
    }                                                                                              \
    template <class F> inline simt::S2<F> name2(simt::S2<F> a) {                                   \
        return simt::S2<F>(name(a.x), name(a.y));                                                  \
    }
#define SIMT_SHORT_2(name, name2, expression)                                                      \
    template <class F> inline simt::S<F> name(simt::S<F> a, simt::S<F> b) {                        \
        return expression;                                                                         \
    }                                                                                              \
    template <class F> inline simt::S2<F> name2(simt::S2<F> a, simt::S2<F> b) {                    \
        return simt::S2<F>(name(a.x, b.x), name(a.y, b.y));                                        \
    }
#define SIMT_SHORT_3(name, name2, expression)                                                      \
    template <class F> inline simt::S<F> name(simt::S<F> a, simt::S<F> b, simt::S<F> c) {          \
        return expression;                                                                         \
    }                                                                                              \
    template <class F> inline simt::S2<F> name2(simt::S2<F> a, simt::S2<F> b, simt::S2<F> c) {     \
        return simt::S2<F>(name(a.x, b.x, c.x), name(a.y, b.y, c.y));                              \
    }

SIMT_SHORT_2(__hadd, __hadd2, a + b)
SIMT_SHORT_2(__hsub, __hsub2, a - b)
SIMT_SHORT_2(__hmul, __hmul2, a *b)
SIMT_SHORT_2(__hdiv, __h2div, a / b)
SIMT_SHORT_2(__hadd_rn, __hadd2_rn, a + b)
SIMT_SHORT_2(__hsub_rn, __hsub2_rn, a - b)
SIMT_SHORT_2(__hmul_rn, __hmul2_rn, a *b)
SIMT_SHORT_2(__hadd_sat, __hadd2_sat, simt::clamp_to_one(a + b))
SIMT_SHORT_2(__hsub_sat, __hsub2_sat, simt::clamp_to_one(a - b))
SIMT_SHORT_2(__hmul_sat, __hmul2_sat, simt::clamp_to_one(a *b))
SIMT_SHORT_3(__hfma, __hfma2, simt::S<F>::from_bits(simt::bits_of_fma<F>(a, b, c)))
SIMT_SHORT_3(__hfma_sat, __hfma2_sat, simt::clamp_to_one(__hfma(a, b, c)))
SIMT_SHORT_3(__hfma_relu, __hfma2_relu, simt::not_negative(__hfma(a, b, c)))
SIMT_SHORT_1(__hneg, __hneg2, -a)
SIMT_SHORT_1(__habs, __habs2, simt::S<F>::from_bits(a.bits & 0x7fff))
/* A NaN gives way to a number; of two zeros, -0 is the smaller. */
SIMT_SHORT_2(__hmin, __hmin2,
             simt::is_nan(a)   ? b
             : simt::is_nan(b) ? a
             : a < b           ? a
             : b < a           ? b
                               : (a.bits & 0x8000 ? a : b))
SIMT_SHORT_2(__hmax, __hmax2,
             simt::is_nan(a)   ? b
             : simt::is_nan(b) ? a
             : a > b           ? a
             : b > a           ? b
                               : (a.bits & 0x8000 ? b : a))
SIMT_SHORT_2(__hmin_nan, __hmin2_nan,
             simt::is_nan(a) || simt::is_nan(b) ? simt::S<F>::from_bits(0x7fff) : __hmin(a, b))
SIMT_SHORT_2(__hmax_nan, __hmax2_nan,
             simt::is_nan(a) || simt::is_nan(b) ? simt::S<F>::from_bits(0x7fff) : __hmax(a, b))
SIMT_SHORT_1(hsqrt, h2sqrt, simt::S<F>(sqrtf(a)))
SIMT_SHORT_1(hrsqrt, h2rsqrt, simt::S<F>(1.0 / sqrt((double)(float)a)))
SIMT_SHORT_1(hrcp, h2rcp, simt::S<F>(1.0f / (float)a))
SIMT_SHORT_1(hexp, h2exp, simt::S<F>(exp((double)(float)a)))
SIMT_SHORT_1(hexp2, h2exp2, simt::S<F>(exp2((double)(float)a)))
SIMT_SHORT_1(hexp10, h2exp10, simt::S<F>(pow(10.0, (double)(float)a)))
SIMT_SHORT_1(hlog, h2log, simt::S<F>(log((double)(float)a)))
SIMT_SHORT_1(hlog2, h2log2, simt::S<F>(log2((double)(float)a)))
SIMT_SHORT_1(hlog10, h2log10, simt::S<F>(log10((double)(float)a)))
SIMT_SHORT_1(hsin, h2sin, simt::S<F>(sin((double)(float)a)))
SIMT_SHORT_1(hcos, h2cos, simt::S<F>(cos((double)(float)a)))
SIMT_SHORT_1(htanh, h2tanh, simt::S<F>(tanh((double)(float)a)))
SIMT_SHORT_1(hceil, h2ceil, simt::S<F>(ceilf(a)))
SIMT_SHORT_1(hfloor, h2floor, simt::S<F>(floorf(a)))
SIMT_SHORT_1(htrunc, h2trunc, simt::S<F>(truncf(a)))
SIMT_SHORT_1(hrint, h2rint, simt::S<F>(nearbyintf(a)))
#undef SIMT_SHORT_1
#undef SIMT_SHORT_2
#undef SIMT_SHORT_3

/* Comparisons: of one pair a bool; of two pairs 1.0 or 0.0 each (__heq2), or whether both hold
 * (__hbeq2). The forms with a u also hold when a NaN takes part. */
#define SIMT_SHORT_COMPARE(name, op)                                                               \
    template <class F> inline bool __h##name(simt::S<F> a, simt::S<F> b) {                         \
        return a op b;                                                                             \
    }                                                                                              \
    template <class F> inline bool __h##name##u(simt::S<F> a, simt::S<F> b) {                      \
        return simt::is_nan(a) || simt::is_nan(b) || a op b;                                       \
    }                                                                                              \
    template <class F> inline simt::S2<F> __h##name##2(simt::S2<F> a, simt::S2<F> b) {             \
        return simt::S2<F>(simt::S<F>((float)(a.x op b.x)), simt::S<F>((float)(a.y op b.y)));      \
    }                                                                                              \
    template <class F> inline bool __hb##name##2(simt::S2<F> a, simt::S2<F> b) {                   \
        return a.x op b.x && a.y op b.y;                                                           \
    }
SIMT_SHORT_COMPARE(eq, ==)
SIMT_SHORT_COMPARE(ne, !=)
SIMT_SHORT_COMPARE(lt, <)
SIMT_SHORT_COMPARE(le, <=)
SIMT_SHORT_COMPARE(gt, >)
SIMT_SHORT_COMPARE(ge, >=)
#undef SIMT_SHORT_COMPARE
template <class F> inline bool __hisnan(simt::S<F> a) {
    return simt::is_nan(a);
}
template <class F> inline int __hisinf(simt::S<F> a) {
    return (a.bits & 0x7fff) != simt::infinity_bits<F>() ? 0 : a.bits & 0x8000 ? -1 : 1;
}

template <class F> inline void __stcs(simt::S<F> *address, simt::S<F> value) {
    *address = value;
}

/* Conversions from and to numbers of other types, under the names of one of the formats: name is
 * half or bfloat16, Type the scalar, Type2 the pair. */
#define SIMT_SHORT_CONVERSIONS(name, Type, Type2, Format)                                          \
    inline Type __float2##name(float a) {                                                          \
        return Type(a);                                                                            \
    }                                                                                              \
    inline Type __float2##name##_rn(float a) {                                                     \
        return Type(a);                                                                            \
    }                                                                                              \
    inline Type __float2##name##_rz(float a) {                                                     \
        return Type::from_bits(simt::bits_from_double<Format>(a, simt::Rounding::ZERO));           \
    }                                                                                              \
    inline Type __float2##name##_ru(float a) {                                                     \
        return Type::from_bits(simt::bits_from_double<Format>(a, simt::Rounding::UP));             \
    }                                                                                              \
    inline Type __float2##name##_rd(float a) {                                                     \
        return Type::from_bits(simt::bits_from_double<Format>(a, simt::Rounding::DOWN));           \
    }                                                                                              \
    inline Type __double2##name(double a) {                                                        \
        return Type(a);                                                                            \
    }                                                                                              \
    inline float __##name##2float(Type a) {                                                        \
        return (float)a;                                                                           \
    }                                                                                              \
    inline Type __int2##name##_rn(int a) {                                                         \
        return Type((double)a);                                                                    \
    }                                                                                              \
    inline Type __uint2##name##_rn(unsigned a) {                                                   \
        return Type((double)a);                                                                    \
    }                                                                                              \
    inline int __##name##2int_rn(Type a) {                                                         \
        return __float2int_rn(a);                                                                  \
    }                                                                                              \
    inline int __##name##2int_rz(Type a) {                                                         \
        return __float2int_rz(a);                                                                  \
    }                                                                                              \
    inline unsigned __##name##2uint_rn(Type a) {                                                   \
        return __float2uint_rn(a);                                                                 \
    }                                                                                              \
    inline Type2 __float2##name##2_rn(float a) {                                                   \
        return Type2(Type(a), Type(a));                                                            \
    }                                                                                              \
    inline Type2 __floats2##name##2_rn(float a, float b) {                                         \
        return Type2(Type(a), Type(b));                                                            \
    }                                                                                              \
    inline Type2 __##name##2##name##2(Type a) {                                                    \
        return Type2(a, a);                                                                        \
    }                                                                                              \
    inline Type2 __halves2##name##2(Type a, Type b) {                                              \
        return Type2(a, b);                                                                        \
    }                                                                                              \
    inline Type __low2##name(Type2 a) {                                                            \
        return a.x;                                                                                \
    }                                                                                              \
    inline Type __high2##name(Type2 a) {                                                           \
        return a.y;                                                                                \
    }                                                                                              \
    inline Type2 __low2##name##2(Type2 a) {                                                        \
        return Type2(a.x, a.x);                                                                    \
    }                                                                                              \
    inline Type2 __high2##name##2(Type2 a) {                                                       \
        return Type2(a.y, a.y);                                                                    \
    }                                                                                              \
    inline Type2 __lows2##name##2(Type2 a, Type2 b) {                                              \
        return Type2(a.x, b.x);                                                                    \
    }                                                                                              \
    inline Type2 __highs2##name##2(Type2 a, Type2 b) {                                             \
        return Type2(a.y, b.y);                                                                    \
    }                                                                                              \
    inline float __low2float(Type2 a) {                                                            \
        return a.x;                                                                                \
    }                                                                                              \
    inline float __high2float(Type2 a) {                                                           \
        return a.y;                                                                                \
    }                                                                                              \
    inline unsigned short __##name##_as_ushort(Type a) {                                           \
        return a.bits;                                                                             \
    }                                                                                              \
    inline short __##name##_as_short(Type a) {                                                     \
        return (short)a.bits;                                                                      \
    }                                                                                              \
    inline Type __ushort_as_##name(unsigned short a) {                                             \
        return Type::from_bits(a);                                                                 \
    }                                                                                              \
    inline Type __short_as_##name(short a) {                                                       \
        return Type::from_bits((uint16_t)a);                                                       \
    }                                                                                              \
    inline Type2 make_##name##2(Type a, Type b) {                                                  \
        return Type2(a, b);                                                                        \
    }

#endif
