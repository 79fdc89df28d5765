/* Reads a file's content, plain or gzip (told apart by the first two bytes, not by the name), as
 * one stream that knows where it is. Unlike zlib's gzread it refuses a stream that is cut before
 * its end mark and bytes that follow it. */
#ifndef LOCKSTEP_DATA_BYTES_H
#define LOCKSTEP_DATA_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct ByteReader ByteReader;

/* Opens a regular file. On success the caller ends with bytes_close. */
Status bytes_open(ByteReader **reader, const char *path);

/* Reads up to wanted bytes of content into out; *got < wanted only at the end of the content.
 * Fails on read errors and on gzip streams that are damaged, cut or followed by other bytes. */
Status bytes_read(ByteReader *reader, void *out, size_t *got, size_t wanted);

/* The largest content that a file of this size can hold, in bytes: its size if plain (then it is
 * exact), 1032 times its size if packed (deflate's limit). Headers that claim more are lies. */
uint64_t bytes_limit(const ByteReader *reader);
bool bytes_is_packed(const ByteReader *reader);

void bytes_close(ByteReader *reader); /* NULL is fine */

/* hex = sha256 of the file's unpacked content in 64 lower-case digits, *size = its bytes. */
Status bytes_sha256(char hex[65], uint64_t *size, const char *path);

#endif
