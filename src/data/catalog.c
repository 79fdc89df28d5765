#include "data/catalog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h" /* written by the build: LOCKSTEP_DATA_DIR, LOCKSTEP_INSTALL_DATA_DIR */

#define MNIST_SOURCE                                                                               \
    "Y. LeCun, C. Cortes, C. J. C. Burges: The MNIST database of handwritten digits"
#define MNIST_LICENCE "CC BY-SA 3.0"

#define TRAIN_IMAGES "train-images-idx3-ubyte"
#define TRAIN_LABELS "train-labels-idx1-ubyte"
#define TEST_IMAGES  "t10k-images-idx3-ubyte"
#define TEST_LABELS  "t10k-labels-idx1-ubyte"

const char *const idx_file_names[DATA_MAX_FILES] = {TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES,
                                                    TEST_LABELS};

/* The sums of mnist are the published ones; those of the shipped sets are of what we ship. */
static const DataInfo catalog[] = {
    {.name = "mnist-small",
     .about = "10,000 + 2,000 handwritten digits, a balanced subset of mnist",
     .source = MNIST_SOURCE "; subset by tools/make_mnist_small.py",
     .licence = MNIST_LICENCE,
     .shipped = true,
     .format = DATA_IDX,
     .train_count = 10000,
     .test_count = 2000,
     .height = 28,
     .width = 28,
     .class_count = 10,
     .value_max = 255,
     .file_count = 4,
     .files = {{TRAIN_IMAGES, "844a3f9f7cf68145b2812cf20668a8426982e3166cb569b5e020a63ab327aea0",
                7840016},
               {TRAIN_LABELS, "409f56831abe7d426348cb4b1abaa2dcfc82f933c5675d13b14eab799f8507b2",
                10008},
               {TEST_IMAGES, "5d708fe232afadd71c6939e0300989f65b839184c49a070265193c3cb96802d2",
                1568016},
               {TEST_LABELS, "5f938b0fc326d6652aaaed727b62eadf3062bbf6a10975bfe153a1c39b8749d9",
                2008}}},
    {.name = "optdigits",
     .about = "1,297 + 500 handwritten digits of 8x8 pixels",
     .source = "E. Alpaydin, C. Kaynak: Optical Recognition of Handwritten Digits, UCI Machine "
               "Learning Repository, doi:10.24432/C50P49",
     .licence = "CC BY 4.0",
     .shipped = true,
     .format = DATA_CSV,
     .train_count = 1297,
     .test_count = 500,
     .height = 8,
     .width = 8,
     .class_count = 10,
     .value_max = 16,
     .file_count = 1,
     .files = {{"digits.csv", "6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8",
                264712}}},
    {.name = "mnist",
     .about = "60,000 + 10,000 handwritten digits, the full set",
     .source = MNIST_SOURCE,
     .licence = MNIST_LICENCE,
     .format = DATA_IDX,
     .train_count = 60000,
     .test_count = 10000,
     .height = 28,
     .width = 28,
     .class_count = 10,
     .value_max = 255,
     .file_count = 4,
     .files = {{TRAIN_IMAGES, "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
                47040016},
               {TRAIN_LABELS, "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
                60008},
               {TEST_IMAGES, "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
                7840016},
               {TEST_LABELS, "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
                10008}},
     .mirrors = {"https://ossci-datasets.s3.amazonaws.com/mnist/",
                 "https://storage.googleapis.com/cvdf-datasets/mnist/"}},
};

enum { PLACE_COUNT = 5 };
enum { CATALOG_COUNT = sizeof catalog / sizeof catalog[0] };

int catalog_count(void) {
    return CATALOG_COUNT;
}

const DataInfo *catalog_at(int index) {
    return &catalog[index];
}

const DataInfo *catalog_find(const char *name) {
    for (int i = 0; i < CATALOG_COUNT; i++) {
        if (strcmp(catalog[i].name, name) == 0) {
            return &catalog[i];
        }
    }
    return NULL;
}

Status catalog_unknown(const char *name) {
    const char *names[CATALOG_COUNT];
    for (int i = 0; i < CATALOG_COUNT; i++) {
        names[i] = catalog[i].name;
    }
    return fail_unknown("data set", name, names, CATALOG_COUNT);
}

Status catalog_join(char *path, const char *first, const char *second, const char *suffix) {
    int length = snprintf(path, DATA_PATH_BYTES, "%s/%s%s", first, second, suffix);
    if (length < 0 || length >= DATA_PATH_BYTES) {
        return fail("the path %.100s.../%.100s%s has more than %d characters; choose a shorter one",
                    first, second, suffix, DATA_PATH_BYTES - 1);
    }
    return STATUS_OK;
}

static bool is_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

Status catalog_file(char *path, const char *folder, const char *name) {
    static const char *const suffixes[] = {"", ".gz"};
    for (int i = 0; i < 2; i++) {
        TRY(catalog_join(path, folder, name, suffixes[i]));
        if (is_file(path)) {
            return STATUS_OK;
        }
    }
    return fail("%s: holds no file %s or %s.gz; add it, or check the folder's name", folder, name,
                name);
}

/* An environment variable that is set to nothing counts as not set. */
static const char *environment(const char *name) {
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

Status catalog_home(char *folder, const char *name) {
    char base[DATA_PATH_BYTES];
    const char *data_home = environment("XDG_DATA_HOME"), *home = environment("HOME");
    if (data_home == NULL && home == NULL) {
        return fail("neither HOME nor XDG_DATA_HOME is set; say where with --to FOLDER");
    }
    if (data_home != NULL) {
        return catalog_join(folder, data_home, "lockstep/", name);
    }
    TRY(catalog_join(base, home, ".local/share", ""));
    return catalog_join(folder, base, "lockstep/", name);
}

/* share/lockstep/data beside the folder of the running program: where make install puts the data,
 * wherever PREFIX was moved to afterwards. */
static Status installed_folder(char *folder, const char *name) {
    char program[DATA_PATH_BYTES];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) {
        return fail("cannot tell where this program lies");
    }
    program[length] = '\0';
    for (int up = 0; up < 2 && strrchr(program, '/') != NULL; up++) {
        *strrchr(program, '/') = '\0';
    }
    return catalog_join(folder, program, "share/lockstep/data/", name);
}

static Status candidate(char *folder, int place, const char *name) {
    const char *own = environment("LOCKSTEP_DATA");
    switch (place) {
    case 0:
        return own == NULL ? fail("LOCKSTEP_DATA is not set") : catalog_join(folder, own, name, "");
    case 1:
        return catalog_home(folder, name);
    case 2:
        return installed_folder(folder, name);
    case 3:
        return catalog_join(folder, LOCKSTEP_INSTALL_DATA_DIR, name, "");
    default:
        return catalog_join(folder, LOCKSTEP_DATA_DIR, name, "");
    }
}

Status catalog_locate(char *folder, const DataInfo *info) {
    char path[DATA_PATH_BYTES];
    for (int place = 0; place < PLACE_COUNT; place++) {
        if (candidate(folder, place, info->name) != STATUS_OK) {
            continue; /* this machine has no such place */
        }
        for (int f = 0; f < info->file_count; f++) {
            if (catalog_file(path, folder, info->files[f].name) == STATUS_OK) {
                return STATUS_OK;
            }
        }
    }
    if (info->shipped) {
        return fail_missing("data set %s is not beside the program, though it is shipped with it; "
                            "install Lockstep again, or set LOCKSTEP_DATA to the folder that holds "
                            "%s",
                            info->name, info->name);
    }
    return fail_missing("data set %s is not on this machine; run: lockstep data get %s", info->name,
                        info->name);
}
