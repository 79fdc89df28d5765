/* Streams, events, capture and graphs: order within a stream, order through events, handles that
 * are no longer valid, what may not be done during a capture. */
#include "check.h"
#include <vector>

__global__ void affine(int *value, int factor, int term) {
    *value = *value * factor + term;
}

static void check_order(void) {
    cudaStream_t a, b;
    cudaEvent_t done;
    int got = 0, one = 1, *value = device_array<int>(1);
    CHECK_OK(cudaStreamCreate(&a));
    CHECK_OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CHECK_OK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    CHECK_OK(cudaMemcpyAsync(value, &one, sizeof one, cudaMemcpyHostToDevice, a));
    affine<<<1, 1, 0, a>>>(value, 3, 1);
    affine<<<1, 1, 0, a>>>(value, 5, 2);
    CHECK_OK(cudaEventRecord(done, a));
    CHECK_OK(cudaStreamWaitEvent(b, done, 0));
    affine<<<1, 1, 0, b>>>(value, 7, 3);
    CHECK_OK(cudaMemcpyAsync(&got, value, sizeof got, cudaMemcpyDeviceToHost, b));
    CHECK_OK(cudaStreamSynchronize(b));
    CHECK(got == ((1 * 3 + 1) * 5 + 2) * 7 + 3);
    CHECK_OK(cudaStreamQuery(a));
    CHECK_OK(cudaEventQuery(done));
    CHECK_OK(cudaEventDestroy(done));
    CHECK_OK(cudaStreamDestroy(a));
    CHECK_OK(cudaStreamDestroy(b));
    CHECK_OK(cudaFree(value));
}

static void check_time(void) {
    cudaEvent_t start, end, never, untimed;
    float ms = -1;
    int *value = device_array<int>(1);
    CHECK_OK(cudaEventCreate(&start));
    CHECK_OK(cudaEventCreate(&end));
    CHECK_OK(cudaEventCreate(&never));
    CHECK_OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    CHECK_OK(cudaEventRecord(start));
    affine<<<1, 1>>>(value, 1, 0);
    CHECK_OK(cudaEventRecord(end));
    CHECK_OK(cudaEventRecord(untimed));
    CHECK_OK(cudaEventSynchronize(end));
    CHECK_OK(cudaEventElapsedTime(&ms, start, end));
    CHECK(ms >= 0 && ms < 60000);
    CHECK_ERROR(cudaEventElapsedTime(&ms, start, never), cudaErrorInvalidResourceHandle);
    CHECK_ERROR(cudaEventElapsedTime(&ms, start, untimed), cudaErrorInvalidResourceHandle);
    CHECK_OK(cudaEventSynchronize(never)); /* never recorded: nothing to wait for */
    CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidResourceHandle);
    CHECK_OK(cudaFree(value));
}

static void CUDART_CB append(void *data) {
    ((std::vector<int> *)data)->push_back((int)((std::vector<int> *)data)->size());
}

static void check_host_function(void) {
    cudaStream_t stream;
    std::vector<int> calls;
    CHECK_OK(cudaStreamCreate(&stream));
    CHECK_OK(cudaLaunchHostFunc(stream, append, &calls));
    CHECK_OK(cudaLaunchHostFunc(stream, append, &calls));
    CHECK_OK(cudaStreamSynchronize(stream));
    CHECK(calls.size() == 2 && calls[1] == 1);
    CHECK_OK(cudaStreamDestroy(stream));
}

/* Captured work does not run; each launch of the graph runs it once, with the arguments of then. */
static void check_graph(void) {
    cudaStream_t stream, side;
    cudaEvent_t fork, join;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaStreamCaptureStatus status;
    size_t nodes = 0;
    int got = 0, one = 1, *value = device_array<int>(1), *other = device_array<int>(1);
    to_device(value, &one, 1);
    CHECK_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK_OK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
    CHECK_OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CHECK_OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));

    CHECK_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CHECK_OK(cudaStreamIsCapturing(stream, &status));
    CHECK(status == cudaStreamCaptureStatusActive);
    for (int i = 0; i < 3; i++) {
        affine<<<1, 1, 0, stream>>>(value, 2, i); /* i is copied now */
    }
    CHECK_OK(cudaEventRecord(fork, stream));
    CHECK_OK(cudaStreamWaitEvent(side, fork, 0)); /* side joins the capture */
    CHECK_OK(cudaMemcpyAsync(other, value, sizeof(int), cudaMemcpyDeviceToDevice, side));
    CHECK_OK(cudaEventRecord(join, side));
    CHECK_OK(cudaStreamWaitEvent(stream, join, 0));
    affine<<<1, 1, 0, stream>>>(other, 10, 0);
    CHECK_OK(cudaStreamEndCapture(stream, &graph));
    CHECK(graph != NULL);
    CHECK_OK(cudaStreamIsCapturing(stream, &status));
    CHECK(status == cudaStreamCaptureStatusNone);
    CHECK_OK(cudaGraphGetNodes(graph, NULL, &nodes));
    CHECK(nodes == 5);
    to_host(&got, value, 1);
    CHECK(got == 1);

    CHECK_OK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK_OK(cudaGraphDestroy(graph));
    int expected = 1;
    for (int launch = 0; launch < 2; launch++) {
        CHECK_OK(cudaGraphLaunch(exec, stream));
        CHECK_OK(cudaStreamSynchronize(stream));
        expected = ((expected * 2 + 0) * 2 + 1) * 2 + 2;
        to_host(&got, value, 1);
        CHECK(got == expected);
        to_host(&got, other, 1);
        CHECK(got == 10 * expected);
    }
    CHECK_OK(cudaGraphExecDestroy(exec));
    CHECK_OK(cudaStreamDestroy(side));
    CHECK_OK(cudaStreamDestroy(stream));
}

/* A stream that captures has nothing to wait for: synchronising it spoils the capture. */
static void check_spoiled_capture(void) {
    cudaStream_t stream;
    cudaGraph_t graph = NULL;
    CHECK_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamEndCapture(stream, &graph) != cudaSuccess); /* not begun */
    CHECK_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CHECK_ERROR(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
    CHECK_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    CHECK(graph == NULL);
    CHECK(cudaGetLastError() != cudaSuccess);
    CHECK_OK(cudaStreamSynchronize(stream)); /* usable again */
    CHECK_OK(cudaStreamDestroy(stream));
}

int main(void) {
    check_order();
    check_time();
    check_host_function();
    check_graph();
    check_spoiled_capture();
    CHECK_DONE();
}
