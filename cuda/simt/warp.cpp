/* Warp operations: lanes come one by one, and the last of those that are expected computes for all.
 */
#include "warp.h"

#include "scheduler.h"

namespace simt {

/* Lanes that have exited, or never were, cannot come to a warp operation: what the hardware does
 * then is not defined, and waiting for them would be for ever. */
static uint64_t expected_lanes(const Warp *warp, uint64_t mask) {
    return mask & warp->all & ~warp->exited;
}

static void finish_group(Worker *w, Warp *warp, int group) {
    Warp::Group *g = &warp->groups[group];
    uint64_t arrived = g->arrived;
    g->arrived = 0;
    warp->busy &= ~(1ull << group);
    g->compute(warp, arrived, g->argument);
    warp->warp_wait &= ~arrived;
    w->runnable[warp - w->warps] |= arrived;
}

void finish_groups_without_missing_lanes(Worker *w, Warp *warp) {
    for (uint64_t busy = warp->busy; busy != 0; busy &= busy - 1) {
        int group = __builtin_ctzll(busy);
        uint64_t expected = expected_lanes(warp, warp->groups[group].mask);
        if ((warp->groups[group].arrived & expected) == expected) {
            finish_group(w, warp, group);
        }
    }
}

WarpSlot *warp_slot() {
    Worker *w = waiting_worker();
    return &warp_of(w, w->current)->slots[lane_of(w, w->current)];
}

/* The operation under way that the lane joins, or a fresh one. */
static int find_group(const Warp *warp, uint64_t mask, WarpCompute compute) {
    for (uint64_t busy = warp->busy; busy != 0; busy &= busy - 1) {
        int group = __builtin_ctzll(busy);
        if (warp->groups[group].mask == mask && warp->groups[group].compute == compute) {
            return group;
        }
    }
    return __builtin_ctzll(~warp->busy);
}

void warp_operation(uint64_t mask, WarpCompute compute, const void *argument) {
    Worker *w = waiting_worker();
    Warp *warp = warp_of(w, w->current);
    uint64_t bit = lane_bit(w, w->current);
    mask &= warp->all; /* so that all ways of saying "the whole warp" are the same */
    int group = find_group(warp, mask, compute);
    warp->groups[group] = {mask, warp->groups[group].arrived | bit, compute, argument};
    warp->busy |= 1ull << group;
    uint64_t expected = expected_lanes(warp, mask);
    if ((warp->groups[group].arrived & expected) == expected) {
        finish_group(w, warp, group);
        w->runnable[warp - w->warps] &= ~bit; /* the last lane to come does not wait */
        return;
    }
    warp->warp_wait |= bit;
    park(w);
}

uint64_t active_mask() {
    Worker *w = waiting_worker();
    Warp *warp = warp_of(w, w->current);
    int lane = lane_of(w, w->current);
    warp->active_wait |= 1ull << lane;
    park(w);
    return warp->slots[lane].out[0];
}

template <class Do> static void for_lanes(uint64_t lanes, Do action) {
    for (; lanes != 0; lanes &= lanes - 1) {
        action(__builtin_ctzll(lanes));
    }
}

void compute_nothing(Warp *, uint64_t, const void *) {
}

void compute_ballot(Warp *warp, uint64_t lanes, const void *) {
    uint64_t votes = 0;
    for_lanes(lanes, [&](int lane) { votes |= (uint64_t)(warp->slots[lane].in[0] != 0) << lane; });
    for_lanes(lanes, [&](int lane) { warp->slots[lane].out[0] = votes; });
}

void compute_match_any(Warp *warp, uint64_t lanes, const void *) {
    for_lanes(lanes, [&](int lane) {
        uint64_t same = 0;
        for_lanes(lanes, [&](int other) {
            same |= (uint64_t)(warp->slots[other].in[0] == warp->slots[lane].in[0]) << other;
        });
        warp->slots[lane].out[0] = same;
    });
}

void compute_match_all(Warp *warp, uint64_t lanes, const void *) {
    bool same = true;
    uint64_t value = warp->slots[__builtin_ctzll(lanes)].in[0];
    for_lanes(lanes, [&](int lane) { same &= warp->slots[lane].in[0] == value; });
    for_lanes(lanes, [&](int lane) { warp->slots[lane].out[0] = same ? lanes : 0; });
}

} // namespace simt
