/* The loops behind the measured peaks, once for each vector width that this compiler can emit,
 * whatever -march the rest was built with: OpenBLAS picks its kernels by the processor it finds,
 * so the peak it is held against must be found the same way. */
#ifndef LOCKSTEP_PEAK_LOOPS_H
#define LOCKSTEP_PEAK_LOOPS_H

#include <stddef.h>

/* One floating-point operation on each lane of PEAK_CHAINS vectors that do not depend on each
 * other: at least the latency (4 to 5 cycles) times the units (2), so that no unit waits. */
enum { PEAK_CHAINS = 12 };

/* Sizes n are in floats, a multiple of PEAK_BLOCK; arrays are aligned to 64 bytes. */
enum { PEAK_BLOCK = 128 };

typedef struct PeakLoops {
    const char *vectors;                     /* "AVX2 + FMA" */
    int lanes;                               /* floats in one vector */
    float (*fma)(size_t steps);              /* steps * PEAK_CHAINS * lanes multiply-adds */
    float (*read)(const float *a, size_t n); /* the sum of a */
    void (*copy)(float *out, const float *a, size_t n);                  /* out = a */
    void (*triad)(float *out, const float *a, const float *b, size_t n); /* out = a + 0.5 b */
    void (*update)(float *out, const float *a, size_t n);                /* out = 0.5 out + a */
    void (*scale)(float *out, size_t n);                                 /* out = 0.5 out + 0.5 */
} PeakLoops;

/* The widest loops that this processor runs. */
const PeakLoops *peak_loops(void);

#endif
