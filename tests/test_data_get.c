/* lockstep data get: mirrors of every manner on the loopback, resumed parts, wrong sums, full and
 * closed disks, and death in the middle. Nothing here needs a network. */
#include "data/get.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>

#include "cli/cli.h"
#include "data/bytes.h"
#include "tests/data_server.h"

enum { FILE_COUNT = 2, CONTENT_BYTES = 100000 };

static const char *const names[FILE_COUNT] = {"first-file", "second-file"};
static char sums[FILE_COUNT][65];
static DataInfo info = {.name = "made-up", .file_count = FILE_COUNT};
static unsigned char content[CONTENT_BYTES], packed[CONTENT_BYTES + 1024];

/* mirror/NAME.gz holds noise, and info its sums: what a published set would be. */
static void make_mirror(void) {
    fixture_open();
    mkdir(in_folder("mirror"), 0777);
    uint32_t state = 7;
    for (int f = 0; f < FILE_COUNT; f++) {
        char name[64];
        uint64_t size = 0;
        for (int i = 0; i < CONTENT_BYTES; i++) {
            state = state * 1664525u + 1013904223u;
            content[i] = (unsigned char)(state >> 24);
        }
        snprintf(name, sizeof name, "mirror/%s.gz", names[f]);
        write_file(in_folder(name), packed, pack(packed, content, CONTENT_BYTES));
        cr_assert_eq(bytes_sha256(sums[f], &size, in_folder(name)), STATUS_OK);
        info.files[f] = (DataFile){names[f], sums[f], CONTENT_BYTES};
    }
}

TestSuite(data_get, .init = make_mirror, .fini = fixture_close);

static Status get_from(GetReport *report, const char *mirror) {
    char folder[FIXTURE_PATH_BYTES * 2];
    snprintf(folder, sizeof folder, "%s", in_folder("deep/down/to"));
    GetOptions options = {.folder = folder, .mirror = mirror, .quiet = true};
    return data_get(report, &info, &options);
}

/* Every file under its final name is whole and right; returns how many there are. */
static int whole_files(void) {
    int count = 0;
    char hex[65], name[64];
    for (int f = 0; f < FILE_COUNT; f++) {
        snprintf(name, sizeof name, "deep/down/to/%s.gz", names[f]);
        if (exists(in_folder(name))) {
            cr_assert_eq(data_check_file(hex, &info.files[f], in_folder("deep/down/to")), STATUS_OK,
                         "%s", status_message());
            count++;
        }
    }
    return count;
}

static bool part_exists(void) {
    return exists(in_folder("deep/down/to/first-file.gz.part"));
}

static void expect_got(Status status, const GetReport *report, GetOutcome first) {
    cr_assert_eq(status, STATUS_OK, "%s", status_message());
    cr_assert_eq(report->file_count, FILE_COUNT);
    cr_assert_eq(report->files[0].outcome, first, "%s", get_outcome_name(report->files[0].outcome));
    cr_assert_eq(whole_files(), FILE_COUNT);
    cr_assert_not(part_exists());
}

/* A part with the first `bytes` bytes of the right file. */
static void write_part(size_t bytes) {
    mkdir(in_folder("deep"), 0777);
    mkdir(in_folder("deep/down"), 0777);
    mkdir(in_folder("deep/down/to"), 0777);
    cr_assert_geq(read_file(packed, in_folder("mirror/first-file.gz")), bytes);
    write_file(in_folder("deep/down/to/first-file.gz.part"), packed, bytes);
}

/* ---- Good days ----------------------------------------------------------------------------- */

Test(data_get, files_come_from_http_into_new_folders_and_are_present_the_second_time) {
    GetReport report;
    Server server = server_start(SERVE_RANGES);
    expect_got(get_from(&report, server.url), &report, GET_FETCHED);
    expect_got(get_from(&report, server.url), &report, GET_PRESENT);
    server_stop(&server);
    expect_got(get_from(&report, "http://127.0.0.1:1"), &report, GET_PRESENT);
}

