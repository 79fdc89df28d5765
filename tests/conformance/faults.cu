/* A fault inside a kernel: the launch itself succeeds, the next call that waits tells it, and from
 * then on every call does, because the device is no longer usable (CUDA Runtime API reference,
 * cudaErrorIllegalAddress). */
#include "check.h"

__global__ void store(int *where, int value) {
    if (threadIdx.x == 3) {
        *where = value;
    }
}

int main(void) {
    int *device = device_array<int>(1), host = 0;
    store<<<2, 32>>>(device, 9);
    CHECK_OK(cudaGetLastError());
    to_host(&host, device, 1);
    CHECK(host == 9);

    store<<<2, 32>>>((int *)NULL, 1);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    CHECK_ERROR(cudaGetLastError(), cudaErrorIllegalAddress);
    CHECK_ERROR(cudaGetLastError(), cudaErrorIllegalAddress); /* it stays */
    CHECK_ERROR(cudaMalloc(&device, 4), cudaErrorIllegalAddress);
    store<<<1, 32>>>(device, 1);
    CHECK_ERROR(cudaPeekAtLastError(), cudaErrorIllegalAddress);
    CHECK_DONE();
}
