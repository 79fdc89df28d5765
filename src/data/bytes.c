/* Reading files, plain or gzip (RFC 1952), and the sha256 of what is in them. */
#include "data/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { INPUT_BYTES = 1 << 16, DEFLATE_MAX_RATIO = 1032, GZIP_WINDOW_BITS = 15 + 16 };

struct ByteReader {
    char *path;
    int fd;
    uint64_t file_bytes; /* size on disk when it was opened */
    uint64_t file_taken; /* bytes read from disk so far */
    bool packed;
    bool ended;      /* the end of the content was reached */
    z_stream stream; /* next_in and avail_in serve plain files too */
    unsigned char input[INPUT_BYTES];
};

/* Reads the next bytes from disk behind what is left over; avail_in is unchanged at the end. */
static Status take_input(ByteReader *reader) {
    if (reader->stream.avail_in > 0) {
        memmove(reader->input, reader->stream.next_in, reader->stream.avail_in);
    }
    reader->stream.next_in = reader->input;
    size_t room = sizeof reader->input - reader->stream.avail_in;
    ssize_t got = 0;
    do {
        got = read(reader->fd, reader->input + reader->stream.avail_in, room);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        return fail("%s: cannot read: %s", reader->path, strerror(errno));
    }
    reader->stream.avail_in += (uInt)got;
    reader->file_taken += (uint64_t)got;
    return STATUS_OK;
}

static bool is_gzip_start(const z_stream *stream) {
    return stream->avail_in >= 2 && stream->next_in[0] == 0x1f && stream->next_in[1] == 0x8b;
}