Test(data_get, files_come_from_a_file_url) {
    GetReport report;
    char url[FIXTURE_PATH_BYTES * 2];
    snprintf(url, sizeof url, "file://%s/mirror/", fixture_folder);
    write_part(4000);
    expect_got(get_from(&report, url), &report, GET_RESUMED);
}

Test(data_get, a_part_is_continued_where_it_ends) {
    GetReport report;
    uint32_t start = 0;
    Server server = server_start(SERVE_RANGES);
    write_part(4000);
    expect_got(get_from(&report, server.url), &report, GET_RESUMED);
    cr_assert_eq(read(server.told, &start, sizeof start), (ssize_t)sizeof start);
    cr_assert_eq(start, 4000u, "the range that was asked for");
    server_stop(&server);
}

Test(data_get, a_part_that_is_whole_needs_no_network) {
    GetReport report;
    struct stat file;
    cr_assert_eq(stat(in_folder("mirror/first-file.gz"), &file), 0);
    write_part((size_t)file.st_size);
    Status status = get_from(&report, "http://127.0.0.1:1");
    cr_assert_eq(status, STATUS_MISSING, "the second file cannot come");
    cr_assert_eq(whole_files(), 1);
}

Test(data_get, a_server_without_ranges_sends_it_all_again) {
    GetReport report;
    Server server = server_start(SERVE_NO_RANGES);
    write_part(4000);
    expect_got(get_from(&report, server.url), &report, GET_FETCHED);
    server_stop(&server);
}

Test(data_get, a_part_of_something_else_is_fetched_again_from_the_start) {
    GetReport report;
    Server server = server_start(SERVE_RANGES);
    write_part(10);
    write_file(in_folder("deep/down/to/first-file.gz.part"), content, 5000);
    expect_got(get_from(&report, server.url), &report, GET_FETCHED);
    server_stop(&server);
}

Test(data_get, the_next_mirror_goes_on_where_one_failed) {
    GetReport report;
    Server bad = server_start(SERVE_404), wrong = server_start(SERVE_WRONG);
    Server good = server_start(SERVE_RANGES);
    info.mirrors[0] = bad.url;
    info.mirrors[1] = good.url;
    expect_got(get_from(&report, NULL), &report, GET_FETCHED);
    cr_assert_str_eq(report.files[0].mirror, good.url);
    cr_assert_eq(unlink(in_folder("deep/down/to/first-file.gz")), 0);
    info.mirrors[0] = wrong.url;
    expect_got(get_from(&report, NULL), &report, GET_FETCHED);
    info.mirrors[0] = info.mirrors[1] = NULL;
    server_stop(&bad);
    server_stop(&wrong);
    server_stop(&good);
}

Test(data_get, a_wrong_packed_file_is_replaced_and_a_wrong_plain_one_is_named) {
    GetReport report;
    Server server = server_start(SERVE_RANGES);
    write_part(10);
    write_file(in_folder("deep/down/to/first-file.gz"), content, 5000);
    cr_assert_eq(unlink(in_folder("deep/down/to/first-file.gz.part")), 0);
    expect_got(get_from(&report, server.url), &report, GET_FETCHED);
    write_file(in_folder("deep/down/to/first-file"), content, 5000);
    expect_failure(get_from(&report, server.url), STATUS_NO,
                   "deep/down/to/first-file:", "remove it", NULL);
    server_stop(&server);
}

/* ---- Bad days ------------------------------------------------------------------------------ */

Test(data_get, wrong_content_is_refused_with_exit_code_1_and_leaves_nothing) {
    GetReport report;
    Server server = server_start(SERVE_WRONG);
    write_part(4000);
    expect_failure(get_from(&report, server.url), STATUS_NO, "first-file.gz", server.url,
                   "nothing was put in place", NULL);
    cr_assert_eq(whole_files(), 0);
    cr_assert_not(part_exists(), "wrong bytes must not be continued");
    server_stop(&server);
}

