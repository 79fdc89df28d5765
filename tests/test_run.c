/* lockstep run: from .npy files to .npy files, and what it refuses. */
#include "data_fixture.h"

#include <math.h>

#include "base/memory.h"
#include "cli/cli.h"
#include "data/npy.h"

TestSuite(run, .init = fixture_open, .fini = fixture_close);

static void save(const char *name, DType dtype, int rank, const int *dim, const void *values) {
    Tensor tensor;
    cr_assert_eq(tensor_init(&tensor, name, dtype, rank, dim), STATUS_OK);
    tensor.data = (void *)values;
    cr_assert_eq(npy_write(in_folder(name), &tensor), STATUS_OK, "%s", status_message());
}

/* One word of a command line; @ stands for the folder. One buffer for each word. */
static Status run(const char *first, ...) {
    static char words[32][1200];
    char *argv[32];
    int argc = 0;
    va_list list;
    va_start(list, first);
    for (const char *word = first; word != NULL; word = va_arg(list, const char *)) {
        const char *at = strchr(word, '@');
        snprintf(words[argc], sizeof words[argc], "%.*s%s",
                 at != NULL ? (int)(at - word) : (int)strlen(word), word,
                 at != NULL ? in_folder(at + 1) : "");
        argv[argc] = words[argc];
        argc++;
    }
    va_end(list);
    return cli_run(argc, argv);
}

/* Expected numbers and how many. */
#define VALUES(...) (double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double)

static void expect_file(const char *name, int rank, const int *dim, const double *values,
                        size_t count) {
    Tensor tensor;
    bool was_double = true;
    cr_assert_eq(npy_read(&tensor, &was_double, in_folder(name)), STATUS_OK, "%s",
                 status_message());
    cr_assert(!was_double);
    cr_assert_eq(tensor.rank, rank);
    for (int i = 0; i < rank; i++) {
        cr_assert_eq(tensor.dim[i], dim[i]);
    }
    cr_assert_eq(tensor.count, count);
    for (size_t i = 0; i < count; i++) {
        double found = tensor.dtype == DTYPE_INT32 ? ((const int32_t *)tensor.data)[i]
                                                   : (double)((const float *)tensor.data)[i];
        cr_assert(fabs(found - values[i]) <= 1e-6 * fabs(values[i]), "%s[%zu] is %g, expected %g",
                  name, i, found, values[i]);
    }
    memory_free(tensor.data);
}

static const float a[] = {1, 2, 3, 4, 5, 6}, x[] = {1, 2};

static void save_matrices(void) {
    save("a.npy", DTYPE_FP32, 2, (int[]){3, 2}, a);
    save("wide.npy", DTYPE_FP32, 2, (int[]){2, 3}, a);
    save("x.npy", DTYPE_FP32, 2, (int[]){1, 2}, x);
    save("vector.npy", DTYPE_FP32, 1, (int[]){6}, a);
    save("cube.npy", DTYPE_FP32, 3, (int[]){1, 2, 3}, a);
    save("labels.npy", DTYPE_INT32, 1, (int[]){3}, (int32_t[]){0, 1, 1});
    save("high.npy", DTYPE_INT32, 1, (int[]){3}, (int32_t[]){0, 1, 2});
}

Test(run, infers_sizes_and_gives_the_right_shape_on_every_backend) {
    static const char *const backends[] = {"serial", "openmp", "openblas"};
    save_matrices();
    for (int b = 0; b < 3; b++) {
        cr_assert_eq(run("run", "matmul", "--backend", backends[b], "--in", "a=@a.npy", "--in",
                         "b=@x.npy", "--set", "trans_b=1", "--set", "alpha=2", "--out", "c=@c.npy",
                         "--check", NULL),
                     STATUS_OK, "%s", status_message());
        expect_file("c.npy", 2, (int[]){3, 1}, VALUES(10, 22, 34));
    }
    cr_assert_eq(run("run", "matmul_forward", "--in", "inp=@a.npy", "--in", "weight=@x.npy",
                     "--out", "out=@c.npy", "--check", NULL),
                 STATUS_OK);
    expect_file("c.npy", 2, (int[]){3, 1}, VALUES(5, 11, 17));
}

