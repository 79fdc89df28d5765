#include "bench/train_step.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t DATA_STREAM = 77;

/* "mlp:784-128-10" to its numbers; the model's own parser has checked the form already. */
static Status read_sizes(TrainStep *step, const char *model) {
    const char *text = strchr(model, ':');
    if (strncmp(model, "mlp:", 4) != 0) {
        return fail("train_step: model '%.60s': PyTorch's side knows the form mlp:784-128-10",
                    model);
    }
    while (text != NULL && step->size_count < TRAIN_STEP_MAX_SIZES) {
        step->sizes[step->size_count++] = atoi(text + 1);
        text = strchr(text + 1, '-');
    }
    if (text != NULL || step->size_count < 2 || step->sizes[0] < 1) {
        return fail("train_step: model '%.60s': expected 2 to %d sizes, such as mlp:784-128-10",
                    model, TRAIN_STEP_MAX_SIZES);
    }
    return STATUS_OK;
}

static Status make_split(DataSplit *split, int count, int features, int classes) {
    Philox rng = {1, DATA_STREAM};
    size_t pixel_count = (size_t)count * (size_t)features;
    split->count = count;
    split->pixels = malloc(pixel_count);
    split->labels = malloc((size_t)count * sizeof *split->labels);
    if (split->pixels == NULL || split->labels == NULL) {
        return fail("train_step: no memory for %d rows of data", count);
    }
    for (size_t i = 0; i < pixel_count; i++) {
        split->pixels[i] = (uint8_t)(philox_bits(rng, i) >> 24);
    }
    for (int i = 0; i < count; i++) {
        split->labels[i] = (int32_t)philox_below(rng, pixel_count + (uint64_t)i, (uint32_t)classes);
    }
    return STATUS_OK;
}

static Status make_data(TrainStep *step, int batch) {
    int features = step->sizes[0], classes = step->sizes[step->size_count - 1];
    step->data = (Dataset){.name = "random pixels",
                           .source = "made up",
                           .licence = "none",
                           .channels = 1,
                           .height = 1,
                           .width = features,
                           .class_count = classes,
                           .value_max = 255};
    TRY(make_split(&step->data.train, TRAIN_STEP_BATCHES * batch, features, classes));
    return make_split(&step->data.test, 1, features, classes);
}

static Status start_run(TrainStep *step, int batch, double lr) {
    TrainOptions options = train_default_options;
    options.batch = batch;
    options.settings.lr = lr;
    TRY(run_create(&step->run, &step->model, &step->data, &step->backend, &options));
    return run_start(step->run);
}

Status train_step_open(TrainStep *step, const char *model, const char *backend, int threads,
                       int batch, double lr) {
    *step = (TrainStep){.threads = threads};
    TRY(read_sizes(step, model));
    Shape input = {1, {step->sizes[0]}};
    TRY(model_load(&step->model, model, input, step->sizes[step->size_count - 1]));
    if (batch < 1 || batch > 1 << 20) {
        return fail("train_step: --batch %d: expected 1 to %d", batch, 1 << 20);
    }
    TRY(make_data(step, batch));
    TRY(backend_get(&step->backend, backend));
    TRY(step->backend.open(threads));
    return start_run(step, batch, lr);
}

static Status write_all(FILE *file, const void *values, size_t bytes) {
    return fwrite(values, 1, bytes, file) == bytes
               ? STATUS_OK
               : fail("cannot write the weights for PyTorch: %s", strerror(errno));
}

static Status write_params(const Run *run, FILE *file) {
    Status status = STATUS_OK;
    for (int i = 0; i < run->param_count && status == STATUS_OK; i++) {
        const Tensor *param = run->params[i].param;
        void *host = memory_alloc(param->bytes);
        if (host == NULL) {
            return fail("train_step: no memory for a copy of %s", param->name);
        }
        status = run_download(run, host, param);
        if (status == STATUS_OK) {
            status = write_all(file, host, param->bytes);
        }
        memory_free(host);
    }
    return status;
}

/* Images as the step gathers them, then the labels, batch after batch of the order drawn. */
static Status write_data(const TrainStep *step, FILE *file) {
    int batch = step->run->options.batch, count = step->data.train.count;
    size_t image_bytes = (size_t)count * dataset_image_size(&step->data) * sizeof(float);
    size_t label_bytes = (size_t)count * sizeof(int32_t);
    float *images = memory_alloc(image_bytes);
    int32_t *labels = memory_alloc(label_bytes);
    Status status = STATUS_OK;
    if (images == NULL || labels == NULL) {
        status = fail("train_step: no memory for a copy of the data");
    }
    for (int first = 0; status == STATUS_OK && first < count; first += batch) {
        dataset_batch(images + (size_t)first * dataset_image_size(&step->data), labels + first,
                      &step->data, &step->data.train, step->run->order.data, first, batch);
    }
    if (status == STATUS_OK) {
        status = write_all(file, images, image_bytes);
    }
    if (status == STATUS_OK) {
        status = write_all(file, labels, label_bytes);
    }
    memory_free(images);
    memory_free(labels);
    return status;
}

Status train_step_export(TrainStep *step, FILE *file) {
    int batch = step->run->options.batch;
    double lr = step->run->options.settings.lr, ns;
    TRY(write_params(step->run, file));
    TRY(train_step_run(step, 1, &ns)); /* draws the order */
    TRY(write_data(step, file));
    run_destroy(step->run);
    step->run = NULL;
    return start_run(step, batch, lr);
}

Status train_step_run(void *self, long count, double *ns) {
    TrainStep *step = self;
    uint64_t start = step->backend.now_ns();
    for (long i = 0; i < count; i++) {
        TRY(run_step(step->run, &step->loss)); /* synchronises, and reads the loss */
    }
    *ns = (double)(step->backend.now_ns() - start);
    return STATUS_OK;
}

void train_step_close(TrainStep *step) {
    run_destroy(step->run);
    free(step->data.train.pixels), free(step->data.train.labels);
    free(step->data.test.pixels), free(step->data.test.labels);
    *step = (TrainStep){0};
}
