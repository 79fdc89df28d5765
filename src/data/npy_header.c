/* The dictionary is parsed from its grammar, not searched for words: keys may come in any order. */
#include "data/npy_header.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Status malformed(const NpyHeader *header, const char *expected) {
    char found[24];
    snprintf(found, sizeof found, "%s", header->at);
    for (char *c = found; *c != '\0'; c++) {
        *c = isprint((unsigned char)*c) ? *c : ' ';
    }
    return fail("%s: header: expected %s, found '%s'; " NPY_CURE, header->path, expected, found);
}

static void skip_spaces(NpyHeader *header) {
    header->at += strspn(header->at, " \t\r\n");
}

/* Steps over text if it comes next. */
static bool take(NpyHeader *header, const char *text) {
    skip_spaces(header);
    size_t length = strlen(text);
    bool found = strncmp(header->at, text, length) == 0;
    header->at += found ? length : 0;
    return found;
}

static Status take_string(NpyHeader *header, char *text, size_t text_bytes) {
    skip_spaces(header);
    char quote = header->at[0];
    if (quote != '\'' && quote != '"') {
        return malformed(header, "a quoted word");
    }
    size_t length = strcspn(header->at + 1, quote == '"' ? "\"" : "'");
    if (header->at[1 + length] != quote || length >= text_bytes) {
        return malformed(header, "a short quoted word");
    }
    memcpy(text, header->at + 1, length);
    text[length] = '\0';
    header->at += length + 2;
    return STATUS_OK;
}

static Status take_descr(NpyHeader *header) {
    skip_spaces(header);
    if (header->at[0] == '[') {
        return fail("%s: holds records of several fields, expected plain numbers; " NPY_CURE,
                    header->path);
    }
    TRY(take_string(header, header->descr, sizeof header->descr));
    const NpyType *types = header->types;
    for (int i = 0; i < header->type_count; i++) {
        if (strcmp(header->descr, types[i].descr) == 0) {
            header->type = &types[i];
            return STATUS_OK;
        }
    }
    return fail("%s: type '%s'%s, expected '<f4', '<f8', '<i4' or '<i8'; " NPY_CURE, header->path,
                header->descr,
                header->descr[0] == '>'              ? " (big-endian)"
                : strchr(header->descr, 'O') != NULL ? " (Python objects)"
                                                     : "");
}

static Status take_order(NpyHeader *header) {
    if (take(header, "True")) {
        return fail("%s: values in Fortran order, expected C order; " NPY_CURE, header->path);
    }
    return take(header, "False") ? STATUS_OK : malformed(header, "True or False");
}

static Status take_shape(NpyHeader *header) {
    if (!take(header, "(")) {
        return malformed(header, "( and the shape");
    }
    header->rank = 0;
    while (!take(header, ")")) {
        char *end = NULL;
        if (!isdigit((unsigned char)header->at[0])) {
            return malformed(header, "a size of the shape");
        }
        errno = 0;
        unsigned long long size = strtoull(header->at, &end, 10);
        if (errno != 0 || size > INT_MAX) {
            return fail("%s: size %d of the shape is more than %d", header->path, header->rank,
                        INT_MAX);
        }
        if (header->rank == TENSOR_MAX_RANK) {
            return fail("%s: more than %d dimensions; reshape it first", header->path,
                        TENSOR_MAX_RANK);
        }
        header->dim[header->rank++] = (int)size;
        header->at = end;
        skip_spaces(header);
        if (!take(header, ",") && header->at[0] != ')') {
            return malformed(header, ", or )");
        }
    }
    return STATUS_OK;
}

Status npy_header_parse(NpyHeader *header) {
    static const struct {
        const char *name;
        Status (*take)(NpyHeader *header);
    } keys[] = {{"descr", take_descr}, {"fortran_order", take_order}, {"shape", take_shape}};
    enum { KEY_COUNT = sizeof keys / sizeof keys[0] };
    if (!take(header, "{")) {
        return malformed(header, "{");
    }
    while (!take(header, "}")) {
        char name[24];
        int k = 0;
        TRY(take_string(header, name, sizeof name));
        while (k < KEY_COUNT && strcmp(keys[k].name, name) != 0) {
            k++;
        }
        if (k == KEY_COUNT || !take(header, ":")) {
            return malformed(header, "descr, fortran_order or shape, and a colon");
        }
        TRY(keys[k].take(header));
        header->keys |= 1 << k;
        skip_spaces(header);
        if (!take(header, ",") && header->at[0] != '}') {
            return malformed(header, ", or }");
        }
    }
    return header->keys == (1 << KEY_COUNT) - 1
               ? STATUS_OK
               : malformed(header, "descr, fortran_order and shape before the end");
}

size_t npy_header_make(char *text, const Tensor *tensor) {
    const char *descr = tensor->dtype == DTYPE_INT32 ? "<i4" : "<f4";
    char shape[96] = "";
    size_t used = 0;
    for (int i = 0; i < tensor->rank; i++) {
        used += (size_t)snprintf(shape + used, sizeof shape - used, "%s%d", i > 0 ? ", " : "",
                                 tensor->dim[i]);
    }
    memcpy(text, "\x93NUMPY\x01\x00", 8);
    used = 10 + (size_t)snprintf(text + 10, NPY_MADE_BYTES - 10,
                                 "{'descr': '%s', 'fortran_order': False, 'shape': (%s%s), }",
                                 descr, shape, tensor->rank == 1 ? "," : "");
    size_t padded = (used + NPY_HEADER_ALIGNMENT) / NPY_HEADER_ALIGNMENT * NPY_HEADER_ALIGNMENT;
    memset(text + used, ' ', padded - used);
    text[padded - 1] = '\n';
    text[8] = (char)((padded - 10) & 0xff);
    text[9] = (char)((padded - 10) >> 8);
    return padded;
}
