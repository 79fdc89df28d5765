/* Wrong kernels of activations and of the loss. The name says the fault. */
#include <math.h>

#include "verify/mutants.h"

/* ---- activations ---------------------------------------------------------------------------- */

static void relu_leaky(float *out, const float *inp, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] = inp[i] < 0.0f ? 0x1p-20f * inp[i] : inp[i];
    }
}

static void relu_loses_nan(float *out, const float *inp, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] = inp[i] > 0.0f ? inp[i] : 0.0f;
    }
}

static void relu_backward_at_zero(float *dinp, const float *dout, const float *out, size_t n) {
    for (size_t i = 0; i < n; i++) {
        dinp[i] = out[i] >= 0.0f ? dout[i] : 0.0f;
    }
}

static void relu_backward_by_dout(float *dinp, const float *dout, const float *out, size_t n) {
    (void)out;
    for (size_t i = 0; i < n; i++) {
        dinp[i] = dout[i] > 0.0f ? dout[i] : 0.0f;
    }
}

/* exp overflows at -89, and 1 / infinity is 0, where 1e-39 is right. */
static void sigmoid_overflows(float *out, const float *inp, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] = 1.0f / (1.0f + expf(-inp[i]));
    }
}

/* Right in absolute terms, and without a right digit far out on the left. */
static void sigmoid_by_tanh(float *out, const float *inp, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] = 0.5f + 0.5f * tanhf(0.5f * inp[i]);
    }
}

static void sigmoid_backward_without_dout(float *dinp, const float *dout, const float *out,
                                          size_t n) {
    (void)dout;
    for (size_t i = 0; i < n; i++) {
        dinp[i] = out[i] * (1.0f - out[i]);
    }
}

/* By the input's formula, as if out were the input. */
static void sigmoid_backward_of_input(float *dinp, const float *dout, const float *out, size_t n) {
    for (size_t i = 0; i < n; i++) {
        float y = 1.0f / (1.0f + expf(-out[i]));
        dinp[i] = dout[i] * y * (1.0f - y);
    }
}

/* The quick rational one: 3 % off at 2. */
static void tanh_rational(float *out, const float *inp, size_t n) {
    for (size_t i = 0; i < n; i++) {
        float x = inp[i], y = x * (27.0f + x * x) / (27.0f + 9.0f * x * x);
        out[i] = y > 1.0f ? 1.0f : y < -1.0f ? -1.0f : y;
    }
}

/* (e^x - e^-x) / (e^x + e^-x): NaN from 89 on. */
static void tanh_overflows(float *out, const float *inp, size_t n) {
    for (size_t i = 0; i < n; i++) {
        float a = expf(inp[i]), b = expf(-inp[i]);
        out[i] = (a - b) / (a + b);
    }
}

static void tanh_backward_not_squared(float *dinp, const float *dout, const float *out, size_t n) {
    for (size_t i = 0; i < n; i++) {
        dinp[i] = dout[i] * (1.0f - out[i]);
    }
}

static void tanh_backward_plus(float *dinp, const float *dout, const float *out, size_t n) {
    for (size_t i = 0; i < n; i++) {
        dinp[i] = dout[i] * (1.0f + out[i] * out[i]);
    }
}

/* ---- loss ----------------------------------------------------------------------------------- */

/* What a mutant of the softmax does otherwise. */
typedef struct SoftmaxFault {
    bool no_max;       /* exp(logit) itself */
    bool loss_of_prob; /* -log(p): infinite for p = 0 */
    double epsilon;    /* -log(p + epsilon) */
    bool not_divided;  /* probs are the exponentials */
    bool label_plus_1; /* labels from 1 */
    bool loss_without_max;
} SoftmaxFault;

static double row_max(const float *x, int V) {
    double best = -HUGE_VAL;
    for (int v = 0; v < V; v++) {
        best = fmax(best, (double)x[v]);
    }
    return best;
}

/* A row in double, so that it is exact but for its fault; exp overflows as in fp32. */
static float faulty_row(const SoftmaxFault *fault, float *probs_n, const float *logits_n, int label,
                        int V) {
    double m = fault->no_max ? 0.0 : row_max(logits_n, V), s = 0.0;
    for (int v = 0; v < V; v++) {
        s += (double)(float)exp((double)logits_n[v] - m);
    }
    for (int v = 0; v < V; v++) {
        double e = (double)(float)exp((double)logits_n[v] - m);
        probs_n[v] = (float)(fault->not_divided ? e : e / s);
    }
    int at = fault->label_plus_1 ? (label + 1) % V : label;
    if (fault->loss_of_prob) {
        return (float)-log((double)probs_n[at] + fault->epsilon);
    }
    return (float)((fault->loss_without_max ? 0.0 : m) + log(s) - (double)logits_n[at]);
}

