/* Runs: one step against the arithmetic written out in double, and what holds of every backend. */
#include <math.h>

#include "nn_fixture.h"

static const char *const backends[] = {"serial", "openmp", "openblas"};
static const char *const optimizers[] = {"sgd", "momentum", "adam", "adamw"};
enum { THREADS = 2, HIDDEN = 5 };

static TrainOptions options_of(const char *optimizer, int batch) {
    TrainOptions options = train_default_options;
    options.optimizer = optimizer;
    options.batch = batch;
    options.seed = 20260101;
    return options;
}

/* ---- one step of 12-5-3 in double, written from the definitions ----------------------------- */

typedef struct Net {
    double w1[HIDDEN][NN_PIXELS], b1[HIDDEN], w2[NN_CLASSES][HIDDEN], b2[NN_CLASSES];
} Net;

static double *net_tensor(Net *net, int index) {
    double *const tensors[] = {&net->w1[0][0], net->b1, &net->w2[0][0], net->b2};
    return tensors[index];
}

/* Adds the gradient of one sample's loss, divided by N, and returns the loss. */
static double add_gradient(Net *g, const Net *w, const double *x, int label, int N) {
    double h[HIDDEN], z[NN_CLASSES], sum = 0.0, largest = -INFINITY, dh[HIDDEN] = {0};
    for (int j = 0; j < HIDDEN; j++) {
        h[j] = w->b1[j];
        for (int p = 0; p < NN_PIXELS; p++) {
            h[j] += w->w1[j][p] * x[p];
        }
        h[j] = h[j] > 0.0 ? h[j] : 0.0;
    }
    for (int k = 0; k < NN_CLASSES; k++) {
        z[k] = w->b2[k];
        for (int j = 0; j < HIDDEN; j++) {
            z[k] += w->w2[k][j] * h[j];
        }
        largest = fmax(largest, z[k]);
    }
    for (int k = 0; k < NN_CLASSES; k++) {
        sum += exp(z[k] - largest);
    }
    for (int k = 0; k < NN_CLASSES; k++) {
        double dz = (exp(z[k] - largest) / sum - (k == label)) / N;
        g->b2[k] += dz;
        for (int j = 0; j < HIDDEN; j++) {
            g->w2[k][j] += dz * h[j];
            dh[j] += dz * w->w2[k][j];
        }
    }
    for (int j = 0; j < HIDDEN; j++) {
        for (int p = 0; h[j] > 0.0 && p < NN_PIXELS; p++) {
            g->w1[j][p] += dh[j] * x[p];
        }
        g->b1[j] += h[j] > 0.0 ? dh[j] : 0.0;
    }
    return log(sum) + largest - z[label];
}

static void net_of(Net *net, const Run *run) {
    float host[HIDDEN * NN_PIXELS];
    for (int i = 0; i < run->param_count; i++) {
        EXPECT_OK(run_download(run, host, run->params[i].param));
        for (size_t e = 0; e < run->params[i].param->count; e++) {
            net_tensor(net, i)[e] = (double)host[e];
        }
    }
}

/* The whole training set is one batch, so the shuffle only changes the order of a sum. */
static void check_step(const char *backend) {
    TrainOptions options = options_of("sgd", NN_TRAIN);
    static Net before, gradient, after;
    Trial trial;
    float loss;
    double expected = 0.0, x[NN_PIXELS];
    options.settings.lr = 0.5;
    trial_start(&trial, "mlp:12-5-3", backend, THREADS, &options);
    net_of(&before, trial.run);
    EXPECT_OK(run_step(trial.run, &loss));
    net_of(&after, trial.run);
    gradient = (Net){0};
    for (int n = 0; n < NN_TRAIN; n++) {
        for (int p = 0; p < NN_PIXELS; p++) {
            x[p] = nn_pixels[0][n * NN_PIXELS + p] / 255.0;
        }
        expected += add_gradient(&gradient, &before, x, nn_labels[0][n], NN_TRAIN) / NN_TRAIN;
    }
    cr_assert_float_eq((double)loss, expected, 1e-5, "%s: loss %.9g, expected %.9g", backend,
                       (double)loss, expected);
    for (int i = 0; i < trial.run->param_count; i++) {
        const Tensor *param = trial.run->params[i].param;
        for (size_t e = 0; e < param->count; e++) {
            double right = net_tensor(&before, i)[e] - 0.5 * net_tensor(&gradient, i)[e];
            cr_assert_float_eq(net_tensor(&after, i)[e], right, 1e-5, "%s %s[%zu]: %.9g, not %.9g",
                               backend, param->name, e, net_tensor(&after, i)[e], right);
        }
    }
    trial_end(&trial);
}

