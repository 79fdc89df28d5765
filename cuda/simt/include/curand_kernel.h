/* cuRAND's device functions on Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as
 * 1, 2, 3", 2011), with cuRAND's seeds, sequences and numbers. curandState and the XORWOW type,
 * whose numbers depend on tables of their own, are Philox too: as random, but other numbers than on
 * a card. */
#ifndef SIMT_CURAND_KERNEL_H
#define SIMT_CURAND_KERNEL_H

#include "cuda_runtime.h"

struct curandStatePhilox4_32_10 {
    uint4 ctr, output; /* the counter of the next four numbers; the four under way */
    uint2 key;
    unsigned used; /* how many of `output` are gone */
    bool has_normal;
    float spare_normal;
};
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef curandStatePhilox4_32_10 curandState;
typedef curandStatePhilox4_32_10 curandState_t;
typedef curandStatePhilox4_32_10 curandStateXORWOW_t;

namespace simt {

inline uint4 philox_4x32_10(uint4 c, uint2 key) {
    for (int round = 0; round < 10; round++) {
        unsigned long long even = 0xD2511F53ull * c.x, odd = 0xCD9E8D57ull * c.z;
        c = uint4{(unsigned)(odd >> 32) ^ c.y ^ key.x, (unsigned)odd,
                  (unsigned)(even >> 32) ^ c.w ^ key.y, (unsigned)even};
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return c;
}

/* Moves the counter on by n groups of four. */
inline void philox_advance(curandStatePhilox4_32_10 *state, unsigned long long n) {
    unsigned __int128 counter = ((unsigned __int128)state->ctr.w << 96) |
                                ((unsigned __int128)state->ctr.z << 64) |
                                ((unsigned __int128)state->ctr.y << 32) | state->ctr.x;
    counter += n;
    state->ctr = uint4{(unsigned)counter, (unsigned)(counter >> 32), (unsigned)(counter >> 64),
                       (unsigned)(counter >> 96)};
}

} // namespace simt

inline void skipahead(unsigned long long n, curandStatePhilox4_32_10 *state) {
    n += state->used;
    simt::philox_advance(state, n / 4);
    state->used = (unsigned)(n % 4);
    state->output = simt::philox_4x32_10(state->ctr, state->key);
}

/* Sequences are 2^66 numbers apart. */
inline void curand_init(unsigned long long seed, unsigned long long subsequence,
                        unsigned long long offset, curandStatePhilox4_32_10 *state) {
    *state = {};
    state->ctr = uint4{0, 0, (unsigned)subsequence, (unsigned)(subsequence >> 32)};
    state->key = uint2{(unsigned)seed, (unsigned)(seed >> 32)};
    skipahead(offset, state);
}

inline unsigned curand(curandStatePhilox4_32_10 *state) {
    unsigned numbers[4] = {state->output.x, state->output.y, state->output.z, state->output.w};
    unsigned result = numbers[state->used++];
    if (state->used == 4) {
        simt::philox_advance(state, 1);
        state->output = simt::philox_4x32_10(state->ctr, state->key);
        state->used = 0;
    }
    return result;
}

inline uint4 curand4(curandStatePhilox4_32_10 *state) {
    unsigned a = curand(state), b = curand(state), c = curand(state), d = curand(state);
    return uint4{a, b, c, d};
}

namespace simt {
/* (0, 1]: the middle of the number's interval, so never 0. */
inline float uniform_from(unsigned x) {
    return (float)x * 0x1p-32f + 0x1p-33f;
}
/* Two numbers of a normal distribution from two uniform ones (Box and Muller). */
inline float2 normal_from(unsigned x, unsigned y) {
    const float turn = 6.2831855f * 0x1p-32f;
    float angle = (float)y * turn + turn / 2, radius = sqrtf(-2.0f * logf(uniform_from(x)));
    return float2{radius * sinf(angle), radius * cosf(angle)};
}
} // namespace simt

inline float curand_uniform(curandStatePhilox4_32_10 *state) {
    return simt::uniform_from(curand(state));
}

/* From one number: 32 bits of the double are random. */
inline double curand_uniform_double(curandStatePhilox4_32_10 *state) {
    return (double)curand(state) * 0x1p-32 + 0x1p-32;
}

inline float4 curand_uniform4(curandStatePhilox4_32_10 *state) {
    uint4 x = curand4(state);
    return float4{simt::uniform_from(x.x), simt::uniform_from(x.y), simt::uniform_from(x.z),
                  simt::uniform_from(x.w)};
}

inline float2 curand_normal2(curandStatePhilox4_32_10 *state) {
    unsigned x = curand(state), y = curand(state);
    return simt::normal_from(x, y);
}

/* Two at a time: the second is kept for the next call. */
inline float curand_normal(curandStatePhilox4_32_10 *state) {
    if (state->has_normal) {
        state->has_normal = false;
        return state->spare_normal;
    }
    float2 pair = curand_normal2(state);
    state->has_normal = true;
    state->spare_normal = pair.y;
    return pair.x;
}

inline float4 curand_normal4(curandStatePhilox4_32_10 *state) {
    float2 a = curand_normal2(state), b = curand_normal2(state);
    return float4{a.x, a.y, b.x, b.y};
}

inline float curand_log_normal(curandStatePhilox4_32_10 *state, float mean, float deviation) {
    return expf(mean + deviation * curand_normal(state));
}

#endif
