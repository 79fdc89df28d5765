/* cooperative_groups: the block, tiles of a warp, the lanes that are together, the grid without its
 * barrier. Names and meaning as in the CUDA programming guide, "Cooperative Groups". */
#ifndef SIMT_COOPERATIVE_GROUPS_H
#define SIMT_COOPERATIVE_GROUPS_H

#include "cuda_runtime.h"

namespace cooperative_groups {

class thread_block {
  public:
    static void sync() {
        __syncthreads();
    }
    static unsigned thread_rank() {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    static unsigned size() {
        return blockDim.x * blockDim.y * blockDim.z;
    }
    static unsigned num_threads() {
        return size();
    }
    static dim3 group_index() {
        return blockIdx;
    }
    static dim3 thread_index() {
        return threadIdx;
    }
    static dim3 group_dim() {
        return blockDim;
    }
    static dim3 dim_threads() {
        return blockDim;
    }
};
inline thread_block this_thread_block() {
    return thread_block();
}

/* Lanes of one warp: what a tile and a coalesced group have in common. The rank of a lane is its
 * place among the lanes of the mask. */
class LaneGroup {
  protected:
    simt::Mask mask_;
    explicit LaneGroup(simt::Mask mask) : mask_(mask) {
    }
    int lane_of_rank(unsigned rank) const {
        simt::Mask rest = mask_;
        for (; rank > 0 && rest != 0; rank--) {
            rest &= rest - 1;
        }
        return rest == 0 ? simt::current_lane() : __builtin_ctzll(rest);
    }
    simt::Mask ranks_of(simt::Mask lanes) const {
        simt::Mask ranks = 0;
        int rank = 0;
        for (simt::Mask rest = mask_; rest != 0; rest &= rest - 1, rank++) {
            ranks |= (simt::Mask)((lanes >> __builtin_ctzll(rest)) & 1) << rank;
        }
        return ranks;
    }

  public:
    void sync() const {
        __syncwarp(mask_);
    }
    unsigned thread_rank() const {
        simt::Mask below = ((simt::Mask)1 << simt::current_lane()) - 1;
        return (unsigned)__builtin_popcountll(mask_ & below);
    }
    unsigned size() const {
        return (unsigned)__builtin_popcountll(mask_);
    }
    unsigned num_threads() const {
        return size();
    }
    template <class T> T shfl(T value, int rank) const {
        return __shfl_sync(mask_, value, lane_of_rank((unsigned)rank % size()));
    }
    template <class T> T shfl_up(T value, unsigned delta) const {
        unsigned rank = thread_rank();
        return __shfl_sync(mask_, value, lane_of_rank(rank < delta ? rank : rank - delta));
    }
    template <class T> T shfl_down(T value, unsigned delta) const {
        unsigned rank = thread_rank(), from = rank + delta;
        return __shfl_sync(mask_, value, lane_of_rank(from < size() ? from : rank));
    }
    template <class T> T shfl_xor(T value, unsigned ranks) const {
        unsigned rank = thread_rank(), from = rank ^ ranks;
        return __shfl_sync(mask_, value, lane_of_rank(from < size() ? from : rank));
    }
    int any(int predicate) const {
        return __any_sync(mask_, predicate);
    }
    int all(int predicate) const {
        return __all_sync(mask_, predicate);
    }
    simt::Mask ballot(int predicate) const {
        return ranks_of(__ballot_sync(mask_, predicate));
    }
    template <class T> simt::Mask match_any(T value) const {
        return ranks_of(__match_any_sync(mask_, value));
    }
    template <class T> simt::Mask match_all(T value, int &all) const {
        return ranks_of(__match_all_sync(mask_, value, &all));
    }
};

inline unsigned block_lane() {
    return thread_block::thread_rank() % (unsigned)warpSize;
}

/* SIZE lanes beside each other: 1, 2, 4 ... up to a warp. */
template <unsigned SIZE, class Parent = void> class thread_block_tile : public LaneGroup {
    static_assert(SIZE > 0 && (SIZE & (SIZE - 1)) == 0 && SIZE <= (unsigned)warpSize,
                  "a tile has 1, 2, 4, ... lanes, at most a warp");
    static simt::Mask own_mask() {
        simt::Mask lanes = ~(simt::Mask)0 >> ((unsigned)warpSize - SIZE);
        return lanes << block_lane() / SIZE * SIZE;
    }

  public:
    thread_block_tile() : LaneGroup(own_mask()) {
    }
    template <class Other>
    thread_block_tile(const thread_block_tile<SIZE, Other> &) : LaneGroup(own_mask()) {
    }
    static constexpr unsigned num_threads() {
        return SIZE;
    }
    static constexpr unsigned size() {
        return SIZE;
    }
    unsigned thread_rank() const {
        return block_lane() % SIZE;
    }
    unsigned meta_group_rank() const {
        return thread_block::thread_rank() / SIZE;
    }
    unsigned meta_group_size() const {
        return (thread_block::size() + SIZE - 1) / SIZE;
    }
    template <class T> T shfl(T value, int rank) const {
        return __shfl_sync(mask_, value, rank, (int)SIZE);
    }
    template <class T> T shfl_up(T value, unsigned delta) const {
        return __shfl_up_sync(mask_, value, delta, (int)SIZE);
    }
    template <class T> T shfl_down(T value, unsigned delta) const {
        return __shfl_down_sync(mask_, value, delta, (int)SIZE);
    }
    template <class T> T shfl_xor(T value, unsigned ranks) const {
        return __shfl_xor_sync(mask_, value, (int)ranks, (int)SIZE);
    }
};
template <unsigned SIZE, class Parent>
inline thread_block_tile<SIZE, Parent> tiled_partition(const Parent &) {
    return thread_block_tile<SIZE, Parent>();
}

class coalesced_group : public LaneGroup {
  public:
    explicit coalesced_group(simt::Mask mask) : LaneGroup(mask) {
    }
};
inline coalesced_group coalesced_threads() {
    return coalesced_group(__activemask());
}

class grid_group {
  public:
    static unsigned long long block_rank() {
        return blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    }
    static unsigned long long thread_rank() {
        return block_rank() * thread_block::size() + thread_block::thread_rank();
    }
    static unsigned long long num_blocks() {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    static unsigned long long size() {
        return num_blocks() * thread_block::size();
    }
    static unsigned long long num_threads() {
        return size();
    }
    static dim3 group_dim() {
        return gridDim;
    }
    /* The device says so too: cooperativeLaunch is 0. */
    [[noreturn]] static void sync() {
        simt::fail_thread(cudaErrorNotSupported,
                          "grid.sync(): the interpreter has no barrier for a "
                          "whole grid; end the kernel and launch another");
    }
};
inline grid_group this_grid() {
    return grid_group();
}

template <class Group> inline void sync(const Group &group) {
    group.sync();
}
template <class Group> inline unsigned thread_rank(const Group &group) {
    return (unsigned)group.thread_rank();
}

} // namespace cooperative_groups

#include "cooperative_groups/reduce.h"

#endif
