/* A whole file in memory. */
#ifndef LOCKSTEP_DATA_INFILE_H
#define LOCKSTEP_DATA_INFILE_H

#include <stddef.h>

#include "base/status.h"

/* *bytes (*size of them, from malloc, to be freed by the caller) = the content of a regular file.
 * Fails on other kinds of files, on files that cannot be read and on those that change meanwhile.
 */
Status infile_read(unsigned char **bytes, size_t *size, const char *path);

#endif
