/* Warp functions: shuffles, votes, match, reductions, masks. Answers from the CUDA programming
 * guide, sections "Warp Vote Functions" to "Warp Shuffle Functions". */
#include "check.h"

#define FULL 0xffffffffu

/* out[k][lane]: one row for each function. */
__global__ void shuffles(int *out) {
    int lane = (int)threadIdx.x;
    out[0 * 32 + lane] = __shfl_sync(FULL, lane, 5);
    out[1 * 32 + lane] = __shfl_sync(FULL, lane, lane + 1);
    out[2 * 32 + lane] = __shfl_sync(FULL, lane, 3, 8);
    out[3 * 32 + lane] = __shfl_up_sync(FULL, lane, 2);
    out[4 * 32 + lane] = __shfl_up_sync(FULL, lane, 1, 4);
    out[5 * 32 + lane] = __shfl_down_sync(FULL, lane, 3);
    out[6 * 32 + lane] = __shfl_down_sync(FULL, lane, 1, 16);
    out[7 * 32 + lane] = __shfl_xor_sync(FULL, lane, 1);
    out[8 * 32 + lane] = __shfl_xor_sync(FULL, lane, 16);
}

static int expected_shuffle(int k, int lane) {
    switch (k) {
    case 0:
        return 5;
    case 1:
        return (lane + 1) % 32; /* the source lane is taken modulo the width */
    case 2:
        return lane / 8 * 8 + 3;
    case 3:
        return lane < 2 ? lane : lane - 2;
    case 4:
        return lane % 4 == 0 ? lane : lane - 1;
    case 5:
        return lane + 3 > 31 ? lane : lane + 3;
    case 6:
        return lane % 16 == 15 ? lane : lane + 1;
    case 7:
        return lane ^ 1;
    default:
        return lane ^ 16;
    }
}

static void check_shuffles(void) {
    int *device = device_array<int>(9 * 32), host[9 * 32];
    shuffles<<<1, 32>>>(device);
    CHECK_OK(cudaGetLastError());
    to_host(host, device, 9 * 32);
    for (int k = 0; k < 9; k++) {
        int wrong = 0;
        for (int lane = 0; lane < 32; lane++) {
            wrong += host[k * 32 + lane] != expected_shuffle(k, lane);
        }
        CHECK(wrong == 0);
    }
    CHECK_OK(cudaFree(device));
}

__global__ void wide_types(double *d, long long *l, float *f) {
    int lane = (int)threadIdx.x;
    d[lane] = __shfl_sync(FULL, lane + 0.25, 31 - lane);
    l[lane] = __shfl_xor_sync(FULL, (1ll << 40) + lane, 3);
    f[lane] = __shfl_down_sync(FULL, (float)lane * 0.5f, 1);
}

static void check_wide_types(void) {
    double *d = device_array<double>(32), hd[32];
    long long *l = device_array<long long>(32), hl[32];
    float *f = device_array<float>(32), hf[32];
    wide_types<<<1, 32>>>(d, l, f);
    to_host(hd, d, 32);
    to_host(hl, l, 32);
    to_host(hf, f, 32);
    int wrong = 0;
    for (int lane = 0; lane < 32; lane++) {
        wrong += hd[lane] != 31 - lane + 0.25;
        wrong += hl[lane] != (1ll << 40) + (lane ^ 3);
        wrong += hf[lane] != (lane == 31 ? 31 : lane + 1) * 0.5f;
    }
    CHECK(wrong == 0);
}

/* Votes count the lanes of the mask only; here two halves of a warp vote apart. */
__global__ void votes(unsigned *out) {
    int lane = (int)threadIdx.x;
    unsigned mask = lane < 16 ? 0x0000ffffu : 0xffff0000u;
    out[0 * 32 + lane] = __ballot_sync(FULL, lane % 3 == 0);
    out[1 * 32 + lane] = (unsigned)__any_sync(FULL, lane == 31);
    out[2 * 32 + lane] = (unsigned)__all_sync(FULL, lane < 31);
    if (lane < 16) {
        out[3 * 32 + lane] = __ballot_sync(mask, 1);
        out[4 * 32 + lane] = (unsigned)__all_sync(mask, lane < 16);
    } else {
        out[3 * 32 + lane] = __ballot_sync(mask, lane & 1);
        out[4 * 32 + lane] = (unsigned)__any_sync(mask, lane < 16);
    }
    out[5 * 32 + lane] = __activemask();
    out[6 * 32 + lane] = __match_any_sync(FULL, lane / 8);
    int same = -1;
    out[7 * 32 + lane] = __match_all_sync(FULL, 7, &same);
    out[8 * 32 + lane] = (unsigned)same;
    out[9 * 32 + lane] = __match_all_sync(FULL, lane == 9, &same);
    out[10 * 32 + lane] = (unsigned)same;
}