Test(data_get, another_file_with_a_good_checksum_is_refused_by_its_sum) {
    GetReport report;
    char url[FIXTURE_PATH_BYTES * 2];
    snprintf(url, sizeof url, "file://%s/mirror", fixture_folder);
    write_file(in_folder("mirror/first-file.gz"), packed, pack(packed, "other", 5));
    expect_failure(get_from(&report, url), STATUS_NO, "5 bytes with sha256", sums[0], NULL);
    cr_assert_eq(whole_files(), 0);
}

Test(data_get, short_answers_keep_their_part_and_say_how_to_go_on) {
    GetReport report;
    Server server = server_start(SERVE_SHORT);
    expect_failure(get_from(&report, server.url), STATUS_MISSING, "ended early", "run it again",
                   NULL);
    cr_assert_eq(whole_files(), 0);
    cr_assert(part_exists());
    server_stop(&server);
    server = server_start(SERVE_RANGES);
    expect_got(get_from(&report, server.url), &report, GET_RESUMED);
    server_stop(&server);
}

Test(data_get, absent_files_and_servers_are_missing) {
    GetReport report;
    Server server = server_start(SERVE_404);
    expect_failure(get_from(&report, server.url), STATUS_MISSING, "404", "--mirror", NULL);
    server_stop(&server);
    expect_failure(get_from(&report, server.url), STATUS_MISSING, server.url, "network", NULL);
    expect_failure(get_from(&report, "file:///nowhere/at/all"), STATUS_MISSING, "/nowhere/at/all",
                   NULL);
    expect_failure(get_from(&report, "gopher://x/"), STATUS_BAD, "gopher://x/", "https://", NULL);
    expect_failure(get_from(&report, "http://"), STATUS_BAD, "http://", NULL);
    cr_assert_not(part_exists());
}

Test(data_get, an_answer_without_end_is_cut_off) {
    GetReport report;
    Server server = server_start(SERVE_ENDLESS);
    expect_failure(get_from(&report, server.url), STATUS_NO, "sends more than", NULL);
    cr_assert_not(part_exists());
    server_stop(&server);
}

Test(data_get, a_full_disk_is_named_and_the_part_kept) {
    GetReport report;
    Server server = server_start(SERVE_RANGES);
    struct rlimit limit = {8192, RLIM_INFINITY}, none = {RLIM_INFINITY, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN); /* then a write past the limit fails, as on a full disk */
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    Status status = get_from(&report, server.url);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
    expect_failure(status, STATUS_BAD, "first-file.gz.part", "cannot write", NULL);
    cr_assert(part_exists());
    expect_got(get_from(&report, server.url), &report, GET_RESUMED);
    server_stop(&server);
}

Test(data_get, a_folder_that_cannot_be_made_is_named) {
    GetReport report;
    write_file(in_folder("deep"), "a file", 6);
    expect_failure(get_from(&report, "file:///nowhere"), STATUS_BAD, in_folder("deep"),
                   "cannot make the folder", NULL);
}

Test(data_get, a_second_get_into_the_same_folder_is_kept_out) {
    GetReport report;
    write_part(10);
    int folder = open(in_folder("deep/down/to"), O_RDONLY | O_DIRECTORY);
    cr_assert_eq(flock(folder, LOCK_EX), 0);
    expect_failure(get_from(&report, "file:///nowhere"), STATUS_BAD, "another lockstep data get",
                   NULL);
    close(folder);
}

Test(data_get, killed_in_the_middle_it_leaves_no_half_file_and_the_next_one_goes_on) {
    GetReport report;
    uint32_t note;
    Server server = server_start(SERVE_STALL);
    pid_t child = fork();
    if (child == 0) {
        (void)get_from(&report, server.url);
        _exit(0);
    }
    cr_assert_eq(read(server.told, &note, sizeof note), (ssize_t)sizeof note, "half was sent");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    server_stop(&server);
    cr_assert_eq(whole_files(), 0);
    server = server_start(SERVE_RANGES);
    cr_assert_eq(get_from(&report, server.url), STATUS_OK, "%s", status_message());
    cr_assert_eq(whole_files(), FILE_COUNT);
    cr_assert_not(part_exists());
    server_stop(&server);
}

