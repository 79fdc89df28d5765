#include "bench/size.h"

#include <stdlib.h>
#include <string.h>

static int dim_count(const OpSpec *spec) {
    int count = 0;
    while (spec->dims[count] != NULL) {
        count++;
    }
    return count;
}

static Status size_error(const OpSpec *spec, const char *size) {
    char names[64] = "";
    for (int i = 0; spec->dims[i] != NULL; i++) {
        strncat(names, i > 0 ? " x " : "", sizeof names - strlen(names) - 1);
        strncat(names, spec->dims[i], sizeof names - strlen(names) - 1);
    }
    return fail("--sizes '%.60s': %s takes one whole number, or %d for %s (1 to 2147483647 each)",
                size, op_name(spec->op), dim_count(spec), names);
}

Status size_set(OpCall *call, const char *size) {
    int count = dim_count(call->spec), given = 0;
    const char *text = size;
    while (given < count) {
        char *end;
        long long value = *text >= '0' && *text <= '9' ? strtoll(text, &end, 10) : 0;
        if (value < 1 || value > 2147483647 || (*end != 'x' && *end != '\0')) {
            return size_error(call->spec, size);
        }
        call->dim[given++] = (size_t)value;
        if (*end == '\0') {
            text = NULL;
            break;
        }
        text = end + 1;
    }
    if (text != NULL || (given != 1 && given != count)) {
        return size_error(call->spec, size);
    }
    for (; given < count; given++) {
        call->dim[given] = call->dim[0];
    }
    return STATUS_OK;
}

const char *size_default(const OpSpec *spec) {
    static const char *const by_dims[SPEC_MAX_DIMS + 1] = {"1", "1048576", "1024", "512"};
    return by_dims[dim_count(spec)];
}
