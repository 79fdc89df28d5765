/* Atomic functions on every type that the CUDA programming guide lists for them, from many blocks
 * at once; each answer does not depend on the order. */
#include "check.h"

enum { BLOCKS = 40, THREADS = 128, N = BLOCKS * THREADS };

struct Results {
    int add_i, sub_i, min_i, max_i, and_i, or_i, xor_i, block_i;
    unsigned add_u, inc_u, dec_u, min_u, max_u;
    unsigned long long add_ull, min_ull, max_ull, or_ull, system_ull;
    float add_f;
    double add_d;
};

__global__ void all_atomics(Results *r) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    atomicAdd(&r->add_i, i);
    atomicSub(&r->sub_i, 1);
    atomicMin(&r->min_i, 7 - i);
    atomicMax(&r->max_i, i * 2);
    atomicAnd(&r->and_i, ~(1 << i % 20));
    atomicOr(&r->or_i, 1 << i % 30);
    atomicXor(&r->xor_i, 1 << i % 7);
    atomicAdd_block(&r->block_i, 0);
    atomicAdd(&r->add_u, 3u);
    atomicInc(&r->inc_u, 99u);
    atomicDec(&r->dec_u, 99u);
    atomicMin(&r->min_u, (unsigned)i + 5);
    atomicMax(&r->max_u, 0x80000000u + (unsigned)i);
    atomicAdd(&r->add_ull, 1ull << 33);
    atomicMin(&r->min_ull, (1ull << 40) + (unsigned)i);
    atomicMax(&r->max_ull, (unsigned long long)i << 32);
    atomicOr(&r->or_ull, 1ull << i % 64);
    atomicAdd_system(&r->system_ull, 2ull);
    atomicAdd(&r->add_f, 0.5f);
    atomicAdd(&r->add_d, 0.25);
}

static void check_all(void) {
    Results start = {}, r, *device = device_array<Results>(1);
    start.and_i = -1;
    start.min_i = 0;
    start.min_u = start.dec_u = 1000;
    start.min_ull = ~0ull;
    to_device(device, &start, 1);
    all_atomics<<<BLOCKS, THREADS>>>(device);
    to_host(&r, device, 1);
    CHECK(r.add_i == N * (N - 1) / 2);
    CHECK(r.sub_i == -N);
    CHECK(r.min_i == 7 - (N - 1));
    CHECK(r.max_i == 2 * (N - 1));
    CHECK(r.and_i == ~0xfffff);
    CHECK(r.or_i == (1 << 30) - 1);
    int flips = 0;
    for (int i = 0; i < N; i++) {
        flips ^= 1 << i % 7;
    }
    CHECK(r.xor_i == flips);
    CHECK(r.add_u == 3u * N);
    CHECK(r.inc_u == N % 100);                    /* counts 0..99 round and round */
    CHECK(r.dec_u == (100u - (N - 1) % 100) - 1); /* 1000 > 99: first to 99, then down, round */
    CHECK(r.min_u == 5);
    CHECK(r.max_u == 0x80000000u + N - 1);
    CHECK(r.add_ull == (unsigned long long)N << 33);
    CHECK(r.min_ull == 1ull << 40);
    CHECK(r.max_ull == (unsigned long long)(N - 1) << 32);
    CHECK(r.or_ull == ~0ull);
    CHECK(r.system_ull == 2ull * N);
    CHECK(r.add_f == 0.5f * N);
    CHECK(r.add_d == 0.25 * N);
}

/* What an atomic returns: the old value, each exactly once. */
__global__ void tickets(int *counter, int *seen) {
    seen[atomicAdd(counter, 1)] = 1;
}

__global__ void exchanges(int *chain, int *next) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    next[i] = atomicExch(chain, i);
}

/* atomicAdd on doubles as the programming guide writes it with atomicCAS. */
__global__ void add_by_cas(unsigned long long *sum) {
    unsigned long long old = *sum, assumed;
    do {
        assumed = old;
        old = atomicCAS(sum, assumed,
                        (unsigned long long)__double_as_longlong(
                            __longlong_as_double((long long)assumed) + 1.5));
    } while (assumed != old);
}

static void check_old_values(void) {
    int zero = 0, minus = -1;
    static int host[N];
    int *device = device_array<int>(N), *one = device_array<int>(1), wrong = 0;
    to_device(one, &zero, 1);
    tickets<<<BLOCKS, THREADS>>>(one, device);
    to_host(host, device, N);
    for (int i = 0; i < N; i++) {
        wrong += host[i] != 1;
    }
    CHECK(wrong == 0);

    to_device(one, &minus, 1);
    exchanges<<<BLOCKS, THREADS>>>(one, device);
    to_host(host, device, N);
    int last = -2, length = 1;
    to_host(&last, one, 1);
    for (int i = last; i >= 0 && i < N && host[i] != -1; i = host[i]) {
        length++;
    }
    CHECK(length == N); /* every value was put in once and taken out once */

    unsigned long long *sum = device_array<unsigned long long>(1), bits = 0;
    to_device(sum, &bits, 1);
    add_by_cas<<<BLOCKS, THREADS>>>(sum);
    double got = 0;
    CHECK_OK(cudaMemcpy(&got, sum, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(got == 1.5 * N);
}

/* In shared memory: a histogram of each block, added up in global memory. */
__global__ void histogram(int *counts) {
    __shared__ int own[16];
    int t = (int)threadIdx.x, i = (int)(blockIdx.x * blockDim.x) + t;
    if (t < 16) {
        own[t] = 0;
    }
    __syncthreads();
    atomicAdd(&own[i * i % 16], 1);
    __syncthreads();
    if (t < 16) {
        atomicAdd(&counts[t], own[t]);
    }
}

static void check_histogram(void) {
    int host[16] = {0}, expected[16] = {0}, *device = device_array<int>(16), wrong = 0;
    to_device(device, host, 16);
    histogram<<<BLOCKS, THREADS>>>(device);
    to_host(host, device, 16);
    for (int i = 0; i < N; i++) {
        expected[i * i % 16]++;
    }
    for (int i = 0; i < 16; i++) {
        wrong += host[i] != expected[i];
    }
    CHECK(wrong == 0);
}

int main(void) {
    check_all();
    check_old_values();
    check_histogram();
    CHECK_DONE();
}
