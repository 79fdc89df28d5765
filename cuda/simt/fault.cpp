/* Bad accesses of kernels: the signal ends the block, not the process. The handler makes the
 * faulting thread go on in fail_thread, which leaves for the scheduler; outside kernels a fault is
 * what it always was. */
#include <cassert>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <ucontext.h>

#include "state.h"

namespace simt {

static __thread char fault_text[160];
static __thread cudaError_t fault_code;

static void leave_kernel() {
    fail_thread(fault_code, fault_text);
}

/* Continues the interrupted code at leave_kernel, on the scheduler's side of the faulting stack:
 * below it, or at a fresh place when the stack itself has run over. Returns false where registers
 * cannot be set. */
static bool redirect(ucontext_t *context) {
#if defined(__x86_64__)
    greg_t *registers = context->uc_mcontext.gregs;
    registers[REG_RSP] = ((registers[REG_RSP] - 256) & ~15ll) - 8;
    registers[REG_RIP] = (greg_t)leave_kernel;
    return true;
#elif defined(__aarch64__)
    context->uc_mcontext.sp = (context->uc_mcontext.sp - 256) & ~15ull;
    context->uc_mcontext.pc = (unsigned long long)leave_kernel;
    return true;
#else
    (void)context;
    return false;
#endif
}

/* Has the stack of the running thread run over into its guard page? */
static const Fiber *overflowed_fiber(const char *address) {
    for (Fiber *fiber = worker->mapped_fibers; fiber != nullptr; fiber = fiber->next_mapped) {
        if (address < fiber->stack && address >= fiber->stack - 65536) {
            return fiber;
        }
    }
    return nullptr;
}

static void on_signal(int number, siginfo_t *info, void *context) {
    if (worker == nullptr) {
        signal(number, SIG_DFL); /* the host's own fault: comes again, and ends the process */
        return;
    }
    const Fiber *overflowed = number == SIGSEGV ? overflowed_fiber((char *)info->si_addr) : nullptr;
    if (overflowed != nullptr) {
        snprintf(fault_text, sizeof fault_text,
                 "the thread's stack has run over (%zu KiB): large local arrays or deep recursion",
                 overflowed->stack_bytes / 1024);
#if defined(__x86_64__)
        ((ucontext_t *)context)->uc_mcontext.gregs[REG_RSP] =
            (greg_t)(overflowed->stack + overflowed->stack_bytes / 2);
#elif defined(__aarch64__)
        ((ucontext_t *)context)->uc_mcontext.sp =
            (unsigned long long)(overflowed->stack + overflowed->stack_bytes / 2);
#endif
        fault_code = cudaErrorIllegalAddress;
    } else if (number == SIGFPE) {
        snprintf(fault_text, sizeof fault_text, "an integer is divided by zero");
        fault_code = cudaErrorLaunchFailure;
    } else if (number == SIGILL) {
        snprintf(fault_text, sizeof fault_text, "an illegal instruction, or __trap()");
        fault_code = cudaErrorLaunchFailure;
    } else {
        snprintf(fault_text, sizeof fault_text, "illegal access at address %p: no memory there%s",
                 info->si_addr, (size_t)info->si_addr < 65536 ? " (a null pointer?)" : "");
        fault_code = cudaErrorIllegalAddress;
    }
    if (!redirect((ucontext_t *)context)) {
        fprintf(stderr, "simt: %s\n", fault_text);
        signal(number, SIG_DFL);
    }
}

/* The handler's own stack: the thread's may be what has run over. */
void catch_faults() {
    enum { HANDLER_BYTES = 64 * 1024 };
    stack_t stack = {};
    stack.ss_size = HANDLER_BYTES;
    stack.ss_sp =
        mmap(nullptr, HANDLER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, nullptr) != 0) {
        return; /* faults then end the process, as they would without us */
    }
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
        struct sigaction before;
        if (sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_DFL) {
            sigaction(number, &action, nullptr);
        }
    }
}

} // namespace simt

#if defined(__GLIBC__)
/* What assert() calls when it fails: in a kernel that ends the launch, as on a card; elsewhere the
 * process, as ever. Stands before the C library's because the program itself has it. */
extern "C" void __assert_fail(const char *assertion, const char *file, unsigned line,
                              const char *function) noexcept {
    if (simt::worker != nullptr) {
        char text[240];
        snprintf(text, sizeof text, "%s:%u: %.80s: assertion `%.80s` failed", file, line, function,
                 assertion);
        simt::fail_thread(cudaErrorAssert, text);
    }
    fprintf(stderr, "%s: %s:%u: %s: Assertion `%s' failed.\n", program_invocation_short_name, file,
            line, function, assertion);
    abort();
}
#endif
