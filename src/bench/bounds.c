#include "bench/bounds.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define UNIT_ROUNDOFF 0x1p-24 /* of fp32 */

static const double step_factor = 16.0, course_factor = 4.0;

double distance_l2(const float *a, const float *b, size_t n) {
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        double difference = (double)a[i] - (double)b[i];
        sum += difference * difference;
    }
    return sqrt(sum);
}

double norm_l2(const float *a, size_t n) {
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += (double)a[i] * (double)a[i];
    }
    return sqrt(sum);
}

double distance_of_updates(const float *a_after, const float *a_before, const float *b_after,
                           const float *b_before, size_t n) {
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        double a = (double)a_after[i] - (double)a_before[i];
        double b = (double)b_after[i] - (double)b_before[i];
        sum += (a - b) * (a - b);
    }
    return sqrt(sum);
}

/* In sign-magnitude order the neighbour away from zero is the next bit pattern. 32 weights share
 * one random word. */
void nudge_weights(float *weights, size_t n, Philox rng, uint64_t first) {
    uint32_t word = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        if (i % 32 == 0) {
            word = philox_bits(rng, first + i / 32);
        }
        memcpy(&bits, &weights[i], sizeof bits);
        if (weights[i] != 0.0f && isfinite(weights[i])) {
            bits += (word >> (i % 32)) & 1u ? 1u : UINT32_MAX;
            memcpy(&weights[i], &bits, sizeof bits);
        }
    }
}

double bound_step(double sigma, double update_norm, double weight_norm, int longest) {
    double arithmetic = fmax(step_factor, sqrt((double)longest)) * UNIT_ROUNDOFF;
    return step_factor * sigma + arithmetic * update_norm + 2.0 * UNIT_ROUNDOFF * weight_norm;
}

double bound_course(double twin_distance, double weight_norm) {
    return course_factor * twin_distance + 2.0 * UNIT_ROUNDOFF * weight_norm;
}

static double loss_rounding(double loss, int longest) {
    return fmax(step_factor, sqrt((double)longest)) * UNIT_ROUNDOFF * (1.0 + fabs(loss));
}

double bound_step_loss(double sigma, double loss, int longest) {
    return step_factor * sigma + loss_rounding(loss, longest);
}

double bound_course_loss(double twin_distance, double loss, int longest) {
    return course_factor * twin_distance + loss_rounding(loss, longest);
}
