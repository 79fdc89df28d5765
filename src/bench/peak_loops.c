#include "bench/peak_loops.h"

/* Contraction into FMA is asked for here in words: a STRICT build turns it off elsewhere, but the
 * library it is compared with still uses it. -O3 likewise, for sanitizer builds. */
#ifdef __clang__ /* has no such attribute: its flags decide */
#define PEAK_OPTIMIZE noinline
#else
#define PEAK_OPTIMIZE optimize("O3", "fp-contract=fast")
#endif

#ifdef __x86_64__
#define LANES   16
#define NAME(x) x##_avx512
#define TARGET  __attribute__((target("avx512f"), PEAK_OPTIMIZE))
#include "bench/peak_loops.inc"

#define LANES   8
#define NAME(x) x##_avx2
#define TARGET  __attribute__((target("avx2,fma"), PEAK_OPTIMIZE))
#include "bench/peak_loops.inc"
#endif

#define LANES   4
#define NAME(x) x##_base
#define TARGET  __attribute__((PEAK_OPTIMIZE))
#include "bench/peak_loops.inc"

#ifdef __x86_64__
static const PeakLoops avx512 = {"AVX-512 + FMA", 16,           fma_avx512,    read_avx512,
                                 copy_avx512,     triad_avx512, update_avx512, scale_avx512};
static const PeakLoops avx2 = {"AVX2 + FMA", 8,          fma_avx2,    read_avx2,
                               copy_avx2,    triad_avx2, update_avx2, scale_avx2};
#endif
static const PeakLoops base = {"4-lane vectors", 4,          fma_base,    read_base,
                               copy_base,        triad_base, update_base, scale_base};

const PeakLoops *peak_loops(void) {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) {
        return &avx512;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return &avx2;
    }
#endif
    return &base;
}
