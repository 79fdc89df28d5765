/* Running error analysis: arithmetic on pairs (value, error), where value is the true result in
 * double and error bounds how far any fp32 evaluation of the same formula can be from it. Each rule
 * below adds what its operands bring along, as in interval arithmetic, and one fresh rounding.
 * Source: Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., ch. 2 (the model), 3.3
 * (running error analysis), 4 (summation).
 *
 * The model: fl(x op y) = (x op y)(1 + d) + e with |d| <= u = 2^-24, |e| <= 2^-150 (half of the
 * smallest denormal: products and quotients may underflow gradually; sums are exact there).
 * Flushing denormals to zero (nvcc -ftz=true, x86 FTZ) breaks the model, and so fails.
 *
 * A fused multiply-add makes one rounding of the two that are charged here, so the bounds hold with
 * and without it, and neither is a fault. The double's own rounding, 2^-53 an operation, is paid
 * for by the 2^-10 part that UNIT_ROUNDOFF stands above 2^-24. */
#ifndef LOCKSTEP_APPROX_H
#define LOCKSTEP_APPROX_H

#include <math.h>

static const double UNIT_ROUNDOFF = 0x1.004p-24;
static const double UNDERFLOW_ERROR = 0x1p-150;

/* Largest errors of the elementary functions in units in the last place of fp32 (one is at most 2u
 * relative). CUDA's programming guide, "Mathematical Functions", gives for its standard functions
 * (no -use_fast_math) expf 2, tanhf 2, logf 1 from the correctly rounded value, so half a unit more
 * from the true one; glibc's stay within 1. Division and square root are correctly rounded (nvcc's
 * defaults -prec-div=true and -prec-sqrt=true; IEEE 754 on CPUs). */
static const double EXP_ULPS = 2.5, TANH_ULPS = 2.5, LOG_ULPS = 1.5;

typedef struct Approx {
    double value, error;
} Approx;

static inline Approx approx_exact(double value) {
    return (Approx){value, 0.0};
}

/* (1 + d1)...(1 + dn) = 1 + theta, |theta| <= gamma_n = nu / (1 - nu). Higham, lemma 3.1. */
static inline double gamma_n(double n) {
    return n * UNIT_ROUNDOFF / (1.0 - n * UNIT_ROUNDOFF);
}

/* The value as it is, after one rounding of something within error of it. */
static inline Approx approx_rounded(double value, double error) {
    return (Approx){value, error + UNIT_ROUNDOFF * (fabs(value) + error)};
}

static inline Approx approx_add(Approx a, Approx b) {
    return approx_rounded(a.value + b.value, a.error + b.error);
}

static inline Approx approx_sub(Approx a, Approx b) {
    return approx_rounded(a.value - b.value, a.error + b.error);
}

static inline Approx approx_mul(Approx a, Approx b) {
    double error = fabs(a.value) * b.error + fabs(b.value) * a.error + a.error * b.error;
    return approx_rounded(a.value * b.value, error + UNDERFLOW_ERROR);
}

/* |x/y - a/b| <= (ea + |a/b| eb) / (|b| - eb) for x, y within ea, eb of a, b. least: what |y| is
 * known to reach by other means (a root plus eps is at least eps), or 0; where nothing keeps y from
 * 0 the error is infinite. */
static inline Approx approx_div_by_least(Approx a, Approx b, double least) {
    if (isinf(b.value) && isfinite(a.value)) {
        return approx_exact(a.value / b.value); /* only infinite inputs give it: exactly 0 */
    }
    double quotient = a.value / b.value, room = fmax(fabs(b.value) - b.error, least);
    double error = room > 0.0 ? (a.error + fabs(quotient) * b.error) / room : HUGE_VAL;
    return approx_rounded(quotient, error + UNDERFLOW_ERROR);
}

static inline Approx approx_div(Approx a, Approx b) {
    return approx_div_by_least(a, b, 0.0);
}

/* |sqrt(x) - sqrt(a)| = |x - a| / (sqrt(x) + sqrt(a)) is at most e / sqrt(a), and at most sqrt(e);
 * fmin passes over the NaN of 0/0. */
static inline Approx approx_sqrt(Approx a) {
    double root = sqrt(a.value);
    return approx_rounded(root, fmin(a.error / root, sqrt(a.error)));
}

/* An elementary function's result: `spread` comes from its argument, `ulps` from the function. */
static inline Approx approx_function(double value, double spread, double ulps) {
    double relative = 2.0 * ulps * UNIT_ROUNDOFF;
    return (Approx){value,
                    spread + relative * (fabs(value) + spread) + 2.0 * ulps * UNDERFLOW_ERROR};
}

/* exp of an argument that is known to stay at or below `top` in fp32 too. */
static inline Approx approx_exp_below(Approx a, double top) {
    double value = exp(a.value);
    double up = exp(fmin(a.value + a.error, top)) - value, down = value - exp(a.value - a.error);
    return approx_function(value, a.error > 0.0 ? fmax(up, down) : 0.0, EXP_ULPS);
}

/* For a.value - a.error > 0; infinite error otherwise. */
static inline Approx approx_log(Approx a) {
    double value = log(a.value), room = a.value - a.error;
    return approx_function(value, room > 0.0 ? value - log(room) : HUGE_VAL, LOG_ULPS);
}

/* Two orders of evaluation of one value are both fine. */
static inline Approx approx_either(Approx a, Approx b) {
    return (Approx){a.value, fmax(a.error, b.error)};
}

#endif
