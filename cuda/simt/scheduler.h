/* What the scheduler (grid.cpp) and the warp operations (warp.cpp) share. */
#ifndef SIMT_SCHEDULER_H
#define SIMT_SCHEDULER_H

#include "grid.h"

namespace simt {

inline Warp *warp_of(Worker *w, int thread) {
    return &w->warps[thread >> w->warp_shift];
}

inline int lane_of(const Worker *w, int thread) {
    return thread & (w->warp_width - 1);
}

inline uint64_t lane_bit(const Worker *w, int thread) {
    return 1ull << lane_of(w, thread);
}

/* Ends a straight run: notes what its threads have done, so that one of them may wait. */
void leave_straight_run(Worker *w);

/* Parks the running thread, whose wait is noted already, and comes back when it may go on. */
void park(Worker *w);

/* The running thread of the warp has returned: operations that waited for it alone go on. */
void finish_groups_without_missing_lanes(Worker *w, Warp *warp);

/* The worker, for a thread that may have to wait. */
inline Worker *waiting_worker() {
    Worker *w = worker;
    if (w->straight) {
        leave_straight_run(w);
    }
    return w;
}

} // namespace simt

#endif
