/* Integer and bit functions, conversions between floats and integers, single-rounding arithmetic,
 * min and max, approximate functions within their bounds. Answers by hand from the CUDA Math API
 * reference. */
#include "check.h"
#include <math.h>

__global__ void bits(long long *out) {
    int k = 0;
    out[k++] = __popc(0xf0f0f0f1u);
    out[k++] = __popcll(0x8000000000000001ull);
    out[k++] = __clz(0);
    out[k++] = __clz(1);
    out[k++] = __clz(-1);
    out[k++] = __clzll(1ll << 40);
    out[k++] = __ffs(0);
    out[k++] = __ffs(0x50);
    out[k++] = __ffsll(1ll << 63);
    out[k++] = __brev(0x00000001u);
    out[k++] = __brev(0x12345678u);
    out[k++] = (long long)__brevll(0x1ull);
    out[k++] = __byte_perm(0x33221100u, 0x77665544u, 0x7610u);
    out[k++] = __byte_perm(0x33221100u, 0x77665544u, 0x0123u);
    out[k++] = __fns(0x0000f0f0u, 0, 1);
    out[k++] = __fns(0x0000f0f0u, 0, 6);
    out[k++] = __fns(0x0000f0f0u, 15, -2);
    out[k++] = __fns(0x0000f0f0u, 8, 0);
    out[k++] = __funnelshift_l(0x80000000u, 0x1u, 1);
    out[k++] = __funnelshift_r(0x80000000u, 0x1u, 31);
    out[k++] = __mulhi(-3, 0x40000000);
    out[k++] = __umulhi(0xffffffffu, 0xffffffffu);
    out[k++] = __mul64hi(-1, 1);
    out[k++] = (long long)__umul64hi(~0ull, 2);
    out[k++] = __mul24(0x01000003, 5);
    out[k++] = __umul24(0xff000002u, 7u);
    out[k++] = __sad(-5, 7, 100u);
    out[k++] = __hadd(7, 10);
    out[k++] = __rhadd(7, 10);
}

static void check_bits(void) {
    static const long long expected[] = {17,
                                         2,
                                         32,
                                         31,
                                         0,
                                         23,
                                         0,
                                         5,
                                         64,
                                         0x80000000ll,
                                         0x1e6a2c48ll,
                                         (long long)0x8000000000000000ull,
                                         0x77661100ll,
                                         0x00112233ll,
                                         4,
                                         13,
                                         14,
                                         0xffffffffll,
                                         3,
                                         3,
                                         -1,
                                         0xfffffffell,
                                         -1,
                                         1,
                                         15,
                                         14,
                                         112,
                                         8,
                                         9};
    enum { COUNT = sizeof expected / sizeof expected[0] };
    long long *device = device_array<long long>(COUNT), out[COUNT];
    bits<<<1, 1>>>(device);
    to_host(out, device, COUNT);
    for (int k = 0; k < COUNT; k++) {
        CHECK(out[k] == expected[k]);
        if (out[k] != expected[k]) {
            printf("    number %d: %llx, expected %llx\n", k, out[k], expected[k]);
        }
    }
}

__global__ void conversions(long long *out, float nan, float infinity) {
    int k = 0;
    out[k++] = __float2int_rn(2.5f);
    out[k++] = __float2int_rn(3.5f);
    out[k++] = __float2int_rz(-2.9f);
    out[k++] = __float2int_ru(2.1f);
    out[k++] = __float2int_rd(-2.1f);
    out[k++] = __float2int_rn(nan);
    out[k++] = __float2int_rz(3e9f);
    out[k++] = __float2int_rz(-infinity);
    out[k++] = __float2uint_rn(-1.0f);
    out[k++] = __float2uint_rz(infinity);
    out[k++] = __float2ll_rn(1e10f);
    out[k++] = __double2int_rn(-1.5);
    out[k++] = __double2ll_rz(1e300);
    out[k++] = __float_as_int(1.0f);
    out[k++] = __float_as_uint(-2.0f);
    out[k++] = __double_as_longlong(1.0);
    out[k++] = __int_as_float(0x40490fdb) == 3.14159274f;
    out[k++] = __hiloint2double(0x3ff00000, 0) == 1.0;
    out[k++] = __double2hiint(-1.0);
}

static void check_conversions(void) {
    static const long long expected[] = {2,
                                         4,
                                         -2,
                                         3,
                                         -3,
                                         0,
                                         0x7fffffff,
                                         -0x80000000ll,
                                         0,
                                         0xffffffffll,
                                         10000000000ll,
                                         -2,
                                         0x7fffffffffffffffll,
                                         0x3f800000,
                                         0xc0000000ll,
                                         0x3ff0000000000000ll,
                                         1,
                                         1,
                                         (int)0xbff00000};
    enum { COUNT = sizeof expected / sizeof expected[0] };
    long long *device = device_array<long long>(COUNT), out[COUNT];
    conversions<<<1, 1>>>(device, NAN, INFINITY);
    to_host(out, device, COUNT);
    for (int k = 0; k < COUNT; k++) {
        CHECK(out[k] == expected[k]);
    }
}

