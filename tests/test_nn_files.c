/* Checkpoints and safetensors: what is written comes back to the bit, and no bad file is taken. */
#include <cjson/cJSON.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>

#include "nn/checkpoint.h"
#include "nn/safetensors.h"
#include "nn_fixture.h"

static TrainOptions options_of(const char *optimizer) {
    TrainOptions options = train_default_options;
    options.optimizer = optimizer;
    options.batch = 8;
    options.seed = 18446744073709551615u; /* no double holds it */
    return options;
}

static CheckpointState state_of(const Trial *trial) {
    CheckpointState state = {.version = "test", .threads = 2, .kernel_count = 1, .seconds = 1.25};
    state.goal.steps = 100;
    snprintf(state.model_name, sizeof state.model_name, "mlp:12-5-3");
    snprintf(state.data_name, sizeof state.data_name, "small");
    snprintf(state.kernels[0], sizeof state.kernels[0], "relu_forward=naive");
    data_fingerprint(state.data_print, sizeof state.data_print, &trial->data);
    return state;
}

static unsigned char file_bytes[FIXTURE_FILE_BYTES];

TestSuite(checkpoint, .init = fixture_open, .fini = fixture_close);
TestSuite(safetensors, .init = fixture_open, .fini = fixture_close);

/* ---- checkpoints ---------------------------------------------------------------------------- */

Test(checkpoint, a_resumed_run_ends_as_the_unbroken_one_to_the_bit) {
    static const char *const backends[] = {"serial", "openmp", "openblas"};
    static const char *const optimizers[] = {"sgd", "momentum", "adam", "adamw"};
    const char *path = in_folder("run.ckpt");
    for (int b = 0; b < 3; b++) {
        for (int o = 0; o < 4; o++) {
            TrainOptions options = options_of(optimizers[o]);
            Trial whole, resumed;
            Checkpoint *checkpoint;
            trial_start(&whole, "mlp:12-5-3", backends[b], 2, &options);
            trial_start(&resumed, "mlp:12-5-3", backends[b], 2, &options);
            CheckpointState state = state_of(&whole);
            trial_steps(&whole, 10);
            EXPECT_OK(checkpoint_save(path, whole.run, &state));
            trial_steps(&whole, 11);
            EXPECT_OK(checkpoint_load(&checkpoint, path));
            EXPECT_OK(checkpoint_restore(checkpoint, resumed.run));
            checkpoint_free(checkpoint);
            trial_steps(&resumed, 11);
            cr_assert(same_numbers(whole.run, resumed.run), "%s, %s", backends[b], optimizers[o]);
            trial_end(&whole);
            trial_end(&resumed);
        }
    }
}

Test(checkpoint, it_says_what_it_was_told) {
    TrainOptions options = options_of("adamw");
    Trial trial;
    Checkpoint *checkpoint;
    char text[CHECKPOINT_MODEL_BYTES];
    options.settings.lr = 0.1 + 0.2; /* 17 digits */
    trial_start(&trial, "mlp:12-5-3", "serial", 1, &options);
    CheckpointState wrote = state_of(&trial);
    trial_steps(&trial, 3);
    EXPECT_OK(checkpoint_save(in_folder("a"), trial.run, &wrote));
    EXPECT_OK(checkpoint_load(&checkpoint, in_folder("a")));
    const CheckpointState *read = checkpoint_state(checkpoint);
    cr_assert_eq(read->step, 3);
    cr_assert_eq(read->options.seed, options.seed);
    cr_assert_eq(read->options.batch, 8);
    cr_assert_eq(read->options.settings.lr, options.settings.lr);
    cr_assert_eq(read->options.settings.weight_decay, 0.01); /* adamw's own */
    cr_assert_str_eq(read->options.optimizer, "adamw");
    cr_assert_str_eq(read->model_text, model_text(text, sizeof text, &trial.model));
    cr_assert_str_eq(read->data_print, wrote.data_print);
    cr_assert_str_eq(read->backend, "serial");
    cr_assert_str_eq(read->kernels[0], "relu_forward=naive");
    cr_assert_eq(read->kernel_count, 1);
    cr_assert_eq(read->threads, 2);
    cr_assert_eq(read->goal.steps, 100);
    cr_assert_eq(read->seconds, 1.25);
    checkpoint_free(checkpoint);
    trial_end(&trial);
}

