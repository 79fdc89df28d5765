#include "launch.h"
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <condition_variable>
#include <mutex>
cudaError_t simt_malloc(void **memory, size_t bytes) { *memory = aligned_alloc(256, (bytes + 255) / 256 * 256); return *memory ? cudaSuccess : cudaErrorMemoryAllocation; }
cudaError_t cudaFree(void *memory) { free(memory); return cudaSuccess; }
namespace simt {
static std::atomic<uint64_t> launch_count;
void run_launch(Launch *launch, cudaStream_t) {
    launch->number = ++launch_count;
    static thread_local Worker *own = nullptr;
    if (!own) own = new Worker;
    worker = own;
    for (unsigned z = 0; z < launch->grid.z; z++) for (unsigned y = 0; y < launch->grid.y; y++) for (unsigned x = 0; x < launch->grid.x; x++) {
        run_block(worker, launch, uint3{x, y, z});
        if (worker->failure) { printf("%s\n", worker->failure); return; }
    }
}
void compute_ballot(Warp *w, uint64_t lanes, const void *) { uint64_t r = 0; for (uint64_t m = lanes; m; m &= m-1) { int l = __builtin_ctzll(m); if (w->slots[l].in[0]) r |= 1ull << l; } for (uint64_t m = lanes; m; m &= m-1) w->slots[__builtin_ctzll(m)].out[0] = r; }
void compute_nothing(Warp *, uint64_t, const void *) {}
}