/* ---- The command --------------------------------------------------------------------------- */

/* Runs lockstep data WORDS, and *output is the JSON object on standard output, NULL if none. */
static Status run_data(cJSON **output, const char *words) {
    static char text[FIXTURE_FILE_BYTES];
    char line[FIXTURE_PATH_BYTES * 3];
    char *argv[16] = {"data"};
    int argc = 1;
    snprintf(line, sizeof line, "%s", words);
    for (char *word = strtok(line, " "); word != NULL; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    cr_assert_not_null(freopen(in_folder("output"), "w", stdout));
    Status status = cli_data(argc, argv);
    fflush(stdout);
    size_t count = read_file(text, in_folder("output"));
    *output = cJSON_ParseWithLengthOpts(text, count, NULL, 0);
    return status;
}

Test(data_get, the_command_lists_gets_and_checks_with_one_json_object) {
    cJSON *output;
    cr_assert_eq(run_data(&output, "list --json"), STATUS_OK);
    const cJSON *list = cJSON_GetObjectItem(output, "data");
    cr_assert_eq(cJSON_GetArraySize(list), catalog_count());
    cr_assert_str_eq(cJSON_GetObjectItem(cJSON_GetArrayItem(list, 0), "name")->valuestring,
                     "mnist-small");
    cJSON_Delete(output);
    cr_assert_eq(run_data(&output, "check mnist-small optdigits --json"), STATUS_OK);
    cr_assert(cJSON_IsTrue(cJSON_GetObjectItem(output, "ok")));
    cr_assert_eq(cJSON_GetArraySize(cJSON_GetObjectItem(output, "checks")), 5);
    cJSON_Delete(output);
    cr_assert_eq(run_data(&output, "get optdigits --json"), STATUS_OK);
    cr_assert(cJSON_IsTrue(cJSON_GetObjectItem(output, "ok")));
    cJSON_Delete(output);
}

Test(data_get, the_command_finds_a_changed_byte_in_an_installed_set) {
    cJSON *output;
    char folder[DATA_PATH_BYTES];
    static unsigned char bytes[FIXTURE_FILE_BYTES];
    cr_assert_eq(catalog_locate(folder, catalog_find("optdigits")), STATUS_OK);
    strcat(folder, "/digits.csv.gz");
    size_t count = read_file(bytes, folder);
    bytes[count / 2] ^= 4;
    mkdir(in_folder("optdigits"), 0777);
    write_file(in_folder("optdigits/digits.csv.gz"), bytes, count);
    setenv("LOCKSTEP_DATA", fixture_folder, 1);
    expect_failure(run_data(&output, "check optdigits --json"), STATUS_NO, "1 of 1", NULL);
    cr_assert(cJSON_IsFalse(cJSON_GetObjectItem(output, "ok")));
    cJSON_Delete(output);
}

Test(data_get, the_command_answers_wrong_use_and_missing_sets_by_exit_code) {
    static const struct {
        const char *words;
        Status status;
        const char *text;
    } wrong[] = {
        {"", STATUS_BAD, "lockstep data list"},
        {"chek mnist", STATUS_BAD, "did you mean 'check'"},
        {"get", STATUS_BAD, "lockstep data get mnist"},
        {"get mnst", STATUS_BAD, "did you mean 'mnist'"},
        {"get mnist --mirror ftp://x", STATUS_BAD, "--mirror ftp://x"},
        {"get mnist --mirror http://127.0.0.1:1 --json", STATUS_MISSING, "127.0.0.1"},
        {"check mnist", STATUS_MISSING, "lockstep data get mnist"},
        {"check nothing", STATUS_BAD, "unknown data set"},
        {"list mnist", STATUS_BAD, "unexpected 'mnist'"},
    };
    cJSON *output;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        expect_failure(run_data(&output, wrong[i].words), wrong[i].status, wrong[i].text, NULL);
        cr_assert_null(output, "nothing on standard output");
    }
}
