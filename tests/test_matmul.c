/* Matrix products: every kernel of every CPU backend against a triple loop in double precision. The
 * bound of each element is gamma_(K+2) * (|alpha| |op(a)| |op(b)| + |beta c|), gamma_n = nu/(1-nu)
 * and u = 2^-24: K products and sums, a factor and one more addition (Higham 2002, section 3.5). It
 * holds for every order of summation, with fused multiply-adds or without. */
#include <cblas.h>
#include <criterion/criterion.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/philox.h"
#include "cpu/openblas/openblas.h"
#include "cpu/openmp/openmp.h"
#include "cpu/serial/matmul.h"
#include "cpu/serial/serial.h"

enum { MAX_THREADS = 3, SEED = 20 };

/* ---- which kernels, on how many threads ----------------------------------------------------- */

static const struct {
    const char *name;
    const Kernel *kernels;
    int max_threads;
} ladders[] = {
    {"serial", matmul_kernels_serial, 1},
    {"openmp", matmul_kernels_openmp, MAX_THREADS},
    {"openblas", matmul_kernels_openblas, MAX_THREADS},
};
enum { LADDERS = sizeof ladders / sizeof ladders[0] };

static void use_threads(int threads) {
    omp_set_dynamic(0);
    omp_set_num_threads(threads);
    openblas_set_num_threads(threads);
}

/* One kernel on some number of threads; start with index -1 and take next_way until it is false. */
typedef struct Way {
    int ladder, index, threads;
    const Kernel *kernel;
    char name[80]; /* "openmp/packed on 2 threads" */
} Way;

static bool next_way(Way *way, OpId op) {
    if (way->index >= 0 && way->threads < ladders[way->ladder].max_threads) {
        way->threads++;
    } else {
        way->threads = 1;
        do {
            way->index++;
            if (ladders[way->ladder].kernels[way->index].name == NULL) {
                way->ladder++;
                way->index = 0;
            }
            if (way->ladder == LADDERS) {
                return false;
            }
        } while (ladders[way->ladder].kernels[way->index].op != op);
    }
    way->kernel = &ladders[way->ladder].kernels[way->index];
    snprintf(way->name, sizeof way->name, "%s/%s on %d threads", ladders[way->ladder].name,
             way->kernel->name, way->threads);
    use_threads(way->threads);
    return true;
}

/* ---- matrices whose gaps are NaN ------------------------------------------------------------ */

typedef struct Matrix {
    float *x; /* allocated to the element, so that the address sanitizer sees one read too many */
    int rows, columns, leading;
} Matrix;

static size_t stored_count(Matrix m) {
    return m.rows == 0 ? 0 : (size_t)(m.rows - 1) * m.leading + m.columns;
}

static Matrix matrix_new(int rows, int columns, int gap) {
    Matrix m = {NULL, rows, columns, columns + gap};
    m.x = malloc(stored_count(m) * sizeof(float) + 1);
    for (size_t i = 0; i < stored_count(m); i++) {
        m.x[i] = NAN;
    }
    return m;
}

static Matrix matrix_random(int rows, int columns, int gap, uint64_t stream) {
    Matrix m = matrix_new(rows, columns, gap);
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            uint64_t index = (uint64_t)i * columns + j;
            m.x[(size_t)i * m.leading + j] = philox_uniform((Philox){SEED, stream}, index) - 0.4F;
        }
    }
    return m;
}

static Matrix matrix_copy(Matrix m) {
    Matrix copy = m;
    copy.x = malloc(stored_count(m) * sizeof(float) + 1);
    memcpy(copy.x, m.x, stored_count(m) * sizeof(float));
    return copy;
}

static double at(Matrix m, bool transposed, int i, int j) {
    return (double)(transposed ? m.x[(size_t)j * m.leading + i] : m.x[(size_t)i * m.leading + j]);
}

/* ---- the reference and the judge ------------------------------------------------------------ */

typedef struct Product {
    int M, N, K;
    bool trans_a, trans_b;
    float alpha, beta;
    Matrix a, b, c;        /* c before the call; all NaN if beta is 0 */
    double *truth, *bound; /* (M,N) */
} Product;

