/* The agreement check of a race: right backends pass, whatever the seed, model, optimizer and
 * length; a backend with one wrong kernel is refused. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/race.h"

typedef void mutate_fn(Backend *backend);

typedef struct Setting {
    const char *model, *data, *optimizer;
    int seed, steps, batch;
} Setting;

static Dataset data;
static Model model;
static RaceOptions options;

static void prepare(const Setting *setting) {
    static const char *const names[] = {"serial", "openmp", "openblas"};
    cr_assert_eq(dataset_load(&data, setting->data), STATUS_OK, "%s", status_message());
    Shape input = {3, {data.channels, data.height, data.width}};
    cr_assert_eq(model_load(&model, setting->model, input, data.class_count), STATUS_OK, "%s",
                 status_message());
    options = (RaceOptions){.model = &model,
                            .data = &data,
                            .train = train_default_options,
                            .step_limit = setting->steps};
    options.train.optimizer = setting->optimizer;
    options.train.seed = (uint64_t)setting->seed;
    options.train.batch = setting->batch;
    cr_assert_eq(threads_plan(&options.threads, 0), STATUS_OK);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(backend_get(&options.backends[options.backend_count++], names[i]), STATUS_OK);
    }
}

/* Runs the race that `options` describes; the report's verdict. */
static Agreement race(RaceReport *report) {
    Race *race = NULL;
    cr_assert_eq(race_create(&race, &options), STATUS_OK, "%s", status_message());
    while (!race_is_over(race)) {
        cr_assert_eq(race_round(race), STATUS_OK, "%s", status_message());
    }
    cr_assert_eq(race_finish(race), STATUS_OK, "%s", status_message());
    race_report(report, race);
    race_destroy(race);
    return report->agreement;
}

static RaceReport report;

/* ---- right ones ----------------------------------------------------------------------------- */

static void check_right(Setting setting) {
    prepare(&setting);
    Agreement verdict = race(&report);
    cr_assert(verdict.agree, "%s %s %s seed %d: %s of %s at step %lld, %g apart, bound %g",
              setting.model, setting.data, setting.optimizer, setting.seed, verdict.fault.what,
              report.results[verdict.fault.run].backend, (long long)verdict.fault.step,
              verdict.fault.distance, verdict.fault.bound);
    cr_assert_geq(verdict.step_checks, 3);
    cr_assert(verdict.step.any && verdict.course.any, "something was compared");
    dataset_free(&data);
}

Test(race_agree, right_backends_pass_over_seeds_and_optimizers) {
    static const char *const optimizers[] = {"sgd", "momentum", "adam", "adamw"};
    for (int i = 0; i < 8; i++) {
        check_right((Setting){"mlp:64-48-10", "optdigits", optimizers[i % 4], 100 + i, 150, 64});
    }
}

Test(race_agree, right_backends_pass_on_digits_of_784_pixels) {
    check_right((Setting){"mlp:784-128-10", "mnist-small", "sgd", 1, 130, 64});
    check_right((Setting){"mlp:784-128-10", "mnist-small", "adam", 2, 70, 50});
}

Test(race_agree, right_backends_pass_with_two_hidden_layers) {
    check_right((Setting){"mlp:784-512-256-10", "mnist-small", "sgd", 3, 40, 64});
}

Test(race_agree, the_naive_kernels_pass_too) {
    prepare(&(Setting){"mlp:784-128-10", "mnist-small", "sgd", 4, 30, 64});
    cr_assert_eq(backend_choose_kernel(&options.backends[0], OP_matmul_forward, "naive"), STATUS_OK,
                 "%s", status_message());
    cr_assert(race(&report).agree, "the longest chains of additions");
}

Test(race_agree, tiny_batches_and_one_batch_an_epoch_pass) {
    check_right((Setting){"mlp:64-48-10", "optdigits", "sgd", 5, 100, 1});
    check_right((Setting){"mlp:64-48-10", "optdigits", "momentum", 6, 20, 100000});
}

