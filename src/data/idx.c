#include "data/idx.h"

#include <limits.h>
#include <stdlib.h>

#include "base/tensor.h"
#include "data/bytes.h"

enum { IDX_UNSIGNED_BYTE = 0x08 };

static const char *type_name(int type) {
    switch (type) {
    case 0x09:
        return "signed byte";
    case 0x0b:
        return "16-bit integer";
    case 0x0c:
        return "32-bit integer";
    case 0x0d:
        return "float";
    case 0x0e:
        return "double";
    default:
        return "unknown";
    }
}

static Status check_magic(const uint8_t magic[4], const char *path, int rank) {
    if (magic[0] != 0 || magic[1] != 0) {
        return fail("%s: not an IDX file: it starts with bytes %02x %02x %02x %02x, expected 00 00 "
                    "%02x %02x; get the file again",
                    path, magic[0], magic[1], magic[2], magic[3], IDX_UNSIGNED_BYTE, rank);
    }
    if (magic[2] != IDX_UNSIGNED_BYTE) {
        return fail("%s: byte 2: element type %02x (%s), expected %02x (unsigned byte); convert "
                    "the values to bytes of 0..255",
                    path, magic[2], type_name(magic[2]), IDX_UNSIGNED_BYTE);
    }
    if (magic[3] != rank) {
        return fail("%s: byte 3: %d dimensions, expected %d (%s); are the image and label files "
                    "swapped?",
                    path, magic[3], rank, rank == 1 ? "labels" : "images x rows x columns");
    }
    return STATUS_OK;
}

/* Reads the four bytes of the magic or of one size; what names them. */
static Status read_word(uint8_t word[4], ByteReader *reader, const char *path, const char *what) {
    size_t got = 0;
    TRY(bytes_read(reader, word, &got, 4));
    if (got < 4) {
        return fail("%s: cut short in its header: %zu of the 4 bytes of the %s; get the file again",
                    path, got, what);
    }
    return STATUS_OK;
}

static Status read_sizes(Idx *idx, ByteReader *reader, const char *path) {
    uint8_t word[4];
    for (int i = 0; i < idx->rank; i++) {
        TRY(read_word(word, reader, path, "sizes"));
        uint32_t size = (uint32_t)word[0] << 24 | (uint32_t)word[1] << 16 | (uint32_t)word[2] << 8 |
                        (uint32_t)word[3];
        if (size == 0 || size > INT_MAX) {
            return fail("%s: byte %d: size %d is %u, expected 1 to %d; %s", path, 4 + 4 * i, i,
                        size, INT_MAX,
                        size == 0 ? "an empty set cannot be used" : "get the file again");
        }
        idx->dim[i] = (int)size;
    }
    return STATUS_OK;
}

/* The header against the file's real size, before anything is allocated. */
static Status check_claim(Idx *idx, const ByteReader *reader, const char *path) {
    char shape[64];
    TRY(checked_bytes(&idx->count, path, 1, idx->rank, idx->dim));
    shape_text(shape, sizeof shape, idx->rank, idx->dim);
    uint64_t header = 4 + 4 * (uint64_t)idx->rank, limit = bytes_limit(reader);
    if (bytes_is_packed(reader) ? header + idx->count > limit : header + idx->count != limit) {
        return fail("%s: the header claims %s values, so %llu bytes; found %s%llu; the file is %s: "
                    "get it again",
                    path, shape, (unsigned long long)(header + idx->count),
                    bytes_is_packed(reader) ? "a gzip file that can hold at most " : "",
                    (unsigned long long)limit,
                    header + idx->count > limit ? "cut short" : "too long");
    }
    return STATUS_OK;
}

static Status read_values(Idx *idx, ByteReader *reader, const char *path) {
    uint8_t extra = 0;
    size_t got = 0;
    idx->values = malloc(idx->count);
    if (idx->values == NULL) {
        return fail("%s: out of memory for %zu bytes", path, idx->count);
    }
    TRY(bytes_read(reader, idx->values, &got, idx->count));
    if (got < idx->count) {
        return fail("%s: cut short: found %zu values, expected %zu; get the file again", path, got,
                    idx->count);
    }
    TRY(bytes_read(reader, &extra, &got, 1));
    if (got != 0) {
        return fail("%s: extra bytes after the %zu values that its header claims; get the file "
                    "again",
                    path, idx->count);
    }
    return STATUS_OK;
}

static Status read_all(Idx *idx, ByteReader *reader, const char *path) {
    uint8_t magic[4];
    if (bytes_limit(reader) == 0) {
        return fail("%s: the file is empty; get it again", path);
    }
    TRY(read_word(magic, reader, path, "magic number"));
    TRY(check_magic(magic, path, idx->rank));
    TRY(read_sizes(idx, reader, path));
    TRY(check_claim(idx, reader, path));
    return read_values(idx, reader, path);
}

Status idx_read(Idx *idx, const char *path, int rank) {
    ByteReader *reader = NULL;
    *idx = (Idx){.rank = rank};
    TRY(bytes_open(&reader, path));
    Status status = read_all(idx, reader, path);
    bytes_close(reader);
    if (status != STATUS_OK) {
        idx_free(idx);
    }
    return status;
}

void idx_free(Idx *idx) {
    free(idx->values);
    *idx = (Idx){0};
}