static void work_out_truth(Product *p) {
    size_t count = (size_t)p->M * p->N;
    double *truth = calloc(count + 1, sizeof *truth), *size = calloc(count + 1, sizeof *size);
    for (int i = 0; i < p->M; i++) {
        for (int k = 0; k < p->K; k++) {
            double a_ik = (double)p->alpha * at(p->a, p->trans_a, i, k);
            for (int j = 0; j < p->N; j++) {
                double term = a_ik * at(p->b, p->trans_b, k, j);
                truth[(size_t)i * p->N + j] += term;
                size[(size_t)i * p->N + j] += fabs(term);
            }
        }
        for (int j = 0; j < p->N && p->beta != 0.0F; j++) {
            double term = (double)p->beta * at(p->c, false, i, j);
            truth[(size_t)i * p->N + j] += term;
            size[(size_t)i * p->N + j] += fabs(term);
        }
    }
    double nu = (p->K + 2) * 0x1p-24;
    for (size_t i = 0; i < count; i++) {
        size[i] *= nu / (1.0 - nu);
    }
    p->truth = truth;
    p->bound = size;
}

static Product product_new(int M, int N, int K, bool trans_a, bool trans_b, float alpha, float beta,
                           int gap) {
    Product p = {M, N, K, trans_a, trans_b, alpha, beta, {0}, {0}, {0}, NULL, NULL};
    p.a = matrix_random(trans_a ? K : M, trans_a ? M : K, gap, 1);
    p.b = matrix_random(trans_b ? N : K, trans_b ? K : N, 2 * gap, 2);
    p.c = beta == 0.0F ? matrix_new(M, N, 3 * gap) : matrix_random(M, N, 3 * gap, 3);
    work_out_truth(&p);
    return p;
}

static void product_free(Product *p) {
    free(p->a.x);
    free(p->b.x);
    free(p->c.x);
    free(p->truth);
    free(p->bound);
}

/* The stored index of the first element of c that is wrong: outside its bound, NaN, or in a gap and
 * changed. -1: none. */
static int64_t first_fault(const Product *p, Matrix c) {
    for (size_t s = 0; s < stored_count(c); s++) {
        size_t i = s / c.leading, j = s % c.leading;
        if (j >= (size_t)c.columns) {
            if (memcmp(&c.x[s], &p->c.x[s], sizeof(float)) != 0) {
                return (int64_t)s;
            }
        } else if (!(fabs((double)c.x[s] - p->truth[i * p->N + j]) <= p->bound[i * p->N + j])) {
            return (int64_t)s;
        }
    }
    return -1;
}

static Matrix run_product(const Kernel *kernel, const Product *p) {
    Matrix c = matrix_copy(p->c);
    ((matmul_fn *)kernel->function)(c.x, p->a.x, p->b.x, p->alpha, p->beta, p->trans_a, p->trans_b,
                                    p->M, p->N, p->K, p->a.leading, p->b.leading, c.leading);
    return c;
}

static void check_product(Product p) {
    for (Way way = {.index = -1}; next_way(&way, OP_matmul);) {
        Matrix c = run_product(way.kernel, &p);
        int64_t s = first_fault(&p, c);
        cr_assert(s == -1,
                  "%s: M=%d N=%d K=%d trans %d%d alpha %g beta %g: c[%ld][%ld] = %.9g (seed %d)",
                  way.name, p.M, p.N, p.K, p.trans_a, p.trans_b, (double)p.alpha, (double)p.beta,
                  (long)(s / c.leading), (long)(s % c.leading), (double)c.x[s < 0 ? 0 : s], SEED);
        free(c.x);
    }
    product_free(&p);
}

/* Every transpose of one shape; the factors and gaps change from call to call. */
static void check_shape(int M, int N, int K) {
    static const struct {
        float alpha, beta;
    } factors[] = {{1.0F, 0.0F}, {1.0F, 1.0F}, {-0.5F, 0.0F}, {0.75F, -1.25F}, {0.0F, 2.0F}};
    static int turn;
    for (int t = 0; t < 4; t++, turn++) {
        int f = turn % 5, gap = turn % 3;
        check_product(product_new(M, N, K, t & 1, t & 2, factors[f].alpha, factors[f].beta, gap));
    }
}

Test(matmul, judge_rejects_nan_unwritten_zero_transposed_and_gap_writes) {
    Product p = product_new(5, 9, 9, false, true, 1.0F, 0.0F, 1);
    Matrix good = run_product(&matmul_kernels_serial[0], &p);
    cr_assert_eq(first_fault(&p, good), -1);
    float *spot = &good.x[2 * good.leading + 3], kept = *spot;
    *spot = NAN;
    cr_expect_neq(first_fault(&p, good), -1, "a NaN passed");
    *spot = 0.0F;
    cr_expect_neq(first_fault(&p, good), -1, "a zero passed");
    *spot = kept + 3.0F * (float)p.bound[2 * 9 + 3];
    cr_expect_neq(first_fault(&p, good), -1, "three times the bound passed");
    *spot = kept;
    good.x[good.columns] = 0.0F;
    cr_expect_neq(first_fault(&p, good), -1, "a write to the gap passed");
    cr_expect_neq(first_fault(&p, p.c), -1, "an untouched output passed");
    p.trans_b = false;
    Matrix swapped = run_product(&matmul_kernels_serial[0], &p);
    cr_expect_neq(first_fault(&p, swapped), -1, "the wrong transpose passed");
    free(good.x);
    free(swapped.x);
    product_free(&p);
}

