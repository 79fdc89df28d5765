/* Puts the threads of a measurement on processors of their own, one core each while there are
 * enough. On a busy machine the system may keep two of our threads on one processor for seconds,
 * and a peak of two threads would come out as that of one. */
#ifndef LOCKSTEP_PIN_H
#define LOCKSTEP_PIN_H

#include <stdbool.h>

enum { PIN_MAX = 1024 };

/* The processors that this process may use, in the order in which threads should take them: first
 * one of each core, then their siblings. */
typedef struct PinOrder {
    int count; /* 0: leave threads where they are */
    int processors[PIN_MAX];
} PinOrder;

/* The calling thread's mask before it was moved. */
typedef struct PinScope {
    bool moved;
    unsigned long mask[PIN_MAX / 8 / sizeof(unsigned long)];
} PinScope;

/* Fills *order. Leaves count at 0 where OpenMP's own binding is in force (OMP_PROC_BIND). */
void pin_order(PinOrder *order);

/* Moves the calling thread to the index-th processor of the order; undone by pin_restore. */
PinScope pin_thread(const PinOrder *order, int index);
void pin_restore(const PinScope *scope);

#endif
