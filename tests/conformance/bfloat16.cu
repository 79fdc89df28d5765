/* bfloat16: all 65,536 values; rounding of floats at, below and above each middle; arithmetic
 * rounded once, to nearest, ties to even. A bfloat16 is the upper half of a float, so that the
 * float's bits are the exact answer to compare with. */
#include "check.h"
#include <cuda_bf16.h>
#include <math.h>
#include <string.h>

enum { VALUES = 65536 };

static float float_of(unsigned bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Nearest bfloat16 of a double that is not a NaN: the two neighbours are compared in doubles. */
static unsigned nearest(double value) {
    unsigned sign = signbit(value) ? 0x8000 : 0, low = 0, high = 0x7f80;
    double m = fabs(value);
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if ((double)float_of(middle << 16) <= m) {
            low = middle;
        } else {
            high = middle;
        }
    }
    double next = low + 1 == 0x7f80 ? 0x1p128 : (double)float_of((low + 1) << 16);
    double below = m - (double)float_of(low << 16), above = next - m;
    return sign | (low + (above < below || (above == below && (low & 1) != 0) ? 1 : 0));
}

__global__ void convert(unsigned short *out, const float *in) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __bfloat16_as_ushort(__float2bfloat16(in[i]));
}

__global__ void back(float *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __bfloat162float(__ushort_as_bfloat16((unsigned short)i));
}

static float floats[VALUES];
static unsigned short shorts[VALUES];

static void check_conversions(void) {
    float *device_floats = device_array<float>(VALUES);
    unsigned short *device_shorts = device_array<unsigned short>(VALUES);
    int wrong = 0;
    back<<<VALUES / 256, 256>>>(device_floats);
    to_host(floats, device_floats, VALUES);
    for (unsigned i = 0; i < VALUES; i++) {
        float expected = float_of(i << 16);
        wrong +=
            expected == expected ? memcmp(&floats[i], &expected, 4) != 0 : floats[i] == floats[i];
    }
    CHECK(wrong == 0);
    for (unsigned low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
        wrong = 0;
        for (unsigned i = 0; i < VALUES; i++) {
            floats[i] = float_of(i << 16 | low);
        }
        to_device(device_floats, floats, VALUES);
        convert<<<VALUES / 256, 256>>>(device_shorts, device_floats);
        to_host(shorts, device_shorts, VALUES);
        for (unsigned i = 0; i < VALUES; i++) {
            bool up = low > 0x8000 || (low == 0x8000 && (i & 1) != 0);
            bool nan = floats[i] != floats[i];
            wrong += nan ? (shorts[i] & 0x7fff) <= 0x7f80 : shorts[i] != ((i + up) & 0xffff);
        }
        CHECK(wrong == 0);
    }
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define HAS_BFLOAT16_ARITHMETIC 1
#endif

__global__ void operate(unsigned short *out, const unsigned short *a, const unsigned short *b,
                        const unsigned short *c) {
#ifdef HAS_BFLOAT16_ARITHMETIC
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    __nv_bfloat16 x = __ushort_as_bfloat16(a[i]), y = __ushort_as_bfloat16(b[i]);
    __nv_bfloat16 z = __ushort_as_bfloat16(c[i]);
    out[4 * i + 0] = __bfloat16_as_ushort(__hadd(x, y));
    out[4 * i + 1] = __bfloat16_as_ushort(__hmul(x, y));
    out[4 * i + 2] = __bfloat16_as_ushort(__hfma(x, y, z));
    out[4 * i + 3] = __bfloat16_as_ushort(
        __low2bfloat16(__hadd2(__halves2bfloat162(x, y), __halves2bfloat162(z, z))));
#endif
}

/* Values from 2^-12 to 2^12, where a double holds each sum and product of them exactly. */
static void check_operations(void) {
    static unsigned short a[VALUES], b[VALUES], c[VALUES], out[4 * VALUES];
    unsigned short *da = device_array<unsigned short>(VALUES),
                   *db = device_array<unsigned short>(VALUES);
    unsigned short *dc = device_array<unsigned short>(VALUES);
    unsigned short *dout = device_array<unsigned short>(4 * VALUES);
    unsigned state = 99;
    for (int i = 0; i < VALUES; i++) {
        unsigned short *all[3] = {&a[i], &b[i], &c[i]};
        for (int k = 0; k < 3; k++) {
            state = state * 1664525u + 1013904223u;
            unsigned exponent = 115 + (state >> 8) % 24;
            *all[k] = (unsigned short)((state >> 31) << 15 | exponent << 7 | (state >> 20 & 127));
        }
    }
    to_device(da, a, VALUES);
    to_device(db, b, VALUES);
    to_device(dc, c, VALUES);
    operate<<<VALUES / 256, 256>>>(dout, da, db, dc);
    to_host(out, dout, 4 * VALUES);
    int wrong[4] = {0};
    for (int i = 0; i < VALUES; i++) {
        double x = float_of((unsigned)a[i] << 16), y = float_of((unsigned)b[i] << 16);
        double z = float_of((unsigned)c[i] << 16);
        double sum = x + y == 0 ? 0.0 : x + y;
        wrong[0] += out[4 * i + 0] != nearest(sum);
        wrong[1] += out[4 * i + 1] != nearest(x * y);
        wrong[2] += out[4 * i + 2] != nearest(x * y + z == 0 ? 0.0 : x * y + z);
        wrong[3] += out[4 * i + 3] != nearest(x + z == 0 ? 0.0 : x + z);
    }
    for (int k = 0; k < 4; k++) {
        CHECK(wrong[k] == 0);
    }
}

int main(void) {
    cudaDeviceProp properties;
    CHECK_OK(cudaGetDeviceProperties(&properties, 0));
    check_conversions();
    if (properties.major >= 8) {
        check_operations();
    }
    CHECK_DONE();
}
