/* Row reductions of inp (M,N) to out (M): sum, mean, max, argmax.
 *
 * Each thread first takes many elements of a row, then the threads of a block, and of all blocks,
 * are brought together; the ladder is about how. Sums are kept in double: one fp32 accumulator
 * would lose what is 2^24 times smaller, and memory sets the pace anyhow, even where doubles run at
 * a 64th of the speed. Limit: memory, each element read once. */
#include "cuda/cuda.h"

enum { CHUNK = 16384 }; /* elements of a row for one block: fixed, so that the order of adding is */

/* What a reduction keeps of the elements it has seen, and how two such become one. */
struct Sum {
    double total;
    static __device__ Sum none() {
        return Sum{0.0};
    }
    __device__ void take(float x, size_t index) {
        (void)index;
        total += x;
    }
    __device__ void join(Sum other) {
        total += other.total;
    }
};

struct Largest {
    float value;
    int index; /* -1: nothing seen */
    static __device__ Largest none() {
        return Largest{-INFINITY, -1};
    }
    __device__ void take(float x, size_t i) {
        join(Largest{x, (int)i});
    }
    /* The larger; of equals (and of NaNs) the one with the lower index. */
    __device__ void join(Largest other) {
        bool equal = !beats(other.value, value) && !beats(value, other.value);
        if (other.index >= 0 &&
            (index < 0 || beats(other.value, value) || (equal && other.index < index))) {
            *this = other;
        }
    }
};

/* A block's share of a row: elements first to last - 1, taken with the block's stride. */
template <class Kept>
static __device__ Kept take_share(const float *inp_m, size_t first, size_t last) {
    Kept kept = Kept::none();
    for (size_t i = first + threadIdx.x; i < last; i += blockDim.x) {
        kept.take(inp_m[i], i);
    }
    return kept;
}

/* ---- shared: a tree in shared memory --------------------------------------------------------- */

/* Halves the number of threads that hold something until one holds all; a barrier for each level.
 * The result is the whole for thread 0 only. */
template <class Kept> static __device__ Kept join_shared(Kept kept) {
    __shared__ Kept of_thread[BLOCK_THREADS];
    of_thread[threadIdx.x] = kept;
    __syncthreads(); /* the other half is read next */
    for (int half = BLOCK_THREADS / 2; half > 0; half /= 2) {
        if ((int)threadIdx.x < half) {
            of_thread[threadIdx.x].join(of_thread[threadIdx.x + half]);
        }
        __syncthreads(); /* the next level reads what this one wrote */
    }
    return of_thread[0];
}

/* ---- shuffle: the last five levels without memory ---------------------------------------------
 */

static __device__ Sum shuffle_down(Sum kept, int lanes) {
    return Sum{__shfl_down_sync(0xffffffff, kept.total, lanes)};
}

static __device__ Largest shuffle_down(Largest kept, int lanes) {
    return Largest{__shfl_down_sync(0xffffffff, kept.value, lanes),
                   __shfl_down_sync(0xffffffff, kept.index, lanes)};
}

/* Lanes of a warp hand values over in registers; shared memory holds one value a warp, and one
 * barrier is enough. */
template <class Kept> static __device__ Kept join_shuffle(Kept kept) {
    __shared__ Kept of_warp[WARP_THREADS];
    int lane = threadIdx.x % WARP_THREADS, warp = threadIdx.x / WARP_THREADS;
    for (int lanes = WARP_THREADS / 2; lanes > 0; lanes /= 2) {
        kept.join(shuffle_down(kept, lanes));
    }
    if (lane == 0) {
        of_warp[warp] = kept;
    }
    __syncthreads(); /* the first warp reads what all others wrote */
    if (warp == 0) {
        kept = lane < BLOCK_THREADS / WARP_THREADS ? of_warp[lane] : Kept::none();
        for (int lanes = WARP_THREADS / 2; lanes > 0; lanes /= 2) {
            kept.join(shuffle_down(kept, lanes));
        }
    }
    return kept;
}

/* ---- one block for each row -------------------------------------------------------------------
 */

static __device__ void store(float *out, Sum kept, double scale) {
    *out = (float)(kept.total * scale);
}

