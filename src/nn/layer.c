/* The list of layer kinds, and arithmetic on shapes. */
#include "nn/layer.h"

#include <limits.h>
#include <string.h>

static const LayerKind *const kinds[] = {&linear_kind, &relu_kind, &sigmoid_kind, &tanh_kind};
enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

Status layer_kind_find(const LayerKind **kind, const char *name) {
    const char *names[KIND_COUNT];
    for (int i = 0; i < KIND_COUNT; i++) {
        names[i] = kinds[i]->name;
        if (strcmp(names[i], name) == 0) {
            *kind = kinds[i];
            return STATUS_OK;
        }
    }
    return fail_unknown("layer kind", name, names, KIND_COUNT);
}

Status shape_count(int *count, const char *what, Shape shape) {
    size_t elements;
    TRY(checked_bytes(&elements, what, 1, shape.rank, shape.dim));
    if (elements > INT_MAX) {
        return fail("%s: %zu elements a sample; at most %d are possible", what, elements, INT_MAX);
    }
    *count = (int)elements;
    return STATUS_OK;
}