static size_t write_checkpoint(Trial *trial, const char *path) {
    TrainOptions options = options_of("momentum");
    trial_start(trial, "mlp:12-5-3", "serial", 1, &options);
    CheckpointState state = state_of(trial);
    trial_steps(trial, 1);
    EXPECT_OK(checkpoint_save(path, trial->run, &state));
    return read_file(file_bytes, path);
}

Test(checkpoint, cut_anywhere_or_with_any_byte_changed_it_is_refused) {
    Trial trial;
    Checkpoint *checkpoint;
    size_t size = write_checkpoint(&trial, in_folder("good"));
    const char *bad = in_folder("bad");
    for (size_t length = 0; length < size; length++) {
        write_file(bad, file_bytes, length);
        cr_assert_eq(checkpoint_load(&checkpoint, bad), STATUS_BAD, "cut to %zu bytes", length);
    }
    for (size_t at = 0; at < size; at++) {
        file_bytes[at] ^= (unsigned char)(1 << at % 8);
        write_file(bad, file_bytes, size);
        cr_assert_eq(checkpoint_load(&checkpoint, bad), STATUS_BAD, "byte %zu changed", at);
        cr_assert_not_null(strstr(status_message(), bad), "%s", status_message());
        file_bytes[at] ^= (unsigned char)(1 << at % 8);
    }
    file_bytes[size] = 0;
    write_file(bad, file_bytes, size + 1);
    expect_failure(checkpoint_load(&checkpoint, bad), STATUS_BAD, "damaged or cut", NULL);
    trial_end(&trial);
}

/* The checksum is right, the content is not: a file from another program, or an enemy's. */
static void write_with_header(const char *path, const char *header, size_t values) {
    uint32_t numbers[2] = {CHECKPOINT_VERSION, (uint32_t)strlen(header)};
    static unsigned char bytes[65536];
    size_t used = 0;
    memcpy(bytes, "LOCKSTEP", 8);
    memcpy(bytes + 8, numbers, 8);
    memcpy(bytes + 16, header, numbers[1]);
    used = 16 + numbers[1];
    memset(bytes + used, 0, values);
    used += values;
    uint32_t checksum = (uint32_t)crc32(0, bytes, (uInt)used);
    memcpy(bytes + used, &checksum, 4);
    write_file(path, bytes, used + 4);
}

Test(checkpoint, a_header_with_any_key_gone_or_of_another_kind_is_refused) {
    static const char *const keys[] = {
        "version", "step",    "seconds", "model", "model_text", "data", "data_print",
        "backend", "threads", "batch",   "seed",  "optimizer",  "goal",
    };
    Trial trial;
    Checkpoint *checkpoint;
    write_checkpoint(&trial, in_folder("good"));
    uint32_t length;
    memcpy(&length, file_bytes + 12, 4);
    for (size_t k = 0; k < 2 * sizeof keys / sizeof keys[0]; k++) {
        cJSON *json = cJSON_ParseWithLength((const char *)file_bytes + 16, length);
        const char *key = keys[k / 2];
        cJSON_DeleteItemFromObjectCaseSensitive(json, key);
        if (k % 2 == 1) {
            cJSON_AddNullToObject(json, key);
        }
        char *text = cJSON_PrintUnformatted(json);
        write_with_header(in_folder("bad"), text, 1000);
        expect_failure(checkpoint_load(&checkpoint, in_folder("bad")), STATUS_BAD, "header:", NULL);
        cJSON_free(text);
        cJSON_Delete(json);
    }
    write_with_header(in_folder("bad"), "{\"version\":", 0);
    expect_failure(checkpoint_load(&checkpoint, in_folder("bad")), STATUS_BAD, "not JSON", NULL);
    trial_end(&trial);
}