Test(training, a_step_is_the_gradient_step_written_out_in_double) {
    for (int b = 0; b < 3; b++) {
        check_step(backends[b]);
    }
}

Test(training, first_weights_have_he_variance_zero_biases_and_follow_the_seed) {
    static float weights[200 * NN_PIXELS], other[200 * NN_PIXELS];
    for (int seed = 1; seed <= 2; seed++) {
        TrainOptions options = options_of("sgd", 8);
        Trial trial;
        double sum = 0.0, squares = 0.0;
        options.seed = (uint64_t)seed;
        trial_start(&trial, "mlp:12-200-3", "serial", 1, &options);
        memcpy(other, weights, sizeof other);
        EXPECT_OK(run_download(trial.run, weights, trial.run->params[0].param));
        for (int i = 0; i < 200 * NN_PIXELS; i++) {
            sum += (double)weights[i];
            squares += (double)weights[i] * (double)weights[i];
        }
        /* 2400 samples: the mean is within 5 deviations of 0, the variance within 15 % of 2/12. */
        cr_assert_lt(fabs(sum / 2400), 5 * sqrt(2.0 / 12 / 2400));
        cr_assert_float_eq(squares / 2400, 2.0 / 12, 0.15 * 2.0 / 12);
        EXPECT_OK(run_download(trial.run, weights, trial.run->params[1].param));
        for (int i = 0; i < 200; i++) {
            cr_assert_eq(weights[i], 0.0f);
        }
        EXPECT_OK(run_download(trial.run, weights, trial.run->params[0].param));
        trial_end(&trial);
    }
    cr_assert_neq(memcmp(weights, other, sizeof weights), 0, "two seeds gave the same weights");
}

Test(training, two_runs_of_one_backend_agree_to_the_bit_with_every_optimizer) {
    for (int b = 0; b < 3; b++) {
        for (int o = 0; o < 4; o++) {
            TrainOptions options = options_of(optimizers[o], 8);
            Trial one, two;
            trial_start(&one, "mlp:12-20-3", backends[b], THREADS, &options);
            trial_start(&two, "mlp:12-20-3", backends[b], THREADS, &options);
            trial_steps(&one, 20);
            trial_steps(&two, 20);
            cr_assert(same_numbers(one.run, two.run), "%s, %s", backends[b], optimizers[o]);
            trial_end(&one);
            trial_end(&two);
        }
    }
}

Test(training, every_optimizer_learns_on_every_backend) {
    for (int b = 0; b < 3; b++) {
        for (int o = 0; o < 4; o++) {
            TrainOptions options = options_of(optimizers[o], 8);
            double loss, accuracy;
            Trial trial;
            options.settings.lr = o < 2 ? 0.1 : 0.02;
            trial_start(&trial, "mlp:12-20-3", backends[b], THREADS, &options);
            trial_steps(&trial, 140);
            EXPECT_OK(run_evaluate(trial.run, &trial.data.test, &loss, &accuracy));
            cr_assert_gt(accuracy, 0.9, "%s, %s: accuracy %g", backends[b], optimizers[o],
                         accuracy);
            trial_end(&trial);
        }
    }
}

Test(training, every_layer_kind_learns) {
    static const char *const kinds[] = {"relu", "sigmoid", "tanh"};
    for (int k = 0; k < 3; k++) {
        char text[200];
        double loss, accuracy;
        TrainOptions options = options_of("adam", 8);
        Trial trial = {.data = small_data()};
        options.settings.lr = 0.05;
        snprintf(text, sizeof text, "linear a 20\n%s b\nlinear c 3\nloss softmax_cross_entropy\n",
                 kinds[k]);
        EXPECT_OK(model_parse(&trial.model, "text", text, (Shape){3, {1, NN_H, NN_W}}, 3));
        EXPECT_OK(backend_get(&trial.backend, "serial"));
        EXPECT_OK(trial.backend.open(1));
        EXPECT_OK(run_create(&trial.run, &trial.model, &trial.data, &trial.backend, &options));
        EXPECT_OK(run_start(trial.run));
        trial_steps(&trial, 140);
        EXPECT_OK(run_evaluate(trial.run, &trial.data.test, &loss, &accuracy));
        cr_assert_gt(accuracy, 0.9, "%s: accuracy %g", kinds[k], accuracy);
        trial_end(&trial);
    }
}

