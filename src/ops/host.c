#include "ops/host.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/trace.h"

void *host_alloc(size_t bytes) {
    if (bytes > SIZE_MAX / 2) {
        return NULL;
    }
    size_t lines =
        bytes / HOST_ALIGNMENT_BYTES + 1; /* no bytes still give a pointer of their own */
    return aligned_alloc(HOST_ALIGNMENT_BYTES, lines * HOST_ALIGNMENT_BYTES);
}

void host_release(void *memory) {
    free(memory);
}

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

/* Copies the value of the first "model name : value" line; false when there is none. */
static bool read_model_name(char *name, size_t name_bytes) {
    char line[256];
    bool found = false;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            const char *value = colon + 1 + strspn(colon + 1, " \t");
            snprintf(name, name_bytes, "%.*s", (int)strcspn(value, "\n"), value);
            found = name[0] != '\0';
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return found;
}

const char *host_processor(void) {
    static char name[128];
    struct utsname system;
    if (name[0] == '\0' && !read_model_name(name, sizeof name)) {
        snprintf(name, sizeof name, "%.60s", uname(&system) == 0 ? system.machine : "CPU");
    }
    return name;
}

Status host_check_threads(const char *backend, int threads) {
    if (threads < 1 || threads > 1024) {
        return fail("%s: %d threads; give 1 to 1024", backend, threads);
    }
    return STATUS_OK;
}
