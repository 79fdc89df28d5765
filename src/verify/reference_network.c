/* References of activations and of the loss. */
#include "verify/reference.h"

/* ---- activations ---------------------------------------------------------------------------- */

/* Exact; NaN stays NaN. */
void reference_relu_forward(const OpCall *call, const Reference *reference) {
    const float *inp = reference_in(call, "inp");
    Approx *out = reference_out(reference, "out");
    for (size_t i = 0; i < reference_size(call, "n"); i++) {
        out[i] = approx_exact(inp[i] < 0.0f ? 0.0 : (double)inp[i]);
    }
}

/* Exact; a NaN in out is not above 0. */
void reference_relu_backward(const OpCall *call, const Reference *reference) {
    const float *dout = reference_in(call, "dout"), *out = reference_in(call, "out");
    Approx *dinp = reference_out(reference, "dinp");
    for (size_t i = 0; i < reference_size(call, "n"); i++) {
        dinp[i] = approx_exact(out[i] > 0.0f ? (double)dout[i] : 0.0);
    }
}

/* e / (1 + e) or 1 / (1 + e) with e = exp(-|x|): relative error of about 2 EXP_ULPS u + 2u, far out
 * on the left too, where 1 / (1 + exp(-x)) overflows inside and loses every digit. */
void reference_sigmoid_forward(const OpCall *call, const Reference *reference) {
    const float *inp = reference_in(call, "inp");
    Approx *out = reference_out(reference, "out");
    for (size_t i = 0; i < reference_size(call, "n"); i++) {
        Approx one = approx_exact(1.0);
        Approx e = approx_exp_below(approx_exact(-fabs((double)inp[i])), 0.0);
        out[i] = approx_div(inp[i] < 0.0f ? e : one, approx_add(one, e));
    }
}

/* The three factors in any order. */
void reference_sigmoid_backward(const OpCall *call, const Reference *reference) {
    const float *dout = reference_in(call, "dout"), *out = reference_in(call, "out");
    Approx *dinp = reference_out(reference, "dinp");
    for (size_t i = 0; i < reference_size(call, "n"); i++) {
        Approx d = approx_exact((double)dout[i]), y = approx_exact((double)out[i]);
        Approx rest = approx_sub(approx_exact(1.0), y);
        dinp[i] =
            approx_either(approx_mul(approx_mul(d, y), rest), approx_mul(d, approx_mul(y, rest)));
    }
}

/* The function's own error alone. */
void reference_tanh_forward(const OpCall *call, const Reference *reference) {
    const float *inp = reference_in(call, "inp");
    Approx *out = reference_out(reference, "out");
    for (size_t i = 0; i < reference_size(call, "n"); i++) {
        out[i] = approx_function(tanh((double)inp[i]), 0.0, TANH_ULPS);
    }
}

/* dout (1 - out^2). Near |out| = 1 the difference cancels, and the rounding of out^2, u out^2, is
 * what is left: the rules carry it. */
void reference_tanh_backward(const OpCall *call, const Reference *reference) {
    const float *dout = reference_in(call, "dout"), *out = reference_in(call, "out");
    Approx *dinp = reference_out(reference, "dinp");
    for (size_t i = 0; i < reference_size(call, "n"); i++) {
        Approx y = approx_exact((double)out[i]);
        Approx slope = approx_sub(approx_exact(1.0), approx_mul(y, y));
        dinp[i] = approx_mul(approx_exact((double)dout[i]), slope);
    }
}

/* ---- loss ----------------------------------------------------------------------------------- */

static double row_max(const float *x, size_t V) {
    double best = -INFINITY;
    for (size_t v = 0; v < V; v++) {
        best = fmax(best, (double)x[v]);
    }
    return best;
}

/* One row. Each exponential has the error of its argument, u|logit - m|, and its own; fp32 too
 * keeps logit - m at or below 0. Their sum s adds gamma_(V-1) s, in any order, as all terms are
 * positive. The loss may be added up from the left or with m - logit first. Returns the loss. */
static Approx softmax_cross_entropy_row(Approx *probs_n, const float *logits_n, size_t label,
                                        size_t V) {
    Approx m = approx_exact(row_max(logits_n, V)), s = {0.0, 0.0};
    for (size_t v = 0; v < V; v++) {
        Approx shifted = approx_sub(approx_exact((double)logits_n[v]), m);
        probs_n[v] = approx_exp_below(shifted, 0.0);
        s.value += probs_n[v].value;
        s.error += probs_n[v].error;
    }
    s.error += gamma_n(V > 1 ? (double)(V - 1) : 0.0) * (s.value + s.error);
    for (size_t v = 0; v < V; v++) {
        probs_n[v] = approx_div(probs_n[v], s);
    }
    Approx log_s = approx_log(s), logit = approx_exact((double)logits_n[label]);
    Approx from_left = approx_sub(approx_add(m, log_s), logit);
    return approx_either(approx_add(log_s, approx_sub(m, logit)), from_left);
}

void reference_softmax_cross_entropy_forward(const OpCall *call, const Reference *reference) {
    size_t N = reference_size(call, "N"), V = reference_size(call, "V");
    const float *logits = reference_in(call, "logits");
    const int32_t *labels = reference_labels(call, "labels");
    Approx *losses = reference_out(reference, "losses"), *probs = reference_out(reference, "probs");
    for (size_t n = 0; n < N; n++) {
        losses[n] = softmax_cross_entropy_row(probs + n * V, logits + n * V, (size_t)labels[n], V);
    }
}

/* A difference (at the label) and a product. */
void reference_softmax_cross_entropy_backward(const OpCall *call, const Reference *reference) {
    size_t N = reference_size(call, "N"), V = reference_size(call, "V");
    const float *probs = reference_in(call, "probs");
    const int32_t *labels = reference_labels(call, "labels");
    Approx scale = approx_exact(reference_option(call, "scale"));
    Approx *dlogits = reference_out(reference, "dlogits");
    for (size_t n = 0; n < N; n++) {
        for (size_t v = 0; v < V; v++) {
            Approx prob = approx_exact((double)probs[n * V + v]);
            bool is_label = v == (size_t)labels[n];
            dlogits[n * V + v] =
                approx_mul(scale, is_label ? approx_sub(prob, approx_exact(1.0)) : prob);
        }
    }
}
