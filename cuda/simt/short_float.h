/* The 16-bit floating point types: half (1 sign, 5 exponent, 10 fraction bits) and bfloat16 (1, 8,
 * 7).
 *
 * Every operation rounds once, to nearest, ties to even, as the CUDA Math API says. Sums, products
 * and quotients may go through float: its 24 bits are more than twice a half's 11 and two more, so
 * that rounding twice gives the same as rounding once. Fused multiply-add may not: it goes through
 * double with the last bit made odd when something was cut off. */
#ifndef SIMT_SHORT_FLOAT_H
#define SIMT_SHORT_FLOAT_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace simt {

enum class Rounding { NEAREST, ZERO, UP, DOWN };

/* What the two formats differ in. */
struct HalfFormat {
    static constexpr int FRACTION = 10, BIAS = 15;
};
struct BfloatFormat {
    static constexpr int FRACTION = 7, BIAS = 127;
};

template <class Format> constexpr uint16_t infinity_bits() {
    return (uint16_t)((2 * Format::BIAS + 1) << Format::FRACTION);
}

/* Rounds a double to the format's bits. Every float is a double, so this serves both. */
template <class Format> inline uint16_t bits_from_double(double value, Rounding rounding) {
    uint64_t wide;
    memcpy(&wide, &value, sizeof wide);
    uint16_t sign = (uint16_t)(wide >> 63 << 15);
    uint64_t magnitude = wide & ~(1ull << 63);
    if (magnitude > 0x7ff0000000000000ull) {
        return 0x7fff; /* the one NaN that the hardware makes */
    }
    if (magnitude == 0x7ff0000000000000ull) {
        return sign | infinity_bits<Format>();
    }
    int exponent = (int)(magnitude >> 52) - 1023 + Format::BIAS; /* in the format's bias */
    uint64_t fraction =
        (magnitude & 0xfffffffffffffull) | (exponent + 1023 > Format::BIAS ? 1ull << 52 : 0);
    int cut = 52 - Format::FRACTION; /* bits that go */
    if (exponent <= 0) {             /* below the normal numbers: one bit more for each power */
        cut += 1 - exponent;
        exponent = 0;
    }
    if (cut > 63) {
        cut = 63; /* far below everything: nothing is left but "not zero" */
    }
    uint64_t kept = fraction >> cut, rest = fraction & ((1ull << cut) - 1),
             half = 1ull << (cut - 1);
    bool away = rounding == Rounding::NEAREST ? rest > half || (rest == half && (kept & 1) != 0)
                : rounding == Rounding::UP    ? rest != 0 && sign == 0
                : rounding == Rounding::DOWN  ? rest != 0 && sign != 0
                                              : false;
    /* The hidden bit counts as one in the exponent; a carry out of the fraction does the same. */
    uint64_t bits = ((uint64_t)(exponent > 0 ? exponent - 1 : 0) << Format::FRACTION) + kept + away;
    if (bits >= infinity_bits<Format>()) {
        bool to_infinity = rounding == Rounding::NEAREST || away ||
                           (rounding == Rounding::UP && sign == 0) ||
                           (rounding == Rounding::DOWN && sign != 0);
        bits = to_infinity ? infinity_bits<Format>() : infinity_bits<Format>() - 1u;
    }
    return sign | (uint16_t)bits;
}

