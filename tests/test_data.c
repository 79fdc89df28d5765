/* Data sets: the shipped ones, folders of the user's own, and cases 14 and 20. */
#include "data/dataset.h"

#include "data/bytes.h"
#include "data/catalog.h"
#include "data/get.h"
#include "tests/data_fixture.h"

TestSuite(dataset, .init = fixture_open, .fini = fixture_close);

static Dataset loaded(const char *name) {
    Dataset dataset;
    Status status = dataset_load(&dataset, name);
    cr_assert_eq(status, STATUS_OK, "%s", status_message());
    return dataset;
}

/* ---- Shipped ------------------------------------------------------------------------------- */

Test(dataset, shipped_files_have_the_sums_of_the_catalogue) {
    for (int i = 0; i < catalog_count(); i++) {
        const DataInfo *info = catalog_at(i);
        char folder[DATA_PATH_BYTES], hex[65];
        for (int f = 0; info->shipped && f < info->file_count; f++) {
            cr_assert_eq(catalog_locate(folder, info), STATUS_OK, "%s", status_message());
            cr_assert_eq(data_check_file(hex, &info->files[f], folder), STATUS_OK, "%s",
                         status_message());
        }
    }
}

Test(dataset, mnist_small_is_the_default_and_has_1000_and_200_digits_of_each_class) {
    Dataset set = loaded(catalog_at(0)->name);
    int train[10] = {0}, test[10] = {0};
    cr_assert_str_eq(set.name, "mnist-small");
    cr_assert_eq(set.train.count, 10000);
    cr_assert_eq(set.test.count, 2000);
    cr_assert(set.channels == 1 && set.height == 28 && set.width == 28 && set.class_count == 10);
    for (int n = 0; n < set.train.count; n++) {
        train[set.train.labels[n]]++;
    }
    for (int n = 0; n < set.test.count; n++) {
        test[set.test.labels[n]]++;
    }
    for (int c = 0; c < 10; c++) {
        cr_assert(train[c] == 1000 && test[c] == 200, "class %d: %d and %d", c, train[c], test[c]);
    }
    const int first[] = {7, 1, 1, 0, 7, 9}; /* read from the file with od */
    for (int n = 0; n < 6; n++) {
        cr_assert_eq(set.train.labels[n], first[n]);
    }
    cr_assert_eq(dataset_bytes(&set), 12000u * (784 + 4));
    dataset_free(&set);
}

Test(dataset, optdigits_has_1297_and_500_digits_of_0_to_16) {
    Dataset set = loaded("optdigits");
    float image[64];
    int32_t label = -1;
    cr_assert_eq(set.train.count, 1297);
    cr_assert_eq(set.test.count, 500);
    cr_assert(set.height == 8 && set.width == 8 && set.value_max == 16);
    dataset_batch(image, &label, &set, &set.train, NULL, 0, 1);
    const float row[] = {0, 0, 5, 13, 9, 1, 0, 0, 0, 0, 13, 15}; /* the file's first line */
    for (int i = 0; i < 12; i++) {
        cr_assert_eq(image[i], row[i] / 16, "pixel %d", i);
    }
    cr_assert_eq(label, 0);
    dataset_free(&set);
}

Test(dataset, a_batch_gathers_rows_in_order_and_divides_by_255) {
    write_small_set();
    Dataset set = loaded(fixture_folder);
    const int order[] = {9, 49, 0, 7, 33};
    float images[3 * 15];
    int32_t labels[3];
    dataset_batch(images, labels, &set, &set.train, order, 1, 3);
    const int rows[] = {49, 0, 7};
    for (int n = 0; n < 3; n++) {
        cr_assert_eq(labels[n], rows[n] % 10);
        for (int i = 0; i < 15; i++) {
            cr_assert_eq(images[n * 15 + i], (float)((rows[n] * 15 + i) % 256) / 255.0f);
        }
    }
    dataset_batch(images, labels, &set, &set.train, NULL, 17, 1); /* pixel 0 of row 17: 255 */
    cr_assert_eq(images[0], 1.0f);
    dataset_batch(images, labels, &set, &set.test, NULL, 19, 1);
    cr_assert_eq(images[0], (float)(19 * 15 % 251) / 255.0f, "rows of the test split");
    dataset_free(&set);
}

