/* Formulas on rows that every CPU backend shares. */
#ifndef LOCKSTEP_FORMULAS_H
#define LOCKSTEP_FORMULAS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "ops/elementary.h"
#include "ops/pairwise.h"
#include "ops/scalar.h"

/* The largest of n numbers, NaN if there is one; -INFINITY of none. 32 running maxima, so that the
 * compiler keeps them in vector registers. */
static inline float row_max(const float *x, size_t n) {
    enum { LANES = 32 };
    float best = -INFINITY;
    size_t i = 0;
    if (n >= LANES) {
        float lane[LANES];
        memcpy(lane, x, sizeof lane);
        for (i = LANES; i + LANES <= n; i += LANES) {
            for (int l = 0; l < LANES; l++) {
                lane[l] = larger(lane[l], x[i + (size_t)l]);
            }
        }
        for (int l = 0; l < LANES; l++) {
            best = larger(best, lane[l]);
        }
    }
    for (; i < n; i++) {
        best = larger(best, x[i]);
    }
    return best;
}

/* The index of the largest of n numbers: the lowest of equals, the first NaN; 0 of none. */
static inline int row_argmax(const float *x, int n) {
    int best = 0;
    for (int i = 1; i < n; i++) {
        best = beats(x[i], x[best]) ? i : best;
    }
    return best;
}

/* One row of softmax_cross_entropy_forward: fills probs_n (V), returns the loss. Its sum is
 * pairwise, so a vocabulary of any size costs no accuracy. V >= 1. */
static inline float softmax_cross_entropy_row(float *probs_n, const float *logits_n, int label,
                                              int V) {
    float m = row_max(logits_n, (size_t)V);
    for (int v = 0; v < V; v++) {
        probs_n[v] = exp_fp32(logits_n[v] - m);
    }
    float s = pairwise_sum(probs_n, (size_t)V);
    for (int v = 0; v < V; v++) {
        probs_n[v] /= s;
    }
    return logf(s) + (m - logits_n[label]);
}

#endif