/* ---- general products ----------------------------------------------------------------------- */

Test(matmul, every_kernel_is_within_the_bound_around_the_micro_tile, .timeout = 120) {
    int rows = packed_tile_rows(), columns = packed_tile_columns();
    const int M[] = {0, 1, 2, rows - 1, rows, rows + 1, 2 * rows + 1, 31};
    const int N[] = {0, 1, 3, columns - 1, columns, columns + 1, 2 * columns + 1};
    const int K[] = {0, 1, 2, 3, 4, 5, 13, 32};
    for (size_t m = 0; m < sizeof M / sizeof M[0]; m++) {
        for (size_t n = 0; n < sizeof N / sizeof N[0]; n++) {
            for (size_t k = 0; k < sizeof K / sizeof K[0]; k++) {
                check_shape(M[m], N[n], K[k]);
            }
        }
    }
}

Test(matmul, every_kernel_is_within_the_bound_around_the_cache_tiles, .timeout = 120) {
    static const int shapes[][3] = {
        {239, 33, 255}, {240, 32, 256}, {241, 31, 257}, {63, 255, 31},  {64, 256, 32},
        {65, 257, 33},  {7, 511, 129},  {13, 513, 127}, {485, 17, 513}, {64, 128, 784},
        {61, 101, 67},  {1, 1031, 65},  {1031, 1, 65},  {2, 3, 4099},   {127, 10, 64},
        {10, 127, 64},  {1, 1, 1031},   {64, 10, 128},  {3, 1537, 1},   {1, 7, 997},
    };
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        check_shape(shapes[s][0], shapes[s][1], shapes[s][2]);
    }
}

/* Case 7: sizes off the tile (gh:NVIDIA/cuda-samples#411 and others). */
Test(matmul, case_7_every_output_is_written_at_sizes_off_the_tile, .timeout = 120) {
    check_product(product_new(5, 1, 2, false, false, 1.0F, 0.0F, 0));
    check_product(product_new(31, 32, 32, false, false, 1.0F, 0.0F, 0));
    check_product(product_new(100, 100, 100, false, false, 1.0F, 0.0F, 0));
    Product p = product_new(1000, 1000, 1000, false, false, 1.0F, 0.0F, 0);
    for (Way way = {.index = -1}; next_way(&way, OP_matmul);) {
        if (way.threads <= 2 && strcmp(way.kernel->name, "naive") != 0) {
            Matrix c = run_product(way.kernel, &p);
            cr_assert_eq(first_fault(&p, c), -1, "%s at 1000x1000x1000", way.name);
            free(c.x);
        }
    }
    product_free(&p);
}

/* Case 8: leading dimensions and transposes (gh:OpenMathLib/OpenBLAS#1004). The product is
 * [[1,2],[3,4],[5,6]] . (1,2) = (5,11,17), the matrix stored either way, with gaps. */
Test(matmul, case_8_leading_dimensions_and_transposes_give_5_11_17) {
    static const float rows[] = {1, 2, NAN, 3, 4, NAN, 5, 6}, columns[] = {1, 3, 5, NAN, 2, 4, 6};
    static const float across[] = {1, 2}, down[] = {1, NAN, NAN, 2};
    for (Way way = {.index = -1}; next_way(&way, OP_matmul);) {
        matmul_fn *product = (matmul_fn *)way.kernel->function;
        for (int t = 0; t < 4; t++) {
            float c[] = {NAN, -1, NAN, -1, NAN};
            bool trans_a = t & 1, trans_b = t & 2;
            product(c, trans_a ? columns : rows, trans_b ? across : down, 1.0F, 0.0F, trans_a,
                    trans_b, 3, 1, 2, trans_a ? 4 : 3, trans_b ? 2 : 3, 2);
            cr_assert(c[0] == 5 && c[1] == -1 && c[2] == 11 && c[3] == -1 && c[4] == 17,
                      "%s, trans %d%d: (%g, %g, %g)", way.name, trans_a, trans_b, (double)c[0],
                      (double)c[2], (double)c[4]);
        }
    }
    for (int n = 7; n <= 15; n += 4) {
        check_product(product_new(n, n, n, true, false, 1.0F, 0.0F, 0));
        check_product(product_new(n, n, n, false, true, 1.0F, 0.0F, 0));
    }
}

