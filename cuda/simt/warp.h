/* Barriers, fences and warp functions. Names and meaning as in the CUDA programming guide, "C++
 * Language Extensions". */
#ifndef SIMT_WARP_H
#define SIMT_WARP_H

#include <cstring>

#include "grid.h"

inline void __syncthreads() {
    simt::wait_barrier();
}
inline int __syncthreads_count(int predicate) {
    return simt::wait_barrier_vote(predicate, 0);
}
inline int __syncthreads_and(int predicate) {
    return simt::wait_barrier_vote(predicate, 1);
}
inline int __syncthreads_or(int predicate) {
    return simt::wait_barrier_vote(predicate, 2);
}
/* Weak memory order is not imitated: blocks see each other's writes at once. */
inline void __threadfence_block() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
inline void __threadfence() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
inline void __threadfence_system() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

namespace simt {

/* Masks are 32 bits in CUDA and 64 on hardware with wider warps. */
#if SIMT_WARP_WIDTH == 64
typedef unsigned long long Mask;
#else
typedef unsigned Mask;
#endif

template <class T> inline void put(WarpSlot *slot, T value) {
    static_assert(sizeof(T) <= 16, "warp operations move at most 16 bytes a lane");
    memcpy(slot->in, &value, sizeof value);
}
template <class T> inline T take(const WarpSlot *slot) {
    T value;
    memcpy(&value, slot->out, sizeof value);
    return value;
}

enum class Shuffle { INDEX, UP, DOWN, XOR };

/* slot.in: [0..1] the value, [2] the shuffle's operand, [3] the width. */
template <Shuffle kind> void compute_shuffle(Warp *warp, uint64_t lanes, const void *) {
    for (uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
        int lane = __builtin_ctzll(rest);
        WarpSlot *slot = &warp->slots[lane];
        int operand = (int)slot->in[2], width = (int)slot->in[3];
        int first = lane / width * width, last = first + width - 1, source = lane;
        if (kind == Shuffle::INDEX) {
            source = first + (operand & (width - 1));
        } else if (kind == Shuffle::UP) {
            source = lane - operand < first ? lane : lane - operand;
        } else if (kind == Shuffle::DOWN) {
            source = lane + operand > last ? lane : lane + operand;
        } else {
            source = (lane ^ operand) > last ? lane : lane ^ operand;
        }
        /* The value of a lane that takes no part is undefined: its own stands in for it. */
        bool takes_part = (lanes >> source & 1) != 0;
        memcpy(slot->out, warp->slots[takes_part ? source : lane].in, 16);
    }
}

template <Shuffle kind, class T> inline T shuffle(Mask mask, T value, int operand, int width) {
    WarpSlot *slot = warp_slot();
    put(slot, value);
    slot->in[2] = (uint64_t)(int64_t)operand;
    slot->in[3] = (uint64_t)width;
    warp_operation(mask, compute_shuffle<kind>, nullptr);
    return take<T>(slot);
}

void compute_ballot(Warp *warp, uint64_t lanes, const void *);
void compute_nothing(Warp *warp, uint64_t lanes, const void *);
void compute_match_any(Warp *warp, uint64_t lanes, const void *);
void compute_match_all(Warp *warp, uint64_t lanes, const void *);

inline Mask ballot(Mask mask, int predicate) {
    WarpSlot *slot = warp_slot();
    slot->in[0] = predicate != 0;
    warp_operation(mask, compute_ballot, nullptr);
    return (Mask)slot->out[0];
}

enum class Reduce { ADD, MIN, MAX, AND, OR, XOR };

template <Reduce kind, class T> void compute_reduce(Warp *warp, uint64_t lanes, const void *) {
    T result{};
    bool first = true;
    for (uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
        T value;
        memcpy(&value, warp->slots[__builtin_ctzll(rest)].in, sizeof value);
        if (first) {
            result = value;
        } else if constexpr (kind == Reduce::ADD) {
            result = result + value;
        } else if constexpr (kind == Reduce::MIN) {
            result = value < result ? value : result;
        } else if constexpr (kind == Reduce::MAX) {
            result = result < value ? value : result;
        } else if constexpr (kind == Reduce::AND) {
            result = result & value;
        } else if constexpr (kind == Reduce::OR) {
            result = result | value;
        } else {
            result = result ^ value;
        }
        first = false;
    }
    for (uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
        memcpy(warp->slots[__builtin_ctzll(rest)].out, &result, sizeof result);
    }
}

template <Reduce kind, class T> inline T reduce(Mask mask, T value) {
    WarpSlot *slot = warp_slot();
    put(slot, value);
    warp_operation(mask, compute_reduce<kind, T>, nullptr);
    return take<T>(slot);
}

} // namespace simt