/* 50 rows in batches of 8 are six full ones and one of two. */
Test(training, an_epoch_visits_every_row_once_and_keeps_the_last_partial_batch) {
    TrainOptions options = options_of("sgd", 8);
    Trial trial;
    int orders[2][NN_TRAIN];
    trial_start(&trial, "mlp:12-5-3", "serial", 1, &options);
    cr_assert_eq(run_steps_per_epoch(trial.run), 7);
    for (int epoch = 0; epoch < 2; epoch++) {
        bool seen[NN_TRAIN] = {false};
        trial_steps(&trial, 6);
        cr_assert_eq(trial.run->position, 48);
        trial_steps(&trial, 1);
        cr_assert_eq(trial.run->position, 0);
        cr_assert_eq(trial.run->epoch, epoch + 1);
        memcpy(orders[epoch], trial.run->order.data, sizeof orders[epoch]);
        for (int i = 0; i < NN_TRAIN; i++) {
            cr_assert(!seen[orders[epoch][i]], "row %d twice", orders[epoch][i]);
            seen[orders[epoch][i]] = true;
        }
    }
    cr_assert_neq(memcmp(orders[0], orders[1], sizeof orders[0]), 0);
    trial_end(&trial);
}

Test(training, a_batch_larger_than_the_data_is_the_data) {
    TrainOptions options = options_of("sgd", 1000);
    Trial trial;
    double loss, accuracy;
    trial_start(&trial, "mlp:12-5-3", "openblas", THREADS, &options);
    trial_steps(&trial, 3);
    cr_assert_eq(trial.run->epoch, 3);
    EXPECT_OK(run_evaluate(trial.run, &trial.data.test, &loss, &accuracy));
    trial_end(&trial);
}

Test(training, evaluating_leaves_the_run_as_it_was) {
    TrainOptions options = options_of("adam", 8);
    Trial one, two;
    double loss, accuracy;
    trial_start(&one, "mlp:12-20-3", "openmp", THREADS, &options);
    trial_start(&two, "mlp:12-20-3", "openmp", THREADS, &options);
    for (int i = 0; i < 10; i++) {
        trial_steps(&one, 1);
        trial_steps(&two, 1);
        EXPECT_OK(run_evaluate(two.run, &two.data.test, &loss, &accuracy));
        EXPECT_OK(run_evaluate(two.run, &two.data.train, &loss, &accuracy));
    }
    cr_assert(same_numbers(one.run, two.run));
    cr_assert_eq(one.run->costs[OP_matmul_forward].calls, two.run->costs[OP_matmul_forward].calls);
    trial_end(&one);
    trial_end(&two);
}

Test(training, accuracy_is_the_share_of_right_answers) {
    TrainOptions options = options_of("sgd", 7);
    Trial trial;
    double loss, accuracy;
    float zero[HIDDEN * NN_PIXELS] = {0}, bias[NN_CLASSES] = {0.0f, 1.0f, 0.0f};
    trial_start(&trial, "mlp:12-5-3", "openblas", THREADS, &options);
    for (int i = 0; i < trial.run->param_count; i++) {
        EXPECT_OK(run_upload(trial.run, trial.run->params[i].param, i == 3 ? bias : zero));
    }
    int ones = 0;
    for (int n = 0; n < NN_TEST; n++) {
        ones += nn_labels[1][n] == 1;
    }
    /* Class 1 always wins: the losses are log(e + 2) - 1 where it is right, log(e + 2) elsewhere.
     */
    EXPECT_OK(run_evaluate(trial.run, &trial.data.test, &loss, &accuracy));
    cr_assert_float_eq(accuracy, (double)ones / NN_TEST, 1e-12);
    cr_assert_float_eq(loss, log(exp(1.0) + 2.0) - (double)ones / NN_TEST, 1e-6);
    trial_end(&trial);
}