Test(matmul, without_terms_c_is_scaled_and_a_nan_under_beta_0_is_gone) {
    for (Way way = {.index = -1}; next_way(&way, OP_matmul);) {
        matmul_fn *product = (matmul_fn *)way.kernel->function;
        float c[] = {1, NAN, -4}, nothing[1] = {NAN};
        product(c, nothing, nothing, 1.0F, 0.5F, false, false, 2, 1, 0, 0, 1, 2);
        cr_assert(c[0] == 0.5F && isnan(c[1]) && c[2] == -2.0F, "%s: beta 0.5", way.name);
        product(c + 1, nothing, nothing, 1.0F, 0.0F, false, false, 1, 1, 0, 0, 1, 1);
        cr_assert(c[1] == 0.0F && c[2] == -2.0F, "%s: beta 0", way.name);
    }
}

/* ---- determinism: case 13 ------------------------------------------------------------------- */

/* Two runs agree to the bit on one thread count; kernels of our own also across thread counts. */
Test(matmul, case_13_runs_agree_to_the_bit_on_any_number_of_threads, .timeout = 60) {
    static const int shapes[][3] = {{64, 128, 784}, {301, 259, 517}, {10, 784, 64}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        Product p =
            product_new(shapes[s][0], shapes[s][1], shapes[s][2], s == 2, s == 0, 0.3F, 0.7F, 1);
        Matrix first = {0};
        for (Way way = {.index = -1}; next_way(&way, OP_matmul);) {
            Matrix c = run_product(way.kernel, &p), again = run_product(way.kernel, &p);
            cr_assert_arr_eq(c.x, again.x, stored_count(c) * sizeof(float), "%s twice", way.name);
            if (way.threads == 1) {
                free(first.x);
                first = matrix_copy(c);
            } else if (way.kernel->op == OP_matmul && strcmp(way.kernel->name, "sgemm") != 0) {
                cr_assert_not_null(first.x);
                cr_assert_arr_eq(c.x, first.x, stored_count(c) * sizeof(float), "%s and on 1",
                                 way.name);
            }
            free(c.x);
            free(again.x);
        }
        free(first.x);
        product_free(&p);
    }
}

/* What makes the OpenMP kernel independent of the number of threads. */
Test(matmul, packed_rectangles_have_the_bits_of_the_whole) {
    int rows = 3 * packed_tile_rows(), columns = 2 * packed_tile_columns(), K = 300;
    int M = 2 * rows + 5, N = 2 * columns + 3;
    Product p = product_new(M, N, K, false, false, 1.5F, -0.5F, 0);
    Matrix whole = matrix_copy(p.c), part = matrix_copy(p.c);
    packed_matmul(whole.x, p.a.x, p.b.x, 1.5F, -0.5F, false, false, M, N, K, K, N, N);
    for (int i = 0; i < M; i += rows) {
        for (int j = 0; j < N; j += columns) {
            int m = M - i < rows ? M - i : rows, n = N - j < columns ? N - j : columns;
            packed_matmul(part.x + i * N + j, p.a.x + i * K, p.b.x + j, 1.5F, -0.5F, false, false,
                          m, n, K, K, N, N);
        }
    }
    cr_assert_arr_eq(whole.x, part.x, stored_count(whole) * sizeof(float));
    free(whole.x);
    free(part.x);
    product_free(&p);
}

/* ---- a fully connected layer ---------------------------------------------------------------- */

static const int layers[][3] = {
    {0, 3, 2},   {3, 0, 2},     {3, 2, 0},      {1, 1, 1},      {5, 7, 3},      {16, 17, 31},
    {64, 10, 1}, {64, 128, 10}, {64, 784, 128}, {63, 785, 129}, {33, 256, 512}, {257, 13, 66},
};
enum { LAYERS = sizeof layers / sizeof layers[0] };

static void check_layer(const Product *p, Matrix result, const Way *way, const char *what) {
    int64_t s = first_fault(p, result);
    cr_assert(s == -1, "%s, %s (%d,%d), K=%d: element %ld is %.9g (seed %d)", way->name, what, p->M,
              p->N, p->K, (long)s, (double)result.x[s < 0 ? 0 : s], SEED);
}