static __device__ void store(float *out, Largest kept, double scale) {
    (void)scale;
    *out = kept.value;
}

static __device__ void store(int32_t *out, Largest kept, double scale) {
    (void)scale;
    *out = kept.index;
}

template <class Kept, class Out>
__global__ void reduce_rows_shared_kernel(Out *out, const float *inp, size_t N, double scale) {
    const float *inp_m = inp + blockIdx.x * N;
    Kept kept = join_shared(take_share<Kept>(inp_m, 0, N));
    if (threadIdx.x == 0) {
        store(&out[blockIdx.x], kept, scale);
    }
}

template <class Kept, class Out>
__global__ void reduce_rows_shuffle_kernel(Out *out, const float *inp, size_t N, double scale) {
    const float *inp_m = inp + blockIdx.x * N;
    Kept kept = join_shuffle(take_share<Kept>(inp_m, 0, N));
    if (threadIdx.x == 0) {
        store(&out[blockIdx.x], kept, scale);
    }
}

/* ---- atomic: every thread adds what it has to one place ----------------------------------------
 */

/* The least to write, and the slowest: 256 threads queue for one address. Whoever comes first is
 * added first, so two runs can differ in the last bit of the double (which rounding to fp32 nearly
 * always hides). totals (M) are 0 before. */
__global__ void sum_atomic_kernel(double *totals, const float *inp, size_t N, int chunks) {
    size_t m = blockIdx.x / chunks, first = (size_t)(blockIdx.x % chunks) * CHUNK;
    size_t last = first + CHUNK < N ? first + CHUNK : N;
    Sum kept = take_share<Sum>(inp + m * N, first, last);
    atomicAdd(&totals[m], kept.total);
}

__global__ void store_totals_kernel(float *out, const double *totals, int M, double scale) {
    GRID_STRIDE(m, (size_t)M) {
        store(&out[m], Sum{totals[m]}, scale);
    }
}

/* ---- multi_block_deterministic: many blocks a row, joined in a fixed order ---------------------
 */

/* One row of 20 million is too much for one block. Blocks take fixed chunks and write what they
 * have to parts (M,chunks); a second kernel joins these, chunk by chunk as they are numbered. No
 * atomics: the bits are the same in each run and on each GPU. */
template <class Kept>
__global__ void reduce_chunks_kernel(Kept *parts, const float *inp, size_t N, int chunks) {
    size_t m = blockIdx.x / chunks, first = (size_t)(blockIdx.x % chunks) * CHUNK;
    size_t last = first + CHUNK < N ? first + CHUNK : N;
    Kept kept = join_shuffle(take_share<Kept>(inp + m * N, first, last));
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = kept;
    }
}

template <class Kept, class Out>
__global__ void join_chunks_kernel(Out *out, const Kept *parts, int chunks, double scale) {
    Kept kept = Kept::none();
    for (int i = threadIdx.x; i < chunks; i += blockDim.x) {
        kept.join(parts[(size_t)blockIdx.x * chunks + i]);
    }
    kept = join_shuffle(kept);
    if (threadIdx.x == 0) {
        store(&out[blockIdx.x], kept, scale);
    }
}

/* ---- launchers --------------------------------------------------------------------------------
 */

static int chunk_count(size_t N) {
    return N == 0 ? 1 : (int)((N + CHUNK - 1) / CHUNK);
}

template <class Kept, class Out>
static void reduce_shared(OpId op, Out *out, const float *inp, int M, size_t N, double scale) {
    reduce_rows_shared_kernel<Kept><<<M, BLOCK_THREADS>>>(out, inp, N, scale);
    cuda_launched(op, "shared", M, N, 1);
}

template <class Kept, class Out>
static void reduce_shuffle(OpId op, Out *out, const float *inp, int M, size_t N, double scale) {
    reduce_rows_shuffle_kernel<Kept><<<M, BLOCK_THREADS>>>(out, inp, N, scale);
    cuda_launched(op, "shuffle", M, N, 1);
}

