/* Launches. The source step turns  kernel<<<grid, block, bytes, stream>>>(a, b)  into
 *     ::simt::launch("kernel", [=](auto... simt_args) { kernel(simt_args...); },
 *                    ::simt::Config(grid, block, bytes, stream), a, b)
 * on the same lines: arguments are evaluated once, copied, and the compiler deduces what it would
 * deduce for the kernel itself. */
#ifndef SIMT_LAUNCH_H
#define SIMT_LAUNCH_H

#include <tuple>
#include <utility>

#include "grid.h"
#include "runtime.h"

namespace simt {

struct Config {
    dim3 grid, block;
    size_t dynamic_shared_bytes;
    cudaStream_t stream;
    Config(dim3 g, dim3 b, size_t bytes = 0, cudaStream_t s = nullptr)
        : grid(g), block(b), dynamic_shared_bytes(bytes), stream(s) {}
};

/* Checks the configuration against the limits of the device and runs all blocks over the workers;
 * a fault is kept for cudaGetLastError or cudaDeviceSynchronize, as on a GPU. */
void run_launch(Launch *launch, cudaStream_t stream);

template <class Body, class... Args>
inline void launch(const char *name, Body body, const Config &config, Args &&...args) {
    auto closure = [body, copies = std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...)] {
        std::apply(body, copies);
    };
    Launch request;
    request.grid = config.grid;
    request.block = config.block;
    request.dynamic_shared_bytes = config.dynamic_shared_bytes;
    request.name = name;
    request.thread_loop = thread_loop<decltype(closure)>;
    request.kernel = &closure;
    run_launch(&request, config.stream);
}

template <class T> struct DynamicShared { /* one at namespace scope */
    operator T *() const {
        return reinterpret_cast<T *>(dynamic_shared_memory());
    }
};

} // namespace simt

#endif