/* The truth of out = inp . weight^T + bias is that of a product onto rows that hold the bias. */
static Product forward_product(int N, int C, int OC, bool with_bias) {
    Product p = product_new(N, OC, C, false, true, 1.0F, 0.0F, 0);
    free(p.truth);
    free(p.bound);
    for (int n = 0; n < N && with_bias; n++) {
        for (int oc = 0; oc < OC; oc++) {
            p.c.x[(size_t)n * OC + oc] = 0.25F * (float)(oc % 7) - 0.5F;
        }
    }
    p.beta = with_bias ? 1.0F : 0.0F;
    work_out_truth(&p);
    return p;
}

Test(matmul, forward_is_within_the_bound_with_and_without_bias, .timeout = 60) {
    for (int s = 0; s < 2 * LAYERS; s++) {
        int N = layers[s / 2][0], C = layers[s / 2][1], OC = layers[s / 2][2];
        Product p = forward_product(N, C, OC, s % 2 == 0);
        Matrix bias = matrix_new(1, OC, 0);
        for (int oc = 0; oc < OC; oc++) {
            bias.x[oc] = 0.25F * (float)(oc % 7) - 0.5F;
        }
        for (Way way = {.index = -1}; next_way(&way, OP_matmul_forward);) {
            Matrix out = matrix_new(N, OC, 0);
            ((matmul_forward_fn *)way.kernel->function)(out.x, p.a.x, p.b.x,
                                                        s % 2 == 0 ? bias.x : NULL, N, C, OC);
            check_layer(&p, out, &way, "forward");
            free(out.x);
        }
        free(bias.x);
        product_free(&p);
    }
}

Test(matmul, backward_input_is_within_the_bound, .timeout = 60) {
    for (int s = 0; s < LAYERS; s++) {
        int N = layers[s][0], C = layers[s][1], OC = layers[s][2];
        Product p = product_new(N, C, OC, false, false, 1.0F, 0.0F, 0);
        for (Way way = {.index = -1}; next_way(&way, OP_matmul_backward_input);) {
            Matrix dinp = matrix_new(N, C, 0);
            ((matmul_backward_input_fn *)way.kernel->function)(dinp.x, p.a.x, p.b.x, N, C, OC);
            check_layer(&p, dinp, &way, "backward_input");
            free(dinp.x);
        }
        product_free(&p);
    }
}

Test(matmul, backward_weight_is_within_the_bound_and_accumulates_when_asked, .timeout = 60) {
    for (int s = 0; s < 2 * LAYERS; s++) {
        int N = layers[s / 2][0], C = layers[s / 2][1], OC = layers[s / 2][2];
        bool accumulate = s % 2 == 1;
        Product p = product_new(OC, C, N, true, false, 1.0F, accumulate ? 1.0F : 0.0F, 0);
        for (Way way = {.index = -1}; next_way(&way, OP_matmul_backward_weight);) {
            Matrix dweight = matrix_copy(p.c);
            ((matmul_backward_weight_fn *)way.kernel->function)(dweight.x, p.a.x, p.b.x, accumulate,
                                                                N, C, OC);
            check_layer(&p, dweight, &way, "backward_weight");
            free(dweight.x);
        }
        product_free(&p);
    }
}

/* The sum over the batch is the product of a row of ones and dout. */
Test(matmul, backward_bias_is_within_the_bound_deterministic_and_accumulates_when_asked) {
    static const int shapes[][2] = {{0, 3},   {3, 0},    {1, 1},     {64, 128},   {64, 10},
                                    {63, 65}, {17, 257}, {4099, 10}, {1031, 300}, {129, 1}};
    for (size_t s = 0; s < 2 * sizeof shapes / sizeof shapes[0]; s++) {
        int N = shapes[s / 2][0], OC = shapes[s / 2][1];
        bool accumulate = s % 2 == 1;
        Product p = product_new(1, OC, N, false, false, 1.0F, accumulate ? 1.0F : 0.0F, 0);
        free(p.truth);
        free(p.bound);
        for (int n = 0; n < N; n++) {
            p.a.x[n] = 1.0F;
        }
        work_out_truth(&p);
        for (Way way = {.index = -1}; next_way(&way, OP_matmul_backward_bias);) {
            matmul_backward_bias_fn *run = (matmul_backward_bias_fn *)way.kernel->function;
            Matrix dbias = matrix_copy(p.c), again = matrix_copy(p.c);
            run(dbias.x, p.b.x, accumulate, N, OC);
            run(again.x, p.b.x, accumulate, N, OC);
            check_layer(&p, dbias, &way, "backward_bias");
            cr_assert_arr_eq(dbias.x, again.x, OC * sizeof(float), "%s twice", way.name);
            free(dbias.x);
            free(again.x);
        }
        product_free(&p);
    }
}
