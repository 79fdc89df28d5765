/* A file that appears all at once: written under a temporary name beside its place, then synced and
 * renamed. Whatever happens in between, its name holds the old content or the whole new one. */
#ifndef LOCKSTEP_OUTFILE_H
#define LOCKSTEP_OUTFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

enum { OUTFILE_PATH_BYTES = 4096 };

typedef struct OutFile {
    char path[OUTFILE_PATH_BYTES], temporary[OUTFILE_PATH_BYTES]; /* PATH.lockstep-tmp */
    FILE *file;   /* NULL when closed; write through outfile_write */
    uint32_t crc; /* CRC-32 of all bytes so far */
    int error;    /* errno of the first failed write; later ones do nothing */
} OutFile;

/* Opens the temporary file. Ends with outfile_commit or outfile_abandon. Refuses paths that are
 * there and no regular files: renaming over a device or a folder is never meant. */
Status outfile_open(OutFile *out, const char *path);

/* A failure is kept in *out and reported by outfile_commit. */
void outfile_write(OutFile *out, const void *bytes, size_t count);
void outfile_print(OutFile *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts the file in place; or removes the temporary file, and path is untouched. Closes. */
Status outfile_commit(OutFile *out);
void outfile_abandon(OutFile *out); /* a closed one is fine */

/* Can a file be written at path? For a look before long work; leaves nothing behind. */
Status outfile_probe(const char *path);

/* Do both paths name one file, be it there yet or not? */
bool outfile_same(const char *a, const char *b);

#endif
