#include "nn/safetensors.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/infile.h"
#include "nn/checkpoint.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files hold the little end first");

static const char SUFFIX[] = ".safetensors";
enum { LENGTH_BYTES = 8, ALIGNMENT = 8, MAX_HEADER_BYTES = 100000000 }; /* the format's own limit */

bool safetensors_is(const char *path) {
    size_t length = strlen(path), suffix = sizeof SUFFIX - 1;
    return length > suffix && strcmp(path + length - suffix, SUFFIX) == 0;
}

/* ---- writing -------------------------------------------------------------------------------- */

static char *make_header(const Run *run) {
    cJSON *header = cJSON_CreateObject();
    size_t at = 0;
    cJSON *about = cJSON_AddObjectToObject(header, "__metadata__");
    cJSON_AddStringToObject(about, "format", "pt"); /* what loaders of PyTorch models look for */
    for (int i = 0; i < run->param_count; i++) {
        const Tensor *tensor = run->params[i].param;
        double offsets[2] = {(double)at, (double)(at + tensor->bytes)};
        cJSON *item = cJSON_AddObjectToObject(header, tensor->name);
        cJSON_AddStringToObject(item, "dtype", "F32");
        cJSON_AddItemToObject(item, "shape", cJSON_CreateIntArray(tensor->dim, tensor->rank));
        cJSON_AddItemToObject(item, "data_offsets", cJSON_CreateDoubleArray(offsets, 2));
        at += tensor->bytes;
    }
    char *text = cJSON_PrintUnformatted(header);
    cJSON_Delete(header);
    return text;
}

static Status write_weights(OutFile *out, const Run *run) {
    for (int i = 0; i < run->param_count; i++) {
        const Tensor *tensor = run->params[i].param;
        float *host = memory_alloc(tensor->bytes);
        Status status = host != NULL ? checkpoint_write_tensor(out, run, tensor, host)
                                     : fail("%s: no memory to save %s", out->path, tensor->name);
        memory_free(host);
        TRY(status);
    }
    return STATUS_OK;
}

Status safetensors_save(const char *path, const Run *run) {
    OutFile out;
    char *header = make_header(run);
    if (header == NULL) {
        return fail("%s: no memory for the header", path);
    }
    size_t length = strlen(header), padding = (ALIGNMENT - length % ALIGNMENT) % ALIGNMENT;
    uint64_t stored = length + padding;
    Status status = outfile_open(&out, path);
    if (status == STATUS_OK) {
        outfile_write(&out, &stored, sizeof stored);
        outfile_write(&out, header, length);
        outfile_write(&out, "        ", padding);
        status = write_weights(&out, run);
        if (status == STATUS_OK) {
            status = outfile_commit(&out);
        } else {
            outfile_abandon(&out);
        }
    }
    cJSON_free(header);
    return status;
}

/* ---- reading -------------------------------------------------------------------------------- */

enum { MAX_TENSORS = MODEL_MAX_LAYERS * LAYER_MAX_PARAMS };

typedef struct Entry { /* where one tensor's values lie, from the first value on */
    const char *name;
    size_t begin, end;
} Entry;

/* A whole number from 0 to limit. */
static bool whole(size_t *number, const cJSON *item, size_t limit) {
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0.0) || item->valuedouble > (double)limit ||
        item->valuedouble != floor(item->valuedouble)) {
        return false;
    }
    *number = (size_t)item->valuedouble;
    return true;
}

static Status check_shape(const cJSON *item, const Tensor *tensor) {
    char expected[80], found[80] = "none";
    const cJSON *shape = cJSON_GetObjectItemCaseSensitive(item, "shape");
    int rank = cJSON_GetArraySize(shape), dim[TENSOR_MAX_RANK];
    bool same = cJSON_IsArray(shape) && rank == tensor->rank;
    for (int i = 0; i < rank && i < TENSOR_MAX_RANK; i++) {
        size_t size = 0;
        same = whole(&size, cJSON_GetArrayItem(shape, i), INT32_MAX) && same;
        dim[i] = (int)size;
        same = same && dim[i] == tensor->dim[i];
    }
    if (same) {
        return STATUS_OK;
    }
    if (cJSON_IsArray(shape) && rank <= TENSOR_MAX_RANK) {
        shape_text(found, sizeof found, rank, dim);
    }
    return fail("%s: the file has shape %s, the model %s", tensor->name, found,
                shape_text(expected, sizeof expected, tensor->rank, tensor->dim));
}

