/* The scheduler of one block. See grid.h. */
#include "grid.h"

#include <cstdlib>
#include <cstring>

namespace simt {

int warp_width = 32, warp_shift = 5;
__thread Worker *worker;

} // namespace simt

__thread uint3 threadIdx, blockIdx;
__thread dim3 blockDim, gridDim;

namespace simt {

enum { STACK_BYTES = 256 * 1024 };

static Fiber *take_fiber(Worker *w) {
    Fiber *fiber = w->free_fibers;
    if (fiber != nullptr) {
        w->free_fibers = fiber->next_free;
        return fiber;
    }
    fiber = new Fiber;
    if (!fiber_map(fiber, STACK_BYTES)) {
        delete fiber;
        return nullptr;
    }
    return fiber;
}

static void give_fiber(Worker *w, Fiber *fiber) {
    fiber->next_free = w->free_fibers;
    w->free_fibers = fiber;
}

static Warp *warp_of(Worker *w, int thread) {
    return &w->warps[thread >> warp_shift];
}

static uint64_t lane_bit(int thread) {
    return 1ull << (thread & (warp_width - 1));
}

/* The next waiting thread that may go on: from the current warp upwards, lowest lane first. */
static int next_runnable(Worker *w) {
    int index = w->current >> warp_shift;
    for (int i = 0; i < w->warp_count; i++) {
        uint64_t runnable = w->warps[index].runnable;
        if (runnable != 0) {
            return (index << warp_shift) + __builtin_ctzll(runnable);
        }
        index = index + 1 < w->warp_count ? index + 1 : 0;
    }
    return -1;
}

static void open_barrier(Worker *w) {
    for (int i = 0; i < w->warp_count; i++) {
        w->warps[i].runnable |= w->warps[i].barrier;
        w->warps[i].barrier = 0;
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
        warp->runnable |= warp->active_wait;
        warp->active_wait = 0;
    }
    return any;
}

static void thread_entry(void *unused);

/* Leaves the running fiber for good or until its thread may go on: picks who runs next. Fresh
 * threads come first: whoever waits, waits for them. */
static void run_another(Worker *w) {
    Fiber *here = w->running;
    if (w->next_fresh < w->thread_count) {
        Fiber *fiber = take_fiber(w);
        if (fiber != nullptr) {
            fiber_prepare(fiber, thread_entry, w);
            w->running = fiber;
            fiber_switch(here, fiber);
            return;
        }
        w->failure = "no memory for another thread's stack";
    }
    int next = w->failure != nullptr ? -1 : next_runnable(w);
    if (next < 0 && w->failure == nullptr && resolve_active_masks(w)) {
        next = next_runnable(w);
    }
    if (next < 0) {
        if (!w->straight && w->exited_count < w->thread_count && w->failure == nullptr) {
            w->failure = "deadlock: every thread waits, and none can go on";
        }
        w->running = nullptr;
        fiber_switch(here, &w->scheduler);
        return;
    }
    Warp *warp = warp_of(w, next);
    warp->runnable &= ~lane_bit(next);
    Fiber *fiber = w->fiber_of[next];
    w->current = next;
    threadIdx = w->index_of[next];
    if (fiber == here) {
        return;
    }
    w->running = fiber;
    fiber_switch(here, fiber);
}

/* Parks the running thread, whose wait is noted already, and comes back when it may go on. */
static void park(Worker *w) {
    int self = w->current;
    w->fiber_of[self] = w->running;
    run_another(w);
}

/* Lanes that have exited, or never were, cannot come to a warp operation: what the hardware does
 * then is not defined, and waiting for them would be for ever. */
static uint64_t expected_lanes(const Warp *warp, uint64_t mask) {
    return mask & warp->all & ~warp->exited;
}

static void finish_group(Warp *warp, Warp::Group *group) {
    uint64_t arrived = group->arrived;
    group->arrived = 0;
    group->compute(warp, arrived, group->argument);
    warp->warp_wait &= ~arrived;
    warp->runnable |= arrived;
}

static void finish_groups_without_missing_lanes(Warp *warp) {
    for (auto &group : warp->groups) {
        uint64_t expected = expected_lanes(warp, group.mask);
        if (group.arrived != 0 && (group.arrived & expected) == expected) {
            finish_group(warp, &group);
        }
    }
}

/* Until some thread of the block waits, threads run to their end one after the other and nothing
 * need be noted of them; the first wait catches up. */
static void leave_straight_run(Worker *w) {
    w->straight = false;
    for (int t = 0; t < w->current; t++) {
        warp_of(w, t)->exited |= lane_bit(t);
    }
    w->exited_count = w->current;
}

void thread_finished(Worker *w) {
    int self = w->current;
    warp_of(w, self)->exited |= lane_bit(self);
    w->exited_count++;
    if (warp_of(w, self)->warp_wait != 0) {
        finish_groups_without_missing_lanes(warp_of(w, self));
    }
    if (w->barrier_count > 0 && w->barrier_count + w->exited_count == w->thread_count) {
        open_barrier(w);
    }
}

/* A fiber's life: fresh threads while there are any, then whoever can go on. */
static void thread_entry(void *argument) {
    Worker *w = (Worker *)argument;
    for (;;) {
        w->launch->thread_loop(w->launch->kernel);
        Fiber *self = w->running;
        give_fiber(w, self);
        run_another(w); /* comes back here only as a spare fiber: never, they start anew */
    }
}

static void begin_block(Worker *w, const Launch *launch) {
    dim3 block = launch->block;
    int count = (int)(block.x * block.y * block.z);
    if (w->launch_number != launch->number) {
        w->launch_number = launch->number;
        w->launch = launch;
        w->thread_count = count;
        w->warp_count = (count + warp_width - 1) / warp_width;
        for (int t = 0; t < count; t++) {
            unsigned u = (unsigned)t;
            w->index_of[t] = uint3{u % block.x, u / block.x % block.y, u / block.x / block.y};
        }
        blockDim = launch->block;
        gridDim = launch->grid;
        if (w->dynamic_shared_capacity < launch->dynamic_shared_bytes) {
            free(w->dynamic_shared);
            w->dynamic_shared = (char *)aligned_alloc(
                256, (launch->dynamic_shared_bytes + 255) / 256 * 256);
            w->dynamic_shared_capacity = launch->dynamic_shared_bytes;
        }
    }
    for (int i = 0; i < w->warp_count; i++) {
        Warp *warp = &w->warps[i];
        int lanes = count - i * warp_width < warp_width ? count - i * warp_width : warp_width;
        warp->exited = warp->barrier = warp->warp_wait = warp->active_wait = warp->runnable = 0;
        warp->all = lanes == 64 ? ~0ull : (1ull << lanes) - 1;
        for (auto &group : warp->groups) {
            group.arrived = 0;
        }
    }
    w->next_fresh = w->exited_count = w->barrier_count = w->barrier_votes = 0;
    w->current = 0;
    w->straight = true;
    w->failure = nullptr;
}

/* Threads of a block that failed still sit on their fibers. */
static void reclaim_fibers(Worker *w) {
    for (int t = 0; t < w->next_fresh; t++) {
        if ((warp_of(w, t)->exited & lane_bit(t)) == 0) {
            give_fiber(w, w->fiber_of[t]);
        }
    }
}

void run_block(Worker *w, const Launch *launch, uint3 block_index) {
    begin_block(w, launch);
    blockIdx = block_index;
    Fiber *fiber = take_fiber(w);
    if (fiber == nullptr) {
        w->failure = "no memory for a stack";
        return;
    }
    fiber_prepare(fiber, thread_entry, w);
    w->running = fiber;
    fiber_switch(&w->scheduler, fiber);
    if (w->failure != nullptr) {
        reclaim_fibers(w);
    }
}

void wait_barrier() {
    Worker *w = worker;
    if (w->straight) {
        leave_straight_run(w);
    }
    int self = w->current;
    if (w->barrier_count + w->exited_count + 1 == w->thread_count) {
        open_barrier(w); /* the last to come does not wait */
        return;
    }
    w->barrier_count++;
    warp_of(w, self)->barrier |= lane_bit(self);
    park(w);
}

int wait_barrier_vote(int value, int kind) {
    Worker *w = worker;
    w->barrier_votes += kind == 1 ? value == 0 : value != 0; /* "and": count those against */
    wait_barrier();
    return kind == 0 ? w->barrier_result : kind == 1 ? w->barrier_result == 0
                                                     : w->barrier_result != 0;
}

int current_lane() {
    return worker->current & (warp_width - 1);
}

WarpSlot *warp_slot() {
    Worker *w = worker;
    return &warp_of(w, w->current)->slots[(w->current & (warp_width - 1))];
}

char *dynamic_shared_memory() {
    return worker->dynamic_shared;
}

/* The operation under way that the lane joins, or a fresh one; NULL when a warp has too many. */
static Warp::Group *find_group(Warp *warp, uint64_t mask, WarpCompute compute) {
    Warp::Group *spare = nullptr;
    for (auto &group : warp->groups) {
        if (group.arrived == 0) {
            spare = &group;
        } else if (group.mask == mask && group.compute == compute) {
            return &group;
        }
    }
    return spare;
}

void warp_operation(uint64_t mask, WarpCompute compute, const void *argument) {
    Worker *w = worker;
    if (w->straight) {
        leave_straight_run(w);
    }
    Warp *warp = warp_of(w, w->current);
    uint64_t bit = lane_bit(w->current);
    Warp::Group *group = find_group(warp, mask, compute);
    if (group == nullptr) {
        w->failure = "too many warp operations with different masks at once in one warp";
        park(w);
        return;
    }
    *group = {mask, group->arrived | bit, compute, argument};
    uint64_t expected = expected_lanes(warp, mask);
    if ((group->arrived & expected) == expected) {
        finish_group(warp, group);
        warp->runnable &= ~bit; /* the last lane to come does not wait */
        return;
    }
    warp->warp_wait |= bit;
    park(w);
}

uint64_t active_mask() {
    Worker *w = worker;
    if (w->straight) {
        leave_straight_run(w);
    }
    Warp *warp = warp_of(w, w->current);
    warp->active_wait |= lane_bit(w->current);
    int lane = (w->current & (warp_width - 1));
    park(w);
    return warp->slots[lane].out[0];
}

} // namespace simt