Test(checkpoint, another_version_or_another_kind_of_file_says_so) {
    Trial trial;
    Checkpoint *checkpoint;
    size_t size = write_checkpoint(&trial, in_folder("good"));
    file_bytes[8] = 2;
    write_file(in_folder("newer"), file_bytes, size);
    expect_failure(checkpoint_load(&checkpoint, in_folder("newer")), STATUS_BAD, "version 2",
                   "reads version 1", NULL);
    write_file(in_folder("text"), "linear fc1 128\nrelu act1\nlinear fc2 10\n", 39);
    expect_failure(checkpoint_load(&checkpoint, in_folder("text")), STATUS_BAD, "not a checkpoint",
                   NULL);
    expect_failure(checkpoint_load(&checkpoint, fixture_folder), STATUS_BAD, "folder", NULL);
    expect_failure(checkpoint_load(&checkpoint, in_folder("none")), STATUS_BAD, "No such file",
                   NULL);
    cr_assert(checkpoint_is(in_folder("good")));
    cr_assert(!checkpoint_is(in_folder("text")));
    cr_assert(!checkpoint_is(in_folder("none")));
    trial_end(&trial);
}

Test(checkpoint, another_models_checkpoint_names_the_tensor) {
    Trial trial, other;
    Checkpoint *checkpoint;
    write_checkpoint(&trial, in_folder("good"));
    EXPECT_OK(checkpoint_load(&checkpoint, in_folder("good")));
    TrainOptions options = options_of("momentum");
    trial_start(&other, "mlp:12-6-3", "serial", 1, &options);
    expect_failure(checkpoint_restore(checkpoint, other.run), STATUS_BAD, "fc1.weight", "6x12",
                   NULL);
    trial_end(&other);
    options = options_of("adam");
    trial_start(&other, "mlp:12-5-3", "serial", 1, &options);
    expect_failure(checkpoint_restore(checkpoint, other.run), STATUS_BAD, "fc1.weight.m", NULL);
    trial_end(&other);
    options = options_of("momentum");
    trial_start(&other, "mlp:12-5-4-3", "serial", 1, &options);
    expect_failure(checkpoint_restore(checkpoint, other.run), STATUS_BAD, "fc2.weight", NULL);
    trial_end(&other);
    checkpoint_free(checkpoint);
    trial_end(&trial);
}

static bool same_file(const char *a, const char *b) {
    static unsigned char x[FIXTURE_FILE_BYTES], y[FIXTURE_FILE_BYTES];
    size_t size = read_file(x, a);
    return read_file(y, b) == size && memcmp(x, y, size) == 0;
}

/* A limit on file sizes stands for a full disk: the same write fails, at any byte. */
Test(checkpoint, a_write_that_fails_at_any_byte_leaves_the_old_file) {
    Trial trial;
    size_t size = write_checkpoint(&trial, in_folder("run"));
    write_file(in_folder("copy"), file_bytes, size);
    CheckpointState state = state_of(&trial);
    struct rlimit limit, whole;
    trial_steps(&trial, 1);
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &whole), 0);
    for (size_t room = 0; room < size; room += 97) {
        limit = whole;
        limit.rlim_cur = room;
        cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
        Status saved = checkpoint_save(in_folder("run"), trial.run, &state);
        Status weights = safetensors_save(in_folder("run"), trial.run);
        cr_assert_eq(setrlimit(RLIMIT_FSIZE, &whole), 0);
        cr_assert_eq(saved, STATUS_BAD, "room for %zu bytes", room);
        cr_assert(weights == STATUS_BAD || room > 400, "room for %zu bytes", room);
        if (weights == STATUS_BAD) {
            cr_assert(same_file(in_folder("run"), in_folder("copy")));
        }
        cr_assert(!exists(in_folder("run.lockstep-tmp")), "a half file was left");
        write_file(in_folder("run"), file_bytes, size);
    }
    EXPECT_OK(checkpoint_save(in_folder("run"), trial.run, &state));
    cr_assert(!same_file(in_folder("run"), in_folder("copy")));
    trial_end(&trial);
}

Test(checkpoint, places_where_nothing_can_be_written_are_named) {
    Trial trial;
    write_checkpoint(&trial, in_folder("run"));
    CheckpointState state = state_of(&trial);
    expect_failure(checkpoint_save(in_folder("none/run"), trial.run, &state), STATUS_BAD,
                   "none/run", "make its folder first", NULL);
    expect_failure(checkpoint_save(fixture_folder, trial.run, &state), STATUS_BAD, "a folder",
                   NULL);
    expect_failure(checkpoint_save("/dev/null", trial.run, &state), STATUS_BAD, "no regular file",
                   NULL);
    expect_failure(checkpoint_save("/proc/run", trial.run, &state), STATUS_BAD, "/proc/run", NULL);
    expect_failure(checkpoint_save("", trial.run, &state), STATUS_BAD, "name of a file", NULL);
    trial_end(&trial);
}

