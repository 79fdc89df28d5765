/* nvcuda::wmma: matrix products by a warp. A fragment's elements are spread over the lanes in an
 * order of our own, which the guide leaves open; mma_sync lets the last lane to come compute for
 * all. */
#ifndef SIMT_MMA_H
#define SIMT_MMA_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32; /* kept as float: 8 exponent bits, 10 fraction bits after __float_to_tf32 */
}

template <class T> struct storage_element_type { typedef T type; };
template <> struct storage_element_type<precision::tf32> { typedef float type; };

template <class Use, int M, int N, int K> struct fragment_shape;
template <int M, int N, int K> struct fragment_shape<matrix_a, M, N, K> {
    static constexpr int ROWS = M, COLUMNS = K;
};
template <int M, int N, int K> struct fragment_shape<matrix_b, M, N, K> {
    static constexpr int ROWS = K, COLUMNS = N;
};
template <int M, int N, int K> struct fragment_shape<accumulator, M, N, K> {
    static constexpr int ROWS = M, COLUMNS = N;
};

/* Element i of lane l stands at position l * num_elements + i of the matrix, row by row. */
template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment {
    typedef typename storage_element_type<T>::type element_type;
    typedef fragment_shape<Use, M, N, K> Shape;
    static constexpr int num_elements = Shape::ROWS * Shape::COLUMNS / warpSize;
    element_type x[num_elements];
};

inline float __float_to_tf32(float value) {
    unsigned bits = __float_as_uint(value);
    if ((bits & 0x7fffffff) >= 0x7f800000) {
        return value;
    }
    return __uint_as_float((bits + 0x1000) & ~0x1fffu); /* ties away, as cvt.rna does */
}

template <class Use, int M, int N, int K, class T, class Layout>
inline void fill_fragment(fragment<Use, M, N, K, T, Layout> &f,
                          const typename storage_element_type<T>::type &value) {
    for (auto &element : f.x) {
        element = value;
    }
}

/* Where element i of the calling lane lies in memory. */
template <class Fragment> inline size_t offset_of(int i, unsigned ldm, bool row_by_row) {
    int position = simt::current_lane() * Fragment::num_elements + i;
    unsigned row = (unsigned)(position / Fragment::Shape::COLUMNS);
    unsigned column = (unsigned)(position % Fragment::Shape::COLUMNS);
    return row_by_row ? (size_t)row * ldm + column : (size_t)column * ldm + row;
}

template <class Use, int M, int N, int K, class T, class Layout, class Memory>
inline void load_matrix_sync(fragment<Use, M, N, K, T, Layout> &f, const Memory *memory,
                             unsigned ldm) {
    __syncwarp();
    for (int i = 0; i < f.num_elements; i++) {
        f.x[i] = memory[offset_of<fragment<Use, M, N, K, T, Layout>>(
            i, ldm, std::is_same_v<Layout, row_major>)];
    }
}

template <int M, int N, int K, class T, class Memory>
inline void load_matrix_sync(fragment<accumulator, M, N, K, T> &f, const Memory *memory,
                             unsigned ldm, layout_t layout) {
    __syncwarp();
    for (int i = 0; i < f.num_elements; i++) {
        f.x[i] =
            memory[offset_of<fragment<accumulator, M, N, K, T>>(i, ldm, layout == mem_row_major)];
    }
}

template <int M, int N, int K, class T, class Memory>
inline void store_matrix_sync(Memory *memory, const fragment<accumulator, M, N, K, T> &f,
                              unsigned ldm, layout_t layout) {
    for (int i = 0; i < f.num_elements; i++) {
        memory[offset_of<fragment<accumulator, M, N, K, T>>(i, ldm, layout == mem_row_major)] =
            f.x[i];
    }
    __syncwarp();
}

/* What a lane shows the others: its four fragments. */
struct MmaOperands {
    const void *a, *b, *c;
    void *d;
};

/* Element `position` of a matrix that is spread over the lanes. */
template <class Fragment>
inline auto element_at(simt::Warp *warp, const void *MmaOperands::*operand, int position) {
    MmaOperands operands;
    memcpy(&operands, warp->slots[position / Fragment::num_elements].in, sizeof operands);
    return ((const Fragment *)(operands.*operand))->x[position % Fragment::num_elements];
}

/* Products are exact in a float; the sum is one of the orders that the hardware may take. */
template <int M, int N, int K, class D, class A, class B, class C, class Sum>
void compute_mma(simt::Warp *warp, uint64_t, const void *) {
    Sum a[M][K], b[K][N];
    for (int i = 0; i < M * K; i++) {
        a[i / K][i % K] = (Sum)element_at<A>(warp, &MmaOperands::a, i);
    }
    for (int i = 0; i < K * N; i++) {
        b[i / N][i % N] = (Sum)element_at<B>(warp, &MmaOperands::b, i);
    }
    Sum sums[M][N];
    for (int i = 0; i < M * N; i++) {
        sums[i / N][i % N] = (Sum)element_at<C>(warp, &MmaOperands::c, i);
    }
    for (int m = 0; m < M; m++) {
        for (int k = 0; k < K; k++) {
            for (int n = 0; n < N; n++) {
                sums[m][n] += a[m][k] * b[k][n];
            }
        }
    }
    for (int i = 0; i < M * N; i++) {
        MmaOperands operands;
        memcpy(&operands, warp->slots[i / D::num_elements].in, sizeof operands);
        ((D *)operands.d)->x[i % D::num_elements] = (typename D::element_type)sums[i / N][i % N];
    }
}

/* d = a . b + c; c and d may be the same fragment. */
template <int M, int N, int K, class TA, class LA, class TB, class LB, class TD, class TC>
inline void mma_sync(fragment<accumulator, M, N, K, TD> &d,
                     const fragment<matrix_a, M, N, K, TA, LA> &a,
                     const fragment<matrix_b, M, N, K, TB, LB> &b,
                     const fragment<accumulator, M, N, K, TC> &c) {
    typedef std::conditional_t<std::is_integral_v<TC>, int,
                               std::conditional_t<std::is_same_v<TC, double>, double, float>>
        Sum;
    MmaOperands operands = {&a, &b, &c, &d};
    memcpy(simt::warp_slot()->in, &operands, sizeof operands);
    simt::warp_operation(
        ~0ull,
        compute_mma<M, N, K, fragment<accumulator, M, N, K, TD>,
                    fragment<matrix_a, M, N, K, TA, LA>, fragment<matrix_b, M, N, K, TB, LB>,
                    fragment<accumulator, M, N, K, TC>, Sum>,
        nullptr);
}

} // namespace wmma
} // namespace nvcuda

#endif
