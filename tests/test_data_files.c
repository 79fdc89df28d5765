/* The file readers: each kind of malformed IDX, CSV, gzip and .npy file is refused by name. */
#include "base/memory.h"
#include "data/bytes.h"
#include "data/csv.h"
#include "data/idx.h"
#include "data/npy.h"
#include "tests/data_fixture.h"

TestSuite(data_files, .init = fixture_open, .fini = fixture_close);

static unsigned char bytes[FIXTURE_FILE_BYTES], packed[FIXTURE_FILE_BYTES + 1024];

/* ---- Bytes --------------------------------------------------------------------------------- */

Test(data_files, sha256_gives_the_published_answer_of_plain_and_packed_content) {
    char hex[65];
    uint64_t size = 0;
    const char *published = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    write_file(in_folder("plain"), "abc", 3); /* FIPS 180-2, appendix B.1 */
    write_file(in_folder("packed"), packed, pack(packed, "abc", 3));
    const char *names[] = {"plain", "packed"};
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(bytes_sha256(hex, &size, in_folder(names[i])), STATUS_OK);
        cr_assert_str_eq(hex, published);
        cr_assert_eq(size, 3u);
    }
}

/* content of 200,000 bytes that pack badly, so that the packed file has several chunks */
static size_t write_noise(const char *path) {
    uint32_t state = 1;
    for (int i = 0; i < 200000; i++) {
        state = state * 1664525u + 1013904223u;
        bytes[i] = (unsigned char)(state >> 24);
    }
    size_t length = pack(packed, bytes, 200000);
    write_file(path, packed, length);
    return length;
}

Test(data_files, gzip_streams_that_are_cut_damaged_or_followed_by_bytes_are_refused) {
    char hex[65];
    uint64_t size = 0;
    const char *path = in_folder("noise.gz");
    size_t length = write_noise(path);
    cr_assert_eq(bytes_sha256(hex, &size, path), STATUS_OK);
    cr_assert_eq(size, 200000u);
    const size_t cuts[] = {length / 2, length - 1, length - 8, 10, 2};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        write_file(path, packed, cuts[i]);
        expect_failure(bytes_sha256(hex, &size, path), STATUS_BAD, path, "cut short", NULL);
    }
    memcpy(packed + length, "tail", 4);
    write_file(path, packed, length + 4);
    expect_failure(bytes_sha256(hex, &size, path), STATUS_BAD, path, "extra bytes", NULL);
    packed[length - 6] ^= 1; /* the checksum */
    write_file(path, packed, length);
    expect_failure(bytes_sha256(hex, &size, path), STATUS_BAD, path, "damaged", NULL);
}

Test(data_files, two_gzip_members_read_as_one_content) {
    char hex[65];
    uint64_t size = 0;
    size_t first = pack(packed, "a", 1), second = pack(packed + first, "bc", 2);
    write_file(in_folder("two"), packed, first + second);
    cr_assert_eq(bytes_sha256(hex, &size, in_folder("two")), STATUS_OK, "%s", status_message());
    cr_assert_eq(strncmp(hex, "ba7816bf", 8), 0);
}

Test(data_files, folders_pipes_and_absent_files_are_refused_without_waiting) {
    ByteReader *reader = NULL;
    expect_failure(bytes_open(&reader, fixture_folder), STATUS_BAD, "is a folder", NULL);
    cr_assert_eq(mkfifo(in_folder("pipe"), 0600), 0);
    expect_failure(bytes_open(&reader, in_folder("pipe")), STATUS_BAD, "pipe", NULL);
    expect_failure(bytes_open(&reader, in_folder("absent")), STATUS_BAD, "absent", "No such file",
                   NULL);
    cr_assert_null(reader);
}

/* ---- IDX ----------------------------------------------------------------------------------- */

static Status idx_of(size_t count, int rank, bool pack_it) {
    Idx idx;
    const char *path = in_folder("digits-idx");
    write_file(path, pack_it ? packed : bytes, pack_it ? pack(packed, bytes, count) : count);
    Status status = idx_read(&idx, path, rank);
    if (status == STATUS_OK) {
        idx_free(&idx);
    } else {
        cr_assert_null(idx.values);
        cr_assert_not_null(strstr(status_message(), "digits-idx"), "%s", status_message());
    }
    return status;
}

Test(data_files, idx_is_read_value_by_value) {
    Idx idx;
    write_idx(in_folder("good"), 256, 3, (uint32_t[]){7, 3, 5});
    cr_assert_eq(idx_read(&idx, in_folder("good"), 3), STATUS_OK, "%s", status_message());
    cr_assert(idx.dim[0] == 7 && idx.dim[1] == 3 && idx.dim[2] == 5 && idx.count == 105);
    for (int i = 0; i < 105; i++) {
        cr_assert_eq(idx.values[i], i);
    }
    idx_free(&idx);
}