/* ---- Names and places ---------------------------------------------------------------------- */

Test(dataset, a_known_set_that_is_not_here_names_its_cure) {
    Dataset set;
    expect_failure(dataset_load(&set, "mnist"), STATUS_MISSING, "lockstep data get mnist", NULL);
}

Test(dataset, unknown_names_and_absent_folders_are_told_apart) {
    Dataset set;
    expect_failure(dataset_load(&set, "mnist-smal"), STATUS_BAD, "did you mean 'mnist-small'",
                   "optdigits", NULL);
    expect_failure(dataset_load(&set, ""), STATUS_BAD, "unknown data set", NULL);
    expect_failure(dataset_load(&set, in_folder("nowhere")), STATUS_BAD, "no such folder",
                   in_folder("nowhere"), NULL);
    write_file(in_folder("a-file"), "x", 1);
    expect_failure(dataset_load(&set, in_folder("a-file")), STATUS_BAD, "is not a folder", NULL);
    expect_failure(dataset_load(&set, fixture_folder), STATUS_BAD, "train-images-idx3-ubyte.gz",
                   NULL);
}

Test(dataset, another_set_under_a_known_name_is_refused) {
    Dataset set;
    char folder[FIXTURE_PATH_BYTES + 16];
    write_small_set();
    snprintf(folder, sizeof folder, "%s", in_folder("mnist-small"));
    cr_assert_eq(symlink(fixture_folder, folder), 0);
    setenv("LOCKSTEP_DATA", fixture_folder, 1);
    expect_failure(dataset_load(&set, "mnist-small"), STATUS_BAD, "50 + 20 images of 3x5",
                   "10000 + 2000 of 28x28", "--data", NULL);
}

Test(dataset, packed_and_plain_files_give_the_same_set) {
    static unsigned char bytes[4096], packed[8192];
    write_small_set();
    Dataset plain = loaded(fixture_folder);
    for (int f = 0; f < DATA_MAX_FILES; f++) {
        char name[64];
        size_t count = read_file(bytes, in_folder(idx_file_names[f]));
        snprintf(name, sizeof name, "%s.gz", idx_file_names[f]);
        write_file(in_folder(name), packed, pack(packed, bytes, count));
        cr_assert_eq(unlink(in_folder(idx_file_names[f])), 0);
    }
    Dataset set = loaded(fixture_folder);
    cr_assert_eq(set.train.count, 50);
    cr_assert_arr_eq(set.train.pixels, plain.train.pixels, 50 * 15);
    cr_assert_arr_eq(set.test.labels, plain.test.labels, 20 * sizeof(int32_t));
    dataset_free(&set);
    dataset_free(&plain);
}

/* ---- Case 14: labels out of range ---------------------------------------------------------- */

Test(dataset, label_10_at_row_37_of_an_idx_file_is_refused_with_row_and_value) {
    Dataset set;
    static unsigned char bytes[4096];
    write_small_set();
    size_t count = read_file(bytes, in_folder("train-labels-idx1-ubyte"));
    bytes[8 + 37] = 10;
    write_file(in_folder("train-labels-idx1-ubyte"), bytes, count);
    expect_failure(dataset_load(&set, fixture_folder), STATUS_BAD, "train-labels-idx1-ubyte",
                   "row 37", "label 10", "0..9", NULL);
}

Test(dataset, classes_txt_says_how_many_classes_a_folder_has) {
    static unsigned char bytes[4096];
    write_small_set();
    size_t count = read_file(bytes, in_folder("train-labels-idx1-ubyte"));
    bytes[8 + 37] = 10;
    write_file(in_folder("train-labels-idx1-ubyte"), bytes, count);
    write_file(in_folder("classes.txt"), "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk", 21);
    Dataset set = loaded(fixture_folder);
    cr_assert_eq(set.class_count, 11);
    cr_assert_eq(set.train.labels[37], 10);
    dataset_free(&set);
    write_file(in_folder("classes.txt"), "", 0);
    expect_failure(dataset_load(&set, fixture_folder), STATUS_BAD, "classes.txt", "1 to 256", NULL);
}