Test(training, backends_learn_alike) {
    TrainOptions options = options_of("sgd", 8);
    static float weights[3][20 * NN_PIXELS];
    for (int b = 0; b < 3; b++) {
        Trial trial;
        trial_start(&trial, "mlp:12-20-3", backends[b], THREADS, &options);
        trial_steps(&trial, 20);
        EXPECT_OK(run_download(trial.run, weights[b], trial.run->params[0].param));
        for (int i = 0; i < 20 * NN_PIXELS; i++) {
            cr_assert_float_eq((double)weights[b][i], (double)weights[0][i], 1e-4,
                               "%s: fc1.weight[%d]", backends[b], i);
        }
        trial_end(&trial);
    }
}

Test(training, seeking_goes_on_with_the_batches_of_an_unbroken_run) {
    for (int at = 0; at <= 15; at++) {
        TrainOptions options = options_of("momentum", 8);
        Trial whole, broken, resumed;
        static float host[20 * NN_PIXELS];
        trial_start(&whole, "mlp:12-20-3", "openblas", THREADS, &options);
        trial_start(&broken, "mlp:12-20-3", "openblas", THREADS, &options);
        trial_start(&resumed, "mlp:12-20-3", "openblas", THREADS, &options);
        trial_steps(&whole, 16);
        trial_steps(&broken, at);
        for (int i = 0; i < broken.run->param_count; i++) {
            const RunParam *from = &broken.run->params[i], *to = &resumed.run->params[i];
            EXPECT_OK(run_download(broken.run, host, from->param));
            EXPECT_OK(run_upload(resumed.run, to->param, host));
            EXPECT_OK(run_download(broken.run, host, &from->state[0]));
            EXPECT_OK(run_upload(resumed.run, &to->state[0], host));
        }
        run_seek(resumed.run, at);
        trial_steps(&resumed, 16 - at);
        cr_assert(same_numbers(whole.run, resumed.run), "broken after step %d", at);
        trial_end(&whole);
        trial_end(&broken);
        trial_end(&resumed);
    }
}

/* ---- divergence ----------------------------------------------------------------------------- */

static Status step_until_failure(Trial *trial, int limit) {
    Status status = STATUS_OK;
    for (int i = 0; status == STATUS_OK && i < limit; i++) {
        float loss;
        status = run_step(trial->run, &loss);
    }
    return status;
}

Test(training, a_diverged_run_names_step_and_operation_on_every_backend) {
    for (int b = 0; b < 3; b++) {
        TrainOptions options = options_of("sgd", 8);
        Trial trial;
        options.settings.lr = 1e30;
        trial_start(&trial, "mlp:12-5-3", backends[b], THREADS, &options);
        expect_failure(step_until_failure(&trial, 20), STATUS_NO, "step ", "lower --lr", "fc",
                       NULL);
        trial_end(&trial);
    }
}

Test(training, the_first_operation_that_is_not_finite_is_the_one_named) {
    TrainOptions options = options_of("sgd", 8);
    Trial trial;
    float loss, huge[HIDDEN * NN_PIXELS], nan_bias[NN_CLASSES] = {0.0f, NAN, 0.0f};
    trial_start(&trial, "mlp:12-5-3", "serial", 1, &options);
    trial_steps(&trial, 3);
    for (int i = 0; i < HIDDEN * NN_PIXELS; i++) {
        huge[i] = 3e38f; /* finite, but sums of them are not */
    }
    EXPECT_OK(run_upload(trial.run, trial.run->params[0].param, huge));
    expect_failure(run_step(trial.run, &loss), STATUS_NO, "step 4: matmul_forward of layer fc1",
                   "fc1.out", "inf", NULL);
    trial_end(&trial);
    trial_start(&trial, "mlp:12-5-3", "serial", 1, &options);
    trial_steps(&trial, 3);
    EXPECT_OK(run_upload(trial.run, trial.run->params[3].param, nan_bias));
    expect_failure(run_step(trial.run, &loss), STATUS_NO, "step 4: sgd of step 3", "fc2.bias[1]",
                   "nan", NULL);
    trial_end(&trial);
}