template <class Kept, class Out>
static void reduce_multi_block(OpId op, Out *out, const float *inp, int M, size_t N, double scale) {
    int chunks = chunk_count(N);
    Kept *parts = (Kept *)cuda_scratch(op, (size_t)M * chunks * sizeof(Kept));
    if (parts == NULL) {
        return;
    }
    unsigned blocks = blocks_for((size_t)M * chunks, 1);
    reduce_chunks_kernel<<<blocks, BLOCK_THREADS>>>(parts, inp, N, chunks);
    join_chunks_kernel<<<M, BLOCK_THREADS>>>(out, parts, chunks, scale);
    cuda_launched(op, "multi_block_deterministic", M, N, 1);
}

static void reduce_atomic(OpId op, float *out, const float *inp, int M, size_t N, double scale) {
    int chunks = chunk_count(N);
    double *totals = (double *)cuda_scratch(op, (size_t)M * sizeof *totals);
    if (totals == NULL) {
        return;
    }
    cudaMemsetAsync(totals, 0, (size_t)M * sizeof *totals, 0);
    sum_atomic_kernel<<<blocks_for((size_t)M * chunks, 1), BLOCK_THREADS>>>(totals, inp, N, chunks);
    store_totals_kernel<<<blocks_to_fill(M), BLOCK_THREADS>>>(out, totals, M, scale);
    cuda_launched(op, "atomic", M, N, 1);
}

static void sum_atomic(float *out, const float *inp, int M, size_t N) {
    reduce_atomic(OP_sum, out, inp, M, N, 1.0);
}
static void sum_shared(float *out, const float *inp, int M, size_t N) {
    reduce_shared<Sum>(OP_sum, out, inp, M, N, 1.0);
}
static void sum_shuffle(float *out, const float *inp, int M, size_t N) {
    reduce_shuffle<Sum>(OP_sum, out, inp, M, N, 1.0);
}
static void sum_multi_block(float *out, const float *inp, int M, size_t N) {
    reduce_multi_block<Sum>(OP_sum, out, inp, M, N, 1.0);
}

static void mean_shuffle(float *out, const float *inp, int M, size_t N) {
    reduce_shuffle<Sum>(OP_mean, out, inp, M, N, 1.0 / (double)N);
}
static void mean_multi_block(float *out, const float *inp, int M, size_t N) {
    reduce_multi_block<Sum>(OP_mean, out, inp, M, N, 1.0 / (double)N);
}

static void max_shared(float *out, const float *inp, int M, size_t N) {
    reduce_shared<Largest>(OP_max, out, inp, M, N, 1.0);
}
static void max_multi_block(float *out, const float *inp, int M, size_t N) {
    reduce_multi_block<Largest>(OP_max, out, inp, M, N, 1.0);
}

static void argmax_shared(int32_t *out, const float *inp, int M, int N) {
    reduce_shared<Largest>(OP_argmax, out, inp, M, (size_t)N, 1.0);
}
static void argmax_multi_block(int32_t *out, const float *inp, int M, int N) {
    reduce_multi_block<Largest>(OP_argmax, out, inp, M, (size_t)N, 1.0);
}

#define ATOMIC      "each thread adds to one double by atomicAdd"
#define SHARED      "a block a row; a tree in shared memory"
#define SHUFFLE     "a block a row; warps hand values over in registers"
#define MULTI_BLOCK "many blocks a row, joined in a fixed order"

const Kernel CUDA_TABLE(reduce)[] = {
    KERNEL(sum, "atomic", ATOMIC, 0, sum_atomic),
    KERNEL(sum, "shared", SHARED, 0, sum_shared),
    KERNEL(sum, "shuffle", SHUFFLE, 0, sum_shuffle),
    KERNEL_DEFAULT(sum, "multi_block_deterministic", MULTI_BLOCK, 0, sum_multi_block),
    KERNEL(mean, "shuffle", SHUFFLE, 0, mean_shuffle),
    KERNEL_DEFAULT(mean, "multi_block_deterministic", MULTI_BLOCK, 0, mean_multi_block),
    KERNEL(max, "shared", SHARED, 0, max_shared),
    KERNEL_DEFAULT(max, "multi_block_deterministic", MULTI_BLOCK, 0, max_multi_block),
    KERNEL(argmax, "shared", SHARED, 0, argmax_shared),
    KERNEL_DEFAULT(argmax, "multi_block_deterministic", MULTI_BLOCK, 0, argmax_multi_block),
    KERNEL_TABLE_END,
};
