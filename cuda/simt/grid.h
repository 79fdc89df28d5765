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

#include <cstddef>
#include <cstdint>
#include <memory>

#include "fiber.h"
#include "runtime_types.h"
#include "vector_types.h"

namespace simt {

enum {
    MAX_BLOCK_THREADS = 1024,
    MAX_WARP = 64,
    MAX_WARPS = MAX_BLOCK_THREADS / 32,
    MAX_GROUPS = 64 /* every lane at an operation of its own */
};

struct Warp;

/* Computes a warp operation for all lanes once the last of them has come. */
typedef void (*WarpCompute)(Warp *warp, uint64_t lanes, const void *argument);

/* What a lane brings to a warp operation and takes away. */
struct WarpSlot {
    uint64_t in[4];  /* what the lane brought: up to 32 bytes, or numbers */
    uint64_t out[4]; /* what it takes away */
};

struct Warp {
    uint64_t all;         /* lanes that exist */
    uint64_t exited;      /* lanes that have returned from the kernel */
    uint64_t warp_wait;   /* lanes that wait for others at a warp operation */
    uint64_t active_wait; /* lanes that have asked which lanes are active */
    uint64_t busy;        /* bit g: groups[g] is under way */
    struct Group {        /* a warp operation under way */
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
    int warp_width = 32;
    const char *name = "";
    const void *function = nullptr; /* the kernel's address, where the source step could take it */
    /* Runs fresh threads of the current block until there are none; called on a fiber. */
    void (*thread_loop)(const void *kernel) = nullptr;
    const void *kernel = nullptr;                            /* the closure */
    std::shared_ptr<const void> (*keep)(const void *kernel); /* a copy of it, for graphs */
};

/* Why a block could not go on. */
struct Failure {
    cudaError_t code = cudaSuccess;
    int thread = 0; /* linear index in the block */
    uint3 block = {0, 0, 0};
    char text[240] = "";
};

struct Worker {
    const Launch *launch = nullptr;
    uint64_t launch_number = 0;
    int thread_count = 0, warp_count = 0, warp_width = 32, warp_shift = 5;
    int next_fresh = 0;   /* linear index of the next thread that has not begun */
    int current = 0;      /* the running thread; in a straight run threadIdx tells it */
    bool straight = true; /* no thread of this block has waited yet */
    bool dirty = true;    /* the last block has left marks in the warps */
    int exited_count = 0, barrier_count = 0;
    int barrier_votes = 0; /* __syncthreads_count and relatives: sum so far */
    int barrier_result = 0;
    uint64_t runnable[MAX_WARPS];        /* bit = lane that waited and may go on */
    void *stopped_at[MAX_BLOCK_THREADS]; /* of waiting threads */
    uint3 index_of[MAX_BLOCK_THREADS];
    Warp warps[MAX_WARPS];
    void *scheduler = nullptr; /* the worker's own stack */
    Fiber *free_fibers = nullptr, *mapped_fibers = nullptr;
    int fiber_count = 0;
    char *dynamic_shared = nullptr;
    size_t dynamic_shared_capacity = 0;
    Failure failure;
};

/* Non-template parts, in grid.cpp. */
void run_block(Worker *worker, const Launch *launch, uint3 block_index);
void release_worker(Worker *worker);
void wait_barrier();                        /* __syncthreads */
int wait_barrier_vote(int value, int kind); /* kind 0: count, 1: and, 2: or */

/* Ends the block of the running thread: code for the runtime, text for the reader. */
[[noreturn]] void fail_thread(cudaError_t code, const char *text);

/* Brings the current lane to a warp operation with the lanes of mask, and comes back after
 * `compute` has run (once, by the last lane to come). Fill the slot's `in` before. */
WarpSlot *warp_slot();
void warp_operation(uint64_t mask, WarpCompute compute, const void *argument);
uint64_t active_mask();
int current_lane();
void yield_thread(); /* lets other threads of the block run, if any can */
char *dynamic_shared_memory();

/* Kernels live in an executable, never in a shared library: their thread-local variables are then
 * at a fixed distance from the thread pointer, one addressing mode away. */
#define SIMT_THREAD extern __thread __attribute__((tls_model("local-exec")))

SIMT_THREAD Worker *worker; /* of this OS thread; NULL outside kernels */

} // namespace simt

/* Built-in variables. threadIdx is set at every switch. */
SIMT_THREAD uint3 threadIdx, blockIdx;
SIMT_THREAD dim3 blockDim, gridDim;
constexpr int warpSize = SIMT_WARP_WIDTH;

namespace simt {

/* The steps of thread_loop that are not worth inlining. Each makes a fresh thread the running one
 * (threadIdx) and says whether there is one. */
bool begin_fresh_thread(Worker *worker);
bool next_row(Worker *worker);      /* straight run: threadIdx.x has passed the row's end */
bool finish_thread(Worker *worker); /* the running thread has returned; some thread waits */

/* The loop over the threads of a block. The closure is copied, so that the compiler can see that no
 * store of the kernel changes its arguments, and keeps them in registers. */
template <class Kernel> void thread_loop(const void *kernel) {
    Worker *w = worker;
    if (!begin_fresh_thread(w)) {
        return;
    }
    const Kernel body = *(const Kernel *)kernel;
    unsigned x = threadIdx.x; /* kept apart, so that no thread waits for the last one's store */
    for (;;) {
        body();
        if (!w->straight) {
            if (!finish_thread(w)) {
                return;
            }
        } else if (++x < blockDim.x) {
            threadIdx.x = x;
        } else if (next_row(w)) {
            x = 0;
        } else {
            return;
        }
    }
}

} // namespace simt

#endif
