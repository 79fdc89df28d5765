#include "data/dataset.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/tensor.h"
#include "data/bytes.h"
#include "data/catalog.h"
#include "data/csv.h"
#include "data/idx.h"

/* labels = bytes, each checked against the classes. */
static Status take_labels(DataSplit *split, const Idx *bytes, int class_count, const char *path) {
    split->labels = malloc(bytes->count * sizeof *split->labels);
    if (split->labels == NULL) {
        return fail("%s: out of memory for %zu labels", path, bytes->count);
    }
    for (size_t n = 0; n < bytes->count; n++) {
        if (bytes->values[n] >= class_count) {
            return fail("%s row %zu (counted from 0): label %d, but classes are 0..%d; mend the "
                        "label (a folder with more classes names them in classes.txt, one a line)",
                        path, n, bytes->values[n], class_count - 1);
        }
        split->labels[n] = bytes->values[n];
    }
    return STATUS_OK;
}

/* One split from its two files. The images are not copied: split takes over idx_read's memory. */
static Status load_split(Dataset *dataset, DataSplit *split, const char *folder,
                         const char *image_name, const char *label_name) {
    char image_path[DATA_PATH_BYTES], label_path[DATA_PATH_BYTES];
    Idx images = {0}, labels = {0};
    TRY(catalog_file(image_path, folder, image_name));
    TRY(catalog_file(label_path, folder, label_name));
    TRY(idx_read(&images, image_path, 3));
    split->pixels = images.values;
    split->count = images.dim[0];
    if (dataset->height != 0 &&
        (images.dim[1] != dataset->height || images.dim[2] != dataset->width)) {
        return fail("%s: images of %dx%d, expected %dx%d as in the training set; both splits need "
                    "one size",
                    image_path, images.dim[1], images.dim[2], dataset->height, dataset->width);
    }
    dataset->height = images.dim[1];
    dataset->width = images.dim[2];
    TRY(idx_read(&labels, label_path, 1));
    Status status = STATUS_OK;
    if (labels.dim[0] != images.dim[0]) {
        status = fail("%s: %d labels, expected %d, one for each image of %s; get both files again",
                      label_path, labels.dim[0], images.dim[0], image_path);
    } else {
        status = take_labels(split, &labels, dataset->class_count, label_path);
    }
    idx_free(&labels);
    return status;
}

static Status load_idx(Dataset *dataset, const char *folder) {
    dataset->channels = 1;
    dataset->value_max = 255;
    TRY(load_split(dataset, &dataset->train, folder, idx_file_names[0], idx_file_names[1]));
    return load_split(dataset, &dataset->test, folder, idx_file_names[2], idx_file_names[3]);
}

/* Sets *whole to a whole number of 0..max that stands in the table, or fails with its place. */
static Status take_whole(int *whole, const CsvTable *table, const char *path, int row, int column,
                         int max) {
    float value = table->values[(size_t)row * table->column_count + column];
    if (value >= 0 && value <= (float)max && value == (float)(int)value) {
        *whole = (int)value;
        return STATUS_OK;
    }
    if (column == table->column_count - 1) {
        return fail("%s row %d (line %d): label %g, but classes are 0..%d; mend that line", path,
                    row, row + 1, (double)value, max);
    }
    return fail("%s row %d (line %d) column %d: pixel %g, expected a whole number of 0..%d; mend "
                "that line",
                path, row, row + 1, column + 1, (double)value, max);
}

static Status take_rows(Dataset *dataset, DataSplit *split, const CsvTable *table, const char *path,
                        int first, int count) {
    int pixels = table->column_count - 1, value = 0;
    size_t bytes = 0;
    TRY(checked_bytes(&bytes, path, 1, 2, (int[]){count, pixels}));
    split->count = count;
    split->pixels = malloc(bytes);
    split->labels = malloc((size_t)count * sizeof *split->labels);
    if (split->pixels == NULL || split->labels == NULL) {
        return fail("%s: out of memory for %d images", path, count);
    }
    for (int n = 0; n < count; n++) {
        for (int p = 0; p < pixels; p++) {
            TRY(take_whole(&value, table, path, first + n, p, dataset->value_max));
            split->pixels[(size_t)n * pixels + p] = (uint8_t)value;
        }
        TRY(take_whole(&value, table, path, first + n, pixels, dataset->class_count - 1));
        split->labels[n] = value;
    }
    return STATUS_OK;
}

static Status load_csv(Dataset *dataset, const DataInfo *info, const char *folder) {
    char path[DATA_PATH_BYTES];
    CsvTable table = {0};
    int columns = info->height * info->width + 1, rows = info->train_count + info->test_count;
    dataset->channels = 1;
    dataset->height = info->height;
    dataset->width = info->width;
    dataset->value_max = info->value_max;
    TRY(catalog_file(path, folder, info->files[0].name));
    TRY(csv_read(&table, path));
    Status status = STATUS_OK;
    if (table.column_count != columns || table.row_count != rows) {
        status = fail("%s: %d rows of %d fields, expected %d of %d (%dx%d pixels and the label); "
                      "get the file again",
                      path, table.row_count, table.column_count, rows, columns, info->height,
                      info->width);
    }
    if (status == STATUS_OK) {
        status = take_rows(dataset, &dataset->train, &table, path, 0, info->train_count);
    }
    if (status == STATUS_OK) {
        status =
            take_rows(dataset, &dataset->test, &table, path, info->train_count, info->test_count);
    }
    csv_free(&table);
    return status;
}

