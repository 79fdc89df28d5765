/* Labelled images in host memory, split into training and test.
 *
 * Pixels stay the bytes that they are on disk and become fp32 batch by batch: a quarter of the
 * memory (mnist: 55 MB, not 220), and a shuffled batch is gathered sooner than copied as fp32,
 * because waiting for memory, not dividing, is what it costs. The division is by value_max itself,
 * so 255 becomes exactly 1. */
#ifndef LOCKSTEP_DATA_DATASET_H
#define LOCKSTEP_DATA_DATASET_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { DATASET_NAME_BYTES = 256, DATASET_DEFAULT_CLASSES = 10 };

typedef struct DataSplit {
    int count;       /* N, at least 1 */
    uint8_t *pixels; /* (N,C,H,W), 0..value_max */
    int32_t *labels; /* (N), 0..class_count-1 */
} DataSplit;

typedef struct Dataset {
    char name[DATASET_NAME_BYTES]; /* as it was asked for; the end of a long folder name */
    const char *source, *licence;  /* of static storage */
    int channels, height, width;   /* C,H,W: of both splits */
    int class_count;
    int value_max; /* the pixel value that becomes 1.0 */
    DataSplit train, test;
} Dataset;

/* Loads a known set by name (mnist-small, optdigits, mnist), or a folder with the four IDX files of
 * MNIST's names, plain or .gz. Labels of a folder must be 0..9, or 0..n-1 if it holds a file
 * classes.txt with n lines, one class name each. Everything is checked: a Dataset that was loaded
 * can be trained on. STATUS_MISSING: a known set that is not on this machine; STATUS_BAD: unknown
 * names, folders that do not exist, files that are not what they should be. Free with dataset_free;
 * after a failure there is nothing to free. */
Status dataset_load(Dataset *dataset, const char *name_or_folder);

void dataset_free(Dataset *dataset); /* a zeroed Dataset is fine */

/* images (batch,C,H,W) = pixels / value_max and labels (batch) of the rows order[first] to
 * order[first+batch-1] of a split; order NULL means the rows first to first+batch-1. Allocates
 * nothing. */
void dataset_batch(float *restrict images, int32_t *restrict labels, const Dataset *dataset,
                   const DataSplit *split, const int *order, int first, int batch);

size_t dataset_image_size(const Dataset *dataset); /* C*H*W elements */
size_t dataset_bytes(const Dataset *dataset);      /* host memory of both splits */

#endif
