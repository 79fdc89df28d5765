/* Context switches for x86-64 and aarch64 by hand, elsewhere by ucontext (some 50 times slower,
 * since it asks the kernel for the signal mask at every switch). */
#include "fiber.h"

#include <cstdint>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace simt {

bool fiber_map(Fiber *fiber, size_t stack_bytes, int number) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t total = stack_bytes + page;
    void *memory = mmap(nullptr, total, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) {
        return false;
    }
    mprotect(memory, page, PROT_NONE); /* a kernel that overflows its stack faults at once */
    fiber->stack = (char *)memory + page;
    fiber->stack_bytes = stack_bytes;
    fiber->colour = (size_t)(number % 64) * 320;
    return true;
}

void fiber_unmap(Fiber *fiber) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    munmap(fiber->stack - page, fiber->stack_bytes + page);
    fiber->stack = nullptr;
}

#if defined(__x86_64__) || defined(__aarch64__)
static uintptr_t stack_top(const Fiber *fiber) {
    return ((uintptr_t)fiber->stack + fiber->stack_bytes - fiber->colour) & ~(uintptr_t)63;
}
#endif

#if defined(__x86_64__)

/* The six callee-saved registers go below the return address; the registers come back through
 * another one, and the new stack pointer is set last. The way out is a `ret`: nearly all switches
 * leave and enter at the same call, so that the processor's stack of return addresses, which knows
 * nothing of ours, predicts it and the returns after it. A jump would put that stack out of step.
 * MXCSR and the x87 word are left alone: kernels do not change rounding modes. */
asm(R"(
.text
.p2align 4
.globl simt_switch
.hidden simt_switch
.type simt_switch, @function
simt_switch:
    leaq -56(%rsp), %rax
    movq %rbx, 0(%rax)
    movq %rbp, 8(%rax)
    movq %r12, 16(%rax)
    movq %r13, 24(%rax)
    movq %r14, 32(%rax)
    movq %r15, 40(%rax)
    movq %rax, (%rdi)
    movq 0(%rsi), %rbx
    movq 8(%rsi), %rbp
    movq 16(%rsi), %r12
    movq 24(%rsi), %r13
    movq 32(%rsi), %r14
    movq 40(%rsi), %r15
    leaq 56(%rsi), %rsp
    ret
.size simt_switch, . - simt_switch

.globl simt_start
.hidden simt_start
.type simt_start, @function
simt_start:
    movq %r12, %rdi
    xorl %ebp, %ebp
    callq *%rbx
    ud2
.size simt_start, . - simt_start
)");

extern "C" void simt_switch(void **from, void *to);
extern "C" void simt_start();

void *fiber_prepare(Fiber *fiber, void (*entry)(void *), void *argument) {
    uintptr_t top = stack_top(fiber);
    /* simt_switch leaves the stack pointer 64 above the frame: aligned to 16 at simt_start, whose
     * call then enters `entry` with the alignment that the ABI asks for. */
    uint64_t *frame = (uint64_t *)(top - 128);
    memset(frame, 0, 64);
    frame[0] = (uint64_t)entry;    /* rbx */
    frame[2] = (uint64_t)argument; /* r12 */
    frame[7] = (uint64_t)simt_start;
    return frame;
}

void fiber_switch(void **from, void *to) {
    simt_switch(from, to);
}

#elif defined(__aarch64__)

asm(R"(
.text
.p2align 4
.globl simt_switch
.hidden simt_switch
.type simt_switch, %function
simt_switch:
    sub x9, sp, #160
    stp x19, x20, [x9, #0]
    stp x21, x22, [x9, #16]
    stp x23, x24, [x9, #32]
    stp x25, x26, [x9, #48]
    stp x27, x28, [x9, #64]
    stp x29, x30, [x9, #80]
    stp d8, d9, [x9, #96]
    stp d10, d11, [x9, #112]
    stp d12, d13, [x9, #128]
    stp d14, d15, [x9, #144]
    str x9, [x0]
    ldp x19, x20, [x1, #0]
    ldp x21, x22, [x1, #16]
    ldp x23, x24, [x1, #32]
    ldp x25, x26, [x1, #48]
    ldp x27, x28, [x1, #64]
    ldp x29, x30, [x1, #80]
    ldp d8, d9, [x1, #96]
    ldp d10, d11, [x1, #112]
    ldp d12, d13, [x1, #128]
    ldp d14, d15, [x1, #144]
    add sp, x1, #160
    ret
.size simt_switch, . - simt_switch

.globl simt_start
.hidden simt_start
.type simt_start, %function
simt_start:
    mov x0, x20
    blr x19
    brk #1
.size simt_start, . - simt_start
)");

extern "C" void simt_switch(void **from, void *to);
extern "C" void simt_start();

void *fiber_prepare(Fiber *fiber, void (*entry)(void *), void *argument) {
    uintptr_t top = stack_top(fiber);
    uint64_t *frame = (uint64_t *)(top - 192);
    memset(frame, 0, 160);
    frame[0] = (uint64_t)entry;       /* x19 */
    frame[1] = (uint64_t)argument;    /* x20 */
    frame[11] = (uint64_t)simt_start; /* x30 */
    return frame;
}

void fiber_switch(void **from, void *to) {
    simt_switch(from, to);
}

#else

#include <ucontext.h>

/* makecontext takes ints: two halves of each pointer. */
static void start(unsigned entry_low, unsigned entry_high, unsigned low, unsigned high) {
    auto entry = (void (*)(void *))(((uintptr_t)entry_high << 16 << 16) | entry_low);
    entry((void *)(((uintptr_t)high << 16 << 16) | low));
}

/* The context lies at the stack's low end. */
void *fiber_prepare(Fiber *fiber, void (*entry)(void *), void *argument) {
    ucontext_t *context = (ucontext_t *)fiber->stack;
    getcontext(context);
    context->uc_stack.ss_sp = fiber->stack + sizeof *context;
    context->uc_stack.ss_size = fiber->stack_bytes - sizeof *context;
    context->uc_link = nullptr;
    uintptr_t e = (uintptr_t)entry, a = (uintptr_t)argument;
    makecontext(context, (void (*)())start, 4, (unsigned)e, (unsigned)(e >> 16 >> 16), (unsigned)a,
                (unsigned)(a >> 16 >> 16));
    return context;
}

void fiber_switch(void **from, void *to) {
    ucontext_t here;
    *from = &here;
    swapcontext(&here, (ucontext_t *)to);
}

#endif

} // namespace simt
