/* half: all 65,536 values through every conversion and operation, against exact integer arithmetic.
 * A half is a whole number of 2^-24; sums and products of halves are whole numbers of 2^-48, and
 * the nearest half is looked up in the sorted list of all halves, ties to the even one. */
#include "check.h"
#include <cuda_fp16.h>
#include <math.h>
#include <string.h>

typedef __int128 Exact; /* in units of 2^-48 */

enum { VALUES = 65536, FINITE = 0x7c00, TRIPLES = 1 << 18 };

/* Exact value of the half with these bits, without sign; infinity stands where 2^16 would be. */
static Exact magnitude(unsigned bits) {
    unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
    Exact units = exponent == 0 ? (Exact)fraction : (Exact)(fraction + 1024) << (exponent - 1);
    return units << 24;
}

static Exact exact(unsigned bits) {
    return bits & 0x8000 ? -magnitude(bits & 0x7fff) : magnitude(bits & 0x7fff);
}

/* Bits of the half nearest to value; zero has the sign that is given. */
static unsigned nearest(Exact value, bool negative_zero) {
    unsigned sign = value < 0 || (value == 0 && negative_zero) ? 0x8000 : 0;
    Exact m = value < 0 ? -value : value;
    unsigned low = 0, high = FINITE; /* magnitude(low) <= m; FINITE is infinity */
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (magnitude(middle) <= m) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Exact below = m - magnitude(low), above = magnitude(low + 1) - m;
    bool up = above < below || (above == below && (low & 1) != 0);
    return sign | (low + (up ? 1 : 0));
}

static bool is_nan(unsigned bits) {
    return (bits & 0x7fff) > FINITE;
}

static bool same(unsigned got, unsigned expected) {
    return got == expected || (is_nan(got) && is_nan(expected));
}

__global__ void to_float(float *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __half2float(__ushort_as_half((unsigned short)i));
}

__global__ void from_float(unsigned short *out, const float *in) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __half_as_ushort(__float2half(in[i]));
}

static float floats[VALUES];
static unsigned short shorts[VALUES];

static void check_conversions(void) {
    float *device_floats = device_array<float>(VALUES);
    unsigned short *device_shorts = device_array<unsigned short>(VALUES);
    int wrong = 0, wrong_back = 0, wrong_between = 0;
    to_float<<<VALUES / 256, 256>>>(device_floats);
    to_host(floats, device_floats, VALUES);
    for (unsigned i = 0; i < VALUES; i++) {
        if ((i & 0x7fff) == FINITE) {
            wrong += floats[i] != (i & 0x8000 ? -INFINITY : INFINITY);
        } else if (is_nan(i)) {
            wrong += floats[i] == floats[i];
        } else {
            wrong += ldexp((double)floats[i], 48) != (double)exact(i) ||
                     (signbit(floats[i]) != 0) != (i >> 15 != 0);
        }
    }
    CHECK(wrong == 0);
    from_float<<<VALUES / 256, 256>>>(device_shorts, device_floats);
    to_host(shorts, device_shorts, VALUES);
    for (unsigned i = 0; i < VALUES; i++) {
        wrong_back += !same(shorts[i], i);
    }
    CHECK(wrong_back == 0);
    /* Between two halves, at their middle, and one float to either side of it. */
    for (int side = -1; side <= 1; side++) {
        for (unsigned i = 0; i < VALUES; i++) {
            unsigned m = i & 0x7fff;
            double middle =
                m < FINITE ? ldexp((double)(magnitude(m) + magnitude(m + 1)) / 2, -48) : 0;
            float value = (float)middle;
            value = side == 0 ? value : nextafterf(value, side < 0 ? 0.0f : INFINITY);
            floats[i] = i & 0x8000 ? -value : value;
        }
        to_device(device_floats, floats, VALUES);
        from_float<<<VALUES / 256, 256>>>(device_shorts, device_floats);
        to_host(shorts, device_shorts, VALUES);
        for (unsigned i = 0; i < VALUES; i++) {
            unsigned m = i & 0x7fff;
            if (m < FINITE) {
                bool up = side > 0 || (side == 0 && (m & 1) != 0);
                wrong_between += shorts[i] != ((i & 0x8000) | (m + (up ? 1 : 0)));
            }
        }
    }
    CHECK(wrong_between == 0);
}

