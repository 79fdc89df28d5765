/* Integer and bit functions, loads and stores with cache hints, clocks. Names and meaning as in the
 * CUDA Math API reference ("Integer Intrinsics") and the CUDA programming guide. */
#ifndef SIMT_DEVICE_BITS_H
#define SIMT_DEVICE_BITS_H

#include <chrono>
#include <cstdint>

#include "grid.h"

inline int __popc(unsigned x) {
    return __builtin_popcount(x);
}
inline int __popcll(unsigned long long x) {
    return __builtin_popcountll(x);
}
inline int __clz(int x) {
    return x == 0 ? 32 : __builtin_clz((unsigned)x);
}
inline int __clzll(long long x) {
    return x == 0 ? 64 : __builtin_clzll((unsigned long long)x);
}
inline int __ffs(int x) {
    return __builtin_ffs(x);
}
inline int __ffsll(long long x) {
    return __builtin_ffsll(x);
}
inline unsigned long long __brevll(unsigned long long x) {
    x = (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
    x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4;
    return __builtin_bswap64(x);
}
inline unsigned __brev(unsigned x) {
    return (unsigned)(__brevll(x) >> 32);
}
/* Four of the eight bytes of y:x, each chosen by three bits of a nibble of `selector`. */
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    uint64_t bytes = (uint64_t)y << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        result |= (unsigned)(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
    }
    return result;
}
/* The offset-th set bit of mask from bit `base` on: upwards if offset is positive, downwards if
 * negative, base itself (if set) for 0; ~0u when there is none. */
inline unsigned __fns(unsigned mask, unsigned base, int offset) {
    int wanted = offset == 0 ? 1 : offset < 0 ? -offset : offset;
    int step = offset < 0 ? -1 : 1, end = offset == 0 ? (int)base + 1 : step < 0 ? -1 : 32;
    for (int bit = (int)base; bit != end; bit += step) {
        if ((mask >> bit & 1) != 0 && --wanted == 0) {
            return (unsigned)bit;
        }
    }
    return ~0u;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)((((uint64_t)high << 32 | low) << (shift & 31)) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)(((uint64_t)high << 32 | low) >> (shift & 31));
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
inline int __mulhi(int x, int y) {
    return (int)((int64_t)x * y >> 32);
}
inline unsigned __umulhi(unsigned x, unsigned y) {
    return (unsigned)((uint64_t)x * y >> 32);
}
inline long long __mul64hi(long long x, long long y) {
    return (long long)((__int128)x * y >> 64);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return (unsigned long long)((unsigned __int128)x * y >> 64);
}
/* The low 32 bits of the product of the low 24. */
inline int __mul24(int x, int y) {
    return (int)(unsigned)((int64_t)((int)((unsigned)x << 8) >> 8) *
                           ((int)((unsigned)y << 8) >> 8));
}
inline unsigned __umul24(unsigned x, unsigned y) {
    return (x & 0xffffff) * (y & 0xffffff);
}
inline unsigned __sad(int x, int y, unsigned z) {
    return (x < y ? (unsigned)y - (unsigned)x : (unsigned)x - (unsigned)y) + z;
}
inline unsigned __usad(unsigned x, unsigned y, unsigned z) {
    return (x < y ? y - x : x - y) + z;
}
inline int __hadd(int x, int y) {
    return (int)(((int64_t)x + y) >> 1);
}
inline int __rhadd(int x, int y) {
    return (int)(((int64_t)x + y + 1) >> 1);
}
inline unsigned __uhadd(unsigned x, unsigned y) {
    return (unsigned)(((uint64_t)x + y) >> 1);
}
/* Four products of signed (unsigned) bytes, added to c. */
inline int __dp4a(int a, int b, int c) {
    for (int i = 0; i < 4; i++) {
        c += (int8_t)(a >> 8 * i) * (int8_t)(b >> 8 * i);
    }
    return c;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 4; i++) {
        c += (a >> 8 * i & 0xff) * (b >> 8 * i & 0xff);
    }
    return c;
}

/* Caches are not imitated: a hint changes nothing. */
#define SIMT_LOAD(name)                                                                            \
    template <class T> inline T name(const T *address) {                                           \
        return *address;                                                                           \
    }
SIMT_LOAD(__ldg)
SIMT_LOAD(__ldca)
SIMT_LOAD(__ldcg)
SIMT_LOAD(__ldcs)
SIMT_LOAD(__ldlu)
SIMT_LOAD(__ldcv)
#undef SIMT_LOAD
#define SIMT_STORE(name)                                                                           \
    template <class T> inline void name(T *address, T value) {                                     \
        *address = value;                                                                          \
    }
SIMT_STORE(__stwb)
SIMT_STORE(__stcg)
SIMT_STORE(__stcs)
SIMT_STORE(__stwt)
#undef SIMT_STORE

/* Counts in nanoseconds, since nothing here has a GPU's clock. */
inline long long clock64() {
    return std::chrono::steady_clock::now().time_since_epoch().count();
}

[[noreturn]] inline void __trap() {
    simt::fail_thread(cudaErrorLaunchFailure, "__trap() was called");
}
inline void __brkpt() {
}
template <class T> inline bool __isGlobal(const T *) {
    return true;
}

#endif
