/* Philox4x32-10: ten rounds of two 32x32 -> 64 bit products and a key schedule by addition. */
#include "base/philox.h"

#include <math.h>

enum { ROUNDS = 10 };

/* The constants of the paper, table 2 (multipliers) and section 3.3 (Weyl increments). */
static const uint32_t MULTIPLIER_0 = 0xD2511F53u, MULTIPLIER_1 = 0xCD9E8D57u;
static const uint32_t WEYL_0 = 0x9E3779B9u, WEYL_1 = 0xBB67AE85u;

void philox4x32(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]) {
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t product_0 = (uint64_t)MULTIPLIER_0 * c0;
        uint64_t product_1 = (uint64_t)MULTIPLIER_1 * c2;
        c0 = (uint32_t)(product_1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)product_1;
        c2 = (uint32_t)(product_0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)product_0;
        k0 += WEYL_0;
        k1 += WEYL_1;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* The stream is the upper half of the counter, so streams cannot run into one another. */
static void block_of(uint32_t out[4], Philox rng, uint64_t block) {
    const uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)rng.stream,
                                 (uint32_t)(rng.stream >> 32)};
    const uint32_t key[2] = {(uint32_t)rng.seed, (uint32_t)(rng.seed >> 32)};
    philox4x32(out, counter, key);
}

uint32_t philox_bits(Philox rng, uint64_t index) {
    uint32_t words[4];
    block_of(words, rng, index / 4);
    return words[index % 4];
}

float philox_uniform(Philox rng, uint64_t index) {
    return (float)(philox_bits(rng, index) >> 8) * 0x1p-24f;
}

float philox_normal(Philox rng, uint64_t index) {
    uint32_t words[4];
    block_of(words, rng, index);
    /* In double and then rounded, so that no difference between two math libraries shows. The
     * radius takes (0,1]: its logarithm must exist. */
    double u = ((double)words[0] + 1.0) * 0x1p-32, angle = (double)words[1] * 0x1p-32;
    return (float)(sqrt(-2.0 * log(u)) * cos(2.0 * M_PI * angle));
}

uint32_t philox_below(Philox rng, uint64_t index, uint32_t bound) {
    return (uint32_t)(((uint64_t)philox_bits(rng, index) * bound) >> 32);
}

void philox_shuffle(Philox rng, int *order, int n) {
    for (int i = 0; i < n; i++) {
        order[i] = i;
    }
    for (int i = n - 1; i > 0; i--) {
        int j = (int)philox_below(rng, (uint64_t)i, (uint32_t)i + 1);
        int swapped = order[i];
        order[i] = order[j];
        order[j] = swapped;
    }
}
