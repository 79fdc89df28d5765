/* assert() in a kernel: told by the next call that waits, as cudaErrorAssert; the device is then
 * lost. printf() in a kernel: what all threads print comes out by then (read by nobody here; that
 * it compiles and runs is the point). */
#include "check.h"
#include <assert.h>

__global__ void positive(const int *values) {
    int value = values[threadIdx.x];
    if (value == 12) {
        printf("thread %u saw %d\n", threadIdx.x, value);
    }
    assert(value > 0);
}

int main(void) {
    int host[32], *device = device_array<int>(32);
    for (int i = 0; i < 32; i++) {
        host[i] = i + 1;
    }
    to_device(device, host, 32);
    positive<<<1, 32>>>(device);
    CHECK_OK(cudaDeviceSynchronize());
    host[20] = -5;
    to_device(device, host, 32);
    positive<<<1, 32>>>(device);
    CHECK_OK(cudaGetLastError());
    CHECK_ERROR(cudaDeviceSynchronize(), cudaErrorAssert);
    CHECK_ERROR(cudaFree(device), cudaErrorAssert);
    CHECK_DONE();
}
