/* Scalar formulas that every backend shares, the GPU's too: one formula, one set of constants. */
#ifndef LOCKSTEP_SCALAR_H
#define LOCKSTEP_SCALAR_H

#include <math.h>
#include <stdbool.h>

#ifndef FORMULA /* cuda/cuda.h makes them functions of the GPU too */
#define FORMULA static inline
#endif

/* max(x, 0) that keeps NaN: x > 0 ? x : 0 would turn it into 0. */
FORMULA float relu(float x) {
    return x < 0.0f ? 0.0f : x;
}

FORMULA float relu_gradient(float dout, float out) {
    return out > 0.0f ? dout : 0.0f;
}

/* 1 / (1 + exp(-x)), given e = exp(-|x|): an exponential of nothing above 0, because exp(-x) would
 * overflow below -88. */
FORMULA float sigmoid_of(float x, float e) {
    return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

/* The larger of two, where NaN is larger than everything and stays: a > b ignores it. */
FORMULA float larger(float best, float x) {
    return x > best || x != x ? x : best;
}

/* Whether x takes the place of best in argmax: larger, or the first NaN. */
FORMULA bool beats(float x, float best) {
    return x > best || (x != x && best == best);
}

/* Adam's step without lr: mean over root of mean square, both freed of their start at 0. */
FORMULA float adam_direction(float m, float v, float eps, float correction1, float correction2) {
    return (m / correction1) / (sqrtf(v / correction2) + eps);
}

#endif
