/* What every front does: check, begin, end. For src/ops/front*.c alone. */
#ifndef LOCKSTEP_FRONT_CALL_H
#define LOCKSTEP_FRONT_CALL_H

#include "ops/front.h"

/* One call of an operation, from front_begin to front_end. */
typedef struct OpSpan {
    const Backend *be;
    OpId op;
    uint64_t start_ns; /* 0 when nobody watches: no clock is read then */
} OpSpan;

OpSpan front_begin(const Backend *be, OpId op);

/* Adds up the cost and records the trace span. Always STATUS_OK: a kernel that fails says so
 * through synchronize. */
Status front_end(OpSpan span, double flops, double bytes);

/* STATUS_BAD when a size is negative, a pointer is NULL. Called through the macros below, which
 * take variables of the front and put their names into the message. */
Status front_check_sizes(OpId op, const char *names, int count, const int *sizes);
Status front_check_pointers(OpId op, const char *names, int count, const void *const *pointers);

#define COUNT_OF(array) (int)(sizeof(array) / sizeof(array)[0])
#define CHECK_SIZES(op, ...)                                                                       \
    TRY(front_check_sizes(op, #__VA_ARGS__, COUNT_OF(((int[]){__VA_ARGS__})), (int[]){__VA_ARGS__}))
#define CHECK_POINTERS(op, ...)                                                                    \
    TRY(front_check_pointers(op, #__VA_ARGS__, COUNT_OF(((const void *[]){__VA_ARGS__})),          \
                             (const void *[]){__VA_ARGS__}))

/* The bytes of n floats, in double: no product of sizes can overflow it. */
static inline double floats(double n) {
    return 4.0 * n;
}

#endif
