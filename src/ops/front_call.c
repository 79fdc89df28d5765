#include "ops/front_call.h"

#include <stdio.h>
#include <string.h>

#include "base/trace.h"

static bool is_observed(const Backend *be) {
    return be->costs != NULL || trace_enabled;
}

OpSpan front_begin(const Backend *be, OpId op) {
    return (OpSpan){be, op, is_observed(be) ? be->now_ns() : 0};
}

Status front_end(OpSpan span, double flops, double bytes) {
    if (span.start_ns == 0 || !is_observed(span.be)) {
        return STATUS_OK;
    }
    uint64_t end_ns = span.be->now_ns();
    if (span.be->costs != NULL) {
        OpCost *cost = &span.be->costs[span.op];
        cost->calls++;
        cost->flops += flops;
        cost->bytes += bytes;
        cost->ns += end_ns - span.start_ns;
    }
    if (trace_enabled) {
        trace_record(TRACE_OP, op_name(span.op), span.be->name, span.start_ns, end_ns);
    }
    return STATUS_OK;
}

/* "M, N" and an index: the name, for a message. */
static const char *nth_name(char name[32], const char *names, int index) {
    for (; index > 0; index--) {
        names = strchr(names, ',') + 2;
    }
    snprintf(name, 32, "%.*s", (int)strcspn(names, ","), names);
    return name;
}

Status front_check_sizes(OpId op, const char *names, int count, const int *sizes) {
    char name[32];
    for (int i = 0; i < count; i++) {
        if (sizes[i] < 0) {
            return fail("%s: %s is %d; sizes cannot be negative", op_name(op),
                        nth_name(name, names, i), sizes[i]);
        }
    }
    return STATUS_OK;
}

Status front_check_pointers(OpId op, const char *names, int count, const void *const *pointers) {
    char name[32];
    for (int i = 0; i < count; i++) {
        if (pointers[i] == NULL) {
            return fail("%s: %s is NULL, and there is work to do; give it memory", op_name(op),
                        nth_name(name, names, i));
        }
    }
    return STATUS_OK;
}