/* O_NONBLOCK, because opening a pipe would wait for its writer. */
static Status open_regular(ByteReader *reader, const char *path) {
    struct stat info;
    reader->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (reader->fd < 0 || fstat(reader->fd, &info) != 0) {
        return fail("%s: cannot open: %s", path, strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return fail("%s: is a %s, expected a file", path,
                    S_ISDIR(info.st_mode) ? "folder" : "device or pipe");
    }
    reader->file_bytes = (uint64_t)info.st_size;
    return STATUS_OK;
}

static Status start_reading(ByteReader *reader, const char *path) {
    TRY(open_regular(reader, path));
    reader->path = strdup(path);
    if (reader->path == NULL) {
        return fail("%s: out of memory", path);
    }
    reader->stream.next_in = reader->input;
    TRY(take_input(reader));
    if (is_gzip_start(&reader->stream)) {
        if (inflateInit2(&reader->stream, GZIP_WINDOW_BITS) != Z_OK) {
            return fail("%s: out of memory for unpacking", path);
        }
        reader->packed = true;
    }
    return STATUS_OK;
}

Status bytes_open(ByteReader **reader, const char *path) {
    *reader = calloc(1, sizeof **reader);
    if (*reader == NULL) {
        return fail("%s: out of memory", path);
    }
    (*reader)->fd = -1;
    Status status = start_reading(*reader, path);
    if (status != STATUS_OK) {
        bytes_close(*reader);
        *reader = NULL;
    }
    return status;
}

void bytes_close(ByteReader *reader) {
    if (reader == NULL) {
        return;
    }
    if (reader->packed) {
        inflateEnd(&reader->stream);
    }
    if (reader->fd >= 0) {
        close(reader->fd);
    }
    free(reader->path);
    free(reader);
}

uint64_t bytes_limit(const ByteReader *reader) {
    return reader->packed ? reader->file_bytes * DEFLATE_MAX_RATIO : reader->file_bytes;
}

bool bytes_is_packed(const ByteReader *reader) {
    return reader->packed;
}

/* Copies what is there of a plain file; 0 bytes mean the end. */
static Status read_plain(ByteReader *reader, unsigned char *out, size_t *got, size_t wanted) {
    z_stream *stream = &reader->stream;
    if (stream->avail_in == 0) {
        TRY(take_input(reader));
    }
    reader->ended = stream->avail_in == 0;
    *got = wanted < stream->avail_in ? wanted : stream->avail_in;
    memcpy(out, stream->next_in, *got);
    stream->next_in += *got;
    stream->avail_in -= (uInt)*got;
    return STATUS_OK;
}

/* After a gzip member: the file ends, or another member follows; anything else is refused. */
static Status end_member(ByteReader *reader) {
    while (reader->stream.avail_in < 2 && reader->file_taken < reader->file_bytes) {
        TRY(take_input(reader));
    }
    if (reader->stream.avail_in == 0) {
        reader->ended = true;
        return STATUS_OK;
    }
    if (!is_gzip_start(&reader->stream)) {
        return fail("%s: extra bytes after the gzip stream, from byte %llu of %llu; download or "
                    "pack the file again",
                    reader->path,
                    (unsigned long long)(reader->file_taken - reader->stream.avail_in),
                    (unsigned long long)reader->file_bytes);
    }
    inflateReset(&reader->stream);
    return STATUS_OK;
}

static Status read_packed(ByteReader *reader, unsigned char *out, size_t *got, size_t wanted) {
    z_stream *stream = &reader->stream;
    if (stream->avail_in == 0) {
        TRY(take_input(reader));
    }
    if (stream->avail_in == 0) {
        return fail("%s: cut short: the gzip stream has no end mark after %llu bytes; download or "
                    "pack the file again",
                    reader->path, (unsigned long long)reader->file_taken);
    }
    uInt room = wanted < (1u << 30) ? (uInt)wanted : 1u << 30;
    stream->next_out = out;
    stream->avail_out = room;
    int result = inflate(stream, Z_NO_FLUSH);
    *got = room - stream->avail_out;
    if (result == Z_STREAM_END) {
        return end_member(reader);
    }
    if (result != Z_OK && result != Z_BUF_ERROR) {
        return fail("%s: damaged gzip stream near byte %llu of %llu (%s); download or pack the "
                    "file again",
                    reader->path, (unsigned long long)(reader->file_taken - stream->avail_in),
                    (unsigned long long)reader->file_bytes,
                    stream->msg != NULL ? stream->msg : "unknown fault");
    }
    return STATUS_OK;
}

Status bytes_read(ByteReader *reader, void *out, size_t *got, size_t wanted) {
    *got = 0;
    while (*got < wanted && !reader->ended) {
        size_t part = 0;
        unsigned char *to = (unsigned char *)out + *got;
        TRY(reader->packed ? read_packed(reader, to, &part, wanted - *got)
                           : read_plain(reader, to, &part, wanted - *got));
        *got += part;
    }
    return STATUS_OK;
}

static Status hash_content(EVP_MD_CTX *hash, uint64_t *size, ByteReader *reader) {
    unsigned char content[INPUT_BYTES];
    size_t got = 0;
    *size = 0;
    do {
        TRY(bytes_read(reader, content, &got, sizeof content));
        if (EVP_DigestUpdate(hash, content, got) != 1) {
            return fail("%s: libcrypto failed to hash", reader->path);
        }
        *size += got;
    } while (got == sizeof content);
    return STATUS_OK;
}

Status bytes_sha256(char hex[65], uint64_t *size, const char *path) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int digest_bytes = 0;
    ByteReader *reader = NULL;
    TRY(bytes_open(&reader, path));
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    Status status = STATUS_OK;
    if (hash == NULL || EVP_DigestInit_ex(hash, EVP_sha256(), NULL) != 1) {
        status = fail("libcrypto offers no sha256 here; check its FIPS or provider settings");
        goto done;
    }
    status = hash_content(hash, size, reader);
    if (status == STATUS_OK && EVP_DigestFinal_ex(hash, digest, &digest_bytes) != 1) {
        status = fail("%s: libcrypto failed to hash", path);
    }
    for (unsigned int i = 0; status == STATUS_OK && i < digest_bytes; i++) {
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    }
done:
    EVP_MD_CTX_free(hash);
    bytes_close(reader);
    return status;
}
