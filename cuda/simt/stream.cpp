/* Streams and events. Work runs when it is submitted, so every stream is in order and always idle;
 * what is kept is what a program can get wrong: handles, states, capture. */
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>

#include "state.h"

struct SimtStream {
    simt::Capture *capture = nullptr;
};

struct SimtEvent {
    bool timed = true, recorded = false;
    int64_t time_ns = 0;
    simt::Capture *capture = nullptr; /* recorded in a stream that captured */
};

namespace simt {

static std::mutex handles_mutex;
static std::set<cudaStream_t> streams;
static std::set<cudaEvent_t> events;

static bool is_default(cudaStream_t stream) {
    return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

bool is_stream(cudaStream_t stream) {
    std::lock_guard<std::mutex> lock(handles_mutex);
    return is_default(stream) || streams.count(stream) != 0;
}

static bool is_event(cudaEvent_t event) {
    std::lock_guard<std::mutex> lock(handles_mutex);
    return events.count(event) != 0;
}

Capture *&capture_of(cudaStream_t stream) {
    static Capture *none;
    none = nullptr; /* the default streams never capture */
    return is_default(stream) ? none : stream->capture;
}

static int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/* Once a process, so that nobody takes what a stopwatch around the interpreter says for a GPU's. */
static void note_emulated_time() {
    static std::atomic<bool> noted{false};
    if (!noted.exchange(true) && getenv("SIMT_QUIET") == nullptr) {
        fprintf(stderr, "simt: EMULATED time: cudaEventElapsedTime measures the interpreter on "
                        "this CPU; it says nothing about a GPU (SIMT_QUIET=1 hides this)\n");
    }
}

} // namespace simt

using namespace simt;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    SIMT_BEGIN_CALL();
    if (stream == nullptr || flags > cudaStreamNonBlocking) {
        return report(cudaErrorInvalidValue);
    }
    *stream = new SimtStream;
    std::lock_guard<std::mutex> lock(handles_mutex);
    streams.insert(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int) {
    return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    SIMT_BEGIN_CALL();
    std::lock_guard<std::mutex> lock(handles_mutex);
    if (streams.erase(stream) == 0) {
        return report(cudaErrorInvalidResourceHandle);
    }
    delete stream;
    return cudaSuccess;
}

/* A stream that captures has run nothing: there is nothing to wait for, and asking spoils the
 * capture. */
static cudaError_t wait_for(cudaStream_t stream) {
    SIMT_BEGIN_CALL();
    if (!is_stream(stream)) {
        return report(cudaErrorInvalidResourceHandle);
    }
    if (capture_of(stream) != nullptr) {
        spoil_capture(capture_of(stream));
        return report(cudaErrorStreamCaptureUnsupported);
    }
    return report(check_stream(stream));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return wait_for(stream);
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    return wait_for(stream);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    SIMT_BEGIN_CALL();
    if (!is_stream(stream) || !is_event(event)) {
        return report(cudaErrorInvalidResourceHandle);
    }
    if (event->capture != nullptr && capture_of(stream) == nullptr) {
        if (is_default(stream)) {
            return report(cudaErrorStreamCaptureImplicit);
        }
        join_capture(stream, event->capture);
    }
    return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
    SIMT_BEGIN_CALL();
    cudaError_t error = check_stream(stream);
    if (error != cudaSuccess || function == nullptr) {
        return report(error != cudaSuccess ? error : cudaErrorInvalidValue);
    }
    return submit(stream, [=] {
        function(data);
        return cudaSuccess;
    });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data,
                                  unsigned flags) {
    SIMT_BEGIN_CALL();
    cudaError_t error = check_stream(stream);
    if (error != cudaSuccess || callback == nullptr || flags != 0) {
        return report(error != cudaSuccess ? error : cudaErrorInvalidValue);
    }
    if (capture_of(stream) != nullptr) {
        return report(cudaErrorStreamCaptureUnsupported);
    }
    callback(stream, cudaSuccess, data);
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    SIMT_BEGIN_CALL();
    if (event == nullptr || flags > 7) {
        return report(cudaErrorInvalidValue);
    }
    *event = new SimtEvent;
    (*event)->timed = (flags & cudaEventDisableTiming) == 0;
    std::lock_guard<std::mutex> lock(handles_mutex);
    events.insert(*event);
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) {
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    SIMT_BEGIN_CALL();
    std::lock_guard<std::mutex> lock(handles_mutex);
    if (events.erase(event) == 0) {
        return report(cudaErrorInvalidResourceHandle);
    }
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    SIMT_BEGIN_CALL();
    if (!is_stream(stream) || !is_event(event)) {
        return report(cudaErrorInvalidResourceHandle);
    }
    cudaError_t error = check_stream(stream);
    if (error != cudaSuccess) {
        return report(error);
    }
    event->capture = capture_of(stream);
    event->recorded = event->capture == nullptr;
    event->time_ns = now_ns();
    return cudaSuccess;
}

/* An event that was never recorded is complete. */
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    SIMT_BEGIN_CALL();
    if (!is_event(event)) {
        return report(cudaErrorInvalidResourceHandle);
    }
    return event->capture != nullptr ? report(cudaErrorCapturedEvent) : cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    return cudaEventSynchronize(event);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    SIMT_BEGIN_CALL();
    if (milliseconds == nullptr) {
        return report(cudaErrorInvalidValue);
    }
    if (!is_event(start) || !is_event(end) || !start->timed || !end->timed || !start->recorded ||
        !end->recorded) {
        return report(cudaErrorInvalidResourceHandle);
    }
    note_emulated_time();
    *milliseconds = (float)((double)(end->time_ns - start->time_ns) * 1e-6);
    return cudaSuccess;
}
