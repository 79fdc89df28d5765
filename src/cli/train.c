/* lockstep train: one model on one backend, from its options to the last line. */
#include <limits.h>
#include <stdlib.h>

#include "cli/train_job.h"

static const char synopsis[] =
    "train [--model M] [--data D] [--backend B]\n"
    "                      [--epochs N | --steps N | --seconds S] [options]";

static const char summary[] =
    "Trains a model on one backend. The same seed gives the same weights and the same batches on "
    "every backend. Ctrl-C ends the run after the step in progress: it saves, reports, and exits "
    "0.";

static Status parse(TrainArguments *a, int argc, char **argv) {
    const CliOption options[] = {
        {"--model", CLI_STRING, &a->model, "M", "a preset, mlp:784-128-10, or a file (mlp)", 0, 0},
        {"--data", CLI_STRING, &a->data, "D", "a name or a folder (mnist-small)", 0, 0},
        {"--backend", CLI_STRING, &a->backend, "B", "serial, openmp, openblas, ... (openblas)", 0,
         0},
        {"--epochs", CLI_INT, &a->epochs, "N", "passes over the training data (5)", 1, INT_MAX},
        {"--steps", CLI_INT, &a->steps, "N", "batches, instead of epochs", 1, INT_MAX},
        {"--seconds", CLI_FLOAT, &a->seconds, "S",
         "seconds of training steps; evaluations are not counted", 1e-3, 1e9},
        {"--batch", CLI_INT, &a->batch, "N", "images a step (64)", 1, 1 << 24},
        {"--lr", CLI_FLOAT, &a->lr, "X",
         "learning rate (sgd 0.1, momentum 0.02, adam and adamw 0.001)", 1e-30, 1e30},
        {"--optimizer", CLI_STRING, &a->optimizer, "O", "sgd, momentum, adam or adamw (sgd)", 0, 0},
        {"--seed", CLI_INT, &a->seed, "N", "decides weights and shuffles (1)", 0, INT_MAX},
        {"--precision", CLI_STRING, &a->precision, "P", "fp32, the only one yet (fp32)", 0, 0},
        {"--threads", CLI_INT, &a->threads, "N", "CPU threads (what the machine grants)", 1, 1024},
        {"--kernel", CLI_REPEAT, &a->kernels, "OP=K", "a kernel other than the default", 0, 0},
        {"--save", CLI_STRING, &a->save, "F",
         "write a checkpoint; weights alone if F ends in .safetensors", 0, 0},
        {"--save-every", CLI_STRING, &a->save_every, "N",
         "also every N steps, or every Ns seconds (60s)", 0, 0},
        {"--resume", CLI_STRING, &a->resume, "F",
         "go on from a checkpoint with its options, or begin with weights from .safetensors", 0, 0},
        {"--log", CLI_STRING, &a->log, "F.jsonl", "one JSON object a line; goes on after --resume",
         0, 0},
        {"--trace", CLI_STRING, &a->trace, "F.json", "what ran when, for ui.perfetto.dev", 0, 0},
        {"--plan", CLI_FLAG, &a->plan, NULL, "show the memory tensor by tensor", 0, 0},
        {"--quiet", CLI_FLAG, &a->quiet, NULL, "only the last line", 0, 0},
        {"--json", CLI_FLAG, &a->json, NULL, "one JSON object at the end", 0, 0},
        {0},
    };
    return cli_parse(argc, argv, synopsis, summary, options, NULL);
}

Status cli_train(int argc, char **argv) {
    TrainJob *job = calloc(1, sizeof *job);
    if (job == NULL) {
        return fail("train: out of memory");
    }
    job->asked = (TrainArguments){.precision = "fp32", .seed = -1};
    Status status = parse(&job->asked, argc, argv);
    if (status == STATUS_OK) {
        status = train_setup(job);
    }
    if (status == STATUS_OK) {
        status = train_loop(job);
    }
    if (status == STATUS_OK) {
        train_show_end(job);
    }
    train_cleanup(job);
    free(job);
    return status;
}
