/* cooperative_groups: a block, tiles of several sizes, lanes that are together, reductions, the
 * grid's ranks. Answers from the CUDA programming guide, "Cooperative Groups". */
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

enum { THREADS = 96, ROWS = 12 };

template <unsigned SIZE> __device__ void use_tile(int *out) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<SIZE> tile = cg::tiled_partition<SIZE>(block);
    int t = (int)block.thread_rank();
    out[0 * THREADS + t] = (int)tile.thread_rank();
    out[1 * THREADS + t] = (int)tile.size();
    out[2 * THREADS + t] = (int)tile.meta_group_rank();
    out[3 * THREADS + t] = (int)tile.meta_group_size();
    out[4 * THREADS + t] = tile.shfl(t, 1 % SIZE);
    out[5 * THREADS + t] = tile.shfl_down(t, 1);
    out[6 * THREADS + t] = tile.shfl_xor(t, SIZE / 2);
    out[7 * THREADS + t] = (int)tile.ballot(t % 3 == 0);
    out[8 * THREADS + t] = tile.any(t == 40) + 2 * tile.all(t < 40);
    out[9 * THREADS + t] = cg::reduce(tile, t, cg::plus<int>());
    out[10 * THREADS + t] = cg::reduce(tile, t * 37 % 64, cg::greater<int>());
    out[11 * THREADS + t] = cg::reduce(tile, t * 37 % 64, cg::less<int>());
    tile.sync();
}

template <unsigned SIZE> __global__ void tiles(int *out) {
    use_tile<SIZE>(out);
}

template <int SIZE> static void check_tiles(void) {
    int *device = device_array<int>(ROWS * THREADS);
    static int out[ROWS * THREADS];
    tiles<SIZE><<<1, THREADS>>>(device);
    CHECK_OK(cudaGetLastError());
    to_host(out, device, ROWS * THREADS);
    int wrong[ROWS] = {0};
    for (int t = 0; t < THREADS; t++) {
        int first = t / SIZE * SIZE, rank = t % SIZE, votes = 0, sum = 0, most = -1, least = 99;
        for (int i = 0; i < SIZE; i++) {
            int value = (first + i) * 37 % 64;
            votes |= (int)((first + i) % 3 == 0 ? 1u << i : 0u);
            sum += first + i;
            most = value > most ? value : most;
            least = value < least ? value : least;
        }
        int any = first <= 40 && 40 < first + SIZE, all = first + SIZE <= 40;
        int expected[ROWS] = {rank,
                              SIZE,
                              t / SIZE,
                              THREADS / SIZE,
                              first + 1 % SIZE,
                              rank == SIZE - 1 ? t : t + 1,
                              first + (rank ^ (SIZE / 2)),
                              votes,
                              any + 2 * all,
                              sum,
                              most,
                              least};
        for (int k = 0; k < ROWS; k++) {
            wrong[k] += out[k * THREADS + t] != expected[k];
        }
    }
    for (int k = 0; k < ROWS; k++) {
        CHECK(wrong[k] == 0);
    }
}

/* Only some lanes of each warp come: they are numbered among themselves, and one adds for all. */
__global__ void coalesced(int *counter, int *ranks) {
    int t = (int)threadIdx.x;
    ranks[t] = -1;
    if (t % 3 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        int before = 0;
        if (active.thread_rank() == 0) {
            before = atomicAdd(counter, (int)active.size());
        }
        ranks[t] = active.shfl(before, 0) + (int)active.thread_rank();
    }
}

static void check_coalesced(void) {
    int zero = 0, count = 0, *device = device_array<int>(THREADS), *counter = device_array<int>(1);
    int ranks[THREADS], seen[THREADS] = {0}, wrong = 0;
    to_device(counter, &zero, 1);
    coalesced<<<1, THREADS>>>(counter, device);
    to_host(ranks, device, THREADS);
    to_host(&count, counter, 1);
    CHECK(count == THREADS / 3);
    for (int t = 0; t < THREADS; t++) {
        if (t % 3 != 0) {
            wrong += ranks[t] != -1;
        } else if (ranks[t] < 0 || ranks[t] >= THREADS / 3 || seen[ranks[t]]++ != 0) {
            wrong++;
        }
    }
    CHECK(wrong == 0);
}

__global__ void grid_ranks(int *out) {
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    __shared__ int last;
    if (block.thread_rank() == block.size() - 1) {
        last = (int)grid.thread_rank();
    }
    block.sync();
    out[grid.thread_rank()] = (int)grid.size() + last;
}

static void check_grid(void) {
    enum { N = 6 * 20 };
    int *device = device_array<int>(N), out[N], wrong = 0;
    grid_ranks<<<dim3(3, 2), dim3(5, 4)>>>(device);
    to_host(out, device, N);
    for (int i = 0; i < N; i++) {
        wrong += out[i] != N + i / 20 * 20 + 19;
    }
    CHECK(wrong == 0);
}

int main(void) {
    check_tiles<32>();
    check_tiles<16>();
    check_tiles<8>();
    check_tiles<4>();
    check_tiles<2>();
    check_coalesced();
    check_grid();
    CHECK_DONE();
}