Test(data_files, idx_with_a_wrong_header_is_refused) {
    size_t count = make_idx(bytes, 256, 3, (uint32_t[]){7, 3, 5});
    for (int pack_it = 0; pack_it < 2; pack_it++) {
        cr_assert_eq(idx_of(count, 3, pack_it), STATUS_OK, "%s", status_message());
        bytes[0] = 'P';
        expect_failure(idx_of(count, 3, pack_it), STATUS_BAD, "50 00 08 03", "expected 00 00 08 03",
                       NULL);
        bytes[0] = 0;
        bytes[2] = 0x0d;
        expect_failure(idx_of(count, 3, pack_it), STATUS_BAD, "type 0d (float)", "expected 08",
                       NULL);
        bytes[2] = 8;
        expect_failure(idx_of(count, 1, pack_it), STATUS_BAD, "3 dimensions", "expected 1", NULL);
        bytes[7] = 0; /* no images */
        expect_failure(idx_of(count, 3, pack_it), STATUS_BAD, "size 0 is 0", "empty", NULL);
        bytes[4] = 0xff; /* 0xff000000 images */
        expect_failure(idx_of(count, 3, pack_it), STATUS_BAD, "4278190080", "2147483647", NULL);
        bytes[4] = 0;
        bytes[7] = 7;
    }
}

Test(data_files, idx_whose_sizes_overflow_or_exceed_the_file_is_refused_before_allocating) {
    size_t count = make_idx(bytes, 256, 3, (uint32_t[]){7, 3, 5});
    for (int pack_it = 0; pack_it < 2; pack_it++) {
        memset(bytes + 4, 0, 12);
        for (int i = 4; i < 16; i += 4) {
            memcpy(bytes + i, "\x7f\xff\xff\xff", 4);
        }
        expect_failure(idx_of(count, 3, pack_it), STATUS_BAD, "2147483647x2147483647x2147483647",
                       NULL);
        make_idx(bytes, 256, 3, (uint32_t[]){7, 3, 5});
        bytes[4] = 0x7f; /* 2,130,706,439 images of 15 bytes: fits an address, not the file */
        expect_failure(idx_of(count, 3, pack_it), STATUS_BAD, "claims 2130706439x3x5", "found",
                       NULL);
        make_idx(bytes, 256, 3, (uint32_t[]){7, 3, 5});
    }
}

Test(data_files, idx_that_is_cut_or_too_long_is_refused_at_every_length) {
    size_t count = make_idx(bytes, 256, 3, (uint32_t[]){7, 3, 5});
    for (size_t length = 0; length < count; length++) {
        expect_failure(idx_of(length, 3, false), STATUS_BAD, "get", NULL);
        expect_failure(idx_of(length, 3, true), STATUS_BAD, "cut short", NULL);
    }
    expect_failure(idx_of(count - 1, 3, false), STATUS_BAD, "so 121 bytes", "found 120",
                   "cut short", NULL);
    expect_failure(idx_of(count - 1, 3, true), STATUS_BAD, "found 104 values", "expected 105",
                   NULL);
    bytes[count] = 0;
    expect_failure(idx_of(count + 1, 3, false), STATUS_BAD, "so 121 bytes", "found 122", "too long",
                   NULL);
    expect_failure(idx_of(count + 1, 3, true), STATUS_BAD, "extra bytes", NULL);
}

/* ---- CSV ----------------------------------------------------------------------------------- */

static Status csv_of(CsvTable *table, const char *text) {
    write_file(in_folder("t.csv"), text, strlen(text));
    return csv_read(table, in_folder("t.csv"));
}

Test(data_files, csv_takes_signs_exponents_crlf_and_a_last_line_without_newline) {
    CsvTable table;
    cr_assert_eq(csv_of(&table, "1,-2.5\r\n3e2,+0.25\n-0,7"), STATUS_OK, "%s", status_message());
    const float expected[] = {1, -2.5f, 300, 0.25f, 0, 7};
    cr_assert(table.row_count == 3 && table.column_count == 2);
    for (int i = 0; i < 6; i++) {
        cr_assert_eq(table.values[i], expected[i]);
    }
    csv_free(&table);
}