struct Triple {
    unsigned short a, b, c;
};
struct Answers {
    unsigned short add, sub, mul, div, fma, min, max, root, pair_low, pair_high;
    bool less, equal;
};

__global__ void operate(Answers *out, const Triple *in) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    __half a = __ushort_as_half(in[i].a), b = __ushort_as_half(in[i].b);
    __half c = __ushort_as_half(in[i].c);
    __half2 pair = __hfma2(__halves2half2(a, b), __halves2half2(b, c), __halves2half2(c, a));
    out[i].add = __half_as_ushort(__hadd(a, b));
    out[i].sub = __half_as_ushort(__hsub(a, b));
    out[i].mul = __half_as_ushort(__hmul(a, b));
    out[i].div = __half_as_ushort(__hdiv(a, b));
    out[i].fma = __half_as_ushort(__hfma(a, b, c));
    out[i].min = __half_as_ushort(__hmin(a, b));
    out[i].max = __half_as_ushort(__hmax(a, b));
    out[i].root = __half_as_ushort(hsqrt(a));
    out[i].pair_low = __half_as_ushort(__low2half(pair));
    out[i].pair_high = __half_as_ushort(__high2half(pair));
    out[i].less = __hlt(a, b);
    out[i].equal = __heq(a, b);
}

static Triple triples[TRIPLES];
static Answers answers[TRIPLES];

/* Every a at least four times, with b and c from all over; a third of them within a few powers of
 * two of a, where sums cancel and round. */
static void make_triples(void) {
    unsigned state = 12345;
    for (int i = 0; i < TRIPLES; i++) {
        state = state * 1664525u + 1013904223u;
        unsigned first = state >> 16;
        state = state * 1664525u + 1013904223u;
        unsigned second = state >> 16;
        unsigned a = (unsigned)i & 0xffff;
        bool near = i % 3 == 0;
        triples[i].a = (unsigned short)a;
        triples[i].b = (unsigned short)(near ? (a ^ (first & 0x87ff)) : first);
        triples[i].c = (unsigned short)second;
    }
}

static bool is_finite(unsigned bits) {
    return (bits & 0x7fff) < FINITE;
}

/* The square root and the quotient: no half lies closer to the truth than the answer. Doubles carry
 * more than twice a half's bits and two more, so that rounding twice is rounding once. */
static unsigned nearest_to_double(double value) {
    return nearest((Exact)ldexp(fabs(value) > 1e6 ? copysign(1e6, value) : value, 60) / 4096,
                   signbit(value) != 0);
}

static void check_finite(const Triple *t, const Answers *r, int *wrong) {
    Exact a = exact(t->a), b = exact(t->b), c = exact(t->c), product = (a >> 24) * (b >> 24);
    bool sign_a = t->a >> 15, sign_b = t->b >> 15, sign_p = sign_a != sign_b;
    wrong[0] += r->add != nearest(a + b, sign_a && sign_b);
    wrong[1] += r->sub != nearest(a - b, sign_a && !sign_b);
    wrong[2] += r->mul != nearest(product, sign_p);
    wrong[3] += r->fma != nearest(product + c, sign_p && t->c >> 15);
    wrong[4] += r->less != (a < b) || r->equal != (a == b);
    if (a != b) {
        wrong[5] += r->min != (a < b ? t->a : t->b) || r->max != (a < b ? t->b : t->a);
    }
    if (b != 0) {
        double quotient = (double)a / (double)b;
        if (fabs(quotient) > 0x1p-14 || a == 0) {
            wrong[6] += r->div != nearest_to_double(a == 0 ? (sign_p ? -0.0 : 0.0) : quotient);
        }
    }
    if (!sign_a) {
        wrong[7] += r->root != nearest_to_double(sqrt(ldexp((double)a, -48)));
    }
}

