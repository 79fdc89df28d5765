/* One order of summation for every CPU backend: pairwise, in blocks. A row is cut into blocks of
 * 1024; a block is summed into 32 accumulators (which the compiler keeps in vector registers), and
 * these, then the blocks, are added in a binary tree:
 *
 *     blocks   b0  b1  b2  b3  b4           A sum of N numbers passes through at most
 *                \ /     \ /    |           32 + 5 + log2(N / 1024) + 1 roundings, where the plain
 *                 +       +     |           loop needs N: of 20,000,000 ones it finds 16,777,216.
 *                  \     /      |
 *                     +        /            Each left part is a power of two of blocks, so a run of
 *                       \    /              2^k blocks from a multiple of 2^k is one whole branch:
 *                         +                 threads may sum branches, and the bits stay the same.
 *
 * Higham 1993, "The accuracy of floating point summation", SIAM J. Sci. Comput. 14(4). */
#ifndef LOCKSTEP_PAIRWISE_H
#define LOCKSTEP_PAIRWISE_H

#include <stddef.h>

enum { PAIRWISE_BLOCK = 1024, PAIRWISE_LANES = 32 };

/* The largest power of two times unit that is below n; needs n > unit. */
static inline size_t pairwise_split(size_t n, size_t unit) {
    size_t left = unit;
    while (left < n - left) {
        left *= 2;
    }
    return left;
}

/* n <= PAIRWISE_BLOCK numbers. Lane l adds x[l], x[l + 32], ...; then the lanes are halved;
 * fewer than 32 numbers need no lanes. Not inlined: the compiler would unfold the tree below with a
 * copy of this in every branch. */
static __attribute__((noinline, unused)) float pairwise_block(const float *x, size_t n) {
    if (n < PAIRWISE_LANES) {
        float sum = 0.0f;
        for (size_t i = 0; i < n; i++) {
            sum += x[i];
        }
        return sum;
    }
    float lane[PAIRWISE_LANES] = {0};
    size_t i = 0;
    for (; i + PAIRWISE_LANES <= n; i += PAIRWISE_LANES) {
        for (int l = 0; l < PAIRWISE_LANES; l++) {
            lane[l] += x[i + (size_t)l];
        }
    }
    for (int l = 0; i < n; i++, l++) {
        lane[l] += x[i];
    }
    for (int half = PAIRWISE_LANES / 2; half > 0; half /= 2) {
        for (int l = 0; l < half; l++) {
            lane[l] += lane[l + half];
        }
    }
    return lane[0];
}

/* The sum of n numbers; 0 for none. */
static inline float pairwise_sum(const float *x, size_t n) {
    if (n <= PAIRWISE_BLOCK) {
        return pairwise_block(x, n);
    }
    size_t left = pairwise_split(n, PAIRWISE_BLOCK);
    return pairwise_sum(x, left) + pairwise_sum(x + left, n - left);
}

/* The upper part of the tree: part[i] is the sum of the i-th run of 2^k blocks, the last run maybe
 * shorter. Gives the bits of pairwise_sum over them all; 0 for none. */
static inline float pairwise_join(const float *part, size_t count) {
    if (count <= 1) {
        return count == 1 ? part[0] : 0.0f;
    }
    size_t left = pairwise_split(count, 1);
    return pairwise_join(part, left) + pairwise_join(part + left, count - left);
}

#endif
