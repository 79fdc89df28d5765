/* Lets Criterion run under the thread sanitizer on x86-64 Linux. Criterion (its library BoxFort)
 * hands settings to each test's process in an arena that it maps at 0x2000_0000_0000 + r * 2^24
 * with r drawn by rand_r from 22 bits. The sanitizer owns most of that range as shadow memory and
 * refuses: "Could not initialize inheritable arena". This rand_r, which stands before the C
 * library's, draws only places in the range that the sanitizer leaves to the program. Linked into
 * the thread sanitizer's tests only; nothing of ours calls rand_r. */
#include <stdlib.h>

#define ARENA_BASE    0x200000000000u
#define ARENA_STEP    0x1000000u
#define PROGRAM_BEGIN 0x550000000000u /* kMidAppMemBeg and kMidAppMemEnd in tsan_platform.h */
#define PROGRAM_END   0x568000000000u

int rand_r(unsigned *seed) {
    const unsigned first = (PROGRAM_BEGIN - ARENA_BASE) / ARENA_STEP;
    const unsigned count = (PROGRAM_END - PROGRAM_BEGIN) / ARENA_STEP;
    *seed =
        *seed * 1664525u + 1013904223u; /* Numerical Recipes' generator; its high bits are good */
    return (int)(first + (unsigned)((unsigned long)*seed * count >> 32));
}
