/* The core: random numbers, thread plan, memory plan, tensors, traces, errors. */
#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/philox.h"
#include "base/threads.h"
#include "base/trace.h"

/* ---- Philox -------------------------------------------------------------------------------- */

/* The known answers published with the Random123 library (kat_vectors, philox 4x32, 10 rounds). */
Test(philox, gives_the_published_known_answers) {
    static const struct {
        uint32_t counter[4], key[2], expected[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        uint32_t out[4];
        philox4x32(out, known[i].counter, known[i].key);
        cr_assert_arr_eq(out, known[i].expected, sizeof out, "vector %zu", i);
    }
}

Test(philox, streams_and_seeds_differ_and_indices_repeat) {
    Philox a = {1, 0}, b = {1, 1}, c = {2, 0};
    cr_assert_eq(philox_bits(a, 77), philox_bits(a, 77));
    cr_assert_neq(philox_bits(a, 77), philox_bits(b, 77));
    cr_assert_neq(philox_bits(a, 77), philox_bits(c, 77));
    cr_assert_neq(philox_bits(a, 1ull << 40), philox_bits(a, 0), "the index has 64 bits");
}

/* Mean and variance of n samples lie within 5 standard errors of the truth. */
static void check_moments(double (*sample)(uint64_t), double mean, double variance, double fourth) {
    enum { N = 200000 };
    double sum = 0.0, squares = 0.0;
    for (uint64_t i = 0; i < N; i++) {
        double x = sample(i) - mean;
        sum += x;
        squares += x * x;
    }
    cr_assert_lt(fabs(sum / N), 5.0 * sqrt(variance / N));
    cr_assert_lt(fabs(squares / N - variance), 5.0 * sqrt((fourth - variance * variance) / N));
}

static double uniform_sample(uint64_t i) {
    float x = philox_uniform((Philox){3, 9}, i);
    cr_assert(x >= 0.0f && x < 1.0f);
    return (double)x;
}

static double normal_sample(uint64_t i) {
    float x = philox_normal((Philox){3, 9}, i);
    cr_assert(isfinite(x));
    return (double)x;
}

Test(philox, uniform_and_normal_have_their_moments) {
    check_moments(uniform_sample, 0.5, 1.0 / 12.0, 1.0 / 80.0);
    check_moments(normal_sample, 0.0, 1.0, 3.0);
}

Test(philox, below_reaches_every_value_and_none_beyond) {
    int seen[7] = {0};
    for (uint64_t i = 0; i < 7000; i++) {
        uint32_t value = philox_below((Philox){5, 0}, i, 7);
        cr_assert_lt(value, 7u);
        seen[value]++;
    }
    for (int i = 0; i < 7; i++) {
        cr_assert(seen[i] > 800 && seen[i] < 1200, "%d came %d times of 7000", i, seen[i]);
    }
    cr_assert_eq(philox_below((Philox){5, 0}, 1, 1), 0u);
}

Test(philox, a_shuffle_is_a_permutation_that_the_seed_decides) {
    enum { N = 1797 };
    static int order[N], again[N], other[N];
    int seen[N] = {0}, moved = 0, differ = 0;
    philox_shuffle((Philox){11, 4}, order, N);
    philox_shuffle((Philox){11, 4}, again, N);
    philox_shuffle((Philox){12, 4}, other, N);
    cr_assert_arr_eq(order, again, sizeof order);
    for (int i = 0; i < N; i++) {
        seen[order[i]]++;
        moved += order[i] != i;
        differ += order[i] != other[i];
    }
    for (int i = 0; i < N; i++) {
        cr_assert_eq(seen[i], 1, "%d stands %d times", i, seen[i]);
    }
    cr_assert_gt(moved, N * 9 / 10);
    cr_assert_gt(differ, N * 9 / 10);
    philox_shuffle((Philox){11, 4}, order, 0);
    philox_shuffle((Philox){11, 4}, order, 1);
    cr_assert_eq(order[0], 0);
}

/* ---- Thread plan --------------------------------------------------------------------------- */

static char folder[] = "/tmp/lockstep-test-XXXXXX";

static void write_file(const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *slash = strchr(path + strlen(folder) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file, "%s", path);
    fputs(text, file);
    fclose(file);
}

static double quota_of(const char *cgroup_text) {
    char path[256];
    write_file("self", cgroup_text);
    snprintf(path, sizeof path, "%s/self", folder);
    return threads_cgroup_quota(folder, path);
}

static void make_folder(void) {
    cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(quota, .init = make_folder, .fini = remove_folder);

Test(quota, cgroup_v2_takes_the_tightest_ancestor) {
    write_file("a/cpu.max", "150000 100000\n");
    write_file("a/b/cpu.max", "max 100000\n");
    cr_assert_float_eq(quota_of("0::/a/b\n"), 1.5, 1e-9);
    write_file("a/b/cpu.max", "50000 100000\n");
    cr_assert_float_eq(quota_of("0::/a/b\n"), 0.5, 1e-9);
}

Test(quota, a_container_finds_its_own_limit_at_the_mount) {
    write_file("cpu.max", "100000 100000\n");
    cr_assert_float_eq(quota_of("0::/../../docker/0123\n"), 1.0, 1e-9);
    cr_assert_float_eq(quota_of("0::/\n"), 1.0, 1e-9);
}

Test(quota, cgroup_v1_reads_quota_and_period) {
    write_file("cpu,cpuacct/box/cpu.cfs_quota_us", "300000\n");
    write_file("cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
    write_file("cpuset/box/cpu.cfs_quota_us", "100\n"); /* not the cpu controller */
    write_file("cpuset/box/cpu.cfs_period_us", "100000\n");
    cr_assert_float_eq(quota_of("5:cpuset:/box\n4:cpu,cpuacct:/box\n0::/\n"), 3.0, 1e-9);
    write_file("cpu,cpuacct/box/cpu.cfs_quota_us", "-1\n");
    cr_assert_eq(quota_of("4:cpu,cpuacct:/box\n"), 0.0);
}

Test(quota, nothing_and_nonsense_mean_no_limit) {
    cr_assert_eq(quota_of(""), 0.0);
    cr_assert_eq(quota_of("nonsense\n::\n0::\n"), 0.0);
    write_file("cpu.max", "0 0\n");
    cr_assert_eq(quota_of("0::/\n"), 0.0);
    cr_assert_eq(threads_cgroup_quota(folder, "/nowhere/at/all"), 0.0);
}

Test(threads, the_plan_stays_within_the_machine_unless_asked) {
    ThreadPlan plan;
    cr_assert_eq(threads_plan(&plan, 0), STATUS_OK);
    cr_assert(plan.threads >= 1 && plan.threads <= plan.allowed && plan.allowed <= plan.online);
    cr_assert_eq(threads_plan(&plan, 3), STATUS_OK);
    cr_assert_eq(plan.threads, 3);
    cr_assert_not_null(strstr(plan.reason, "as asked"));
    cr_assert_eq(threads_plan(&plan, -1), STATUS_BAD);
    cr_assert_eq(threads_plan(&plan, 1025), STATUS_BAD);
    cr_assert_not_null(strstr(status_message(), "1025"));
}

/* ---- Tensors and the memory plan ------------------------------------------------------------ */

static Tensor tensor_of(const char *name, int rows, int columns) {
    Tensor tensor;
    cr_assert_eq(tensor_init(&tensor, name, DTYPE_FP32, 2, (int[]){rows, columns}), STATUS_OK);
    return tensor;
}

Test(tensor, sizes_are_checked) {
    Tensor tensor = tensor_of("weight", 128, 784);
    cr_assert_eq(tensor.count, 128u * 784u);
    cr_assert_eq(tensor.bytes, 4u * 128u * 784u);
    cr_assert_eq(tensor_init(&tensor, "w", DTYPE_FP32, 0, NULL), STATUS_OK);
    cr_assert_eq(tensor.count, 1u, "a scalar has one element");
    const int huge[4] = {1 << 20, 1 << 20, 1 << 20, 1 << 20}, negative[2] = {3, -1};
    cr_assert_eq(tensor_init(&tensor, "w", DTYPE_FP32, 4, huge), STATUS_BAD);
    cr_assert_not_null(strstr(status_message(), "1048576x1048576"));
    cr_assert_eq(tensor_init(&tensor, "w", DTYPE_FP32, 2, negative), STATUS_BAD);
    cr_assert_not_null(strstr(status_message(), "-1"));
    cr_assert_eq(tensor_init(&tensor, "w", DTYPE_FP32, TENSOR_MAX_RANK + 1, huge), STATUS_BAD);
}

Test(memory, the_plan_adds_up_allocates_aligned_and_apart) {
    MemoryPlan plan = {0};
    Tensor a = tensor_of("a", 3, 5), b = tensor_of("b", 1, 1), c = tensor_of("c", 0, 7);
    cr_assert_eq(memory_plan_add(&plan, "parameters", &a), STATUS_OK);
    cr_assert_eq(memory_plan_add(&plan, "gradients", &b), STATUS_OK);
    cr_assert_eq(memory_plan_add(&plan, "parameters", &c), STATUS_OK);
    cr_assert_eq(plan.total_bytes, 64u + 64u + 0u, "each tensor is padded to 64 bytes");
    cr_assert_eq(plan.group_count, 2);
    cr_assert_eq(memory_plan_allocate(&plan, memory_alloc, memory_free), STATUS_OK);
    cr_assert_eq((uintptr_t)a.data % 64, 0u);
    cr_assert_eq((uintptr_t)b.data % 64, 0u);
    memset(a.data, 1, a.bytes);
    memset(b.data, 2, b.bytes);
    cr_assert_eq(((char *)a.data)[a.bytes - 1], 1);
    memory_plan_release(&plan, memory_free);
    cr_assert_null(a.data);
    cr_assert_eq(plan.entry_count, 0);
}

Test(memory, a_plan_that_does_not_fit_names_the_largest_tensor) {
    MemoryPlan plan = {0};
    Tensor small = tensor_of("small", 2, 2), large = tensor_of("large", 1024, 1024);
    memory_plan_add(&plan, "parameters", &small);
    memory_plan_add(&plan, "activations", &large);
    cr_assert_eq(memory_plan_fits(&plan, plan.total_bytes, "this machine"), STATUS_OK);
    cr_assert_eq(memory_plan_fits(&plan, plan.total_bytes - 1, "this machine"), STATUS_BAD);
    cr_assert_not_null(strstr(status_message(), "activations/large"));
    cr_assert_not_null(strstr(status_message(), "4.0 MiB"));
    memory_plan_release(&plan, memory_free);
}

Test(memory, a_sum_that_overflows_is_refused) {
    MemoryPlan plan = {0};
    Tensor huge = tensor_of("huge", 1, 1);
    huge.bytes = SIZE_MAX / 2 - 4096;
    cr_assert_eq(memory_plan_add(&plan, "activations", &huge), STATUS_OK);
    cr_assert_eq(memory_plan_add(&plan, "activations", &huge), STATUS_BAD);
    cr_assert_not_null(strstr(status_message(), "activations/huge"));
    memory_plan_release(&plan, memory_free);
}

static int live_blocks;

/* Gives out one block, then has no more. */
static void *alloc_once(size_t bytes) {
    return live_blocks++ == 0 ? memory_alloc(bytes) : NULL;
}

static void release_counted(void *memory) {
    live_blocks -= memory != NULL;
    memory_free(memory);
}

Test(memory, a_failed_allocation_leaves_nothing_behind) {
    MemoryPlan plan = {0};
    Tensor a = tensor_of("a", 8, 8), b = tensor_of("b", 8, 8);
    memory_plan_add(&plan, "parameters", &a);
    memory_plan_add(&plan, "gradients", &b);
    cr_assert_eq(memory_plan_allocate(&plan, alloc_once, release_counted), STATUS_BAD);
    cr_assert_eq(live_blocks, 1, "two calls of alloc, one block given and returned");
    cr_assert_null(a.data);
    memory_plan_release(&plan, release_counted);
}

/* ---- Traces -------------------------------------------------------------------------------- */

Test(trace, records_in_order_and_counts_what_it_overwrites) {
    cr_assert_eq(trace_start(4), STATUS_OK);
    for (uint64_t i = 0; i < 6; i++) {
        trace_record(TRACE_OP, "sum", "serial", i, i + 1);
    }
    trace_stop();
    cr_assert_eq(trace_thread_count(), 1);
    cr_assert_eq(trace_span_count(0), 4u);
    cr_assert_eq(trace_lost_count(0), 2u);
    for (uint64_t i = 0; i < 4; i++) {
        cr_assert_eq(trace_span(0, i)->start_ns, i + 2);
    }
    cr_assert_eq(trace_start(4), STATUS_OK);
    cr_assert_eq(trace_span_count(0), 0u, "a new start forgets the earlier spans");
    trace_stop();
}

static void *record_share(void *name) {
    TRACE_SHARE_OF(name);
    return NULL;
}

Test(trace, every_thread_has_a_ring_of_its_own) {
    static char names[8][16];
    pthread_t threads[8];
    cr_assert_eq(trace_start(0), STATUS_OK);
    for (int i = 0; i < 8; i++) {
        snprintf(names[i], sizeof names[i], "t%d", i);
        pthread_create(&threads[i], NULL, record_share, names[i]);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
    }
    trace_stop();
    cr_assert_eq(trace_thread_count(), 8);
    for (int i = 0; i < 8; i++) {
        cr_assert_eq(trace_span_count(i), 1u);
        const TraceSpan *span = trace_span(i, 0);
        cr_assert_eq(span->kind, TRACE_SHARE);
        cr_assert_leq(span->start_ns, span->end_ns);
    }
}

Test(trace, writes_nothing_while_it_is_off_and_measures_its_cost) {
    record_share((void *)"off");
    cr_assert_eq(trace_thread_count(), 0);
    double cost_ns = trace_overhead_ns();
    cr_assert(cost_ns > 0.0 && isfinite(cost_ns));
    cr_assert_eq(trace_thread_count(), 0, "measuring leaves no ring behind");
}

/* ---- Errors -------------------------------------------------------------------------------- */

Test(status, unknown_names_list_what_exists_and_the_nearest) {
    static const char *const names[] = {"serial", "openmp", "openblas"};
    cr_assert_eq(fail_unknown("backend", "opnmp", names, 3), STATUS_BAD);
    cr_assert_str_eq(status_message(), "unknown backend 'opnmp': did you mean 'openmp'? There are: "
                                       "serial, openmp, openblas");
    fail_unknown("backend", "xyz", names, 3);
    cr_assert_null(strstr(status_message(), "did you mean"));
    fail_unknown("backend", "blas", names, 3);
    cr_assert_not_null(strstr(status_message(), "'openblas'"), "a part of a name finds it");
    fail_unknown("backend", "", names, 3);
    cr_assert_not_null(strstr(status_message(), "unknown backend ''"));
}

Test(status, messages_may_hold_the_message_before_and_any_length) {
    static char long_text[5000];
    memset(long_text, 'x', sizeof long_text - 1);
    cr_assert_eq(fail("row %d", 3), STATUS_BAD);
    cr_assert_eq(fail_at(STATUS_MISSING, "file %s", "a.idx"), STATUS_MISSING);
    cr_assert_str_eq(status_message(), "file a.idx: row 3");
    cr_assert_eq(fail_no("%s, again: %s", status_message(), "no"), STATUS_NO);
    cr_assert_str_eq(status_message(), "file a.idx: row 3, again: no");
    fail("%s", long_text);
    fail_at(STATUS_BAD, "%s", long_text);
    cr_assert_lt(strlen(status_message()), 3000u);
    fail_unknown(long_text, long_text, (const char *const[]){long_text, long_text}, 2);
    cr_assert_lt(strlen(status_message()), 3000u);
}

Test(memory, more_than_there_is_is_refused_before_it_is_used) {
    size_t available = memory_available_bytes();
    if (available < SIZE_MAX / 4) {
        cr_assert_null(memory_alloc(2 * available));
    }
    cr_assert_null(memory_alloc(SIZE_MAX));
}
