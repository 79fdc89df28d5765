/* Limits of a launch (CUDA programming guide, "Technical Specifications per Compute Capability"),
 * and the errors of calls that are told once and leave the device usable. */
#include "check.h"
#include <string.h>

__global__ void count_threads(unsigned long long *count) {
    extern __shared__ char unused[];
    if (count != NULL) {
        atomicAdd(count, 1ull);
    } else {
        unused[0] = 1;
    }
}

static unsigned long long *count;

/* Launches; the error at once, and whether all threads ran. */
static cudaError_t try_launch(dim3 grid, dim3 block, size_t shared_bytes) {
    unsigned long long got = 0,
                       wanted = 1ull * grid.x * grid.y * grid.z * block.x * block.y * block.z;
    CHECK_OK(cudaMemset(count, 0, sizeof *count));
    count_threads<<<grid, block, shared_bytes>>>(count);
    cudaError_t error = cudaGetLastError();
    CHECK_OK(cudaGetLastError()); /* told once */
    CHECK_OK(cudaDeviceSynchronize());
    CHECK_OK(cudaMemcpy(&got, count, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(got == (error == cudaSuccess ? wanted : 0));
    return error;
}

static void check_blocks(void) {
    CHECK_OK(try_launch(1, 1024, 0));
    CHECK_OK(try_launch(1, dim3(1, 1024, 1), 0));
    CHECK_OK(try_launch(1, dim3(1, 1, 64), 0));
    CHECK_OK(try_launch(1, dim3(4, 4, 64), 0));
    CHECK_ERROR(try_launch(1, 1025, 0), cudaErrorInvalidConfiguration);
    CHECK_ERROR(try_launch(1, dim3(32, 33, 1), 0), cudaErrorInvalidConfiguration);
    CHECK_ERROR(try_launch(1, dim3(1, 1, 65), 0), cudaErrorInvalidConfiguration);
    CHECK_ERROR(try_launch(1, dim3(0, 1, 1), 0), cudaErrorInvalidConfiguration);
    CHECK_ERROR(try_launch(1, dim3(32, 0, 1), 0), cudaErrorInvalidConfiguration);
}

static void check_grids(void) {
    CHECK_OK(try_launch(100000, 1, 0)); /* along x more than 65535 */
    CHECK_OK(try_launch(dim3(1, 65535, 1), 1, 0));
    CHECK_OK(try_launch(dim3(1, 1, 65535), 1, 0));
    CHECK_ERROR(try_launch(0, 32, 0), cudaErrorInvalidConfiguration);
    CHECK_ERROR(try_launch(dim3(1, 0, 1), 32, 0), cudaErrorInvalidConfiguration);
}

/* Past these sizes the reference names no code: some error must come, and no thread run. */
static void check_refused(void) {
    CHECK(try_launch(dim3(1, 65536, 1), 1, 0) != cudaSuccess);
    CHECK(try_launch(dim3(1, 1, 65536), 1, 0) != cudaSuccess);
    CHECK(try_launch(dim3(0x80000000u, 1, 1), 1, 0) != cudaSuccess);
    CHECK(try_launch(1, 1, 48 * 1024 + 1) != cudaSuccess);
    CHECK(try_launch(1, 1, 1u << 30) != cudaSuccess);
}

/* More than 48 KiB of dynamic shared memory must be asked for, kernel by kernel. */
static void check_shared_memory(void) {
    int most = 0;
    cudaFuncAttributes attributes;
    CHECK_OK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    CHECK(most >= 48 * 1024);
    CHECK_OK(try_launch(1, 1, 48 * 1024));
    CHECK(cudaFuncSetAttribute(count_threads, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               most + 1) != cudaSuccess);
    cudaGetLastError();
    CHECK_OK(
        cudaFuncSetAttribute(count_threads, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
    CHECK_OK(try_launch(2, 64, (size_t)most));
    CHECK_OK(cudaFuncGetAttributes(&attributes, count_threads));
    CHECK(attributes.maxDynamicSharedSizeBytes == most);
    CHECK(attributes.maxThreadsPerBlock >= 1);
}

static void check_device(void) {
    cudaDeviceProp p;
    int devices = 0, device = -1, value = 0, blocks = 0, threads = 0;
    CHECK_OK(cudaGetDeviceCount(&devices));
    CHECK(devices >= 1);
    CHECK_OK(cudaSetDevice(0));
    CHECK_OK(cudaGetDevice(&device));
    CHECK(device == 0);
    CHECK_ERROR(cudaSetDevice(devices), cudaErrorInvalidDevice);
    CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidDevice);
    CHECK_OK(cudaGetDeviceProperties(&p, 0));
    CHECK(strlen(p.name) > 0);
    CHECK(p.maxThreadsPerBlock == 1024 && p.maxThreadsDim[0] == 1024 && p.maxThreadsDim[2] == 64);
    CHECK(p.maxGridSize[0] == 0x7fffffff && p.maxGridSize[1] == 65535 && p.maxGridSize[2] == 65535);
    CHECK(p.warpSize == 32 && p.totalConstMem == 65536 && p.sharedMemPerBlock == 48 * 1024);
    CHECK_OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    CHECK(value == p.multiProcessorCount && value >= 1);
    CHECK_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, count_threads, 256, 0));
    CHECK(blocks >= 1 && blocks * 256 <= p.maxThreadsPerMultiProcessor);
    CHECK_OK(cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, count_threads, 0, 0));
    CHECK(threads >= 32 && threads <= 1024 && blocks >= 1);
}

static void check_names(void) {
    CHECK(strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
    CHECK(strcmp(cudaGetErrorName((cudaError_t)12345), "unrecognized error code") == 0);
}

/* PeekAtLastError does not forget; a success in between does not hide the failure. */
static void check_last_error(void) {
    CHECK_OK(cudaGetLastError());
    CHECK_ERROR(cudaMemset(NULL, 0, 4), cudaErrorInvalidValue);
    CHECK_OK(cudaSetDevice(0));
    CHECK_ERROR(cudaPeekAtLastError(), cudaErrorInvalidValue);
    CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
    CHECK_OK(cudaPeekAtLastError());
}

int main(void) {
    count = device_array<unsigned long long>(1);
    check_blocks();
    check_grids();
    check_refused();
    check_shared_memory();
    check_device();
    check_names();
    check_last_error();
    CHECK_DONE();
}
