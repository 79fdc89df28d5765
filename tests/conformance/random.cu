/* cuRAND's Philox4x32-10: the known answers that its authors publish with it, offsets and
 * sequences, the range of uniform numbers, the moments of normal ones. */
#include "check.h"
#include <curand_kernel.h>
#include <math.h>

__global__ void known_answers(unsigned *out) {
    curandStatePhilox4_32_10_t state;
    curand_init(0, 0, 0, &state);
    for (int i = 0; i < 8; i++) {
        out[i] = curand(&state);
    }
    curand_init(0, 0, 6, &state); /* the seventh number onward */
    out[8] = curand(&state);
    out[9] = curand(&state);
    curand_init(1234, 7, 5, &state);
    out[10] = curand(&state);
    out[11] = curand(&state);
}

static void check_known_answers(void) {
    unsigned *device = device_array<unsigned>(12), out[12];
    known_answers<<<1, 1>>>(device);
    to_host(out, device, 12);
    CHECK(out[0] == 0x6627e8d5u && out[1] == 0xe169c58du);
    CHECK(out[2] == 0xbc57ac4cu && out[3] == 0x9b00dbd8u);
    CHECK(out[8] == out[6] && out[9] == out[7]);
    CHECK(out[10] == 2897886456u && out[11] == 3571722420u); /* from NVIDIA's header on a CPU */
}

enum { THREADS = 256, EACH = 64, N = THREADS * EACH };

__global__ void distributions(float *uniform, float *normal) {
    int t = (int)threadIdx.x;
    curandStatePhilox4_32_10_t state;
    curand_init(1234, (unsigned long long)t, 0, &state);
    for (int i = 0; i < EACH; i++) {
        uniform[t * EACH + i] = curand_uniform(&state);
        normal[t * EACH + i] = curand_normal(&state);
    }
}

static void check_distributions(void) {
    static float uniform[N], normal[N];
    float *device_u = device_array<float>(N), *device_n = device_array<float>(N);
    double mean_u = 0, mean_n = 0, square_n = 0;
    int outside = 0;
    distributions<<<1, THREADS>>>(device_u, device_n);
    to_host(uniform, device_u, N);
    to_host(normal, device_n, N);
    for (int i = 0; i < N; i++) {
        outside += !(uniform[i] > 0 && uniform[i] <= 1);
        mean_u += uniform[i] / (double)N;
        mean_n += normal[i] / (double)N;
        square_n += (double)normal[i] * normal[i] / N;
    }
    CHECK(outside == 0);
    /* Five standard deviations of each estimate. */
    CHECK(fabs(mean_u - 0.5) < 5 * sqrt(1.0 / 12 / N));
    CHECK(fabs(mean_n) < 5 / sqrt((double)N));
    CHECK(fabs(square_n - 1) < 5 * sqrt(2.0 / N));
}

int main(void) {
    check_known_answers();
    check_distributions();
    CHECK_DONE();
}
