/* Two sides in turns, slice by slice: A B, then B A, and so on. What disturbs the machine disturbs
 * both, and the ratio of two neighbouring slices hardly feels it. */
#ifndef LOCKSTEP_ALTERNATE_H
#define LOCKSTEP_ALTERNATE_H

#include <sys/types.h>

#include "base/status.h"
#include "bench/stats.h"

enum { ALTERNATE_MIN_ROUNDS = 20, ALTERNATE_MAX_ROUNDS = 500 };

typedef struct Side {
    const char *name;
    /* Does the work count times; *ns = the time of all together. */
    Status (*run)(void *self, long count, double *ns);
    void *self;
    pid_t process; /* whose threads may spin afterwards; 0: this one */
} Side;

typedef struct Alternation {
    int rounds;
    long counts[2]; /* of one slice, chosen so that slices take about the same time */
    Stats ns[2];    /* of one piece of work */
    Stats ratio;    /* side 1's time over side 0's, round by round: above 1, side 0 is faster */
    int wins;       /* rounds in which side 0 was faster */
} Alternation;

/* Alternates for about `seconds` (rounds = 0), or exactly `rounds` times. Each slice begins when
 * the other side's threads have gone to sleep, and its first piece of work is a warm-up that is not
 * counted. */
Status alternate(Alternation *result, const Side sides[2], double seconds, int rounds);

#endif
