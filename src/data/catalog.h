/* The data sets that Lockstep knows by name: what they hold, where they come from, the sums of
 * their files, and where they may lie on this machine. */
#ifndef LOCKSTEP_DATA_CATALOG_H
#define LOCKSTEP_DATA_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { DATA_MAX_FILES = 4, DATA_MAX_MIRRORS = 2, DATA_PATH_BYTES = 4096 };

typedef enum DataFormat {
    DATA_IDX, /* the four files of idx_file_names */
    DATA_CSV, /* one file: pixels row by row, then the label; the last test_count rows are for tests
               */
} DataFormat;

typedef struct DataFile {
    const char *name;   /* as unpacked; on disk it is NAME or NAME.gz */
    const char *sha256; /* of the unpacked content */
    uint64_t bytes;     /* of the unpacked content */
} DataFile;

typedef struct DataInfo {
    const char *name, *about, *source, *licence;
    bool shipped; /* comes with Lockstep; otherwise lockstep data get brings it */
    DataFormat format;
    int train_count, test_count, height, width, class_count;
    int value_max; /* the pixel value that becomes 1.0 */
    int file_count;
    DataFile files[DATA_MAX_FILES];
    const char *mirrors[DATA_MAX_MIRRORS]; /* folders that hold NAME.gz; NULL where there is none */
} DataInfo;

/* The files of a set in IDX format: train images, train labels, test images, test labels. */
extern const char *const idx_file_names[DATA_MAX_FILES];

int catalog_count(void);
const DataInfo *catalog_at(int index);          /* the default set first */
const DataInfo *catalog_find(const char *name); /* NULL when there is none of that name */
Status catalog_unknown(const char *name);       /* the failure that lists the known names */

/* folder = the first folder of the search path that holds a file of the set: $LOCKSTEP_DATA/NAME,
 * the user's data home, share/lockstep/data beside the program, the place of make install, the
 * source's data folder.
 * STATUS_MISSING with the cure when none does. folder has DATA_PATH_BYTES, as every path here. */
Status catalog_locate(char *folder, const DataInfo *info);

/* folder = where lockstep data get puts a set: $XDG_DATA_HOME/lockstep/NAME or
 * ~/.local/share/lockstep/NAME. */
Status catalog_home(char *folder, const char *name);

/* path = folder/name or folder/name.gz, whichever exists, plain first. STATUS_BAD if none does. */
Status catalog_file(char *path, const char *folder, const char *name);

/* path = first/second followed by suffix. Fails when it does not fit into DATA_PATH_BYTES. */
Status catalog_join(char *path, const char *first, const char *second, const char *suffix);

#endif
