/* Fibers: a stack and a place to go on from. Switching saves the callee-saved registers and the
 * stack pointer and nothing else; a fiber never moves to another OS thread. */
#ifndef SIMT_FIBER_H
#define SIMT_FIBER_H

#include <cstddef>

namespace simt {

struct Fiber {
    void *stack_pointer = nullptr; /* where it stopped; meaningless while it runs */
    char *stack = nullptr;         /* lowest address, a guard page below it */
    size_t stack_bytes = 0;
    Fiber *next_free = nullptr;
};

/* A fiber that will call entry(argument) at its first switch. entry must never return. */
void fiber_prepare(Fiber *fiber, void (*entry)(void *argument), void *argument);

/* Maps a stack with a guard page; false when there is no memory. */
bool fiber_map(Fiber *fiber, size_t stack_bytes);
void fiber_unmap(Fiber *fiber);

/* Stops the running code, noting in *from where, and goes on in `to`. */
void fiber_switch(Fiber *from, const Fiber *to);

} // namespace simt

#endif