/* 1 + 2^-12 squared is 1 + 2^-11 + 2^-24: a fused operation keeps the last term, two roundings lose
 * it. */
__global__ void roundings(float *out, float x, float nan) {
    out[0] = __fmaf_rn(x, x, -(1.0f + 0x1p-11f));
    out[1] = __fadd_rn(__fmul_rn(x, x), -(1.0f + 0x1p-11f));
    out[2] = __fdiv_rn(1.0f, 3.0f);
    out[3] = __fsqrt_rn(2.0f);
    out[4] = __frcp_rn(3.0f);
    out[5] = fminf(nan, 2.0f) + fmaxf(3.0f, nan);
    out[6] = (float)min(3, 4) + max(2.5f, -1.0f) + (float)max(7u, 9u);
    out[7] = __saturatef(1.5f) + __saturatef(-3.0f) + __saturatef(0.25f);
    out[8] = (float)min(-1, 1) + (float)max(1ll, 1ll << 20) + (float)min(2.0, 3.0);
}

static void check_roundings(void) {
    float *device = device_array<float>(9), out[9];
    roundings<<<1, 1>>>(device, 1.0f + 0x1p-12f, NAN);
    to_host(out, device, 9);
    CHECK(out[0] == 0x1p-24f);
    CHECK(out[1] == 0);
    CHECK(out[2] == 0x1.555556p-2f);
    CHECK(out[3] == 0x1.6a09e6p+0f);
    CHECK(out[4] == 0x1.555556p-2f);
    CHECK(out[5] == 5);
    CHECK(out[6] == 3 + 2.5f + 9);
    CHECK(out[7] == 1.25f);
    CHECK(out[8] == -1 + 1048576.0f + 2);
}

enum { FUNCTIONS = 9, POINTS = 200 };

__global__ void functions(float *out) {
    int i = (int)threadIdx.x;
    float x = 0.01f + 0.015f * (float)i;
    out[0 * POINTS + i] = __expf(x);
    out[1 * POINTS + i] = __logf(x + 1.5f);
    out[2 * POINTS + i] = __sinf(x);
    out[3 * POINTS + i] = __cosf(x);
    out[4 * POINTS + i] = __powf(x, 1.5f);
    out[5 * POINTS + i] = __fdividef(x, 3.0f);
    out[6 * POINTS + i] = rsqrtf(x);
    out[7 * POINTS + i] = tanhf(x);
    out[8 * POINTS + i] = erff(x);
}

/* Bounds: those that the programming guide gives for the fast functions, with room. */
static void check_functions(void) {
    static float out[FUNCTIONS * POINTS];
    float *device = device_array<float>(FUNCTIONS * POINTS);
    double worst[FUNCTIONS] = {0};
    functions<<<1, POINTS>>>(device);
    to_host(out, device, FUNCTIONS * POINTS);
    for (int i = 0; i < POINTS; i++) {
        double x = (double)(0.01f + 0.015f * (float)i);
        double expected[FUNCTIONS] = {exp(x), log(x + 1.5), sin(x),  cos(x), pow(x, 1.5),
                                      x / 3,  1 / sqrt(x),  tanh(x), erf(x)};
        for (int k = 0; k < FUNCTIONS; k++) {
            double error = fabs((double)out[k * POINTS + i] - expected[k]);
            worst[k] = error > worst[k] ? error : worst[k];
        }
    }
    for (int k = 0; k < FUNCTIONS; k++) {
        CHECK(worst[k] < 2e-5);
    }
}

/* Loads through the read-only cache, vector types: sizes, alignments, element order. */
__global__ void vectors(float *out, const float4 *in) {
    float4 v = __ldg(&in[threadIdx.x]);
    out[threadIdx.x] = v.x + 10 * v.y + 100 * v.z + 1000 * v.w;
}

static void check_vectors(void) {
    float host[32], out[8];
    float4 *device = device_array<float4>(8);
    float *device_out = device_array<float>(8);
    for (int i = 0; i < 32; i++) {
        host[i] = (float)(i % 10);
    }
    CHECK_OK(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
    vectors<<<1, 8>>>(device_out, device);
    to_host(out, device_out, 8);
    CHECK(out[0] == 3210 && out[1] == 7654 && out[2] == 1098);
    CHECK(sizeof(float3) == 12 && sizeof(float4) == 16 && alignof(float4) == 16);
    CHECK(sizeof(double2) == 16 && sizeof(uchar4) == 4 && alignof(uchar4) == 4);
    int2 pair = make_int2(3, -4);
    CHECK(pair.x == 3 && pair.y == -4);
    dim3 d(5, 6);
    CHECK(d.x == 5 && d.y == 6 && d.z == 1);
}

int main(void) {
    check_bits();
    check_conversions();
    check_roundings();
    check_functions();
    check_vectors();
    CHECK_DONE();
}
