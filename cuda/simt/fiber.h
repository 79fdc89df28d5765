/* Fibers: a stack and a place to go on from. Switching saves the callee-saved registers and the
 * stack pointer and nothing else; a fiber never moves to another OS thread. */
#ifndef SIMT_FIBER_H
#define SIMT_FIBER_H

#include <cstddef>

namespace simt {

struct Fiber {
    char *stack = nullptr; /* lowest address, a guard page below it */
    size_t stack_bytes = 0;
    size_t colour = 0; /* bytes between the stack's end and its first frame: see fiber_map */
    Fiber *next_free = nullptr;
    Fiber *next_mapped = nullptr;
};

/* Prepares a call entry(argument) on the fiber's stack; returns what to switch to. entry must never
 * return. */
void *fiber_prepare(Fiber *fiber, void (*entry)(void *argument), void *argument);

/* Maps a stack with a guard page; false when there is no memory. Stacks with different numbers
 * begin at different offsets in a page: their hot frames would otherwise fall into the same few
 * sets of the cache, and 256 waiting threads would throw each other out. */
bool fiber_map(Fiber *fiber, size_t stack_bytes, int number);
void fiber_unmap(Fiber *fiber);

/* Stops the running code, noting in *from where, and goes on at `to`. */
void fiber_switch(void **from, void *to);

} // namespace simt

#endif
