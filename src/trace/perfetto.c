/* Spans become "complete" events (ph X) with microseconds as ts and dur; the viewer nests those of
 * one thread by their times: operations lie inside their step, shares inside their operation. */
#include "trace/perfetto.h"

#include "base/outfile.h"
#include "base/trace.h"

static const char *const kind_names[TRACE_KIND_COUNT] = {
    [TRACE_STEP] = "step",
    [TRACE_OP] = "operation",
    [TRACE_SHARE] = "share",
    [TRACE_COPY] = "copy",
};

static uint64_t first_start_ns(void) {
    uint64_t first = UINT64_MAX;
    for (int thread = 0; thread < trace_thread_count(); thread++) {
        for (size_t i = 0; i < trace_span_count(thread); i++) {
            uint64_t start = trace_span(thread, i)->start_ns;
            first = start < first ? start : first;
        }
    }
    return first;
}

static void write_name(OutFile *out, int thread) {
    char lost[48] = "";
    if (trace_lost_count(thread) > 0) {
        snprintf(lost, sizeof lost, " (%zu older spans lost)", trace_lost_count(thread));
    }
    outfile_print(out,
                  ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":%d,\"args\":"
                  "{\"name\":\"%s %d%s\"}}",
                  thread + 1, thread == 0 ? "main thread" : "thread", thread, lost);
}

/* Names are those of operations and backends: identifiers, nothing to escape. */
static void write_span(OutFile *out, int thread, const TraceSpan *span, uint64_t first_ns) {
    outfile_print(out,
                  ",\n{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"%s\",\"pid\":1,\"tid\":%d,"
                  "\"ts\":%.3f,\"dur\":%.3f",
                  span->name, kind_names[span->kind], thread + 1,
                  (double)(span->start_ns - first_ns) / 1e3,
                  (double)(span->end_ns - span->start_ns) / 1e3);
    if (span->backend != NULL) {
        outfile_print(out, ",\"args\":{\"backend\":\"%s\"}", span->backend);
    }
    outfile_print(out, "}");
}

Status perfetto_write(const char *path) {
    OutFile out;
    uint64_t first_ns = first_start_ns();
    size_t lost = 0;
    TRY(outfile_open(&out, path));
    outfile_print(&out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"ph\":\"M\",\"name\":"
                        "\"process_name\",\"pid\":1,\"args\":{\"name\":\"lockstep\"}}");
    for (int thread = 0; thread < trace_thread_count(); thread++) {
        write_name(&out, thread);
        for (size_t i = 0; i < trace_span_count(thread); i++) {
            write_span(&out, thread, trace_span(thread, i), first_ns);
        }
        lost += trace_lost_count(thread);
    }
    outfile_print(&out, "\n],\"otherData\":{\"lost_spans\":%zu}}\n", lost);
    return outfile_commit(&out);
}