/* value_bytes: of all values in the file. */
static Status check_entry(Entry *entry, const cJSON *item, const Tensor *tensor,
                          size_t value_bytes) {
    const char *dtype = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "dtype"));
    const cJSON *offsets = cJSON_GetObjectItemCaseSensitive(item, "data_offsets");
    if (dtype == NULL || strcmp(dtype, "F32") != 0) {
        return fail("%s: dtype %.20s; Lockstep reads F32, so convert the weights to it",
                    tensor->name, dtype == NULL ? "missing" : dtype);
    }
    TRY(check_shape(item, tensor));
    entry->name = tensor->name;
    if (cJSON_GetArraySize(offsets) != 2 ||
        !whole(&entry->begin, cJSON_GetArrayItem(offsets, 0), value_bytes) ||
        !whole(&entry->end, cJSON_GetArrayItem(offsets, 1), value_bytes)) {
        return fail("%s: data_offsets are not two whole numbers up to the %zu bytes of values in "
                    "the file; it is damaged or cut",
                    tensor->name, value_bytes);
    }
    if (entry->begin > entry->end || entry->end - entry->begin != tensor->bytes) {
        return fail("%s: data_offsets %zu to %zu, but its shape needs %zu bytes", tensor->name,
                    entry->begin, entry->end, tensor->bytes);
    }
    return STATUS_OK;
}

static int by_begin(const void *a, const void *b) {
    const Entry *x = a, *y = b;
    return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin)
                                : (x->end > y->end) - (x->end < y->end);
}

/* Sorted by place, each tensor begins where the one before it ends, and the last ends the file. */
static Status check_places(Entry *sorted, int count, size_t value_bytes) {
    size_t at = 0;
    qsort(sorted, (size_t)count, sizeof *sorted, by_begin);
    for (int i = 0; i < count; i++) {
        if (sorted[i].begin != at) {
            return fail("%s begins at byte %zu, but the values before it end at %zu: they %s",
                        sorted[i].name, sorted[i].begin, at,
                        sorted[i].begin < at ? "overlap" : "leave a gap");
        }
        at = sorted[i].end;
    }
    return at == value_bytes ? STATUS_OK
                             : fail("the last tensor ends at byte %zu of %zu", at, value_bytes);
}

/* Each name of the header is one of the model's, once. */
static Status check_names(const cJSON *header, const Run *run) {
    const cJSON *item, *other;
    cJSON_ArrayForEach(item, header) {
        const char *names[MAX_TENSORS];
        bool known = strcmp(item->string, "__metadata__") == 0;
        for (int i = 0; i < run->param_count; i++) {
            names[i] = run->params[i].param->name;
            known = known || strcmp(item->string, names[i]) == 0;
        }
        if (!known) {
            return fail_at(fail_unknown("tensor", item->string, names, run->param_count),
                           "these are the weights of another model; give --model the same sizes or "
                           "file as when they were saved");
        }
        for (other = item->next; other != NULL; other = other->next) {
            if (strcmp(item->string, other->string) == 0) {
                return fail("tensor '%.60s' stands there twice", item->string);
            }
        }
    }
    return STATUS_OK;
}

static Status load_values(const cJSON *header, const unsigned char *values, size_t value_bytes,
                          Run *run) {
    Entry entries[MAX_TENSORS] = {0}, sorted[MAX_TENSORS] = {0};
    TRY(check_names(header, run));
    for (int i = 0; i < run->param_count; i++) {
        const Tensor *tensor = run->params[i].param;
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(header, tensor->name);
        if (item == NULL) {
            return fail(
                "the model's tensor %s is not in it; give --model the same sizes or file as "
                "when it was saved",
                tensor->name);
        }
        TRY(check_entry(&entries[i], item, tensor, value_bytes));
        sorted[i] = entries[i];
    }
    TRY(check_places(sorted, run->param_count, value_bytes));
    for (int i = 0; i < run->param_count; i++) {
        TRY(run_upload(run, run->params[i].param, values + entries[i].begin));
    }
    return run->backend.synchronize();
}

static Status load_bytes(const unsigned char *bytes, size_t size, Run *run) {
    uint64_t length;
    if (size < LENGTH_BYTES) {
        return fail("%zu bytes are no safetensors file", size);
    }
    memcpy(&length, bytes, sizeof length);
    if (length > MAX_HEADER_BYTES || length > size - LENGTH_BYTES) {
        return fail("its first 8 bytes claim a header of %llu bytes, the file has %zu; it is "
                    "damaged, cut or no safetensors file",
                    (unsigned long long)length, size);
    }
    const char *text = (const char *)bytes + LENGTH_BYTES, *end;
    cJSON *header = cJSON_ParseWithLengthOpts(text, length, &end, false);
    Status status = cJSON_IsObject(header) ? STATUS_OK : fail("the header is no JSON object");
    for (; status == STATUS_OK && end < text + length; end++) {
        if (*end != ' ') {
            status = fail("bytes follow the header's JSON object");
        }
    }
    if (status == STATUS_OK) {
        size_t values_at = LENGTH_BYTES + (size_t)length;
        status = load_values(header, bytes + values_at, size - values_at, run);
    }
    cJSON_Delete(header);
    return status;
}

Status safetensors_load(const char *path, Run *run) {
    unsigned char *bytes = NULL;
    size_t size = 0;
    TRY(infile_read(&bytes, &size, path));
    Status status = load_bytes(bytes, size, run);
    free(bytes);
    return status == STATUS_OK ? STATUS_OK : fail_at(status, "%s", path);
}
