/* The IDX format of MNIST: 00 00 TYPE RANK, then RANK sizes (32 bits, big end first), then the
 * values, the last index fastest. Here TYPE is always 08, unsigned byte. */
#ifndef LOCKSTEP_DATA_IDX_H
#define LOCKSTEP_DATA_IDX_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { IDX_MAX_RANK = 3 };

typedef struct Idx {
    int rank;
    int dim[IDX_MAX_RANK];
    size_t count;    /* product of dim, at least 1 */
    uint8_t *values; /* (dim[0], dim[1], ...) */
} Idx;

/* Reads a file, plain or gzip, of rank dimensions (1 for labels, 3 for images). Fails, and
 * allocates nothing, when the header is wrong or claims more than the file can hold; fails when the
 * file is cut, longer than its header says, or empty. Free with idx_free. */
Status idx_read(Idx *idx, const char *path, int rank);

void idx_free(Idx *idx); /* a zeroed Idx is fine */

#endif
