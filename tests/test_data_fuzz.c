/* 2,000 random mutations of valid files per reader: each must load as something lawful or be
 * refused with a message; the sanitizer builds watch the memory meanwhile. */
#include "base/memory.h"
#include "base/philox.h"
#include "data/csv.h"
#include "data/dataset.h"
#include "data/npy.h"
#include "tests/data_fixture.h"

TestSuite(data_fuzz, .init = fixture_open, .fini = fixture_close);

enum { MUTATIONS = 2000, SEED = 20 };

static unsigned char original[FIXTURE_FILE_BYTES], mutant[8192], packed[8192];

/* mutant = original with one to four bits or bytes changed, or cut, or with bytes put in. Early
 * bytes, where headers are, are hit more often. Returns its length. */
static size_t mutate(uint64_t turn, const unsigned char *from, size_t count) {
    Philox random = {SEED, turn};
    memcpy(mutant, from, count);
    int changes = 1 + (int)philox_below(random, 0, 4);
    for (int c = 0; c < changes && count > 0; c++) {
        uint64_t i = 1 + 4 * (uint64_t)c;
        size_t range = philox_bits(random, i) & 1 && count > 24 ? 24 : count;
        size_t at = philox_below(random, i + 1, (uint32_t)range);
        unsigned char byte = (unsigned char)philox_bits(random, i + 2);
        switch (philox_below(random, i + 3, 6)) {
        case 0:
            count = at;
            break;
        case 1: /* one byte more */
            memmove(mutant + at + 1, mutant + at, count - at);
            mutant[at] = byte;
            count++;
            break;
        case 2:
            mutant[at] ^= (unsigned char)(1 << (byte & 7));
            break;
        case 3:
            mutant[at] = byte & 1 ? 0xff : 0x7f;
            break;
        default:
            mutant[at] = byte;
        }
    }
    return count;
}

static void expect_lawful_set(const Dataset *set, int turn) {
    const DataSplit *splits[] = {&set->train, &set->test};
    for (int s = 0; s < 2; s++) {
        cr_assert_geq(splits[s]->count, 1, "turn %d", turn);
        for (int n = 0; n < splits[s]->count; n++) {
            cr_assert(splits[s]->labels[n] >= 0 && splits[s]->labels[n] < set->class_count,
                      "turn %d", turn);
        }
    }
}

/* Mutates the file of the small set that turn chooses; packed: the gzip stream itself is hit. */
static void fuzz_set(bool pack_it) {
    static const char *const names[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                        "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
    int refused = 0;
    write_small_set();
    for (int turn = 0; turn < MUTATIONS; turn++) {
        Dataset set;
        const char *path = in_folder(names[turn % 4]);
        size_t count = read_file(original, path);
        size_t length = pack_it ? pack(packed, original, count) : count;
        length = mutate((uint64_t)turn, pack_it ? packed : original, length);
        write_file(path, mutant, length);
        Status status = dataset_load(&set, fixture_folder);
        if (status == STATUS_OK) {
            expect_lawful_set(&set, turn);
            dataset_free(&set);
        } else {
            cr_assert_eq(status, STATUS_BAD, "turn %d: %s", turn, status_message());
            cr_assert_gt(strlen(status_message()), 10u, "turn %d", turn);
            refused++;
        }
        write_file(in_folder(names[turn % 4]), original, count);
    }
    cr_assert_gt(refused, MUTATIONS / 3, "most mutations must be noticed: %d", refused);
}

Test(data_fuzz, mutated_idx_files_never_crash) {
    fuzz_set(false);
}

Test(data_fuzz, mutated_gzip_files_never_crash) {
    fuzz_set(true);
}

Test(data_fuzz, mutated_csv_files_never_crash) {
    const char *text = "1,2.5,-3\n4e1,5,6\n7,8,9\n10,11,12\n13,14,15\n";
    for (int turn = 0; turn < MUTATIONS; turn++) {
        CsvTable table;
        size_t length = mutate((uint64_t)turn, (const unsigned char *)text, strlen(text));
        write_file(in_folder("t.csv"), mutant, length);
        Status status = csv_read(&table, in_folder("t.csv"));
        cr_assert(status == STATUS_BAD || (table.row_count >= 1 && table.column_count >= 1),
                  "turn %d", turn);
        volatile float sum = 0;
        for (size_t i = 0; status == STATUS_OK && i < (size_t)table.row_count * table.column_count;
             i++) {
            sum += table.values[i];
        }
        csv_free(&table);
    }
}

Test(data_fuzz, mutated_npy_files_never_crash) {
    const float values[] = {1, 2, 3, 4, 5, 6};
    Tensor tensor;
    cr_assert_eq(tensor_init(&tensor, "x", DTYPE_FP32, 2, (int[]){2, 3}), STATUS_OK);
    tensor.data = (void *)values;
    cr_assert_eq(npy_write(in_folder("x.npy"), &tensor), STATUS_OK);
    size_t count = read_file(original, in_folder("x.npy"));
    for (int turn = 0; turn < MUTATIONS; turn++) {
        bool was_double = false;
        write_file(in_folder("x.npy"), mutant, mutate((uint64_t)turn, original, count));
        Status status = npy_read(&tensor, &was_double, in_folder("x.npy"));
        cr_assert(status == STATUS_OK || status == STATUS_BAD, "turn %d", turn);
        volatile unsigned char last = 0;
        for (size_t i = 0; status == STATUS_OK && i < tensor.bytes; i++) {
            last ^= ((unsigned char *)tensor.data)[i];
        }
        memory_free(tensor.data);
    }
}