/* LOCKSTEP_DATA = a folder whose optdigits is the shipped one but for one field (both from 1). */
static void write_digits_with(int line, int field, const char *value) {
    static char text[FIXTURE_FILE_BYTES];
    char folder[DATA_PATH_BYTES], path[DATA_PATH_BYTES];
    size_t count = 0;
    ByteReader *reader = NULL;
    unsetenv("LOCKSTEP_DATA"); /* the shipped one, not the last one written here */
    cr_assert_eq(catalog_locate(folder, catalog_find("optdigits")), STATUS_OK);
    cr_assert_eq(catalog_file(path, folder, "digits.csv"), STATUS_OK);
    cr_assert_eq(bytes_open(&reader, path), STATUS_OK);
    cr_assert_eq(bytes_read(reader, text, &count, sizeof text - 1), STATUS_OK);
    bytes_close(reader);
    char *at = text;
    for (int i = 1; i < line; i++) {
        at = strchr(at, '\n') + 1;
    }
    for (int i = 1; i < field; i++) {
        at = strchr(at, ',') + 1;
    }
    mkdir(in_folder("optdigits"), 0777);
    FILE *file = fopen(in_folder("optdigits/digits.csv"), "wb");
    fprintf(file, "%.*s%s%s", (int)(at - text), text, value, at + strcspn(at, ",\n"));
    fclose(file);
    setenv("LOCKSTEP_DATA", fixture_folder, 1);
}

Test(dataset, csv_labels_and_pixels_out_of_range_are_refused_with_row_line_and_value) {
    Dataset set;
    write_digits_with(38, 65, "10");
    expect_failure(dataset_load(&set, "optdigits"), STATUS_BAD, "digits.csv row 37 (line 38)",
                   "label 10", "0..9", NULL);
    write_digits_with(1790, 65, "-1");
    expect_failure(dataset_load(&set, "optdigits"), STATUS_BAD, "row 1789 (line 1790)", "label -1",
                   NULL);
    write_digits_with(5, 3, "17");
    expect_failure(dataset_load(&set, "optdigits"), STATUS_BAD, "row 4 (line 5) column 3",
                   "pixel 17", "0..16", NULL);
    write_digits_with(5, 3, "1.5");
    expect_failure(dataset_load(&set, "optdigits"), STATUS_BAD, "pixel 1.5", "whole number", NULL);
    write_digits_with(5, 3, "1,1");
    expect_failure(dataset_load(&set, "optdigits"), STATUS_BAD, "row 4", "65", NULL);
    write_digits_with(1, 1, "1\n2");
    expect_failure(dataset_load(&set, "optdigits"), STATUS_BAD, "row 1", NULL);
}

/* ---- Case 20: half-written or wrong files, through the front door -------------------------- */

Test(dataset, wrong_files_in_a_folder_are_refused_with_file_found_and_expected) {
    Dataset set;
    write_small_set();
    write_idx(in_folder("train-images-idx3-ubyte"), 256, 1, (uint32_t[]){50});
    expect_failure(dataset_load(&set, fixture_folder), STATUS_BAD, "train-images-idx3-ubyte",
                   "1 dimensions", "expected 3", "swapped", NULL);
    write_small_set();
    write_idx(in_folder("train-labels-idx1-ubyte"), 10, 1, (uint32_t[]){49});
    expect_failure(dataset_load(&set, fixture_folder), STATUS_BAD, "train-labels-idx1-ubyte",
                   "49 labels", "expected 50", NULL);
    write_small_set();
    write_idx(in_folder("t10k-images-idx3-ubyte"), 256, 3, (uint32_t[]){20, 5, 3});
    expect_failure(dataset_load(&set, fixture_folder), STATUS_BAD, "t10k-images-idx3-ubyte", "5x3",
                   "expected 3x5", NULL);
    write_small_set();
    cr_assert_eq(truncate(in_folder("t10k-images-idx3-ubyte"), 100), 0);
    expect_failure(dataset_load(&set, fixture_folder), STATUS_BAD, "t10k-images-idx3-ubyte",
                   "cut short", "316 bytes", "found 100", NULL);
    cr_assert_null(set.train.pixels, "nothing is left to free");
}
