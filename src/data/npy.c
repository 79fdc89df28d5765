/* Reading and writing .npy files. The processor is taken to be little-endian, as all that Lockstep
 * runs on are. */
#include "data/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/publish.h"
#include "data/bytes.h"
#include "data/npy_header.h"

enum { MAX_HEADER_BYTES = 1 << 16, CHUNK_COUNT = 4096 };

static npy_convert_fn floats_from_doubles, ints_from_longs;

static const NpyType types[] = {
    {"<f4", DTYPE_FP32, 4, NULL},
    {"<f8", DTYPE_FP32, 8, floats_from_doubles},
    {"<i4", DTYPE_INT32, 4, NULL},
    {"<i8", DTYPE_INT32, 8, ints_from_longs},
};
enum { TYPE_COUNT = sizeof types / sizeof types[0] };

/* ---- Reading ------------------------------------------------------------------------------- */

static Status read_exactly(ByteReader *reader, void *out, size_t wanted, const char *path) {
    size_t got = 0;
    TRY(bytes_read(reader, out, &got, wanted));
    if (got < wanted) {
        return fail(
            "%s: cut short: found %zu of the %zu bytes that were expected here; write it again",
            path, got, wanted);
    }
    return STATUS_OK;
}

/* The fixed part: magic, version, and *length, the bytes of the dictionary. */
static Status read_prefix(NpyHeader *header, size_t *length, ByteReader *reader) {
    unsigned char prefix[12] = {0};
    TRY(read_exactly(reader, prefix, 10, header->path));
    if (memcmp(prefix, "\x93NUMPY", 6) != 0) {
        return fail("%s: not a .npy file: it starts with bytes %02x %02x %02x %02x, expected 93 4e "
                    "55 4d%s",
                    header->path, prefix[0], prefix[1], prefix[2], prefix[3],
                    memcmp(prefix, "PK", 2) == 0
                        ? "; an .npz archive? Save one array with numpy.save"
                        : "");
    }
    if (prefix[6] != 1 && prefix[6] != 2) {
        return fail("%s: .npy version %d.%d, expected 1 or 2; " NPY_CURE, header->path, prefix[6],
                    prefix[7]);
    }
    if (prefix[6] == 2) {
        TRY(read_exactly(reader, prefix + 10, 2, header->path));
    }
    *length =
        prefix[8] | (size_t)prefix[9] << 8 | (size_t)prefix[10] << 16 | (size_t)prefix[11] << 24;
    header->bytes = (prefix[6] == 2 ? 12 : 10) + *length;
    if (*length > MAX_HEADER_BYTES) {
        return fail("%s: a header of %zu bytes, expected at most %d", header->path, *length,
                    MAX_HEADER_BYTES);
    }
    return STATUS_OK;
}

static Status read_header(NpyHeader *header, ByteReader *reader) {
    size_t length = 0;
    TRY(read_prefix(header, &length, reader));
    char *text = calloc(1, length + 1);
    if (text == NULL) {
        return fail("%s: out of memory", header->path);
    }
    header->at = text;
    Status status = read_exactly(reader, text, length, header->path);
    if (status == STATUS_OK) {
        status = npy_header_parse(header);
    }
    header->at = NULL;
    free(text);
    return status;
}

/* The shape against the file's real size, before anything is allocated. */
static Status check_size(const NpyHeader *header, const ByteReader *reader) {
    char shape[80];
    size_t bytes = 0;
    uint64_t limit = bytes_limit(reader);
    TRY(checked_bytes(&bytes, header->path, header->type->bytes, header->rank, header->dim));
    uint64_t claim = header->bytes + bytes;
    if (bytes_is_packed(reader) ? claim > limit : claim != limit) {
        return fail("%s: %s values of type '%s' make a file of %llu bytes, found %s%llu; write it "
                    "again",
                    header->path, shape_text(shape, sizeof shape, header->rank, header->dim),
                    header->descr, (unsigned long long)claim,
                    bytes_is_packed(reader) ? "packed ones for at most " : "",
                    (unsigned long long)limit);
    }
    return STATUS_OK;
}

static Status floats_from_doubles(void *out, const void *in, size_t first, size_t count,
                                  const char *path) {
    const double *doubles = in;
    float *floats = out;
    for (size_t i = 0; i < count; i++) {
        floats[i] = (float)doubles[i];
        if (isfinite(doubles[i]) && !isfinite(floats[i])) {
            return fail("%s: value %zu is %g, more than fp32 holds (3.4e38); scale the values",
                        path, first + i, doubles[i]);
        }
    }
    return STATUS_OK;
}

