/* What the tests of models and training share: a small set of images in memory that can be learned,
 * and runs on it. Images are 1x3x4, three classes; each class lights a column of its own, the rest
 * is noise from a generator of the test's. */
#ifndef LOCKSTEP_TESTS_NN_FIXTURE_H
#define LOCKSTEP_TESTS_NN_FIXTURE_H

#include "data_fixture.h"
#include "nn/train.h"

enum { NN_H = 3, NN_W = 4, NN_PIXELS = NN_H * NN_W, NN_CLASSES = 3, NN_TRAIN = 50, NN_TEST = 20 };

static uint8_t nn_pixels[2][NN_TRAIN * NN_PIXELS];
static int32_t nn_labels[2][NN_TRAIN];

FIXTURE Dataset small_data(void) {
    Dataset data = {.name = "small", .channels = 1, .height = NN_H, .width = NN_W};
    uint32_t state = 12345;
    for (int split = 0; split < 2; split++) {
        for (int i = 0; i < NN_TRAIN; i++) {
            nn_labels[split][i] = (i * 7 + split) % NN_CLASSES;
            for (int p = 0; p < NN_PIXELS; p++) {
                state = state * 1664525u + 1013904223u;
                int noise = (int)(state >> 24) / 3, lit = p % NN_W == nn_labels[split][i];
                nn_pixels[split][i * NN_PIXELS + p] = (uint8_t)(noise + (lit ? 150 : 0));
            }
        }
    }
    data.class_count = NN_CLASSES;
    data.value_max = 255;
    data.train = (DataSplit){NN_TRAIN, nn_pixels[0], nn_labels[0]};
    data.test = (DataSplit){NN_TEST, nn_pixels[1], nn_labels[1]};
    return data;
}

#define EXPECT_OK(call) cr_assert_eq(call, STATUS_OK, "%s", status_message())

typedef struct Trial { /* a run and what it stands on */
    Dataset data;
    Model model;
    Backend backend;
    Run *run;
} Trial;

FIXTURE void trial_start(Trial *trial, const char *model, const char *backend, int threads,
                         const TrainOptions *options) {
    trial->data = small_data();
    EXPECT_OK(model_load(&trial->model, model, (Shape){3, {1, NN_H, NN_W}}, NN_CLASSES));
    EXPECT_OK(backend_get(&trial->backend, backend));
    EXPECT_OK(trial->backend.open(threads));
    EXPECT_OK(run_create(&trial->run, &trial->model, &trial->data, &trial->backend, options));
    EXPECT_OK(run_start(trial->run));
}

FIXTURE void trial_end(Trial *trial) {
    run_destroy(trial->run);
    trial->backend.close();
}

FIXTURE void trial_steps(Trial *trial, int count) {
    float loss;
    for (int i = 0; i < count; i++) {
        EXPECT_OK(run_step(trial->run, &loss));
    }
}

/* Do two runs hold the same weights and optimizer state, to the bit? */
FIXTURE bool same_numbers(const Run *a, const Run *b) {
    static float x[1 << 14], y[1 << 14];
    for (int i = 0; i < a->param_count; i++) {
        for (int s = -1; s < a->optimizer->state_count; s++) {
            const Tensor *t = s < 0 ? a->params[i].param : &a->params[i].state[s];
            const Tensor *u = s < 0 ? b->params[i].param : &b->params[i].state[s];
            cr_assert_leq(t->bytes, sizeof x);
            EXPECT_OK(run_download(a, x, t));
            EXPECT_OK(run_download(b, y, u));
            if (memcmp(x, y, t->bytes) != 0) {
                return false;
            }
        }
    }
    return true;
}

#endif
