/* Device memory: allocation, copies of every kind, fills, pitched memory, symbols, managed and
 * pinned memory. Answers from the CUDA Runtime API reference, "Memory Management". */
#include "check.h"
#include <string.h>

static void check_allocation(void) {
    void *a = NULL, *b = NULL;
    size_t before = 0, between = 0, total = 0;
    CHECK_OK(cudaMemGetInfo(&before, &total));
    CHECK(before <= total);
    CHECK_OK(cudaMalloc(&a, 64u << 20));
    CHECK_OK(cudaMemGetInfo(&between, &total));
    CHECK(between <= before - (64u << 20));
    CHECK((size_t)a % 256 == 0); /* "suitably aligned for any kind of variable" */
    CHECK_ERROR(cudaMalloc(&b, (size_t)1 << 62), cudaErrorMemoryAllocation);
    CHECK_ERROR(cudaGetLastError(), cudaErrorMemoryAllocation);
    CHECK_OK(cudaGetLastError()); /* forgotten: it was not a fault of the device */
    CHECK_OK(cudaFree(a));
    CHECK_OK(cudaFree(NULL));
}

static void check_foreign_frees(void) {
    int here = 0;
    void *a = NULL;
    CHECK_OK(cudaMalloc(&a, 1000));
    CHECK_ERROR(cudaFree((char *)a + 4), cudaErrorInvalidValue);
    CHECK_OK(cudaFree(a));
    CHECK_ERROR(cudaFree(a), cudaErrorInvalidValue);
    CHECK_ERROR(cudaFree(&here), cudaErrorInvalidValue);
    CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
}

