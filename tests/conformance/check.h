/* For the conformance programs: the same source runs on a GPU (nvcc) and on the interpreter. Each
 * program ends with CHECK_DONE(); what it prints last is "N checks, M failed". */
#ifndef CONFORMANCE_CHECK_H
#define CONFORMANCE_CHECK_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

static int checks_made, checks_failed;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        checks_made++;                                                                             \
        if (!(condition)) {                                                                        \
            checks_failed++;                                                                       \
            printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                         \
        }                                                                                          \
    } while (0)

/* The call must return this error. */
#define CHECK_ERROR(call, expected)                                                                \
    do {                                                                                           \
        cudaError_t got_ = (call);                                                                 \
        checks_made++;                                                                             \
        if (got_ != (expected)) {                                                                  \
            checks_failed++;                                                                       \
            printf("%s:%d: failed: %s: %s, expected %s\n", __FILE__, __LINE__, #call,              \
                   cudaGetErrorName(got_), cudaGetErrorName(expected));                            \
        }                                                                                          \
    } while (0)
#define CHECK_OK(call) CHECK_ERROR(call, cudaSuccess)

#define CHECK_DONE()                                                                               \
    do {                                                                                           \
        printf("%d checks, %d failed\n", checks_made, checks_failed);                              \
        return checks_failed != 0 || checks_made == 0;                                             \
    } while (0)

/* count values in device memory, all bits set (a NaN; -1) so that what is not written shows. */
template <class T> static T *device_array(size_t count) {
    T *memory = NULL;
    CHECK_OK(cudaMalloc(&memory, count * sizeof(T)));
    CHECK_OK(cudaMemset(memory, 0xff, count * sizeof(T)));
    return memory;
}

template <class T> static void to_host(T *to, const T *from, size_t count) {
    CHECK_OK(cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyDeviceToHost));
}

template <class T> static void to_device(T *to, const T *from, size_t count) {
    CHECK_OK(cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyHostToDevice));
}

#endif