inline void __syncwarp(simt::Mask mask = ~(simt::Mask)0) {
    simt::warp_operation(mask, simt::compute_nothing, nullptr);
}
inline simt::Mask __activemask() {
    return (simt::Mask)simt::active_mask();
}
template <class T>
inline T __shfl_sync(simt::Mask mask, T value, int source, int width = warpSize) {
    return simt::shuffle<simt::Shuffle::INDEX>(mask, value, source, width);
}
template <class T>
inline T __shfl_up_sync(simt::Mask mask, T value, unsigned delta, int width = warpSize) {
    return simt::shuffle<simt::Shuffle::UP>(mask, value, (int)delta, width);
}
template <class T>
inline T __shfl_down_sync(simt::Mask mask, T value, unsigned delta, int width = warpSize) {
    return simt::shuffle<simt::Shuffle::DOWN>(mask, value, (int)delta, width);
}
template <class T>
inline T __shfl_xor_sync(simt::Mask mask, T value, int lane_mask, int width = warpSize) {
    return simt::shuffle<simt::Shuffle::XOR>(mask, value, lane_mask, width);
}
inline simt::Mask __ballot_sync(simt::Mask mask, int predicate) {
    return simt::ballot(mask, predicate);
}
inline int __any_sync(simt::Mask mask, int predicate) {
    return simt::ballot(mask, predicate) != 0;
}
inline int __all_sync(simt::Mask mask, int predicate) {
    return simt::ballot(mask, !predicate) == 0;
}
template <class T> inline simt::Mask __match_any_sync(simt::Mask mask, T value) {
    simt::WarpSlot *slot = simt::warp_slot();
    slot->in[0] = 0;
    memcpy(slot->in, &value, sizeof value);
    simt::warp_operation(mask, simt::compute_match_any, nullptr);
    return (simt::Mask)slot->out[0];
}
template <class T> inline simt::Mask __match_all_sync(simt::Mask mask, T value, int *all) {
    simt::WarpSlot *slot = simt::warp_slot();
    slot->in[0] = 0;
    memcpy(slot->in, &value, sizeof value);
    simt::warp_operation(mask, simt::compute_match_all, nullptr);
    *all = slot->out[0] != 0;
    return (simt::Mask)slot->out[0];
}
#define SIMT_REDUCE(name, KIND)                                                                    \
    inline unsigned __reduce_##name##_sync(simt::Mask mask, unsigned value) {                      \
        return simt::reduce<simt::Reduce::KIND>(mask, value);                                      \
    }                                                                                              \
    inline int __reduce_##name##_sync(simt::Mask mask, int value) {                                \
        return simt::reduce<simt::Reduce::KIND>(mask, value);                                      \
    }
SIMT_REDUCE(add, ADD)
SIMT_REDUCE(min, MIN)
SIMT_REDUCE(max, MAX)
SIMT_REDUCE(and, AND)
SIMT_REDUCE(or, OR)
SIMT_REDUCE(xor, XOR)
#undef SIMT_REDUCE

/* "Suspends the thread for a sleep duration approximately close to the delay": here, lets the other
 * threads of the block go on. */
inline void __nanosleep(unsigned) {
    simt::yield_thread();
}
inline unsigned __lanemask_lt() {
    return (1u << simt::current_lane()) - 1;
}

#endif