static Status ints_from_longs(void *out, const void *in, size_t first, size_t count,
                              const char *path) {
    const int64_t *longs = in;
    int32_t *ints = out;
    for (size_t i = 0; i < count; i++) {
        if (longs[i] < INT32_MIN || longs[i] > INT32_MAX) {
            return fail("%s: value %zu is %lld, expected %d to %d (int32)", path, first + i,
                        (long long)longs[i], INT32_MIN, INT32_MAX);
        }
        ints[i] = (int32_t)longs[i];
    }
    return STATUS_OK;
}

static Status read_converted(Tensor *tensor, const NpyHeader *header, ByteReader *reader) {
    int64_t chunk[CHUNK_COUNT]; /* any type of 8 bytes */
    for (size_t done = 0; done < tensor->count;) {
        size_t count = tensor->count - done < CHUNK_COUNT ? tensor->count - done : CHUNK_COUNT;
        TRY(read_exactly(reader, chunk, count * sizeof chunk[0], header->path));
        TRY(header->type->convert((char *)tensor->data + done * dtype_bytes(tensor->dtype), chunk,
                                  done, count, header->path));
        done += count;
    }
    return STATUS_OK;
}

static Status read_values(Tensor *tensor, const NpyHeader *header, ByteReader *reader) {
    unsigned char extra = 0;
    size_t got = 0;
    const char *slash = strrchr(header->path, '/');
    TRY(check_size(header, reader));
    TRY(tensor_init(tensor, slash == NULL ? header->path : slash + 1, header->type->dtype,
                    header->rank, header->dim));
    tensor->data = memory_alloc(tensor->bytes > 0 ? tensor->bytes : 1);
    if (tensor->data == NULL) {
        return fail("%s: out of memory for %zu bytes", header->path, tensor->bytes);
    }
    TRY(header->type->convert != NULL
            ? read_converted(tensor, header, reader)
            : read_exactly(reader, tensor->data, tensor->bytes, header->path));
    TRY(bytes_read(reader, &extra, &got, 1));
    if (got != 0) {
        return fail("%s: extra bytes after the %zu values of its shape; write it again",
                    header->path, tensor->count);
    }
    return STATUS_OK;
}

Status npy_read(Tensor *tensor, bool *was_double, const char *path) {
    ByteReader *reader = NULL;
    NpyHeader header = {.path = path, .types = types, .type = types, .type_count = TYPE_COUNT};
    *tensor = (Tensor){0};
    TRY(bytes_open(&reader, path));
    Status status = read_header(&header, reader);
    if (status == STATUS_OK) {
        status = read_values(tensor, &header, reader);
    }
    bytes_close(reader);
    if (status != STATUS_OK) {
        memory_free(tensor->data);
        tensor->data = NULL;
        return status;
    }
    *was_double = header.type->bytes == 8 && header.type->dtype == DTYPE_FP32;
    return STATUS_OK;
}

/* ---- Writing ------------------------------------------------------------------------------- */

static Status write_exactly(int fd, const void *bytes, size_t count, const char *path) {
    for (size_t done = 0; done < count;) {
        ssize_t wrote = write(fd, (const char *)bytes + done, count - done);
        if (wrote < 0 && errno != EINTR) {
            return publish_failure(path, "write", errno);
        }
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return STATUS_OK;
}

Status npy_write(const char *path, const Tensor *tensor) {
    char header[NPY_MADE_BYTES], temporary[4096];
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        return fail("%s: exists and is no file; choose another name", path);
    }
    int length = snprintf(temporary, sizeof temporary, "%s.%ld.part", path, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof temporary) {
        return fail("the path %.100s... is too long; choose a shorter one", path);
    }
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        return publish_failure(path, "write", errno);
    }
    size_t header_bytes = npy_header_make(header, tensor);
    Status status = write_exactly(fd, header, header_bytes, path);
    if (status == STATUS_OK) {
        status = write_exactly(fd, tensor->data, tensor->bytes, path);
    }
    if (status == STATUS_OK) {
        status = publish_file(fd, temporary, path);
    }
    close(fd);
    if (status != STATUS_OK) {
        unlink(temporary);
    }
    return status;
}