/* This one was refused once: a bias whose first gradient all but cancels, made a whole step by
 * Adam, while the wrong label had not moved the twin. */
Test(race_agree, the_first_step_of_adam_passes) {
    check_right((Setting){"mlp:64-64-32-10", "optdigits", "adam", 4, 5, 64});
}

/* ---- wrong ones ----------------------------------------------------------------------------- */

static Ops real; /* the kernels that a mutant is made of */
static int64_t calls;

static void drop_bias_gradient(float *dbias, const float *dout, bool accumulate, int N, int OC) {
    (void)dout;
    (void)accumulate;
    (void)N;
    memset(dbias, 0, (size_t)OC * sizeof *dbias);
}
static void mutate_bias(Backend *be) {
    be->ops.matmul_backward_bias = drop_bias_gradient;
}

static void sgd_lr_off(float *param, const float *grad, float lr, float weight_decay, size_t n) {
    real.sgd(param, grad, lr * 1.001f, weight_decay, n);
}
static void mutate_lr(Backend *be) {
    be->ops.sgd = sgd_lr_off;
}

static void relu_one_element(float *dinp, const float *dout, const float *out, size_t n) {
    size_t wrong = n > 77 ? 77 : 0;
    float kept = dout[wrong]; /* dinp may be dout */
    real.relu_backward(dinp, dout, out, n);
    dinp[wrong] = kept;
}
static void mutate_relu(Backend *be) {
    be->ops.relu_backward = relu_one_element;
}

/* 8 weights in the middle of a layer never change. */
static void sgd_tile_forgotten(float *param, const float *grad, float lr, float weight_decay,
                               size_t n) {
    float tile[8];
    size_t first = n / 2;
    if (n >= 1024) {
        memcpy(tile, param + first, sizeof tile);
    }
    real.sgd(param, grad, lr, weight_decay, n);
    if (n >= 1024) {
        memcpy(param + first, tile, sizeof tile);
    }
}
static void mutate_tile(Backend *be) {
    be->ops.sgd = sgd_tile_forgotten;
}

/* Products of 11 bits, as tensor cores make them when nobody asked. */
static float cut_to_tf32(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x1000u) & ~0x1fffu;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static void forward_tf32(float *out, const float *inp, const float *weight, const float *bias,
                         int N, int C, int OC) {
    size_t inputs = (size_t)N * C, weights = (size_t)OC * C;
    float *cut = malloc((inputs + weights) * sizeof *cut);
    for (size_t i = 0; i < inputs; i++) {
        cut[i] = cut_to_tf32(inp[i]);
    }
    for (size_t i = 0; i < weights; i++) {
        cut[inputs + i] = cut_to_tf32(weight[i]);
    }
    real.matmul_forward(out, cut, cut + inputs, bias, N, C, OC);
    free(cut);
}
static void mutate_tf32(Backend *be) {
    be->ops.matmul_forward = forward_tf32;
}

static void softmax_scale_off(float *dlogits, const float *probs, const int32_t *labels,
                              float scale, int N, int V) {
    real.softmax_cross_entropy_backward(dlogits, probs, labels, scale * (1.0f + 1e-4f), N, V);
}
static void mutate_scale(Backend *be) {
    be->ops.softmax_cross_entropy_backward = softmax_scale_off;
}

/* Once in 50 updates of the large layer, 64 weights are lost: no single step need show it. */
static void sgd_now_and_then(float *param, const float *grad, float lr, float weight_decay,
                             size_t n) {
    real.sgd(param, grad, lr, weight_decay, n);
    if (n >= 1024 && calls++ % 50 == 20) {
        memset(param + n / 2, 0, 64 * sizeof *param);
    }
}
static void mutate_now_and_then(Backend *be) {
    be->ops.sgd = sgd_now_and_then;
}