Test(checkpoint, weights_that_are_not_finite_do_not_replace_good_ones) {
    Trial trial;
    size_t size = write_checkpoint(&trial, in_folder("run"));
    CheckpointState state = state_of(&trial);
    float bias[3] = {0.0f, INFINITY, 0.0f};
    write_file(in_folder("copy"), file_bytes, size);
    EXPECT_OK(run_upload(trial.run, trial.run->params[3].param, bias));
    expect_failure(checkpoint_save(in_folder("run"), trial.run, &state), STATUS_NO, "fc2.bias[1]",
                   "diverged", NULL);
    cr_assert(same_file(in_folder("run"), in_folder("copy")));
    cr_assert(!exists(in_folder("run.lockstep-tmp")));
    trial_end(&trial);
}

Test(checkpoint, data_that_differ_in_one_pixel_or_label_have_another_fingerprint) {
    Dataset data = small_data();
    char first[128], second[128];
    data_fingerprint(first, sizeof first, &data);
    nn_pixels[1][77] ^= 1;
    cr_assert_str_neq(first, data_fingerprint(second, sizeof second, &data));
    nn_pixels[1][77] ^= 1;
    nn_labels[0][3] ^= 1;
    cr_assert_str_neq(first, data_fingerprint(second, sizeof second, &data));
    nn_labels[0][3] ^= 1;
    cr_assert_str_eq(first, data_fingerprint(second, sizeof second, &data));
}

/* ---- safetensors ---------------------------------------------------------------------------- */

/* Read by the definition alone: length, JSON, values. */
Test(safetensors, a_written_file_is_what_the_format_says) {
    TrainOptions options = options_of("adam");
    Trial trial;
    float host[5 * NN_PIXELS];
    uint64_t length;
    trial_start(&trial, "mlp:12-5-3", "openblas", 2, &options);
    trial_steps(&trial, 3);
    EXPECT_OK(safetensors_save(in_folder("w.safetensors"), trial.run));
    size_t size = read_file(file_bytes, in_folder("w.safetensors"));
    memcpy(&length, file_bytes, 8);
    cr_assert_eq((8 + length) % 8, 0);
    cr_assert_eq(file_bytes[8], '{');
    cJSON *json = cJSON_ParseWithLength((const char *)file_bytes + 8, length);
    static const struct {
        const char *name;
        int rank, dim[2];
    } expected[] = {{"fc1.weight", 2, {5, 12}},
                    {"fc1.bias", 1, {5}},
                    {"fc2.weight", 2, {3, 5}},
                    {"fc2.bias", 1, {3}}};
    size_t end = 0;
    for (int i = 0; i < 4; i++) {
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, expected[i].name);
        const cJSON *shape = cJSON_GetObjectItem(item, "shape");
        const cJSON *offsets = cJSON_GetObjectItem(item, "data_offsets");
        cr_assert_str_eq(cJSON_GetStringValue(cJSON_GetObjectItem(item, "dtype")), "F32");
        cr_assert_eq(cJSON_GetArraySize(shape), expected[i].rank);
        for (int d = 0; d < expected[i].rank; d++) {
            cr_assert_eq(cJSON_GetArrayItem(shape, d)->valueint, expected[i].dim[d]);
        }
        cr_assert_eq((size_t)cJSON_GetArrayItem(offsets, 0)->valueint, end);
        end = (size_t)cJSON_GetArrayItem(offsets, 1)->valueint;
        EXPECT_OK(run_download(trial.run, host, trial.run->params[i].param));
        size_t begin = end - trial.run->params[i].param->bytes;
        cr_assert_eq(memcmp(file_bytes + 8 + length + begin, host, end - begin), 0);
    }
    cr_assert_eq(8 + length + end, size);
    cJSON_Delete(json);
    trial_end(&trial);
}

