/* Softmax and cross-entropy in one, and their gradient, on one thread.
 *
 *     m = max of the row      s = sum of exp(logit - m)
 *     prob = exp(logit - m) / s             loss = log(s) + (m - logit[label])
 *     dlogit = scale * (prob - (1 at the label, else 0))
 *
 * Taking m off leaves exponents of at most 0, so nothing overflows; the loss is made from the
 * logits, so a probability that rounds to 0 still has its true loss and not infinity.
 * Limit: the exponentials for few classes, memory for many. */
#include "cpu/serial/serial.h"
#include "ops/formulas.h"

static void softmax_cross_entropy_forward_serial(float *losses, float *probs, const float *logits,
                                                 const int32_t *labels, int N, int V) {
    for (int n = 0; n < N; n++) {
        const float *logits_n = logits + (size_t)n * V;
        losses[n] = softmax_cross_entropy_row(probs + (size_t)n * V, logits_n, labels[n], V);
    }
}

static void softmax_cross_entropy_backward_serial(float *dlogits, const float *probs,
                                                  const int32_t *labels, float scale, int N,
                                                  int V) {
    for (int n = 0; n < N; n++) {
        float *dlogits_n = dlogits + (size_t)n * V;
        const float *probs_n = probs + (size_t)n * V;
        for (int v = 0; v < V; v++) {
            dlogits_n[v] = scale * probs_n[v];
        }
        dlogits_n[labels[n]] = scale * (probs_n[labels[n]] - 1.0f);
    }
}

const Kernel loss_kernels_serial[] = {
    KERNEL_DEFAULT(softmax_cross_entropy_forward, "fused", "row by row: maximum, exponentials, sum",
                   0, softmax_cross_entropy_forward_serial),
    KERNEL_DEFAULT(softmax_cross_entropy_backward, "naive", "scaled copy, then the label's element",
                   0, softmax_cross_entropy_backward_serial),
    KERNEL_TABLE_END,
};
