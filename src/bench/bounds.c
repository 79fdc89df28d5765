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

/* The bit patterns of one sign are in the order of magnitude: a neighbour is the next pattern. 32
 * weights share one random word. What would cross zero or leave the finite numbers stays. */
void nudge_weights(float *weights, size_t n, uint32_t neighbours, Philox rng, uint64_t first) {
    uint32_t word = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        if (i % 32 == 0) {
            word = philox_bits(rng, first + i / 32);
        }
        memcpy(&bits, &weights[i], sizeof bits);
        uint32_t magnitude = bits & 0x7fffffffu;
        if (magnitude > neighbours && magnitude + neighbours < 0x7f800000u) {
            bits = (word >> (i % 32)) & 1u ? bits + neighbours : bits - neighbours;
            memcpy(&weights[i], &bits, sizeof bits);
        }
    }
}

/* max(16, sqrt(n)) u: what a chain of about n roundings may come to, relative to its result. */
static double rounding(int longest) {
    return fmax(step_factor, sqrt((double)longest)) * UNIT_ROUNDOFF;
}

double bound_step(double sigma, double update_norm, double weight_norm, int longest) {
    return step_factor * sigma + rounding(longest) * update_norm +
           2.0 * UNIT_ROUNDOFF * weight_norm;
}

double bound_course(double twin_distance, double weight_norm, int longest) {
    return course_factor * twin_distance + rounding(longest) * weight_norm;
}

double bound_step_loss(double sigma, double loss, int longest) {
    return step_factor * sigma + rounding(longest) * (1.0 + fabs(loss));
}

double bound_course_loss(double twin_distance, double loss, int longest) {
    return course_factor * twin_distance + rounding(longest) * (1.0 + fabs(loss));
}