static void faulty_softmax(const SoftmaxFault *fault, float *losses, float *probs,
                           const float *logits, const int32_t *labels, int N, int V) {
    for (int n = 0; n < N; n++) {
        losses[n] = faulty_row(fault, probs + (size_t)n * V, logits + (size_t)n * V, labels[n], V);
    }
}

#define SOFTMAX_MUTANT(name, ...)                                                                  \
    static void softmax_##name(float *losses, float *probs, const float *logits,                   \
                               const int32_t *labels, int N, int V) {                              \
        const SoftmaxFault fault = {__VA_ARGS__};                                                  \
        faulty_softmax(&fault, losses, probs, logits, labels, N, V);                               \
    }

SOFTMAX_MUTANT(no_max, .no_max = true)
SOFTMAX_MUTANT(loss_of_prob, .loss_of_prob = true)
SOFTMAX_MUTANT(loss_with_epsilon, .loss_of_prob = true, .epsilon = 1e-9)
SOFTMAX_MUTANT(not_divided, .not_divided = true)
SOFTMAX_MUTANT(label_plus_1, .label_plus_1 = true)
SOFTMAX_MUTANT(loss_without_max, .loss_without_max = true)

static void faulty_dlogits(float *dlogits, const float *probs, const int32_t *labels, double scale,
                           double taken_off, int N, int V) {
    for (int n = 0; n < N; n++) {
        for (int v = 0; v < V; v++) {
            size_t at = (size_t)n * V + v;
            dlogits[at] = (float)(scale * ((double)probs[at] - (v == labels[n] ? taken_off : 0.0)));
        }
    }
}

static void dlogits_ignores_scale(float *dlogits, const float *probs, const int32_t *labels,
                                  float scale, int N, int V) {
    (void)scale;
    faulty_dlogits(dlogits, probs, labels, 1.0, 1.0, N, V);
}

static void dlogits_ignores_labels(float *dlogits, const float *probs, const int32_t *labels,
                                   float scale, int N, int V) {
    faulty_dlogits(dlogits, probs, labels, (double)scale, 0.0, N, V);
}

static void dlogits_adds_label(float *dlogits, const float *probs, const int32_t *labels,
                               float scale, int N, int V) {
    faulty_dlogits(dlogits, probs, labels, (double)scale, -1.0, N, V);
}

const Kernel mutants_network[] = {
    KERNEL(relu_forward, "leaky", "slope 2^-20 below 0", 0, relu_leaky),
    KERNEL(relu_forward, "loses_nan", "NaN > 0 is false", 0, relu_loses_nan),
    KERNEL(relu_backward, "at_zero", ">= for >", 0, relu_backward_at_zero),
    KERNEL(relu_backward, "by_dout", "dout > 0", 0, relu_backward_by_dout),
    KERNEL(sigmoid_forward, "overflows", "exp(-x)", 0, sigmoid_overflows),
    KERNEL(sigmoid_forward, "by_tanh", "cancels on the left", 0, sigmoid_by_tanh),
    KERNEL(sigmoid_backward, "without_dout", "the slope alone", 0, sigmoid_backward_without_dout),
    KERNEL(sigmoid_backward, "of_input", "out taken for inp", 0, sigmoid_backward_of_input),
    KERNEL(tanh_forward, "rational", "a quick formula", 0, tanh_rational),
    KERNEL(tanh_forward, "overflows", "infinity / infinity", 0, tanh_overflows),
    KERNEL(tanh_backward, "not_squared", "1 - out", 0, tanh_backward_not_squared),
    KERNEL(tanh_backward, "plus", "1 + out^2", 0, tanh_backward_plus),
    KERNEL(softmax_cross_entropy_forward, "no_max", "exp overflows", 0, softmax_no_max),
    KERNEL(softmax_cross_entropy_forward, "loss_of_prob", "-log(0)", 0, softmax_loss_of_prob),
    KERNEL(softmax_cross_entropy_forward, "loss_with_epsilon", "-log(p + 1e-9)", 0,
           softmax_loss_with_epsilon),
    KERNEL(softmax_cross_entropy_forward, "not_divided", "exponentials", 0, softmax_not_divided),
    KERNEL(softmax_cross_entropy_forward, "label_plus_1", "labels from 1", 0, softmax_label_plus_1),
    KERNEL(softmax_cross_entropy_forward, "loss_without_max", "forgets m", 0,
           softmax_loss_without_max),
    KERNEL(softmax_cross_entropy_backward, "ignores_scale", "a sum, not a mean", 0,
           dlogits_ignores_scale),
    KERNEL(softmax_cross_entropy_backward, "ignores_labels", "probs", 0, dlogits_ignores_labels),
    KERNEL(softmax_cross_entropy_backward, "adds_label", "+ for -", 0, dlogits_adds_label),
    KERNEL_TABLE_END,
};
