/* What a kernel may call: barriers, warp functions, atomics, small arithmetic. Names and meaning as
 * in the CUDA programming guide, "C++ Language Extensions". */
#ifndef SIMT_INTRINSICS_H
#define SIMT_INTRINSICS_H

#include <cmath>
#include <cstring>
#include <type_traits>

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
typedef unsigned long long Mask;

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
    return slot->out[0];
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

inline void __syncwarp(simt::Mask mask = ~0ull) {
    simt::warp_operation(mask, simt::compute_nothing, nullptr);
}
inline simt::Mask __activemask() {
    return simt::active_mask();
}
template <class T>
inline T __shfl_sync(simt::Mask mask, T value, int source, int width = simt::warp_width) {
    return simt::shuffle<simt::Shuffle::INDEX>(mask, value, source, width);
}
template <class T>
inline T __shfl_up_sync(simt::Mask mask, T value, unsigned delta, int width = simt::warp_width) {
    return simt::shuffle<simt::Shuffle::UP>(mask, value, (int)delta, width);
}
template <class T>
inline T __shfl_down_sync(simt::Mask mask, T value, unsigned delta, int width = simt::warp_width) {
    return simt::shuffle<simt::Shuffle::DOWN>(mask, value, (int)delta, width);
}
template <class T>
inline T __shfl_xor_sync(simt::Mask mask, T value, int lane_mask, int width = simt::warp_width) {
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
    return slot->out[0];
}
template <class T> inline simt::Mask __match_all_sync(simt::Mask mask, T value, int *all) {
    simt::WarpSlot *slot = simt::warp_slot();
    slot->in[0] = 0;
    memcpy(slot->in, &value, sizeof value);
    simt::warp_operation(mask, simt::compute_match_all, nullptr);
    *all = slot->out[0] != 0;
    return slot->out[0];
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

/* ---- atomics: sequentially consistent, on every type by compare-and-swap ---------------------- */

namespace simt {

/* old = *address; *address = change(old), as one step. */
template <class T, class Change> inline T atomic_change(T *address, Change change) {
    typedef std::conditional_t<sizeof(T) == 8, uint64_t,
                               std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>>
        Bits;
    static_assert(sizeof(T) == sizeof(Bits), "atomics work on 2, 4 and 8 bytes");
    Bits seen = __atomic_load_n((Bits *)address, __ATOMIC_RELAXED), wanted;
    T old;
    do {
        memcpy(&old, &seen, sizeof old);
        T changed = change(old);
        memcpy(&wanted, &changed, sizeof wanted);
    } while (!__atomic_compare_exchange_n((Bits *)address, &seen, wanted, false, __ATOMIC_SEQ_CST,
                                          __ATOMIC_SEQ_CST));
    return old;
}

} // namespace simt

template <class T> inline T atomicAdd(T *address, std::common_type_t<T> value) {
    return simt::atomic_change(address, [=](T old) { return (T)(old + value); });
}
template <class T> inline T atomicSub(T *address, std::common_type_t<T> value) {
    return simt::atomic_change(address, [=](T old) { return (T)(old - value); });
}
template <class T> inline T atomicExch(T *address, std::common_type_t<T> value) {
    return simt::atomic_change(address, [=](T) { return value; });
}
template <class T> inline T atomicMin(T *address, std::common_type_t<T> value) {
    return simt::atomic_change(address, [=](T old) { return value < old ? value : old; });
}
template <class T> inline T atomicMax(T *address, std::common_type_t<T> value) {
    return simt::atomic_change(address, [=](T old) { return old < value ? value : old; });
}
template <class T> inline T atomicAnd(T *address, std::common_type_t<T> value) {
    return simt::atomic_change(address, [=](T old) { return (T)(old & value); });
}
template <class T> inline T atomicOr(T *address, std::common_type_t<T> value) {
    return simt::atomic_change(address, [=](T old) { return (T)(old | value); });
}
template <class T> inline T atomicXor(T *address, std::common_type_t<T> value) {
    return simt::atomic_change(address, [=](T old) { return (T)(old ^ value); });
}
template <class T> inline T atomicInc(T *address, std::common_type_t<T> limit) {
    return simt::atomic_change(address, [=](T old) { return old >= limit ? (T)0 : (T)(old + 1); });
}
template <class T> inline T atomicDec(T *address, std::common_type_t<T> limit) {
    return simt::atomic_change(
        address, [=](T old) { return old == 0 || old > limit ? limit : (T)(old - 1); });
}
template <class T>
inline T atomicCAS(T *address, std::common_type_t<T> compare, std::common_type_t<T> value) {
    return simt::atomic_change(address, [=](T old) { return old == compare ? value : old; });
}

#endif
