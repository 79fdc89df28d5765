/* Row reductions of inp (M,N), shared out among threads: sum, mean, max, argmax.
 *
 * In parallel: `rows` gives each thread whole rows; `chunks` cuts each row and gives each thread
 * some of the pieces. Many short rows want the first, one long row the second; the default picks.
 * How a row is cut depends on its length alone, never on the number of threads, and the pieces are
 * branches of the serial twin's tree of sums, joined in its order. So all give the same bits on any
 * number of threads, where "reduction(+)" would not.
 * argmax takes rows only: it is for the classes of a batch.
 * Limit: memory. */
#include <omp.h>

#include "base/trace.h"
#include "cpu/openmp/openmp.h"
#include "ops/formulas.h"
#include "ops/pairwise.h"

/* One number from n: row_max, pairwise_sum, pairwise_join. */
typedef float row_fn(const float *x, size_t n);

static void reduce_rows_share(const char *name, float *out, const float *inp, int M, size_t N,
                              row_fn *reduce) {
    TRACE_SHARE_OF(name);
#pragma omp for schedule(static) nowait
    for (int m = 0; m < M; m++) {
        out[m] = reduce(inp + m * N, N);
    }
}

static void reduce_rows(const char *name, float *out, const float *inp, int M, size_t N,
                        row_fn *reduce) {
    if (M * N >= FORK_ELEMENTS) {
#pragma omp parallel
        reduce_rows_share(name, out, inp, M, N, reduce);
    } else {
        reduce_rows_share(name, out, inp, M, N, reduce);
    }
}

/* Pieces of 64 KiB, or of a power of two times that when there would be too many of them. */
enum { MAX_CHUNKS = 256, CHUNK_ELEMENTS = 16 * PAIRWISE_BLOCK };

static size_t chunk_elements(size_t N) {
    size_t chunk = CHUNK_ELEMENTS;
    while (chunk < N && N / chunk >= MAX_CHUNKS) {
        chunk *= 2;
    }
    return chunk;
}

static void reduce_chunks_share(const char *name, float *part, const float *inp, size_t N,
                                size_t chunk, row_fn *reduce) {
    size_t count = N / chunk + (N % chunk != 0);
    TRACE_SHARE_OF(name);
#pragma omp for schedule(static) nowait
    for (size_t c = 0; c < count; c++) {
        size_t start = c * chunk;
        part[c] = reduce(inp + start, N - start < chunk ? N - start : chunk);
    }
}

static void reduce_chunks(const char *name, float *out, const float *inp, int M, size_t N,
                          row_fn *reduce, row_fn *join) {
    float part[MAX_CHUNKS];
    size_t chunk = chunk_elements(N), count = N / chunk + (N % chunk != 0);
    for (int m = 0; m < M; m++) {
        const float *inp_m = inp + m * N;
        if (N >= FORK_ELEMENTS) {
#pragma omp parallel
            reduce_chunks_share(name, part, inp_m, N, chunk, reduce);
        } else {
            reduce_chunks_share(name, part, inp_m, N, chunk, reduce);
        }
        out[m] = join(part, count);
    }
}

static bool has_rows_for_all(int M) {
    return M >= omp_get_max_threads();
}

static void divide_rows(float *out, int M, size_t N) {
    for (int m = 0; m < M; m++) {
        out[m] = (float)((double)out[m] / (double)N);
    }
}

static void sum_rows_openmp(float *out, const float *inp, int M, size_t N) {
    reduce_rows("sum", out, inp, M, N, pairwise_sum);
}

static void sum_chunks_openmp(float *out, const float *inp, int M, size_t N) {
    reduce_chunks("sum", out, inp, M, N, pairwise_sum, pairwise_join);
}

void sum_openmp(float *out, const float *inp, int M, size_t N) {
    (has_rows_for_all(M) ? sum_rows_openmp : sum_chunks_openmp)(out, inp, M, N);
}

static void mean_rows_openmp(float *out, const float *inp, int M, size_t N) {
    reduce_rows("mean", out, inp, M, N, pairwise_sum);
    divide_rows(out, M, N);
}

static void mean_chunks_openmp(float *out, const float *inp, int M, size_t N) {
    reduce_chunks("mean", out, inp, M, N, pairwise_sum, pairwise_join);
    divide_rows(out, M, N);
}

void mean_openmp(float *out, const float *inp, int M, size_t N) {
    (has_rows_for_all(M) ? mean_rows_openmp : mean_chunks_openmp)(out, inp, M, N);
}

static void max_rows_openmp(float *out, const float *inp, int M, size_t N) {
    reduce_rows("max", out, inp, M, N, row_max);
}

static void max_chunks_openmp(float *out, const float *inp, int M, size_t N) {
    reduce_chunks("max", out, inp, M, N, row_max, row_max);
}

void max_openmp(float *out, const float *inp, int M, size_t N) {
    (has_rows_for_all(M) ? max_rows_openmp : max_chunks_openmp)(out, inp, M, N);
}

static void argmax_share(int32_t *out, const float *inp, int M, int N) {
    TRACE_SHARE_OF("argmax");
#pragma omp for schedule(static) nowait
    for (int m = 0; m < M; m++) {
        out[m] = row_argmax(inp + (size_t)m * N, N);
    }
}

void argmax_openmp(int32_t *out, const float *inp, int M, int N) {
    if ((size_t)M * N >= FORK_ELEMENTS) {
#pragma omp parallel
        argmax_share(out, inp, M, N);
    } else {
        argmax_share(out, inp, M, N);
    }
}

static const char rows_idea[] = "each thread takes whole rows";
static const char chunks_idea[] = "the threads share each row, in pieces that are always the same";
static const char both_idea[] = "rows when there is one for every thread, else chunks";

const Kernel reduce_kernels_openmp[] = {
    KERNEL(sum, "rows", rows_idea, 0, sum_rows_openmp),
    KERNEL(sum, "chunks", chunks_idea, 0, sum_chunks_openmp),
    KERNEL_DEFAULT(sum, "rows_or_chunks", both_idea, 0, sum_openmp),
    KERNEL(mean, "rows", rows_idea, 0, mean_rows_openmp),
    KERNEL(mean, "chunks", chunks_idea, 0, mean_chunks_openmp),
    KERNEL_DEFAULT(mean, "rows_or_chunks", both_idea, 0, mean_openmp),
    KERNEL(max, "rows", rows_idea, 0, max_rows_openmp),
    KERNEL(max, "chunks", chunks_idea, 0, max_chunks_openmp),
    KERNEL_DEFAULT(max, "rows_or_chunks", both_idea, 0, max_openmp),
    KERNEL_DEFAULT(argmax, "rows", rows_idea, 0, argmax_openmp),
    KERNEL_TABLE_END,
};