static void check_copies(void) {
    int host[100], back[100];
    int *a = device_array<int>(100), *b = device_array<int>(100);
    for (int i = 0; i < 100; i++) {
        host[i] = i * 3 + 1;
        back[i] = 0;
    }
    CHECK_OK(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK_OK(cudaMemcpy(b, a, sizeof host, cudaMemcpyDeviceToDevice));
    CHECK_OK(cudaMemcpy(back, b, sizeof back, cudaMemcpyDeviceToHost));
    CHECK(memcmp(host, back, sizeof host) == 0);
    memset(back, 0, sizeof back);
    CHECK_OK(cudaMemcpy(back, host, sizeof back, cudaMemcpyHostToHost));
    CHECK(memcmp(host, back, sizeof host) == 0);
    CHECK_OK(cudaMemcpy(back, b + 10, 40, cudaMemcpyDefault));
    CHECK(back[0] == 31 && back[9] == 58 && back[10] == 31);
    CHECK_OK(cudaMemset(b + 1, 0x11, 8));
    CHECK_OK(cudaMemcpy(back, b, 16, cudaMemcpyDeviceToHost));
    CHECK(back[0] == 1 && back[1] == 0x11111111 && back[2] == 0x11111111 && back[3] == 10);
    CHECK_OK(cudaMemcpy(a, host, 0, cudaMemcpyHostToDevice));
    CHECK_OK(cudaFree(a));
    CHECK_OK(cudaFree(b));
}

static void check_wrong_copies(void) {
    char host[256] = "";
    char *a = device_array<char>(256);
    CHECK_ERROR(cudaMemcpy(a, host, 16, (cudaMemcpyKind)7), cudaErrorInvalidMemcpyDirection);
    CHECK_ERROR(cudaMemcpy(NULL, host, 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemcpy(host, a, 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemset(host, 0, 16), cudaErrorInvalidValue);
    CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
    CHECK_OK(cudaFree(a));
}

static void check_pitched(void) {
    enum { WIDTH = 37, HEIGHT = 5 };
    char host[HEIGHT][50], back[HEIGHT][WIDTH];
    char *device = NULL;
    size_t pitch = 0;
    for (int i = 0; i < HEIGHT * 50; i++) {
        host[i / 50][i % 50] = (char)(i % 120);
    }
    CHECK_OK(cudaMallocPitch(&device, &pitch, WIDTH, HEIGHT));
    CHECK(pitch >= WIDTH);
    CHECK_OK(cudaMemcpy2D(device, pitch, host, 50, WIDTH, HEIGHT, cudaMemcpyHostToDevice));
    CHECK_OK(cudaMemset2D(device + pitch, pitch, 7, 3, 2));
    CHECK_OK(cudaMemcpy2D(back, WIDTH, device, pitch, WIDTH, HEIGHT, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int row = 0; row < HEIGHT; row++) {
        for (int i = 0; i < WIDTH; i++) {
            bool filled = (row == 1 || row == 2) && i < 3;
            wrong += back[row][i] != (filled ? 7 : host[row][i]);
        }
    }
    CHECK(wrong == 0);
    CHECK_ERROR(cudaMemcpy2D(device, 10, host, 50, WIDTH, HEIGHT, cudaMemcpyHostToDevice),
                cudaErrorInvalidPitchValue);
    CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidPitchValue);
    CHECK_OK(cudaFree(device));
}

__constant__ float coefficients[8];
__device__ int counter = 5;
__device__ float table[4] = {1, 2, 3, 4};

__global__ void use_symbols(float *out) {
    out[threadIdx.x] = coefficients[threadIdx.x] * 2 + table[threadIdx.x % 4];
    atomicAdd(&counter, 1);
}

static void check_symbols(void) {
    float host[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8], *device = device_array<float>(8);
    float ten = 10;
    int count = 0;
    size_t bytes = 0;
    void *address = NULL;
    CHECK_OK(cudaMemcpyToSymbol(coefficients, host, sizeof host));
    CHECK_OK(cudaMemcpyToSymbol(table, &ten, sizeof ten, 2 * sizeof(float)));
    use_symbols<<<1, 8>>>(device);
    to_host(out, device, 8);
    CHECK(out[0] == 3 && out[1] == 6 && out[2] == 16 && out[3] == 12 && out[6] == 24);
    CHECK_OK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    CHECK(count == 13);
    CHECK_OK(cudaGetSymbolSize(&bytes, coefficients));
    CHECK(bytes == sizeof host);
    CHECK_OK(cudaGetSymbolAddress(&address, counter));
    count = 77;
    CHECK_OK(cudaMemcpy(address, &count, sizeof count, cudaMemcpyHostToDevice));
    count = 0;
    CHECK_OK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    CHECK(count == 77);
    CHECK_ERROR(cudaMemcpyToSymbol(table, host, 4 * sizeof(float), 4), cudaErrorInvalidValue);
    CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
    CHECK_OK(cudaFree(device));
}

__global__ void increment(int *values, int n) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        values[i] += 1;
    }
}

static void check_managed_and_pinned(void) {
    int *managed = NULL, *pinned = NULL, *device = NULL;
    cudaPointerAttributes attributes;
    CHECK_OK(cudaMallocManaged(&managed, 1000 * sizeof(int)));
    for (int i = 0; i < 1000; i++) {
        managed[i] = i;
    }
    increment<<<4, 256>>>(managed, 1000);
    CHECK_OK(cudaDeviceSynchronize());
    CHECK(managed[0] == 1 && managed[999] == 1000);
    CHECK_OK(cudaPointerGetAttributes(&attributes, managed));
    CHECK(attributes.type == cudaMemoryTypeManaged);
    CHECK_OK(cudaFree(managed));

    CHECK_OK(cudaMallocHost(&pinned, 10 * sizeof(int)));
    pinned[9] = 41;
    CHECK_OK(cudaPointerGetAttributes(&attributes, pinned));
    CHECK(attributes.type == cudaMemoryTypeHost);
    device = device_array<int>(10);
    CHECK_OK(cudaMemcpyAsync(device, pinned, 10 * sizeof(int), cudaMemcpyHostToDevice));
    increment<<<1, 32>>>(device, 10);
    CHECK_OK(cudaMemcpyAsync(pinned, device, 10 * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK_OK(cudaDeviceSynchronize());
    CHECK(pinned[9] == 42);
    CHECK_OK(cudaPointerGetAttributes(&attributes, device));
    CHECK(attributes.type == cudaMemoryTypeDevice && attributes.device == 0);
    CHECK_ERROR(cudaFree(pinned), cudaErrorInvalidValue);
    CHECK_OK(cudaFreeHost(pinned));
    CHECK_OK(cudaFree(device));
    CHECK_OK(cudaHostAlloc(&pinned, 64, cudaHostAllocDefault));
    CHECK_OK(cudaFreeHost(pinned));
}

int main(void) {
    check_allocation();
    check_foreign_frees();
    check_copies();
    check_wrong_copies();
    check_pitched();
    check_symbols();
    check_managed_and_pinned();
    CHECK_DONE();
}