Test(run, takes_any_shape_a_plain_vector_as_one_row_and_sizes_from_set) {
    save_matrices();
    cr_assert_eq(run("run", "axpy", "--in", "y=@cube.npy", "--in", "x=@cube.npy", "--set",
                     "alpha=0.5", "--out", "y=@c.npy", NULL),
                 STATUS_OK);
    expect_file("c.npy", 3, (int[]){1, 2, 3}, VALUES(1.5, 3, 4.5, 6, 7.5, 9));
    cr_assert_eq(run("run", "sum", "--in", "inp=@vector.npy", "--out", "out=@c.npy", NULL),
                 STATUS_OK);
    expect_file("c.npy", 1, (int[]){1}, VALUES(21));
    cr_assert_eq(run("run", "argmax", "--in", "inp=@a.npy", "--out", "out=@c.npy", NULL),
                 STATUS_OK);
    expect_file("c.npy", 1, (int[]){3}, VALUES(1, 1, 1));
    cr_assert_eq(run("run", "fill", "--set", "n=2", "--set", "value=7", "--out", "x=@c.npy", NULL),
                 STATUS_OK);
    expect_file("c.npy", 1, (int[]){2}, VALUES(7, 7));
}

Test(run, names_both_arrays_that_contradict_each_other) {
    save_matrices();
    expect_failure(run("run", "matmul_forward", "--in", "inp=@a.npy", "--in", "weight=@wide.npy",
                       "--out", "out=@c.npy", NULL),
                   STATUS_BAD, "C is 2 in inp (3x2) but 3 in weight (2x3)", NULL);
    expect_failure(run("run", "vector_add", "--in", "a=@a.npy", "--in", "b=@wide.npy", "--out",
                       "out=@c.npy", NULL),
                   STATUS_BAD, "a is 3x2 but b is 2x3", NULL);
    expect_failure(run("run", "transpose", "--in", "inp=@cube.npy", "--out", "out=@c.npy", NULL),
                   STATUS_BAD, "inp is 1x2x3", "(M,N)", NULL);
    cr_assert(!exists(in_folder("c.npy")));
}

Test(run, names_missing_and_unknown_arguments) {
    save_matrices();
    expect_failure(run("run", "matmul_forward", "--out", "out=@c.npy", NULL), STATUS_BAD,
                   "--in inp=FILE.npy --in weight=FILE.npy", NULL);
    expect_failure(run("run", "relu_forward", "--in", "inp=@a.npy", NULL), STATUS_BAD,
                   "--out out=FILE.npy", NULL);
    expect_failure(run("run", "relu_forward", "--in", "input=@a.npy", NULL), STATUS_BAD,
                   "unknown input of relu_forward 'input': did you mean 'inp'?", NULL);
    expect_failure(run("run", "relu_forward", "--out", "inp=@a.npy", NULL), STATUS_BAD,
                   "inp is an input", NULL);
    expect_failure(run("run", "axpy", "--set", "alhpa=1", NULL), STATUS_BAD, "did you mean 'alpha'",
                   NULL);
    expect_failure(run("run", "axpy", "--set", "alpha=1x", NULL), STATUS_BAD, "expected a number",
                   NULL);
    expect_failure(run("run", "axpy", "--in", "x", NULL), STATUS_BAD, "expected name=FILE.npy",
                   NULL);
    expect_failure(run("run", "fill", "--out", "x=@c.npy", NULL), STATUS_BAD, "--set n=SIZE", NULL);
    expect_failure(run("run", "adam", "--in", "v=@a.npy", "--in", "v=@a.npy", NULL), STATUS_BAD,
                   "v is given twice", NULL);
    expect_failure(run("run", "adam", "--out", "v=@c.npy", "--out", "m=@c.npy", NULL), STATUS_BAD,
                   "would both be written", NULL);
    expect_failure(run("run", "relu_forward", "--backend", "cuda", "--in", "inp=@a.npy", "--out",
                       "out=@c.npy", NULL),
                   STATUS_MISSING, "cuda", NULL);
}

Test(run, refuses_labels_out_of_range_and_wrong_types) {
    save_matrices();
    cr_assert_eq(run("run", "softmax_cross_entropy_forward", "--in", "logits=@a.npy", "--in",
                     "labels=@labels.npy", "--out", "losses=@c.npy", "--check", NULL),
                 STATUS_OK, "%s", status_message());
    expect_failure(run("run", "softmax_cross_entropy_forward", "--in", "logits=@a.npy", "--in",
                       "labels=@high.npy", "--out", "losses=@c.npy", NULL),
                   STATUS_BAD, "labels[2] is 2, but V is 2: expected 0 to 1", NULL);
    expect_failure(run("run", "softmax_cross_entropy_forward", "--in", "logits=@a.npy", "--in",
                       "labels=@vector.npy", "--out", "losses=@c.npy", NULL),
                   STATUS_BAD, "vector.npy: labels must be int32", NULL);
}