static void check_votes(void) {
    unsigned *device = device_array<unsigned>(11 * 32), host[11 * 32], thirds = 0;
    votes<<<1, 32>>>(device);
    to_host(host, device, 11 * 32);
    for (int lane = 0; lane < 32; lane += 3) {
        thirds |= 1u << lane;
    }
    int wrong[11] = {0};
    for (int lane = 0; lane < 32; lane++) {
        unsigned expected[11] = {thirds,
                                 1,
                                 0,
                                 lane < 16 ? 0x0000ffffu : 0xaaaa0000u,
                                 lane < 16 ? 1u : 0u,
                                 FULL,
                                 0xffu << lane / 8 * 8,
                                 FULL,
                                 1,
                                 0,
                                 0};
        for (int k = 0; k < 11; k++) {
            wrong[k] += host[k * 32 + lane] != expected[k];
        }
    }
    for (int k = 0; k < 11; k++) {
        CHECK(wrong[k] == 0);
    }
}

/* A warp's sum by halving distances; several warps, the last one not full. */
__global__ void warp_sums(const int *in, int *out, int n) {
    int i = (int)threadIdx.x;
    unsigned mask = __ballot_sync(FULL, i < n);
    if (i < n) {
        int sum = in[i];
        for (int distance = 16; distance > 0; distance /= 2) {
            int other = __shfl_down_sync(mask, sum, distance);
            int source = i % 32 + distance;
            sum += source < 32 && (mask >> source & 1) ? other : 0;
        }
        if (i % 32 == 0) {
            out[i / 32] = sum;
        }
    }
}

static void check_warp_sums(void) {
    enum { THREADS = 128, N = 107 };
    int in[THREADS], out[4], *device_in = device_array<int>(THREADS),
                             *device_out = device_array<int>(4);
    for (int i = 0; i < THREADS; i++) {
        in[i] = i * i % 91;
    }
    to_device(device_in, in, THREADS);
    warp_sums<<<1, THREADS>>>(device_in, device_out, N);
    to_host(out, device_out, 4);
    for (int warp = 0; warp < 4; warp++) {
        int sum = 0;
        for (int i = warp * 32; i < warp * 32 + 32 && i < N; i++) {
            sum += in[i];
        }
        CHECK(out[warp] == sum);
    }
}

/* __syncwarp orders memory among the lanes: what a neighbour wrote before is seen after. */
__global__ void neighbours(int *out) {
    __shared__ int box[32];
    int lane = (int)threadIdx.x;
    for (int round = 0; round < 10; round++) {
        box[lane] = lane * 100 + round;
        __syncwarp();
        out[round * 32 + lane] = box[(lane + 1) % 32];
        __syncwarp();
    }
}

static void check_syncwarp(void) {
    int *device = device_array<int>(320), host[320], wrong = 0;
    neighbours<<<1, 32>>>(device);
    to_host(host, device, 320);
    for (int i = 0; i < 320; i++) {
        wrong += host[i] != (i + 1) % 32 * 100 + i / 32;
    }
    CHECK(wrong == 0);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define HAS_REDUCE 1
#endif

__global__ void reductions(unsigned *out) {
#ifdef HAS_REDUCE
    unsigned lane = threadIdx.x;
    out[0] = __reduce_add_sync(FULL, lane);
    out[1] = __reduce_min_sync(FULL, lane + 7);
    out[2] = __reduce_max_sync(FULL, lane * 3);
    out[3] = __reduce_and_sync(FULL, lane | 0x40);
    out[4] = __reduce_or_sync(FULL, 1u << lane % 5);
    out[5] = __reduce_xor_sync(FULL, 1u << lane);
    out[6] = (unsigned)__reduce_min_sync(FULL, 3 - (int)lane);
#endif
}

static void check_reductions(void) {
    unsigned *device = device_array<unsigned>(7), host[7];
    cudaDeviceProp properties;
    CHECK_OK(cudaGetDeviceProperties(&properties, 0));
    if (properties.major < 8) {
        return; /* __reduce_*_sync came with compute capability 8.0 */
    }
    reductions<<<1, 32>>>(device);
    to_host(host, device, 7);
    CHECK(host[0] == 496);
    CHECK(host[1] == 7);
    CHECK(host[2] == 93);
    CHECK(host[3] == 0x40);
    CHECK(host[4] == 31);
    CHECK(host[5] == FULL);
    CHECK((int)host[6] == -28);
}

int main(void) {
    check_shuffles();
    check_wide_types();
    check_votes();
    check_warp_sums();
    check_syncwarp();
    check_reductions();
    CHECK_DONE();
}