Test(safetensors, weights_come_back_to_the_bit) {
    TrainOptions options = options_of("sgd");
    Trial one, two;
    trial_start(&one, "mlp:12-5-3", "serial", 1, &options);
    options.seed = 2;
    trial_start(&two, "mlp:12-5-3", "openmp", 2, &options);
    cr_assert(!same_numbers(one.run, two.run));
    trial_steps(&one, 5);
    EXPECT_OK(safetensors_save(in_folder("w.safetensors"), one.run));
    EXPECT_OK(safetensors_load(in_folder("w.safetensors"), two.run));
    cr_assert(same_numbers(one.run, two.run));
    trial_end(&one);
    trial_end(&two);
}

enum { W1 = 240, B1 = 20, W2 = 60, B2 = 12, VALUES = W1 + B1 + W2 + B2 };

static size_t put_file(const char *header, size_t values) {
    uint64_t length = strlen(header);
    memset(file_bytes, 0, 8 + length + values);
    memcpy(file_bytes, &length, 8);
    memcpy(file_bytes + 8, header, length);
    write_file(in_folder("w.safetensors"), file_bytes, 8 + length + values);
    return 8 + length + values;
}

#define T(name, dtype, shape, offsets)                                                             \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"
#define FC1_WEIGHT T("fc1.weight", "F32", "[5,12]", "[0,240]")
#define FC1_BIAS   T("fc1.bias", "F32", "[5]", "[240,260]")
#define FC2_WEIGHT T("fc2.weight", "F32", "[3,5]", "[260,320]")
#define FC2_BIAS   T("fc2.bias", "F32", "[3]", "[320,332]")

Test(safetensors, files_by_others_are_read_in_any_order_with_metadata_and_padding) {
    TrainOptions options = options_of("sgd");
    Trial trial;
    trial_start(&trial, "mlp:12-5-3", "serial", 1, &options);
    put_file("{" FC2_BIAS ",\"__metadata__\":{\"by\":\"hand\"}," FC1_BIAS "," FC1_WEIGHT
             "," FC2_WEIGHT "}     ",
             VALUES);
    EXPECT_OK(safetensors_load(in_folder("w.safetensors"), trial.run));
    trial_end(&trial);
}

