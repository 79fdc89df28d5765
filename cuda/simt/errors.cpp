/* Errors: names, texts, the last one of each host thread, and those that stay.
 *
 * An error of a call (a bad argument, a launch beyond the limits) is told by that call, and once
 * more by cudaGetLastError, which forgets it. An error inside a kernel comes up at the next call
 * that waits, and leaves the process without a usable device: every later call returns it. */
#include <atomic>

#include "state.h"

namespace simt {

static std::atomic<int> pending_fault{cudaSuccess}; /* a kernel failed, nobody has waited yet */
static std::atomic<int> sticky_error{cudaSuccess};
static thread_local cudaError_t last_error = cudaSuccess;

cudaError_t report(cudaError_t error) {
    if (error != cudaSuccess) {
        last_error = error;
    }
    return error;
}

cudaError_t begin_call() {
    int fault = pending_fault.exchange(cudaSuccess);
    if (fault != cudaSuccess) {
        sticky_error = fault;
    }
    return report((cudaError_t)sticky_error.load());
}

void set_kernel_fault(cudaError_t error) {
    int none = cudaSuccess;
    if (sticky_error == cudaSuccess) {
        pending_fault.compare_exchange_strong(none, error);
    }
}

bool kernel_fault() {
    return pending_fault != cudaSuccess || sticky_error != cudaSuccess;
}

cudaError_t launch_failed(cudaError_t error) {
    return report(error);
}

} // namespace simt

using namespace simt;

cudaError_t cudaGetLastError() {
    cudaError_t error = cudaPeekAtLastError();
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError() {
    return sticky_error != cudaSuccess ? (cudaError_t)sticky_error.load() : last_error;
}

const char *cudaGetErrorName(cudaError_t error) {
    switch (error) {
#define X(name, value, text)                                                                       \
    case name:                                                                                     \
        return #name;
#include "errors.inc"
#undef X
    }
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error) {
    switch (error) {
#define X(name, value, text)                                                                       \
    case name:                                                                                     \
        return text;
#include "errors.inc"
#undef X
    }
    return "unrecognized error code";
}