static void check_operations(void) {
    Triple *device_in = device_array<Triple>(TRIPLES);
    Answers *device_out = device_array<Answers>(TRIPLES);
    int wrong[8] = {0}, wrong_pair = 0, wrong_nan = 0, examined = 0;
    make_triples();
    to_device(device_in, triples, TRIPLES);
    operate<<<TRIPLES / 256, 256>>>(device_out, device_in);
    to_host(answers, device_out, TRIPLES);
    for (int i = 0; i < TRIPLES; i++) {
        const Triple *t = &triples[i];
        const Answers *r = &answers[i];
        wrong_pair += !same(r->pair_low, r->fma);
        if (is_finite(t->a) && is_finite(t->b) && is_finite(t->c)) {
            check_finite(t, r, wrong);
            Exact other = (exact(t->b) >> 24) * (exact(t->c) >> 24) + exact(t->a);
            wrong_pair += r->pair_high != nearest(other, (t->b ^ t->c) >> 15 && t->a >> 15);
            examined++;
        } else if (is_nan(t->a) || is_nan(t->b)) {
            wrong_nan += !is_nan(r->add) || !is_nan(r->mul) || !is_nan(r->div) || !is_nan(r->fma);
            wrong_nan += r->less || r->equal;
            wrong_nan += is_nan(t->a) != is_nan(t->b) && (is_nan(r->min) || is_nan(r->max));
        }
    }
    for (int k = 0; k < 8; k++) {
        CHECK(wrong[k] == 0);
    }
    CHECK(wrong_pair == 0);
    CHECK(wrong_nan == 0);
    CHECK(examined > TRIPLES / 2);
}

__global__ void pairs(float *out, unsigned *bits) {
    __half2 a = __floats2half2_rn(1.5f, -2.0f), b = __float2half2_rn(0.25f);
    float2 sum = __half22float2(__hadd2(a, b));
    out[0] = sum.x;
    out[1] = sum.y;
    out[2] = __low2float(__hmul2(a, b));
    out[3] = __high2float(__hmul2(a, b));
    out[4] = __half2float(__float2half_rz(1.0f + 0x1p-11f * 1.5f));
    out[5] = __half2float(__float2half_ru(1.0f + 0x1p-20f));
    out[6] = __half2float(__float2half_rd(-1.0f - 0x1p-20f));
    out[7] = (float)__half2int_rn(__float2half(2.5f)); /* ties to even */
    out[8] = (float)__half2int_rz(__float2half(-2.75f));
    out[9] = __half2float(__double2half(1.0 + 0x1p-11 + 0x1p-30)); /* rounded once: up */
    bits[0] = __half_as_ushort(__float2half(65519.0f));
    bits[1] = __half_as_ushort(__float2half(65520.0f));
    bits[2] = __half_as_ushort(__float2half(-1e30f));
    bits[3] = __half_as_ushort(__float2half(0x1p-25f));
    bits[4] = __half_as_ushort(__float2half(0x1.000002p-25f));
    bits[5] = __half_as_ushort(__float2half(-0.0f));
}

static void check_pairs(void) {
    float *device = device_array<float>(10), got[10];
    unsigned *device_bits = device_array<unsigned>(6), bits[6];
    pairs<<<1, 1>>>(device, device_bits);
    to_host(got, device, 10);
    to_host(bits, device_bits, 6);
    CHECK(got[0] == 1.75f && got[1] == -1.75f && got[2] == 0.375f && got[3] == -0.5f);
    CHECK(got[4] == 1.0f && got[5] == 1.0f + 0x1p-10f && got[6] == -1.0f - 0x1p-10f);
    CHECK(got[7] == 2 && got[8] == -2 && got[9] == 1.0f + 0x1p-10f);
    CHECK(bits[0] == 0x7bff && bits[1] == 0x7c00 && bits[2] == 0xfc00);
    CHECK(bits[3] == 0 && bits[4] == 1 && bits[5] == 0x8000);
}

/* The compiler's own type, where it has one, on every float that has a half's exponent or is near.
 */
#if defined(__FLT16_MAX__) && !defined(__CUDA_ARCH__) && defined(SIMT_INTERPRETER)
static void check_against_compiler(void) {
    int wrong = 0;
    for (unsigned high = 0; high < VALUES; high++) {
        for (unsigned low :
             {0u, 1u, 0x0fffu, 0x1000u, 0x1001u, 0x2fffu, 0x3000u, 0x8000u, 0xffffu}) {
            unsigned bits = high << 16 | low;
            float value;
            unsigned short theirs;
            memcpy(&value, &bits, sizeof value);
            _Float16 converted = (_Float16)value;
            memcpy(&theirs, &converted, sizeof theirs);
            wrong += !same(__half_as_ushort(__float2half(value)), theirs);
        }
    }
    CHECK(wrong == 0);
}
#else
static void check_against_compiler(void) {
}
#endif

int main(void) {
    check_conversions();
    check_operations();
    check_pairs();
    check_against_compiler();
    CHECK_DONE();
}
