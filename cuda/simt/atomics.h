/* Atomic functions. Names and meaning as in the CUDA programming guide, "Atomic Functions": all are
 * sequentially consistent here, which is more than the guide promises. */
#ifndef SIMT_ATOMICS_H
#define SIMT_ATOMICS_H

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace simt {

/* The parameter's type is named by the pointer alone: atomicAdd(&x, 1) works on a float. */
template <class T> struct Same { typedef T type; };
template <class T> using SameType = typename Same<T>::type;

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

/* One instruction where the processor has it. */
template <class T> inline T atomic_add(T *address, T value) {
    if constexpr (std::is_integral_v<T>) {
        return __atomic_fetch_add(address, value, __ATOMIC_SEQ_CST);
    } else {
        return atomic_change(address, [=](T old) { return (T)(old + value); });
    }
}

} // namespace simt

/* Each function with its variants for a block and for the whole system, which are the same here. */
#define SIMT_ATOMIC(name, expression)                                                              \
    template <class T> inline T name(T *address, simt::SameType<T> value) {                        \
        return expression;                                                                         \
    }                                                                                              \
    template <class T> inline T name##_block(T *address, simt::SameType<T> value) {                \
        return name(address, value);                                                               \
    }                                                                                              \
    template <class T> inline T name##_system(T *address, simt::SameType<T> value) {               \
        return name(address, value);                                                               \
    }
#define SIMT_ATOMIC_CHANGE(name, changed)                                                          \
    SIMT_ATOMIC(name, simt::atomic_change(address, [=](T old) { return (T)(changed); }))

SIMT_ATOMIC(atomicAdd, simt::atomic_add(address, value))
SIMT_ATOMIC_CHANGE(atomicSub, old - value)
SIMT_ATOMIC_CHANGE(atomicExch, ((void)old, value))
SIMT_ATOMIC_CHANGE(atomicMin, value < old ? value : old)
SIMT_ATOMIC_CHANGE(atomicMax, old < value ? value : old)
SIMT_ATOMIC_CHANGE(atomicAnd, old &value)
SIMT_ATOMIC_CHANGE(atomicOr, old | value)
SIMT_ATOMIC_CHANGE(atomicXor, old ^ value)
SIMT_ATOMIC_CHANGE(atomicInc, old >= value ? 0 : old + 1)
SIMT_ATOMIC_CHANGE(atomicDec, old == 0 || old > value ? value : old - 1)
#undef SIMT_ATOMIC
#undef SIMT_ATOMIC_CHANGE

template <class T>
inline T atomicCAS(T *address, simt::SameType<T> compare, simt::SameType<T> value) {
    return simt::atomic_change(address, [=](T old) { return old == compare ? value : old; });
}
template <class T>
inline T atomicCAS_block(T *address, simt::SameType<T> compare, simt::SameType<T> value) {
    return atomicCAS(address, compare, value);
}
template <class T>
inline T atomicCAS_system(T *address, simt::SameType<T> compare, simt::SameType<T> value) {
    return atomicCAS(address, compare, value);
}

#endif
