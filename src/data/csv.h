/* Tables of numbers as text: one row a line, fields between commas, no header line. */
#ifndef LOCKSTEP_DATA_CSV_H
#define LOCKSTEP_DATA_CSV_H

#include <stddef.h>

#include "base/status.h"

typedef struct CsvTable {
    int row_count, column_count;
    float *values; /* (row_count, column_count) */
} CsvTable;

/* Reads a file, plain or gzip. Fails, naming row (from 0), line and column (from 1), on fields that
 * are not finite numbers, on rows of other lengths than the first, and on an empty file. Memory
 * grows with the rows that were really read. Free with csv_free. */
Status csv_read(CsvTable *table, const char *path);

void csv_free(CsvTable *table); /* a zeroed table is fine */

#endif