Test(data_files, csv_with_a_malformed_row_is_refused_with_its_place) {
    static const struct {
        const char *text, *place, *reason;
    } wrong[] = {
        {"", "t.csv", "no rows"},
        {"1,2\n3\n", "row 1 (line 2)", "1 fields, expected 2"},
        {"1,2\n3,4,5\n", "row 1 (line 2)", "more than 2 fields"},
        {"1,2\n3,x\n", "row 1 (line 2) column 2", "'x', expected a number"},
        {"a,b\n1,2\n", "row 0 (line 1) column 1", "header"},
        {"1,2\n\n3,4\n", "row 1 (line 2) column 1", "''"},
        {"1,,2\n", "row 0 (line 1) column 2", "''"},
        {"1,nan\n", "column 2", "'nan'"},
        {"1,inf\n", "column 2", "'inf'"},
        {"1,1e99\n", "column 2", "'1e99'"},
        {"1,0x10\n", "column 2", "'0x10'"},
        {"1, 2\n", "column 2", "' 2'"},
        {"1,2e\n", "column 2", "'2e'"},
        {"1;2\n", "column 1", "'1;2'"},
        {"1,\x01\xff\n", "column 2", "'\?\?'"},
    };
    CsvTable table;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        expect_failure(csv_of(&table, wrong[i].text), STATUS_BAD, "t.csv", wrong[i].place,
                       wrong[i].reason, NULL);
        cr_assert_null(table.values);
    }
    memset(bytes, '1', 100000); /* no comma, no newline */
    write_file(in_folder("t.csv"), bytes, 100000);
    expect_failure(csv_read(&table, in_folder("t.csv")), STATUS_BAD, "more than 63 characters",
                   NULL);
    write_file(in_folder("t.csv"), "1,2\0003\n", 6);
    expect_failure(csv_read(&table, in_folder("t.csv")), STATUS_BAD, "'2?3'", NULL);
}

/* ---- .npy ---------------------------------------------------------------------------------- */

/* bytes = a .npy file with this dictionary, padded as NumPy does. Returns its length. */
static size_t make_npy(int version, const char *dictionary, const void *values, size_t count) {
    size_t prefix = version == 2 ? 12 : 10, length = strlen(dictionary);
    size_t header = (prefix + length + 64) / 64 * 64 - prefix;
    memcpy(bytes, "\x93NUMPY", 6);
    memcpy(bytes + 6, (unsigned char[]){(unsigned char)version, 0, (unsigned char)header, 0, 0, 0},
           6);
    memset(bytes + prefix, ' ', header);
    memcpy(bytes + prefix, dictionary, length);
    bytes[prefix + header - 1] = '\n';
    memcpy(bytes + prefix + header, values, count);
    return prefix + header + count;
}

static Status npy_of(Tensor *tensor, int version, const char *dictionary, const void *values,
                     size_t count) {
    bool was_double = false;
    write_file(in_folder("x.npy"), bytes, make_npy(version, dictionary, values, count));
    return npy_read(tensor, &was_double, in_folder("x.npy"));
}

static const float six[] = {1.5f, -2, 3, 4, 5, 6.25f};

Test(data_files, npy_versions_and_key_orders_read_the_same) {
    static const char *const dictionaries[] = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
        "{ \"shape\" : (2,3) ,'fortran_order':False, \"descr\":'<f4'}",
    };
    Tensor tensor;
    for (int i = 0; i < 4; i++) {
        cr_assert_eq(npy_of(&tensor, 1 + i / 2, dictionaries[i % 2], six, sizeof six), STATUS_OK,
                     "%s", status_message());
        cr_assert(tensor.rank == 2 && tensor.dim[0] == 2 && tensor.dim[1] == 3);
        cr_assert_arr_eq(tensor.data, six, sizeof six);
        cr_assert_str_eq(tensor.name, "x.npy");
        memory_free(tensor.data);
    }
}

Test(data_files, npy_doubles_and_longs_become_fp32_and_int32_or_are_refused) {
    Tensor tensor;
    bool was_double = false;
    const double doubles[] = {0.1, 1e300};
    const int64_t longs[] = {-7, 1LL << 31};
    const char *f8 = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }";
    const char *i8 = "{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }";
    write_file(in_folder("x.npy"), bytes, make_npy(1, f8, doubles, 8));
    cr_assert_eq(npy_read(&tensor, &was_double, in_folder("x.npy")), STATUS_OK);
    cr_assert(was_double && *(float *)tensor.data == 0.1f);
    memory_free(tensor.data);
    write_file(in_folder("x.npy"), bytes, make_npy(1, i8, longs, 8));
    cr_assert_eq(npy_read(&tensor, &was_double, in_folder("x.npy")), STATUS_OK);
    cr_assert(!was_double && tensor.dtype == DTYPE_INT32 && *(int32_t *)tensor.data == -7);
    memory_free(tensor.data);
    expect_failure(npy_of(&tensor, 1, f8, doubles + 1, 8), STATUS_BAD, "value 0 is 1e+300", NULL);
    expect_failure(npy_of(&tensor, 1, i8, longs + 1, 8), STATUS_BAD, "value 0 is 2147483648", NULL);
}