static void adam_eps_off(float *param, float *m, float *v, const float *grad, float lr, float beta1,
                         float beta2, float eps, float weight_decay, float correction1,
                         float correction2, size_t n) {
    real.adam(param, m, v, grad, lr, beta1, beta2, eps * 100.0f, weight_decay, correction1,
              correction2, n);
}
static void mutate_eps(Backend *be) {
    be->ops.adam = adam_eps_off;
}

/* The mutant is refused as the one that is judged and, where last says so, as the referee. */
static void check_wrong(mutate_fn *mutate, Setting setting, int last) {
    for (int which = 0; which <= last; which += 2) {
        prepare(&setting);
        options.threads.threads = 1;
        real = options.backends[which].ops;
        calls = 0;
        mutate(&options.backends[which]);
        Agreement verdict = race(&report);
        cr_expect_not(verdict.agree, "%s: passed as %s; nearest: step %g, course %g of the bound",
                      setting.optimizer, report.results[which].backend,
                      verdict.step.distance / verdict.step.bound,
                      verdict.course.distance / verdict.course.bound);
        cr_expect(verdict.agree || verdict.fault.run == which || which == verdict.referee,
                  "the right one was refused");
        printf("# %s: refused at step %lld: %s, %.1f times the bound, by the %s\n",
               report.results[which].backend, (long long)verdict.fault.step, verdict.fault.what,
               verdict.fault.distance / verdict.fault.bound,
               verdict.fault_is_step ? "step" : "course");
        dataset_free(&data);
    }
}

static const Setting optdigits = {"mlp:64-48-10", "optdigits", "sgd", 7, 130, 64};
static const Setting mnist = {"mlp:784-128-10", "mnist-small", "sgd", 8, 70, 64};

#define REFUSES(name, mutate, setting)                                                             \
    Test(race_agree, refuses_##name) {                                                             \
        check_wrong(mutate, setting, 2);                                                           \
    }
REFUSES(a_dropped_bias_gradient, mutate_bias, optdigits)
REFUSES(a_learning_rate_off_by_a_thousandth, mutate_lr, optdigits)
REFUSES(a_learning_rate_off_by_a_thousandth_on_mnist, mutate_lr, mnist)
REFUSES(a_relu_gradient_wrong_at_one_element, mutate_relu, optdigits)
REFUSES(a_relu_gradient_wrong_at_one_element_on_mnist, mutate_relu, mnist)
REFUSES(eight_weights_that_never_change, mutate_tile, optdigits)
REFUSES(products_in_tf32, mutate_tf32, optdigits)
REFUSES(products_in_tf32_on_mnist, mutate_tf32, mnist)
REFUSES(a_gradient_off_by_a_ten_thousandth, mutate_scale, mnist)

Test(race_agree, refuses_weights_lost_now_and_then) {
    check_wrong(mutate_now_and_then, optdigits, 0);
}

Test(race_agree, refuses_adam_with_another_eps) {
    check_wrong(mutate_eps, (Setting){"mlp:64-48-10", "optdigits", "adam", 9, 70, 64}, 2);
}

static void nan_forward(float *out, const float *inp, size_t n) {
    real.relu_forward(out, inp, n);
    if (calls++ == 5) {
        out[0] = NAN;
    }
}

Test(race_agree, a_loss_of_nan_stops_the_race_and_names_backend_operation_and_step) {
    Race *race = NULL;
    Status status = STATUS_OK;
    prepare(&optdigits);
    real = options.backends[1].ops;
    options.backends[1].ops.relu_forward = nan_forward;
    cr_assert_eq(race_create(&race, &options), STATUS_OK);
    for (int i = 0; i < 20 && status == STATUS_OK; i++) {
        status = race_round(race);
    }
    cr_assert_eq(status, STATUS_NO);
    cr_assert_not_null(strstr(status_message(), "openmp"), "%s", status_message());
    cr_assert_not_null(strstr(status_message(), "relu"), "%s", status_message());
    cr_assert_not_null(strstr(status_message(), "step "), "%s", status_message());
    race_destroy(race);
}