Test(safetensors, a_bad_file_is_refused_and_no_weight_is_touched) {
    static const struct {
        const char *header;
        size_t values;
        const char *what;
    } cases[] = {
        {"{" FC1_WEIGHT "," FC1_BIAS "," FC2_WEIGHT "}", 320, "fc2.bias is not in it"},
        {"{" FC1_WEIGHT "," FC1_BIAS "," FC2_WEIGHT "," FC2_BIAS
         "," T("fc2.bais", "F32", "[3]", "[320,332]") "}",
         VALUES, "did you mean 'fc2.bias'"},
        {"{" FC1_WEIGHT "," FC1_BIAS "," FC2_WEIGHT "," FC2_BIAS "," FC2_BIAS "}", VALUES, "twice"},
        {"{" T("fc1.weight", "F16", "[5,12]", "[0,120]") "," FC1_BIAS "," FC2_WEIGHT "," FC2_BIAS
                                                         "}",
         VALUES, "dtype F16"},
        {"{" T("fc1.weight", "F32", "[12,5]", "[0,240]") "," FC1_BIAS "," FC2_WEIGHT "," FC2_BIAS
                                                         "}",
         VALUES, "shape 12x5, the model 5x12"},
        {"{" T("fc1.weight", "F32", "[60]", "[0,240]") "," FC1_BIAS "," FC2_WEIGHT "," FC2_BIAS "}",
         VALUES, "shape 60, the model 5x12"},
        {"{" T("fc1.weight", "F32", "[5,-12]", "[0,240]") "," FC1_BIAS "," FC2_WEIGHT "," FC2_BIAS
                                                          "}",
         VALUES, "fc1.weight"},
        {"{" T("fc1.weight", "F32", "[5,12.5]", "[0,240]") "," FC1_BIAS "," FC2_WEIGHT "," FC2_BIAS
                                                           "}",
         VALUES, "fc1.weight"},
        {"{" T("fc1.weight", "F32", "[1,1,1,1,1,1,1]", "[0,240]") "," FC1_BIAS "," FC2_WEIGHT
                                                                  "," FC2_BIAS "}",
         VALUES, "fc1.weight"},
        {"{" T("fc1.weight", "F32", "7", "[0,240]") "," FC1_BIAS "," FC2_WEIGHT "," FC2_BIAS "}",
         VALUES, "fc1.weight"},
        {"{" T("fc1.weight", "F32", "[5,12]", "[0,236]") "," FC1_BIAS "," FC2_WEIGHT "," FC2_BIAS
                                                         "}",
         VALUES, "needs 240 bytes"},
        {"{" T("fc1.weight", "F32", "[5,12]", "[-4,236]") "," FC1_BIAS "," FC2_WEIGHT "," FC2_BIAS
                                                          "}",
         VALUES, "data_offsets"},
        {"{" T("fc1.weight", "F32", "[5,12]", "[240,0]") "," FC1_BIAS "," FC2_WEIGHT "," FC2_BIAS
                                                         "}",
         VALUES, "data_offsets"},
        {"{" T("fc1.weight", "F32", "[5,12]", "[0,1e300]") "," FC1_BIAS "," FC2_WEIGHT "," FC2_BIAS
                                                           "}",
         VALUES, "data_offsets"},
        {"{" T("fc1.weight", "F32", "[5,12]", "[0]") "," FC1_BIAS "," FC2_WEIGHT "," FC2_BIAS "}",
         VALUES, "data_offsets"},
        {"{" FC1_WEIGHT "," T("fc1.bias", "F32", "[5]", "[220,240]") "," FC2_WEIGHT "," FC2_BIAS
                                                                     "}",
         VALUES, "overlap"},
        {"{" FC1_WEIGHT "," FC1_BIAS "," T("fc2.weight", "F32", "[3,5]", "[264,324]") "," T(
             "fc2.bias", "F32", "[3]", "[324,336]") "}",
         336, "gap"},
        {"{" FC1_WEIGHT "," FC1_BIAS "," FC2_WEIGHT "," FC2_BIAS "}", VALUES + 4, "332 of 336"},
        {"{" FC1_WEIGHT "," FC1_BIAS "," FC2_WEIGHT "," FC2_BIAS "}", VALUES - 4, "cut"},
        {"{" FC1_WEIGHT "," FC1_BIAS "," FC2_WEIGHT "," FC2_BIAS "} x", VALUES, "follow"},
        {"{" FC1_WEIGHT "," FC1_BIAS "," FC2_WEIGHT "," FC2_BIAS, VALUES, "no JSON object"},
        {"[]", VALUES, "no JSON object"},
        {"{}", 0, "fc1.weight is not in it"},
        {"{\"fc1.weight\":7," FC1_BIAS "," FC2_WEIGHT "," FC2_BIAS "}", VALUES, "fc1.weight"},
    };
    TrainOptions options = options_of("sgd");
    Trial trial, twin;
    trial_start(&trial, "mlp:12-5-3", "serial", 1, &options);
    trial_start(&twin, "mlp:12-5-3", "serial", 1, &options);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put_file(cases[i].header, cases[i].values);
        expect_failure(safetensors_load(in_folder("w.safetensors"), trial.run), STATUS_BAD,
                       "w.safetensors", cases[i].what, NULL);
        cr_assert(same_numbers(trial.run, twin.run), "case %zu changed a weight", i);
    }
    trial_end(&trial);
    trial_end(&twin);
}

Test(safetensors, cut_anywhere_it_is_refused) {
    TrainOptions options = options_of("sgd");
    Trial trial;
    trial_start(&trial, "mlp:12-5-3", "serial", 1, &options);
    size_t size = put_file("{" FC1_WEIGHT "," FC1_BIAS "," FC2_WEIGHT "," FC2_BIAS "}", VALUES);
    EXPECT_OK(safetensors_load(in_folder("w.safetensors"), trial.run));
    for (size_t length = 0; length < size; length++) {
        write_file(in_folder("w.safetensors"), file_bytes, length);
        cr_assert_eq(safetensors_load(in_folder("w.safetensors"), trial.run), STATUS_BAD,
                     "cut to %zu bytes", length);
    }
    memset(file_bytes, 0xff, 8); /* a header of 2^64 - 1 bytes */
    write_file(in_folder("w.safetensors"), file_bytes, size);
    expect_failure(safetensors_load(in_folder("w.safetensors"), trial.run), STATUS_BAD, "claim",
                   NULL);
    trial_end(&trial);
}
