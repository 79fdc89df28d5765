/* One block of threads on one CPU worker: who runs next, barriers and warp operations.
 *
 * Bulk mode: threads are plain calls in a loop on one fiber. A thread that has to wait keeps that
 * fiber and its stack; a spare fiber goes on with the next fresh thread. So a kernel that never
 * waits costs one call a thread, and one that does costs a fiber for each thread that waits.
 *
 * The order of threads is linear here. A barrier opens when waiting + exited = all, as the
 * programming guide says of threads that have exited (compute capability 7.0 and above). */
#ifndef SIMT_GRID_H
#define SIMT_GRID_H

#include <cstdint>
#include <vector>

#include "fiber.h"
#include "vector_types.h"

namespace simt {

enum { MAX_BLOCK_THREADS = 1024, MAX_WARP = 64, MAX_WARPS = MAX_BLOCK_THREADS / 32, MAX_GROUPS = 32 };

extern int warp_width, warp_shift; /* 32 or 64; not changed while a kernel runs */

/* Why a thread is not running. */
enum class Wait : uint8_t { NONE, BARRIER, WARP, ACTIVE_MASK };

struct Warp;

/* Computes a warp operation for all lanes once the last of them has come. */
typedef void (*WarpCompute)(Warp *warp, uint64_t lanes, const void *argument);

/* What a lane brings to a warp operation and takes away. */
struct WarpSlot {
    uint64_t in[4];  /* what the lane brought: up to 32 bytes, or numbers */
    uint64_t out[4]; /* what it takes away */
};

struct Warp {
    uint64_t exited, barrier, warp_wait, active_wait, runnable; /* bit = lane */
    uint64_t all;                                               /* lanes that exist */
    struct Group {                                              /* a warp operation under way */
        uint64_t mask, arrived;
        WarpCompute compute; /* lanes at one operation agree in mask and in this */
        const void *argument;
    } groups[MAX_GROUPS];
    WarpSlot slots[MAX_WARP];
};

/* The type-free part of a launch, as the workers see it. */
struct Launch {
    uint64_t number = 0; /* of this launch in the process, from 1 */
    dim3 grid, block;
    size_t dynamic_shared_bytes = 0;
    const char *name = "";
    /* Runs fresh threads of the current block until there are none; called on a fiber. */
    void (*thread_loop)(const void *kernel) = nullptr;
    const void *kernel = nullptr; /* the closure */
};

struct Worker {
    const Launch *launch = nullptr;
    uint64_t launch_number = 0;
    int thread_count = 0, warp_count = 0;
    int next_fresh = 0;          /* linear index of the next thread that has not begun */
    int current = 0;             /* the running thread */
    bool straight = true;        /* no thread of this block has waited yet */
    int exited_count = 0, barrier_count = 0;
    int barrier_votes = 0;       /* __syncthreads_count and relatives: sum so far */
    int barrier_result = 0;
    Fiber scheduler;             /* the worker's own stack */
    Fiber *running = nullptr;    /* the fiber that executes `current` */
    Fiber *free_fibers = nullptr;
    Fiber *fiber_of[MAX_BLOCK_THREADS]; /* of waiting threads */
    uint3 index_of[MAX_BLOCK_THREADS];
    Warp warps[MAX_WARPS];
    char *dynamic_shared = nullptr;
    size_t dynamic_shared_capacity = 0;
    const char *failure = nullptr; /* set when the block cannot go on */
};

/* Non-template parts, in grid.cpp. */
void run_block(Worker *worker, const Launch *launch, uint3 block_index);
void wait_barrier();                     /* __syncthreads */
int wait_barrier_vote(int value, int kind); /* kind 0: count, 1: and, 2: or */
void thread_finished(Worker *worker);    /* the running thread returned from the kernel */

/* Brings the current lane to a warp operation with the lanes of mask, and returns its slot after
 * `compute` has run (once, by the last lane to come). Fill slot->in before, through warp_slot(). */
WarpSlot *warp_slot();
void warp_operation(uint64_t mask, WarpCompute compute, const void *argument);
uint64_t active_mask();
int current_lane();
char *dynamic_shared_memory();

extern __thread Worker *worker; /* of this OS thread; NULL outside kernels */

} // namespace simt

/* Built-in variables: set at every switch. Thread-local in an executable costs one addressing
 * mode. */
extern __thread uint3 threadIdx, blockIdx;
extern __thread dim3 blockDim, gridDim;
#define warpSize (::simt::warp_width)

namespace simt {

/* Takes the next fresh thread of the block; false when all have begun. Inlined into the loop over
 * threads, so that a kernel without barriers runs as one. */
inline bool begin_next_thread(Worker *w) {
    if (w->next_fresh >= w->thread_count) {
        return false;
    }
    int t = w->next_fresh++;
    w->current = t;
    threadIdx = w->index_of[t];
    return true;
}

template <class Kernel> void thread_loop(const void *kernel) {
    Worker *w = worker;
    while (begin_next_thread(w)) {
        (*(const Kernel *)kernel)();
        if (!w->straight) {
            thread_finished(w);
        }
    }
}

} // namespace simt

#endif
