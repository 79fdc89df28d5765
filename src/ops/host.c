#include "ops/host.h"

#include <string.h>

#include "base/trace.h"

Status host_copy(void *to, const void *from, size_t bytes) {
    if (bytes == 0) {
        return STATUS_OK;
    }
    uint64_t start_ns = trace_enabled ? clock_now_ns() : 0;
    memcpy(to, from, bytes);
    if (start_ns != 0 && trace_enabled) {
        trace_record(TRACE_COPY, "host_copy", NULL, start_ns, clock_now_ns());
    }
    return STATUS_OK;
}

Status host_synchronize(void) {
    return STATUS_OK;
}

Status host_check_threads(const char *backend, int threads) {
    if (threads < 1 || threads > 1024) {
        return fail("%s: %d threads; give 1 to 1024", backend, threads);
    }
    return STATUS_OK;
}