Test(run, an_old_output_stays_whole_when_the_new_one_fails) {
    save_matrices();
    save("c.npy", DTYPE_FP32, 1, (int[]){2}, x);
    expect_failure(run("run", "matmul_forward", "--in", "inp=@a.npy", "--in", "weight=@wide.npy",
                       "--out", "out=@c.npy", NULL),
                   STATUS_BAD, NULL);
    expect_file("c.npy", 1, (int[]){2}, VALUES(1, 2));
    expect_failure(run("run", "relu_forward", "--in", "inp=@a.npy", "--out", "out=@no/c.npy", NULL),
                   STATUS_BAD, "no/c.npy", NULL);
}

Test(run, infinity_and_nan_are_judged_by_the_mathematics) {
    static const float infinite[] = {1, INFINITY, 2}, both[] = {INFINITY, 1, -INFINITY};
    static const char *const ops[] = {"sum", "mean"};
    save("i.npy", DTYPE_FP32, 2, (int[]){1, 3}, infinite);
    save("n.npy", DTYPE_FP32, 2, (int[]){1, 3}, both);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(
            run("run", ops[i], "--in", "inp=@i.npy", "--out", "out=@c.npy", "--check", NULL),
            STATUS_OK, "%s", status_message());
        cr_assert_eq(
            run("run", ops[i], "--in", "inp=@n.npy", "--out", "out=@c.npy", "--check", NULL),
            STATUS_OK, "%s", status_message());
    }
    /* A second moment of infinity: the parameter stays. */
    save("one.npy", DTYPE_FP32, 2, (int[]){1, 3}, a);
    cr_assert_eq(run("run", "adam", "--in", "param=@one.npy", "--in", "grad=@one.npy", "--in",
                     "m=@one.npy", "--in", "v=@i.npy", "--out", "param=@c.npy", "--check", NULL),
                 STATUS_OK, "%s", status_message());
}

/* BLAS never reads a and b then; kernels of ours multiplied, and made NaN of an infinity. */
Test(run, alpha_of_0_is_one_answer_on_every_backend) {
    static const char *const backends[] = {"serial", "openmp", "openblas"};
    static const float infinite[] = {INFINITY, NAN};
    save_matrices();
    save("i.npy", DTYPE_FP32, 2, (int[]){2, 1}, infinite);
    save("old.npy", DTYPE_FP32, 2, (int[]){3, 1}, a);
    for (int b = 0; b < 3; b++) {
        cr_assert_eq(run("run", "matmul", "--backend", backends[b], "--in", "a=@a.npy", "--in",
                         "b=@i.npy", "--in", "c=@old.npy", "--set", "alpha=0", "--set", "beta=2",
                         "--out", "c=@c.npy", "--check", NULL),
                     STATUS_OK, "%s", status_message());
        expect_file("c.npy", 2, (int[]){3, 1}, VALUES(2, 4, 6));
    }
}

Test(run, what_memory_or_fp32_cannot_hold_is_refused_before_it_is_tried) {
    save_matrices();
    if (memory_available_bytes() < (size_t)1 << 36) { /* c alone takes 24 GiB, five times */
        expect_failure(run("run", "matmul", "--in", "a=@a.npy", "--in", "b=@wide.npy", "--set",
                           "ldc=2147483647", "--out", "c=@c.npy", "--check", NULL),
                       STATUS_BAD, "matmul: needs ", "free", NULL);
    }
    expect_failure(run("run", "axpy", "--set", "alpha=1e300", NULL), STATUS_BAD,
                   "alpha is 1e+300, more than fp32 holds", NULL);
    save("none.npy", DTYPE_FP32, 2, (int[]){3, 0}, a);
    expect_failure(run("run", "softmax_cross_entropy_forward", "--in", "logits=@none.npy", "--in",
                       "labels=@labels.npy", "--out", "losses=@c.npy", NULL),
                   STATUS_BAD, "V is 0: there are none", NULL);
}