template <class Format> inline uint16_t bits_from_float(float value) {
    uint32_t wide;
    memcpy(&wide, &value, sizeof wide);
    if constexpr (std::is_same_v<Format, BfloatFormat>) {
        if ((wide & 0x7fffffff) > 0x7f800000) {
            return 0x7fff;
        }
        return (uint16_t)((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
    }
    /* Between the half's smallest normal number and its largest, the same in one addition. */
    uint32_t magnitude = wide & 0x7fffffff;
    if (magnitude >= 0x38800000 && magnitude < 0x477ff000) {
        uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
        return (uint16_t)((wide >> 16 & 0x8000) | ((rounded - 0x38000000) >> 13));
    }
    return bits_from_double<Format>((double)value, Rounding::NEAREST);
}

template <class Format> inline float float_from_bits(uint16_t bits) {
    uint32_t wide;
    float value;
    if constexpr (std::is_same_v<Format, BfloatFormat>) {
        wide = (uint32_t)bits << 16;
    } else {
        uint32_t sign = (uint32_t)(bits & 0x8000) << 16, magnitude = bits & 0x7fffu;
        if (magnitude >= 0x7c00) {
            wide = sign | 0x7f800000 | (magnitude & 0x3ff) << 13;
        } else if (magnitude >= 0x400) {
            wide = sign | ((magnitude << 13) + 0x38000000);
        } else { /* subnormal: a whole number of 2^-24 */
            value = (float)magnitude * 0x1p-24f;
            memcpy(&wide, &value, sizeof wide);
            wide |= sign;
        }
    }
    memcpy(&value, &wide, sizeof value);
    return value;
}

/* x * y + z rounded to the format once. The product is exact in a double. If the sum is not, it is
 * moved to the neighbour with an odd last bit, on the side of the truth: then rounding it again
 * cannot meet a tie that was none ("round to odd"). */
template <class Format> inline uint16_t bits_of_fma(float x, float y, float z) {
    double product = (double)x * y, sum = product + z;
    if (std::isfinite(sum)) {
        double part = sum - product;
        double error = (product - (sum - part)) + ((double)z - part);
        uint64_t wide;
        memcpy(&wide, &sum, sizeof wide);
        if (error != 0 && (wide & 1) == 0) {
            wide += (error > 0) == (sum > 0) ? 1 : (uint64_t)-1;
            memcpy(&sum, &wide, sizeof wide);
        }
    }
    return bits_from_double<Format>(sum, Rounding::NEAREST);
}

struct RawShort { /* __half_raw, __nv_bfloat16_raw */
    unsigned short x;
};

template <class Format> struct ShortFloat {
    uint16_t bits;

    ShortFloat() = default;
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    ShortFloat(T value)
        : bits(sizeof(T) <= 4 && std::is_floating_point_v<T>
                   ? bits_from_float<Format>((float)value)
                   : bits_from_double<Format>((double)value, Rounding::NEAREST)) {
    }
    ShortFloat(RawShort raw) : bits(raw.x) {
    }
    operator float() const {
        return float_from_bits<Format>(bits);
    }
    operator RawShort() const {
        return RawShort{bits};
    }
    ShortFloat &operator+=(ShortFloat b) {
        return *this = *this + b;
    }
    ShortFloat &operator-=(ShortFloat b) {
        return *this = *this - b;
    }
    ShortFloat &operator*=(ShortFloat b) {
        return *this = *this * b;
    }
    ShortFloat &operator/=(ShortFloat b) {
        return *this = *this / b;
    }
    ShortFloat operator-() const {
        return from_bits((uint16_t)(bits ^ 0x8000));
    }
    ShortFloat operator+() const {
        return *this;
    }
    static ShortFloat from_bits(uint16_t bits) {
        ShortFloat result;
        result.bits = bits;
        return result;
    }
};

template <class Format> struct alignas(4) ShortFloat2 {
    typedef ShortFloat<Format> Element;
    Element x, y;

    ShortFloat2() = default;
    ShortFloat2(Element a, Element b) : x(a), y(b) {
    }
    ShortFloat2 &operator+=(ShortFloat2 b) {
        return *this = *this + b;
    }
    ShortFloat2 &operator-=(ShortFloat2 b) {
        return *this = *this - b;
    }
    ShortFloat2 &operator*=(ShortFloat2 b) {
        return *this = *this * b;
    }
    ShortFloat2 operator-() const {
        return ShortFloat2(-x, -y);
    }
};

/* float arithmetic, rounded: see above why that is exact. */
#define SIMT_SHORT_OPERATOR(op)                                                                    \
    template <class F> inline ShortFloat<F> operator op(ShortFloat<F> a, ShortFloat<F> b) {        \
        return ShortFloat<F>((float)a op(float) b);                                                \
    }                                                                                              \
    template <class F> inline ShortFloat2<F> operator op(ShortFloat2<F> a, ShortFloat2<F> b) {     \
        return ShortFloat2<F>(a.x op b.x, a.y op b.y);                                             \
    }
SIMT_SHORT_OPERATOR(+)
SIMT_SHORT_OPERATOR(-)
SIMT_SHORT_OPERATOR(*)
SIMT_SHORT_OPERATOR(/)
#undef SIMT_SHORT_OPERATOR

#define SIMT_SHORT_COMPARE(op)                                                                     \
    template <class F> inline bool operator op(ShortFloat<F> a, ShortFloat<F> b) {                 \
        return (float)a op(float) b;                                                               \
    }                                                                                              \
    template <class F> inline bool operator op(ShortFloat2<F> a, ShortFloat2<F> b) {               \
        return a.x op b.x && a.y op b.y;                                                           \
    }
SIMT_SHORT_COMPARE(==)
SIMT_SHORT_COMPARE(!=)
SIMT_SHORT_COMPARE(<)
SIMT_SHORT_COMPARE(>)
SIMT_SHORT_COMPARE(<=)
SIMT_SHORT_COMPARE(>=)
#undef SIMT_SHORT_COMPARE

} // namespace simt

#endif
