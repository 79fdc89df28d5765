/* Launches. The source step turns  kernel<<<grid, block, bytes, stream>>>(a, b)  into
 *     ::simt::launch("kernel", [=](auto... simt_args) { kernel(simt_args...); },
 *                    SIMT_ADDRESS(kernel), ::simt::Config(grid, block, bytes, stream), a, b)
 * on the same lines: arguments are evaluated once, copied, and the compiler deduces what it would
 * deduce for the kernel itself. The second closure gives the kernel's address, under which
 * cudaFuncSetAttribute keeps what it may use; it does not compile, and is not called, for a
 * template whose arguments are left to deduction. */
#ifndef SIMT_LAUNCH_H
#define SIMT_LAUNCH_H

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "grid.h"
#include "runtime.h"

namespace simt {

struct Config {
    dim3 grid, block;
    size_t dynamic_shared_bytes;
    cudaStream_t stream;
    Config(dim3 g, dim3 b, size_t bytes = 0, cudaStream_t s = nullptr)
        : grid(g), block(b), dynamic_shared_bytes(bytes), stream(s) {
    }
};

/* Checks the configuration against the limits of the device and runs all blocks over the workers,
 * or keeps the launch for a graph. Failures are told through the runtime's errors. */
cudaError_t run_launch(const Launch *launch, cudaStream_t stream);

/* How many blocks run at a time; at the start SIMT_WORKERS, or the processors this process has. */
void set_worker_count(int count);
int worker_count();

#define SIMT_ADDRESS(...)                                                                          \
    [=](auto simt_take) -> decltype(simt_take(__VA_ARGS__)) { return simt_take(__VA_ARGS__); }

struct TakeAddress {
    template <class F> const void *operator()(F *function) const {
        return (const void *)function;
    }
};

template <class Body, class Address, class... Args>
inline cudaError_t launch(const char *name, Body body, Address address, const Config &config,
                          Args &&...args) {
    auto closure = [body, copies = std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...)] {
        std::apply(body, copies);
    };
    typedef decltype(closure) Closure;
    Launch request;
    request.grid = config.grid;
    request.block = config.block;
    request.dynamic_shared_bytes = config.dynamic_shared_bytes;
    request.warp_width = SIMT_WARP_WIDTH;
    request.name = name;
    if constexpr (std::is_invocable_v<Address, TakeAddress>) {
        request.function = address(TakeAddress());
    }
    request.thread_loop = thread_loop<Closure>;
    request.kernel = &closure;
    request.keep = [](const void *kernel) -> std::shared_ptr<const void> {
        return std::make_shared<Closure>(*(const Closure *)kernel);
    };
    return run_launch(&request, config.stream);
}

template <class T> struct DynamicShared { /* one at namespace scope */
    operator T *() const {
        return reinterpret_cast<T *>(dynamic_shared_memory());
    }
};

} // namespace simt

#endif
