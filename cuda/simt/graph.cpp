/* Stream capture and graphs. A captured graph is the list of its work in the order of submission,
 * which satisfies every dependency that streams and events can express. */
#include <mutex>
#include <set>
#include <vector>

#include "state.h"

typedef std::vector<std::function<cudaError_t()>> SimtWork;

struct SimtGraph {
    SimtWork work;
};

struct SimtGraphExec {
    SimtWork work;
};

namespace simt {

struct Capture {
    cudaStream_t origin = nullptr;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    bool invalid = false;
    std::set<cudaStream_t> streams; /* the origin and those that joined through events */
    SimtWork work;
};

static std::mutex captures_mutex;
static std::set<Capture *> captures;

cudaError_t submit(cudaStream_t stream, const std::function<cudaError_t()> &work) {
    Capture *capture = capture_of(stream);
    if (capture != nullptr) {
        capture->work.push_back(work);
        return cudaSuccess;
    }
    return kernel_fault() ? cudaSuccess : work(); /* nothing runs behind a fault */
}

/* The default stream waits for every blocking stream, and cannot wait for one that captures. A call
 * that breaks this also spoils the capture. */
cudaError_t refuse_during_capture() {
    std::lock_guard<std::mutex> lock(captures_mutex);
    for (Capture *capture : captures) {
        if (capture->mode != cudaStreamCaptureModeRelaxed) {
            capture->invalid = true;
            return cudaErrorStreamCaptureUnsupported;
        }
    }
    return cudaSuccess;
}

cudaError_t check_stream(cudaStream_t stream) {
    if (!is_stream(stream)) {
        return cudaErrorInvalidResourceHandle;
    }
    std::lock_guard<std::mutex> lock(captures_mutex);
    if (stream == nullptr || stream == cudaStreamLegacy) {
        for (Capture *capture : captures) {
            capture->invalid = true;
            return cudaErrorStreamCaptureImplicit;
        }
    }
    Capture *own = capture_of(stream);
    return own != nullptr && own->invalid ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
}

void join_capture(cudaStream_t stream, Capture *capture) {
    capture_of(stream) = capture;
    capture->streams.insert(stream);
}

void spoil_capture(Capture *capture) {
    capture->invalid = true;
}

static cudaError_t replay(const SimtWork &work) {
    for (const auto &step : work) {
        cudaError_t error = kernel_fault() ? cudaSuccess : step();
        if (error != cudaSuccess) {
            return error;
        }
    }
    return cudaSuccess;
}

} // namespace simt

using namespace simt;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    SIMT_BEGIN_CALL();
    if (!is_stream(stream)) {
        return report(cudaErrorInvalidResourceHandle);
    }
    if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread) {
        return report(cudaErrorStreamCaptureUnsupported);
    }
    if (capture_of(stream) != nullptr) {
        return report(cudaErrorIllegalState);
    }
    Capture *capture = new Capture;
    capture->origin = stream;
    capture->mode = mode;
    join_capture(stream, capture);
    std::lock_guard<std::mutex> lock(captures_mutex);
    captures.insert(capture);
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
    SIMT_BEGIN_CALL();
    if (graph == nullptr || !is_stream(stream)) {
        return report(graph == nullptr ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
    }
    Capture *capture = capture_of(stream);
    *graph = nullptr;
    if (capture == nullptr) {
        return report(cudaErrorIllegalState);
    }
    if (capture->origin != stream) {
        return report(cudaErrorStreamCaptureUnmatched);
    }
    bool invalid = capture->invalid;
    if (!invalid) {
        *graph = new SimtGraph{std::move(capture->work)};
    }
    for (cudaStream_t member : capture->streams) {
        if (is_stream(member)) {
            capture_of(member) = nullptr;
        }
    }
    std::lock_guard<std::mutex> lock(captures_mutex);
    captures.erase(capture);
    delete capture;
    return invalid ? report(cudaErrorStreamCaptureInvalidated) : cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
    SIMT_BEGIN_CALL();
    if (status == nullptr || !is_stream(stream)) {
        return report(status == nullptr ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
    }
    Capture *capture = capture_of(stream);
    *status = capture == nullptr ? cudaStreamCaptureStatusNone
              : capture->invalid ? cudaStreamCaptureStatusInvalidated
                                 : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}

/* Counts the nodes; asked for the nodes themselves, gives handles that nothing here takes. */
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
    SIMT_BEGIN_CALL();
    if (graph == nullptr || count == nullptr) {
        return report(cudaErrorInvalidValue);
    }
    size_t total = graph->work.size();
    for (size_t i = 0; nodes != nullptr && i < *count; i++) {
        nodes[i] = i < total ? (cudaGraphNode_t)&graph->work[i] : nullptr;
    }
    *count = nodes != nullptr && *count < total ? *count : total;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long) {
    SIMT_BEGIN_CALL();
    if (exec == nullptr || graph == nullptr) {
        return report(cudaErrorInvalidValue);
    }
    *exec = new SimtGraphExec{graph->work};
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *error,
                                 char *log, size_t log_bytes) {
    if (error != nullptr) {
        *error = nullptr;
    }
    if (log != nullptr && log_bytes > 0) {
        log[0] = '\0';
    }
    return cudaGraphInstantiate(exec, graph, 0ull);
}

/* A graph launched into a stream that captures becomes part of the new graph. */
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
    SIMT_BEGIN_CALL();
    cudaError_t error = exec == nullptr ? cudaErrorInvalidValue : check_stream(stream);
    if (error != cudaSuccess) {
        return report(error);
    }
    return report(submit(stream, [work = exec->work] { return replay(work); }));
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
    SIMT_BEGIN_CALL();
    return report(exec == nullptr ? cudaErrorInvalidValue : check_stream(stream));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
    SIMT_BEGIN_CALL();
    delete exec;
    return exec == nullptr ? report(cudaErrorInvalidValue) : cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    SIMT_BEGIN_CALL();
    delete graph;
    return graph == nullptr ? report(cudaErrorInvalidValue) : cudaSuccess;
}
