/* Softmax and cross-entropy in one, and their gradient. The equations stand in cpu/serial/loss.c.
 *
 * naive: one thread a row, which walks it three times; neighbouring threads read V elements apart.
 * warp: one warp a row; lanes read side by side and join by shuffles.
 * Limit: memory, once reads are coalesced; for few classes the launch itself. */
#include "cuda/cuda.h"

__global__ void softmax_cross_entropy_forward_naive_kernel(float *losses, float *probs,
                                                           const float *logits,
                                                           const int32_t *labels, int N, int V) {
    GRID_STRIDE(n, (size_t)N) {
        const float *logits_n = logits + n * V;
        float *probs_n = probs + n * V;
        float m = -INFINITY;
        for (int v = 0; v < V; v++) {
            m = larger(m, logits_n[v]);
        }
        double s = 0.0;
        for (int v = 0; v < V; v++) {
            probs_n[v] = expf(logits_n[v] - m);
            s += probs_n[v];
        }
        for (int v = 0; v < V; v++) {
            probs_n[v] /= (float)s;
        }
        losses[n] = logf((float)s) + (m - logits_n[labels[n]]);
    }
}

/* The largest of a value over the lanes of a warp, for all of them: each exchange brings a lane the
 * value of the one whose number differs in one bit. */
static __device__ float warp_max(float x) {
    for (int lanes = WARP_THREADS / 2; lanes > 0; lanes /= 2) {
        x = larger(x, __shfl_xor_sync(0xffffffff, x, lanes));
    }
    return x;
}

static __device__ double warp_sum(double x) {
    for (int lanes = WARP_THREADS / 2; lanes > 0; lanes /= 2) {
        x += __shfl_xor_sync(0xffffffff, x, lanes);
    }
    return x;
}

__global__ void softmax_cross_entropy_forward_warp_kernel(float *losses, float *probs,
                                                          const float *logits,
                                                          const int32_t *labels, int N, int V) {
    int lane = threadIdx.x % WARP_THREADS, warps = blockDim.x / WARP_THREADS;
    size_t n = (size_t)blockIdx.x * warps + threadIdx.x / WARP_THREADS;
    if (n >= (size_t)N) {
        return; /* the whole warp leaves together: no lane waits for it */
    }
    const float *logits_n = logits + n * V;
    float *probs_n = probs + n * V;
    float m = -INFINITY;
    for (int v = lane; v < V; v += WARP_THREADS) {
        m = larger(m, logits_n[v]);
    }
    m = warp_max(m);
    double s = 0.0;
    for (int v = lane; v < V; v += WARP_THREADS) {
        probs_n[v] = expf(logits_n[v] - m);
        s += probs_n[v];
    }
    s = warp_sum(s);
    for (int v = lane; v < V; v += WARP_THREADS) {
        probs_n[v] /= (float)s;
    }
    if (lane == 0) {
        losses[n] = logf((float)s) + (m - logits_n[labels[n]]);
    }
}

/* One thread an element, whatever its row. */
__global__ void softmax_cross_entropy_backward_kernel(float *dlogits, const float *probs,
                                                      const int32_t *labels, float scale, size_t n,
                                                      int V) {
    GRID_STRIDE(i, n) {
        bool is_label = (int32_t)(i % V) == labels[i / V];
        dlogits[i] = scale * (probs[i] - (is_label ? 1.0f : 0.0f));
    }
}

static void softmax_cross_entropy_forward_naive(float *losses, float *probs, const float *logits,
                                                const int32_t *labels, int N, int V) {
    softmax_cross_entropy_forward_naive_kernel<<<blocks_to_fill(N), BLOCK_THREADS>>>(
        losses, probs, logits, labels, N, V);
    cuda_launched(OP_softmax_cross_entropy_forward, "naive", N, V, 1);
}

static void softmax_cross_entropy_forward_warp(float *losses, float *probs, const float *logits,
                                               const int32_t *labels, int N, int V) {
    unsigned blocks = blocks_for(N, BLOCK_THREADS / WARP_THREADS);
    softmax_cross_entropy_forward_warp_kernel<<<blocks, BLOCK_THREADS>>>(losses, probs, logits,
                                                                         labels, N, V);
    cuda_launched(OP_softmax_cross_entropy_forward, "warp", N, V, 1);
}

static void softmax_cross_entropy_backward_grid_stride(float *dlogits, const float *probs,
                                                       const int32_t *labels, float scale, int N,
                                                       int V) {
    size_t n = (size_t)N * V;
    softmax_cross_entropy_backward_kernel<<<blocks_to_fill(n), BLOCK_THREADS>>>(
        dlogits, probs, labels, scale, n, V);
    cuda_launched(OP_softmax_cross_entropy_backward, "grid_stride", N, V, 1);
}

const Kernel CUDA_TABLE(loss)[] = {
    KERNEL(softmax_cross_entropy_forward, "naive", "a thread a row", 0,
           softmax_cross_entropy_forward_naive),
    KERNEL_DEFAULT(softmax_cross_entropy_forward, "warp", "a warp a row, joined by shuffles", 0,
                   softmax_cross_entropy_forward_warp),
    KERNEL_DEFAULT(softmax_cross_entropy_backward, "grid_stride", "a thread an element", 0,
                   softmax_cross_entropy_backward_grid_stride),
    KERNEL_TABLE_END,
};
