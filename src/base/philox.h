/* Random numbers: Philox4x32-10, counter-based. The same (seed, stream, index) gives the same
 * number on every backend and thread count, because nothing is carried from one to the next.
 * Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011. */
#ifndef LOCKSTEP_PHILOX_H
#define LOCKSTEP_PHILOX_H

#include <stdint.h>

/* out = Philox4x32-10(counter, key): four words of 32 random bits. */
void philox4x32(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]);

/* A named sequence of numbers. Streams with different numbers never meet. */
typedef struct Philox {
    uint64_t seed;
    uint64_t stream;
} Philox;

uint32_t philox_bits(Philox rng, uint64_t index);                  /* the index-th 32 bits */
float philox_uniform(Philox rng, uint64_t index);                  /* [0, 1), 24 bits */
float philox_normal(Philox rng, uint64_t index);                   /* N(0,1), Box-Muller */
uint32_t philox_below(Philox rng, uint64_t index, uint32_t bound); /* 0..bound-1, no visible bias */

/* order = a random permutation of 0..n-1 (Fisher-Yates). */
void philox_shuffle(Philox rng, int *order, int n);

#endif
