/* The scheduler of one block. See grid.h. */
#include "scheduler.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

__thread uint3 threadIdx, blockIdx;
__thread dim3 blockDim, gridDim;

namespace simt {

__thread Worker *worker;

enum { STACK_BYTES = 256 * 1024 };

static Fiber *take_fiber(Worker *w) {
    Fiber *fiber = w->free_fibers;
    if (fiber != nullptr) {
        w->free_fibers = fiber->next_free;
        return fiber;
    }
    fiber = new Fiber;
    if (!fiber_map(fiber, STACK_BYTES, w->fiber_count)) {
        delete fiber;
        return nullptr;
    }
    w->fiber_count++;
    fiber->next_mapped = w->mapped_fibers;
    w->mapped_fibers = fiber;
    return fiber;
}

static void give_fiber(Worker *w, Fiber *fiber) {
    fiber->next_free = w->free_fibers;
    w->free_fibers = fiber;
}

static int linear_index(uint3 t) {
    return (int)(t.x + blockDim.x * (t.y + blockDim.y * t.z));
}

static void set_failure(Worker *w, cudaError_t code, const char *text) {
    w->failure.code = code;
    w->failure.thread = w->straight ? linear_index(threadIdx) : w->current;
    w->failure.block = blockIdx;
    snprintf(w->failure.text, sizeof w->failure.text, "%s", text);
}

void fail_thread(cudaError_t code, const char *text) {
    void *unused;
    set_failure(worker, code, text);
    fiber_switch(&unused, worker->scheduler);
    abort(); /* not reached: the scheduler drops this stack */
}

/* The next waiting thread that may go on: from the current warp upwards, lowest lane first. */
static inline int next_runnable(Worker *w) {
    int index = w->current >> w->warp_shift;
    for (int i = 0; i < w->warp_count; i++) {
        uint64_t runnable = w->runnable[index];
        if (runnable != 0) {
            w->runnable[index] = runnable & (runnable - 1);
            return (index << w->warp_shift) + __builtin_ctzll(runnable);
        }
        index = index + 1 < w->warp_count ? index + 1 : 0;
    }
    return -1;
}

/* All threads that have not exited stand at the barrier, apart from the running one, if it is the
 * last to come. */
static void open_barrier(Worker *w) {
    for (int i = 0; i < w->warp_count; i++) {
        w->runnable[i] = w->warps[i].all & ~w->warps[i].exited;
    }
    w->barrier_count = 0;
    w->barrier_result = w->barrier_votes;
    w->barrier_votes = 0;
}

/* Lanes that asked for the active mask get it when nothing else can run: those of their warp that
 * stand at the same question are the ones that are active together. */
static bool resolve_active_masks(Worker *w) {
    bool any = false;
    for (int i = 0; i < w->warp_count; i++) {
        Warp *warp = &w->warps[i];
        for (uint64_t lanes = warp->active_wait; lanes != 0; lanes &= lanes - 1) {
            warp->slots[__builtin_ctzll(lanes)].out[0] = warp->active_wait;
        }
        any |= warp->active_wait != 0;
        w->runnable[i] |= warp->active_wait;
        warp->active_wait = 0;
    }
    return any;
}

static void thread_entry(void *fiber);

/* What the waiting threads wait for, when none can go on. */
static void report_deadlock(Worker *w) {
    int at_warp = 0;
    for (int i = 0; i < w->warp_count; i++) {
        at_warp += __builtin_popcountll(w->warps[i].warp_wait);
    }
    char text[200];
    snprintf(text, sizeof text,
             "deadlock: of %d threads %d wait at __syncthreads, %d at a warp function whose mask "
             "names lanes that do not come, %d have returned",
             w->thread_count, w->barrier_count, at_warp, w->exited_count);
    set_failure(w, cudaErrorLaunchTimeout, text);
}

/* The less frequent half of leaving a thread: returns where to go on. Fresh threads come first:
 * whoever waits, waits for them. */
static void *choose_slowly(Worker *w) {
    if (w->next_fresh < w->thread_count) {
        Fiber *fiber = take_fiber(w);
        if (fiber != nullptr) {
            return fiber_prepare(fiber, thread_entry, fiber);
        }
        set_failure(w, cudaErrorMemoryAllocation, "no memory for another thread's stack");
        return w->scheduler;
    }
    int next = next_runnable(w);
    if (next < 0 && resolve_active_masks(w)) {
        next = next_runnable(w);
    }
    if (next < 0) {
        if (!w->straight && w->exited_count < w->thread_count) {
            report_deadlock(w);
        }
        return w->scheduler;
    }
    w->current = next;
    return w->stopped_at[next];
}

/* Parks the running thread, whose wait is noted already, and comes back when it may go on. */
void park(Worker *w) {
    int self = w->current;
    void *to = nullptr;
    if (w->next_fresh == w->thread_count) {
        int index = self >> w->warp_shift;
        uint64_t runnable = w->runnable[index];
        if (runnable != 0) { /* a neighbour in the warp: by far the most frequent case */
            uint64_t rest = runnable & (runnable - 1);
            int first = index << w->warp_shift;
            w->runnable[index] = rest;
            w->current = first + __builtin_ctzll(runnable);
            to = w->stopped_at[w->current];
            if (rest != 0) { /* the stack of the one after it is rarely in the first cache */
                const char *soon = (const char *)w->stopped_at[first + __builtin_ctzll(rest)];
                __builtin_prefetch(soon);
                __builtin_prefetch(soon + 64);
                __builtin_prefetch(soon + 128);
                __builtin_prefetch(soon + 192);
            }
        }
    }
    if (to == nullptr) {
        to = choose_slowly(w);
    }
    if (w->current != self || to == w->scheduler || w->next_fresh < w->thread_count) {
        fiber_switch(&w->stopped_at[self], to);
    }
    threadIdx = w->index_of[self];
}

/* Until some thread of the block waits, threads run to their end one after the other and nothing
 * need be noted of them; the first wait catches up. */
void leave_straight_run(Worker *w) {
    w->straight = false;
    w->dirty = true;
    w->current = linear_index(threadIdx);
    w->next_fresh = w->current + 1;
    for (int t = 0; t < w->current; t++) {
        warp_of(w, t)->exited |= lane_bit(w, t);
    }
    w->exited_count = w->current;
}

bool begin_fresh_thread(Worker *w) {
    if (w->next_fresh >= w->thread_count) {
        return false;
    }
    w->current = w->next_fresh++;
    threadIdx = w->index_of[w->current];
    return true;
}

bool next_row(Worker *w) {
    threadIdx.x = 0;
    if (++threadIdx.y < blockDim.y) {
        return true;
    }
    threadIdx.y = 0;
    if (++threadIdx.z < blockDim.z) {
        return true;
    }
    w->next_fresh = w->thread_count;
    return false;
}

bool finish_thread(Worker *w) {
    int self = w->current;
    Warp *warp = warp_of(w, self);
    warp->exited |= lane_bit(w, self);
    w->exited_count++;
    if (warp->busy != 0) {
        finish_groups_without_missing_lanes(w, warp);
    }
    if (w->barrier_count > 0 && w->barrier_count + w->exited_count == w->thread_count) {
        open_barrier(w);
    }
    return begin_fresh_thread(w);
}

/* A fiber's life: fresh threads while there are any; then it is spare, and whoever can goes on. */
static void thread_entry(void *argument) {
    Worker *w = worker;
    void *unused;
    w->launch->thread_loop(w->launch->kernel);
    give_fiber(w, (Fiber *)argument);
    fiber_switch(&unused, choose_slowly(w));
    abort(); /* not reached: a spare fiber starts anew */
}

static void begin_launch(Worker *w, const Launch *launch) {
    dim3 block = launch->block;
    w->launch_number = launch->number;
    w->launch = launch;
    w->warp_width = launch->warp_width;
    w->warp_shift = w->warp_width == 64 ? 6 : 5;
    w->thread_count = (int)(block.x * block.y * block.z);
    w->warp_count = (w->thread_count + w->warp_width - 1) / w->warp_width;
    for (unsigned t = 0; t < (unsigned)w->thread_count; t++) {
        w->index_of[t] = uint3{t % block.x, t / block.x % block.y, t / block.x / block.y};
    }
    blockDim = launch->block;
    gridDim = launch->grid;
    w->dirty = true;
    if (w->dynamic_shared_capacity < launch->dynamic_shared_bytes) {
        free(w->dynamic_shared);
        w->dynamic_shared_capacity = (launch->dynamic_shared_bytes + 255) / 256 * 256;
        w->dynamic_shared = (char *)aligned_alloc(256, w->dynamic_shared_capacity);
    }
}

static void clear_warps(Worker *w) {
    for (int i = 0; i < w->warp_count; i++) {
        Warp *warp = &w->warps[i];
        int lanes = w->thread_count - i * w->warp_width;
        warp->all = lanes >= w->warp_width ? ~0ull >> (64 - w->warp_width) : (1ull << lanes) - 1;
        warp->exited = warp->warp_wait = warp->active_wait = w->runnable[i] = 0;
        for (; warp->busy != 0; warp->busy &= warp->busy - 1) { /* only after a failure */
            warp->groups[__builtin_ctzll(warp->busy)].arrived = 0;
        }
    }
    w->dirty = false;
}

/* Threads of a block that failed still sit on their fibers. */
static void reclaim_fibers(Worker *w) {
    w->free_fibers = nullptr;
    for (Fiber *fiber = w->mapped_fibers; fiber != nullptr; fiber = fiber->next_mapped) {
        give_fiber(w, fiber);
    }
}

void run_block(Worker *w, const Launch *launch, uint3 block_index) {
    if (w->launch_number != launch->number) {
        begin_launch(w, launch);
    }
    if (w->dirty) {
        clear_warps(w);
    }
    w->next_fresh = w->exited_count = w->barrier_count = w->barrier_votes = 0;
    w->current = 0;
    w->straight = true;
    w->failure.code = cudaSuccess;
    blockIdx = block_index;
    threadIdx = uint3{0, 0, 0};
    Fiber *fiber = take_fiber(w);
    if (fiber == nullptr) {
        set_failure(w, cudaErrorMemoryAllocation, "no memory for a thread's stack");
        return;
    }
    fiber_switch(&w->scheduler, fiber_prepare(fiber, thread_entry, fiber));
    if (w->failure.code != cudaSuccess) {
        reclaim_fibers(w);
        w->dirty = true;
    }
}

void release_worker(Worker *w) {
    for (Fiber *fiber = w->mapped_fibers, *next; fiber != nullptr; fiber = next) {
        next = fiber->next_mapped;
        fiber_unmap(fiber);
        delete fiber;
    }
    free(w->dynamic_shared);
    delete w;
}

void wait_barrier() {
    Worker *w = worker;
    if (w->straight) {
        leave_straight_run(w);
    }
    if (w->barrier_count + w->exited_count + 1 == w->thread_count) {
        open_barrier(w); /* the last to come does not wait */
        w->runnable[w->current >> w->warp_shift] &= ~lane_bit(w, w->current);
        return;
    }
    w->barrier_count++;
    park(w);
}

int wait_barrier_vote(int value, int kind) {
    Worker *w = worker;
    w->barrier_votes += kind == 1 ? value == 0 : value != 0; /* "and": count those against */
    wait_barrier();
    return kind == 0   ? w->barrier_result
           : kind == 1 ? w->barrier_result == 0
                       : w->barrier_result != 0;
}

int current_lane() {
    Worker *w = worker;
    return lane_of(w, w->straight ? linear_index(threadIdx) : w->current);
}

void yield_thread() {
    Worker *w = waiting_worker();
    int self = w->current;
    if (w->next_fresh == w->thread_count) {
        bool others = false;
        for (int i = 0; i < w->warp_count; i++) {
            others |= w->runnable[i] != 0;
        }
        if (!others) {
            return;
        }
    }
    void *to = choose_slowly(w);
    w->runnable[self >> w->warp_shift] |= lane_bit(w, self);
    fiber_switch(&w->stopped_at[self], to);
    threadIdx = w->index_of[self];
}

char *dynamic_shared_memory() {
    return worker->dynamic_shared;
}

} // namespace simt
