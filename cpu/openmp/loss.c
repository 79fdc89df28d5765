/* Softmax and cross-entropy in one, and their gradient, shared out among threads.
 *
 *     m = max of the row      s = sum of exp(logit - m)
 *     prob = exp(logit - m) / s             loss = log(s) + (m - logit[label])
 *     dlogit = scale * (prob - (1 at the label, else 0))
 *
 * In parallel: every row stands alone, so each thread takes some of the batch.
 * Limit: the exponentials, which each core works out for itself; memory for many classes.
 * Beside its serial twin: the same rows, shared out. */
#include "base/trace.h"
#include "cpu/openmp/openmp.h"
#include "ops/formulas.h"

static void softmax_cross_entropy_forward_share(float *losses, float *probs, const float *logits,
                                                const int32_t *labels, int N, int V) {
    TRACE_SHARE_OF("softmax_cross_entropy_forward");
#pragma omp for schedule(static) nowait
    for (int n = 0; n < N; n++) {
        const float *logits_n = logits + (size_t)n * V;
        losses[n] = softmax_cross_entropy_row(probs + (size_t)n * V, logits_n, labels[n], V);
    }
}

void softmax_cross_entropy_forward_openmp(float *losses, float *probs, const float *logits,
                                          const int32_t *labels, int N, int V) {
    if ((size_t)N * V >= FORK_EXPONENTIALS) {
#pragma omp parallel
        softmax_cross_entropy_forward_share(losses, probs, logits, labels, N, V);
    } else {
        softmax_cross_entropy_forward_share(losses, probs, logits, labels, N, V);
    }
}

static void softmax_cross_entropy_backward_share(float *dlogits, const float *probs,
                                                 const int32_t *labels, float scale, int N, int V) {
    TRACE_SHARE_OF("softmax_cross_entropy_backward");
#pragma omp for schedule(static) nowait
    for (int n = 0; n < N; n++) {
        float *dlogits_n = dlogits + (size_t)n * V;
        const float *probs_n = probs + (size_t)n * V;
        for (int v = 0; v < V; v++) {
            dlogits_n[v] = scale * probs_n[v];
        }
        dlogits_n[labels[n]] = scale * (probs_n[labels[n]] - 1.0f);
    }
}

void softmax_cross_entropy_backward_openmp(float *dlogits, const float *probs,
                                           const int32_t *labels, float scale, int N, int V) {
    if ((size_t)N * V >= FORK_ELEMENTS) {
#pragma omp parallel
        softmax_cross_entropy_backward_share(dlogits, probs, labels, scale, N, V);
    } else {
        softmax_cross_entropy_backward_share(dlogits, probs, labels, scale, N, V);
    }
}

const Kernel loss_kernels_openmp[] = {
    KERNEL_DEFAULT(softmax_cross_entropy_forward, "batch", "each thread takes rows of the batch", 0,
                   softmax_cross_entropy_forward_openmp),
    KERNEL_DEFAULT(softmax_cross_entropy_backward, "batch", "each thread takes rows of the batch",
                   0, softmax_cross_entropy_backward_openmp),
    KERNEL_TABLE_END,
};
