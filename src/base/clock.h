/* One clock for every figure of the program: monotonic, in nanoseconds. */
#ifndef LOCKSTEP_CLOCK_H
#define LOCKSTEP_CLOCK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Nanoseconds since an arbitrary start; never steps back (CLOCK_MONOTONIC). */
uint64_t clock_now_ns(void);

#ifdef __cplusplus
}
#endif
#endif