/* The set of that name may be another one that a user put there: its shape must be what the
 * catalog says, or results would stand under a wrong name. */
static Status check_shape(const Dataset *dataset, const DataInfo *info, const char *folder) {
    if (dataset->train.count == info->train_count && dataset->test.count == info->test_count &&
        dataset->height == info->height && dataset->width == info->width) {
        return STATUS_OK;
    }
    return fail("%s: %d + %d images of %dx%d, but %s has %d + %d of %dx%d; give your own data as "
                "a folder, --data %s",
                folder, dataset->train.count, dataset->test.count, dataset->height, dataset->width,
                info->name, info->train_count, info->test_count, info->height, info->width, folder);
}

static Status load_known(Dataset *dataset, const DataInfo *info) {
    char folder[DATA_PATH_BYTES];
    TRY(catalog_locate(folder, info));
    dataset->source = info->source;
    dataset->licence = info->licence;
    dataset->class_count = info->class_count;
    TRY(info->format == DATA_CSV ? load_csv(dataset, info, folder) : load_idx(dataset, folder));
    return check_shape(dataset, info, folder);
}

/* *class_count = the lines of folder/classes.txt, if there is such a file. */
static Status count_classes(int *class_count, const char *folder) {
    char path[DATA_PATH_BYTES], text[1 << 14];
    size_t got = 0;
    struct stat info;
    ByteReader *reader = NULL;
    TRY(catalog_join(path, folder, "classes.txt", ""));
    if (stat(path, &info) != 0) {
        return STATUS_OK;
    }
    TRY(bytes_open(&reader, path));
    Status status = bytes_read(reader, text, &got, sizeof text);
    bytes_close(reader);
    TRY(status);
    int lines = got > 0 && text[got - 1] != '\n';
    for (size_t i = 0; i < got; i++) {
        lines += text[i] == '\n';
    }
    if (got == sizeof text || lines < 1 || lines > 256) {
        return fail("%s: expected 1 to 256 lines, one class name each, in less than %zu bytes",
                    path, sizeof text);
    }
    *class_count = lines;
    return STATUS_OK;
}

static Status load_folder(Dataset *dataset, const char *folder) {
    struct stat info;
    bool exists = stat(folder, &info) == 0;
    if (!exists && strchr(folder, '/') == NULL) {
        return catalog_unknown(folder);
    }
    if (!exists || !S_ISDIR(info.st_mode)) {
        return fail("%s: %s; --data takes a known name (lockstep data list) or a folder with IDX "
                    "files",
                    folder, exists ? "is not a folder" : "there is no such folder");
    }
    dataset->source = "the user's own folder";
    dataset->licence = "not known";
    dataset->class_count = DATASET_DEFAULT_CLASSES;
    TRY(count_classes(&dataset->class_count, folder));
    return load_idx(dataset, folder);
}

Status dataset_load(Dataset *dataset, const char *name_or_folder) {
    const DataInfo *info = catalog_find(name_or_folder);
    size_t length = strlen(name_or_folder), keep = DATASET_NAME_BYTES - 1;
    *dataset = (Dataset){0};
    snprintf(dataset->name, sizeof dataset->name, "%s",
             name_or_folder + (length > keep ? length - keep : 0));
    Status status = info != NULL ? load_known(dataset, info) : load_folder(dataset, name_or_folder);
    if (status != STATUS_OK) {
        dataset_free(dataset);
    }
    return status;
}

void dataset_free(Dataset *dataset) {
    DataSplit *splits[] = {&dataset->train, &dataset->test};
    for (int s = 0; s < 2; s++) {
        free(splits[s]->pixels);
        free(splits[s]->labels);
    }
    *dataset = (Dataset){0};
}

size_t dataset_image_size(const Dataset *dataset) {
    return (size_t)dataset->channels * dataset->height * dataset->width;
}

size_t dataset_bytes(const Dataset *dataset) {
    size_t row_bytes = dataset_image_size(dataset) + sizeof(int32_t);
    return ((size_t)dataset->train.count + dataset->test.count) * row_bytes;
}

/* Shuffled rows lie anywhere in memory, where the processor's own prefetching does not help: asking
 * for them a few rows ahead took a batch of mnist from 70 to 28 us on the machine it was tried on.
 */
static void prefetch_row(const uint8_t *pixels, size_t size) {
    enum { CACHE_LINE = 64 };
    for (size_t i = 0; i < size; i += CACHE_LINE) {
        __builtin_prefetch(pixels + i);
    }
}

void dataset_batch(float *restrict images, int32_t *restrict labels, const Dataset *dataset,
                   const DataSplit *split, const int *order, int first, int batch) {
    enum { ROWS_AHEAD = 4 };
    size_t size = dataset_image_size(dataset);
    const float value_max = (float)dataset->value_max;
    for (int n = 0; n < batch; n++) {
        int row = order == NULL ? first + n : order[first + n];
        const uint8_t *restrict pixels_n = split->pixels + (size_t)row * size;
        float *restrict image_n = images + (size_t)n * size;
        if (order != NULL && n + ROWS_AHEAD < batch) {
            prefetch_row(split->pixels + (size_t)order[first + n + ROWS_AHEAD] * size, size);
        }
        for (size_t i = 0; i < size; i++) {
            image_n[i] = (float)pixels_n[i] / value_max;
        }
        labels[n] = split->labels[row];
    }
}