Test(data_files, npy_files_that_are_not_plain_numbers_in_c_order_are_refused) {
    static const struct {
        const char *dictionary, *reason;
    } wrong[] = {
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", "Fortran order"},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }", "big-endian"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2, 3), }", "Python objects"},
        {"{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }", "'<f2'"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 3), }", "records"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }", "160 bytes, found 152"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "136 bytes, found 152"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3), }", "a size"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,2,3), }", "5 dimensions"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2147483648,), }", "2147483647"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2147483647,2147483647,2147483647), }",
         "more bytes than"},
        {"{'descr': '<f4', 'fortran_order': False, }", "before the end"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3", "found"},
        {"{'descr': '<f4', 'order': False, 'shape': (2, 3), }", "fortran_order"},
        {"", "expected {"},
    };
    Tensor tensor;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        expect_failure(npy_of(&tensor, 1, wrong[i].dictionary, six, sizeof six), STATUS_BAD,
                       "x.npy", wrong[i].reason, NULL);
        cr_assert_null(tensor.data);
    }
    expect_failure(npy_of(&tensor, 3, wrong[0].dictionary, six, sizeof six), STATUS_BAD,
                   "version 3.0", NULL);
    write_file(in_folder("x.npy"), "PK\3\4 archive", 12);
    bool was_double = false;
    expect_failure(npy_read(&tensor, &was_double, in_folder("x.npy")), STATUS_BAD, "50 4b", ".npz",
                   NULL);
}

Test(data_files, npy_cut_at_any_length_is_refused) {
    Tensor tensor;
    bool was_double = false;
    const char *dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    size_t count = make_npy(1, dictionary, six, sizeof six);
    for (size_t length = 0; length < count; length++) {
        write_file(in_folder("x.npy"), bytes, length);
        expect_failure(npy_read(&tensor, &was_double, in_folder("x.npy")), STATUS_BAD, "x.npy",
                       NULL);
    }
}

/* The bytes that numpy.save writes for arange(3, dtype=int32): its header, then the values. */
Test(data_files, npy_is_written_as_numpy_writes_it_and_reads_back) {
    Tensor tensor, back;
    bool was_double = false;
    int32_t values[] = {0, 1, 2};
    cr_assert_eq(tensor_init(&tensor, "y", DTYPE_INT32, 1, (int[]){3}), STATUS_OK);
    tensor.data = values;
    cr_assert_eq(npy_write(in_folder("y.npy"), &tensor), STATUS_OK, "%s", status_message());
    size_t count =
        make_npy(1, "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }", values, 12);
    cr_assert_eq(read_file(packed, in_folder("y.npy")), count);
    cr_assert_arr_eq(packed, bytes, count);
    static const int shapes[][TENSOR_MAX_RANK] = {{0}, {2, 3}, {0, 4}, {1, 2, 1, 3, 1}};
    static const int ranks[] = {0, 2, 2, 5};
    for (int i = 0; i < 4; i++) {
        cr_assert_eq(tensor_init(&tensor, "y", DTYPE_FP32, ranks[i], shapes[i]), STATUS_OK);
        tensor.data = (void *)six;
        cr_assert_eq(npy_write(in_folder("y.npy"), &tensor), STATUS_OK);
        cr_assert_eq(npy_read(&back, &was_double, in_folder("y.npy")), STATUS_OK, "%s",
                     status_message());
        cr_assert_eq(back.rank, ranks[i]);
        cr_assert_arr_eq(back.dim, shapes[i], (size_t)ranks[i] * sizeof(int));
        cr_assert_arr_eq(back.data, six, back.bytes);
        memory_free(back.data);
    }
}

Test(data_files, npy_is_not_written_over_what_is_no_file_nor_into_no_folder) {
    Tensor tensor;
    cr_assert_eq(tensor_init(&tensor, "y", DTYPE_FP32, 1, (int[]){6}), STATUS_OK);
    tensor.data = (void *)six;
    expect_failure(npy_write(fixture_folder, &tensor), STATUS_BAD, "is no file", NULL);
    expect_failure(npy_write("/dev/null", &tensor), STATUS_BAD, "is no file", NULL);
    expect_failure(npy_write(in_folder("none/y.npy"), &tensor), STATUS_BAD, "make its folder",
                   NULL);
}
