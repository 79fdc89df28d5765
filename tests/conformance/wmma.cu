/* Tensor core fragments: D = A B + C for half and bfloat16, both layouts of each operand, a leading
 * dimension that is larger than the tile, elementwise work on fragments. The inputs are small whole
 * numbers, so that every order of summing gives the same answer. */
#include "check.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

enum { TILE = 16, LEADING = 24 };

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define HAS_WMMA_BF16 1
#endif

template <class T, class LayoutA, class LayoutB>
__device__ void multiply(float *d, const T *a, const T *b, const float *c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, T, LayoutA> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, T, LayoutB> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc, fd;
    wmma::load_matrix_sync(fa, a, LEADING);
    wmma::load_matrix_sync(fb, b, LEADING);
    wmma::load_matrix_sync(fc, c, LEADING, wmma::mem_row_major);
    wmma::mma_sync(fd, fa, fb, fc);
    wmma::mma_sync(fd, fa, fb, fd); /* in place: twice the product */
    for (int i = 0; i < fd.num_elements; i++) {
        fd.x[i] += 0.5f;
    }
    wmma::store_matrix_sync(d, fd, LEADING, wmma::mem_row_major);
}

template <class LayoutA, class LayoutB>
__global__ void multiply_half(float *d, const __half *a, const __half *b, const float *c) {
    multiply<__half, LayoutA, LayoutB>(d, a, b, c);
}

template <class LayoutA, class LayoutB>
__global__ void multiply_bfloat16(float *d, const __nv_bfloat16 *a, const __nv_bfloat16 *b,
                                  const float *c) {
#ifdef HAS_WMMA_BF16
    multiply<__nv_bfloat16, LayoutA, LayoutB>(d, a, b, c);
#endif
}

/* Sums kept in half, columns first. */
__global__ void accumulate_half(__half *d, const __half *a, const __half *b) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, __half> fd;
    wmma::load_matrix_sync(fa, a, LEADING);
    wmma::load_matrix_sync(fb, b, LEADING);
    wmma::fill_fragment(fd, __float2half(3.0f));
    wmma::mma_sync(fd, fa, fb, fd);
    wmma::store_matrix_sync(d, fd, LEADING, wmma::mem_col_major);
}

static int value_a(int row, int column) {
    return (row * 3 + column * 5) % 7 - 3;
}

static int value_b(int row, int column) {
    return (row * 2 + column * 11) % 9 - 4;
}

static int product(int row, int column) {
    int sum = 0;
    for (int k = 0; k < TILE; k++) {
        sum += value_a(row, k) * value_b(k, column);
    }
    return sum;
}

template <class T> static T make(float value);
template <> __half make<__half>(float value) {
    return __float2half(value);
}
template <> __nv_bfloat16 make<__nv_bfloat16>(float value) {
    return __float2bfloat16(value);
}

template <class T> struct Inputs { T *a, *b; };

template <class T> static Inputs<T> make_inputs(bool a_by_rows, bool b_by_rows) {
    static T a[TILE * LEADING], b[TILE * LEADING];
    Inputs<T> inputs = {device_array<T>(TILE * LEADING), device_array<T>(TILE * LEADING)};
    for (int i = 0; i < TILE * LEADING; i++) {
        int major = i / LEADING, minor = i % LEADING;
        a[i] = make<T>((float)(a_by_rows ? value_a(major, minor) : value_a(minor, major)));
        b[i] = make<T>((float)(b_by_rows ? value_b(major, minor) : value_b(minor, major)));
    }
    to_device(inputs.a, a, TILE * LEADING);
    to_device(inputs.b, b, TILE * LEADING);
    return inputs;
}

template <class T>
static void check_product(void (*kernel)(float *, const T *, const T *, const float *),
                          bool a_by_rows, bool b_by_rows) {
    Inputs<T> inputs = make_inputs<T>(a_by_rows, b_by_rows);
    float c[TILE * LEADING], d[TILE * LEADING];
    float *device_c = device_array<float>(TILE * LEADING);
    float *device_d = device_array<float>(TILE * LEADING);
    for (int i = 0; i < TILE * LEADING; i++) {
        c[i] = (float)(i % 13);
    }
    to_device(device_c, c, TILE * LEADING);
    kernel<<<1, 32>>>(device_d, inputs.a, inputs.b, device_c);
    CHECK_OK(cudaGetLastError());
    to_host(d, device_d, TILE * LEADING);
    int wrong = 0, outside = 0;
    for (int i = 0; i < TILE * LEADING; i++) {
        int row = i / LEADING, column = i % LEADING;
        if (column < TILE) {
            wrong += d[i] != 2.0f * (float)product(row, column) + c[i] + 0.5f;
        } else {
            outside += d[i] == d[i]; /* between the rows nothing is written */
        }
    }
    CHECK(wrong == 0);
    CHECK(outside == 0);
}

static void check_half_sums(void) {
    Inputs<__half> inputs = make_inputs<__half>(true, true);
    __half *device = device_array<__half>(TILE * LEADING), d[TILE * LEADING];
    accumulate_half<<<1, 32>>>(device, inputs.a, inputs.b);
    to_host(d, device, TILE * LEADING);
    int wrong = 0;
    for (int column = 0; column < TILE; column++) {
        for (int row = 0; row < TILE; row++) {
            wrong += __half2float(d[column * LEADING + row]) != (float)product(row, column) + 3;
        }
    }
    CHECK(wrong == 0);
}

int main(void) {
    typedef wmma::row_major Rows;
    typedef wmma::col_major Columns;
    cudaDeviceProp properties;
    CHECK_OK(cudaGetDeviceProperties(&properties, 0));
    check_product<__half>(multiply_half<Rows, Rows>, true, true);
    check_product<__half>(multiply_half<Rows, Columns>, true, false);
    check_product<__half>(multiply_half<Columns, Rows>, false, true);
    check_product<__half>(multiply_half<Columns, Columns>, false, false);
    if (properties.major >= 8) {
        check_product<__nv_bfloat16>(multiply_bfloat16<Rows, Rows>, true, true);
        check_product<__nv_bfloat16>(multiply_bfloat16<Columns, Columns>, false, false);
    }
    check_half_sums();
    CHECK_DONE();
}
