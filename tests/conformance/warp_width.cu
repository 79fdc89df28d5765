/* Warp functions written for any width of a warp (warpSize): on NVIDIA's GPUs 32; the interpreter
 * runs the same source with 64 lanes too. */
#include "check.h"

#define ALL_LANES (~(decltype(__activemask()))0)

enum { ROWS = 8 };

__global__ void all_lanes(unsigned long long *out, int threads) {
    int t = (int)threadIdx.x, lane = t % warpSize, width = warpSize;
    auto mask = __ballot_sync(ALL_LANES, lane % 2 == 0);
    int sum = lane, value = -1;
    for (int distance = width / 2; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(ALL_LANES, sum, distance);
    }
    if (lane < width / 2) {
        value = __shfl_sync(ALL_LANES >> (width / 2), lane, width / 2 - 1);
    } else {
        value = __shfl_sync(ALL_LANES << (width / 2), lane, width - 1);
    }
    out[0 * threads + t] = mask;
    out[1 * threads + t] = (unsigned long long)sum;
    out[2 * threads + t] = (unsigned long long)value;
    out[3 * threads + t] = (unsigned long long)__shfl_up_sync(ALL_LANES, lane, 1);
    out[4 * threads + t] = (unsigned long long)__shfl_down_sync(ALL_LANES, lane, 1, 8);
    out[5 * threads + t] = __match_any_sync(ALL_LANES, lane / (width / 4));
    out[6 * threads + t] = __activemask();
    out[7 * threads + t] = (unsigned long long)(__all_sync(ALL_LANES, lane < width) +
                                                2 * __any_sync(ALL_LANES, lane == width - 1));
    __syncwarp();
}

int main(void) {
    enum { THREADS = 192, MOST = ROWS * THREADS };
    static unsigned long long out[MOST];
    unsigned long long *device = device_array<unsigned long long>(MOST);
    cudaDeviceProp properties;
    CHECK_OK(cudaGetDeviceProperties(&properties, 0));
    int width = properties.warpSize, wrong[ROWS] = {0};
    all_lanes<<<1, THREADS>>>(device, THREADS);
    CHECK_OK(cudaGetLastError());
    to_host(out, device, MOST);
    unsigned long long all = ~0ull >> (64 - width), quarter = all >> (width * 3 / 4);
    for (int t = 0; t < THREADS; t++) {
        int lane = t % width;
        unsigned long long expected[ROWS] = {
            0x5555555555555555ull & all,
            (unsigned long long)(width * (width - 1) / 2),
            (unsigned long long)(lane < width / 2 ? width / 2 - 1 : width - 1),
            (unsigned long long)(lane == 0 ? 0 : lane - 1),
            (unsigned long long)(lane % 8 == 7 ? lane : lane + 1),
            quarter << lane / (width / 4) * (width / 4),
            all,
            3};
        for (int k = 0; k < ROWS; k++) {
            wrong[k] += out[k * THREADS + t] != expected[k];
        }
    }
    for (int k = 0; k < ROWS; k++) {
        CHECK(wrong[k] == 0);
    }
    printf("warps of %d lanes\n", width);
    CHECK_DONE();
}
