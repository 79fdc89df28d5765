/* exp and tanh in fp32, as straight code without branches or calls: the compiler turns a loop over
 * them into vector instructions, where a call of the C library takes one element at a time.
 * Errors, over all floats (tests/test_ops.c samples them): exp 1.1 ulp, tanh 1.6 ulp.
 * Method and polynomials: S. Moshier, Cephes library, single precision (expf.c, tanhf.c). */
#ifndef LOCKSTEP_ELEMENTARY_H
#define LOCKSTEP_ELEMENTARY_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* 2^n for -126 <= n <= 127: n put where a float keeps its exponent. Any number for another n (which
 * exp_fp32 has when x is NaN). */
static inline float power_of_2(int32_t n) {
    uint32_t bits = (uint32_t)(n + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* exp(x) = 2^n * exp(r) with n = x / ln 2 rounded and |r| <= ln(2) / 2. Overflows to infinity, goes
 * down to 0 through the subnormals, keeps NaN. */
static inline float exp_fp32(float x) {
    const float round = 12582912.0f; /* 1.5 * 2^23: adding it leaves no bits for a fraction */
    const float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f; /* n * ln2_high is exact */
    x = x < -104.0f ? -104.0f : x; /* exp is 0 from here on down, */
    x = x > 89.0f ? 89.0f : x;     /* and infinite from here on up */
    float shifted = x * 1.44269504088896341f + round;
    float n = shifted - round;
    float r = (x - n * ln2_high) - n * ln2_low;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r + 1.0f;
    int32_t exponent, round_bits;
    memcpy(&exponent, &shifted, sizeof exponent);
    memcpy(&round_bits, &round, sizeof round_bits);
    exponent -= round_bits;      /* n as an integer: both lie in the same power of two */
    int32_t half = exponent / 2; /* in two steps, because 2^n alone may not be a normal float */
    return p * power_of_2(half) * power_of_2(exponent - half);
}

/* tanh(x): an odd polynomial near 0, where 1 - 2 / (exp(2x) + 1) would cancel. */
static inline float tanh_fp32(float x) {
    float size = fabsf(x), z = x * x;
    float p = -5.70498872745e-3f;
    p = p * z + 2.06390887954e-2f;
    p = p * z - 5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z - 3.33332819422e-1f;
    float near = p * z * x + x;
    float far = copysignf(1.0f - 2.0f / (exp_fp32(2.0f * size) + 1.0f), x);
    return size < 0.625f ? near : far;
}

#endif
