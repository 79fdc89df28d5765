/* Barriers of a block: __syncthreads and its relatives, threads that return early, shared memory
 * static and dynamic, blocks of one to three dimensions. */
#include "check.h"

/* Reverses a block's part through shared memory: wrong without the barrier. */
template <int THREADS> __global__ void reverse(int *data) {
    __shared__ int box[THREADS];
    int t = (int)threadIdx.x, base = (int)blockIdx.x * THREADS;
    box[t] = data[base + t];
    __syncthreads();
    data[base + t] = box[THREADS - 1 - t];
}

static void check_reverse(void) {
    enum { BLOCKS = 7, THREADS = 192, N = BLOCKS * THREADS };
    static int host[N];
    int *device = device_array<int>(N), wrong = 0;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    to_device(device, host, N);
    reverse<THREADS><<<BLOCKS, THREADS>>>(device);
    to_host(host, device, N);
    for (int i = 0; i < N; i++) {
        wrong += host[i] != i / THREADS * THREADS + THREADS - 1 - i % THREADS;
    }
    CHECK(wrong == 0);
}

__global__ void votes(int *count, int *all, int *any, int limit) {
    int t = (int)threadIdx.x;
    count[t] = __syncthreads_count(t < limit);
    all[t] = __syncthreads_and(t < limit) != 0;
    any[t] = __syncthreads_or(t == limit) != 0;
}

static void check_votes(void) {
    int *device = device_array<int>(3 * 70), host[3 * 70];
    for (int limit = 0; limit <= 70; limit += 35) {
        votes<<<1, 70>>>(device, device + 70, device + 140, limit);
        to_host(host, device, 210);
        int wrong = 0;
        for (int t = 0; t < 70; t++) {
            wrong += host[t] != limit;
            wrong += host[70 + t] != (limit == 70);
            wrong += host[140 + t] != (limit < 70);
        }
        CHECK(wrong == 0);
    }
}

/* Sum of a block in a tree over dynamic shared memory; n need not be the block's size. */
__global__ void tree_sum(const int *in, int *out, int n) {
    extern __shared__ int partial[];
    unsigned t = threadIdx.x;
    partial[t] = (int)t < n ? in[t] : 0;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) {
            partial[t] += partial[t + half];
        }
        __syncthreads();
    }
    if (t == 0) {
        *out = partial[0];
    }
}

static void check_tree_sum(void) {
    int in[1000], *device_in = device_array<int>(1000), *device_out = device_array<int>(1);
    int sum = 0, got = 0;
    for (int i = 0; i < 1000; i++) {
        in[i] = i * 7 % 1013;
        sum += in[i];
    }
    to_device(device_in, in, 1000);
    tree_sum<<<1, 1024, 1024 * sizeof(int)>>>(device_in, device_out, 1000);
    to_host(&got, device_out, 1);
    CHECK(got == sum);
}

/* From compute capability 7.0 on, a barrier waits for the threads that have not returned. */
__global__ void early_return(int *out, int n) {
    __shared__ int box[64];
    int t = (int)threadIdx.x;
    if (t >= n) {
        return;
    }
    box[t] = t + 1;
    __syncthreads();
    out[t] = box[n - 1 - t];
}

static void check_early_return(void) {
    int *device = device_array<int>(64), host[64], wrong = 0;
    early_return<<<1, 64>>>(device, 41);
    to_host(host, device, 64);
    for (int t = 0; t < 64; t++) {
        wrong += host[t] != (t < 41 ? 41 - t : -1);
    }
    CHECK(wrong == 0);
}

/* Threads are numbered x first, then y, then z. */
__global__ void three_dimensions(int *out) {
    __shared__ int total;
    int t = (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
    int b = (int)(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
    int threads = (int)(blockDim.x * blockDim.y * blockDim.z);
    if (t == 0) {
        total = 0;
    }
    __syncthreads();
    atomicAdd(&total, t);
    __syncthreads();
    out[b * threads + t] = total + t + 1000 * b;
}

static void check_three_dimensions(void) {
    enum { BLOCKS = 2 * 3 * 4, THREADS = 5 * 3 * 2 };
    int *device = device_array<int>(BLOCKS * THREADS), host[BLOCKS * THREADS], wrong = 0;
    three_dimensions<<<dim3(2, 3, 4), dim3(5, 3, 2)>>>(device);
    to_host(host, device, BLOCKS * THREADS);
    for (int i = 0; i < BLOCKS * THREADS; i++) {
        wrong += host[i] != THREADS * (THREADS - 1) / 2 + i % THREADS + 1000 * (i / THREADS);
    }
    CHECK(wrong == 0);
}

/* Barriers in a loop whose number of rounds differs from block to block, with a warp shuffle in
 * between: every thread of a block does the same number. */
__global__ void rounds(int *out) {
    __shared__ int turn;
    int sum = 0;
    for (int round = 0; round <= (int)blockIdx.x; round++) {
        if ((int)threadIdx.x == round) {
            turn = round * 10;
        }
        __syncthreads();
        sum += __shfl_sync(0xffffffffu, turn, 0);
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static void check_rounds(void) {
    enum { BLOCKS = 9, THREADS = 96 };
    int *device = device_array<int>(BLOCKS * THREADS), host[BLOCKS * THREADS], wrong = 0;
    rounds<<<BLOCKS, THREADS>>>(device);
    to_host(host, device, BLOCKS * THREADS);
    for (int i = 0; i < BLOCKS * THREADS; i++) {
        int b = i / THREADS;
        wrong += host[i] != 10 * b * (b + 1) / 2;
    }
    CHECK(wrong == 0);
}

int main(void) {
    check_reverse();
    check_votes();
    check_tree_sum();
    check_early_return();
    check_three_dimensions();
    check_rounds();
    CHECK_DONE();
}
