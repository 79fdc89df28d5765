/* PyTorch as a contender: a child process that runs tools/bench_pytorch.py, stays alive, and does a
 * slice of work whenever it is told to. It times its own work; the pipe is not counted. */
#ifndef LOCKSTEP_PYTORCH_H
#define LOCKSTEP_PYTORCH_H

#include <stdio.h>
#include <sys/types.h>

#include "base/status.h"

/* What decides how many threads PyTorch and its BLAS use. */
typedef struct TorchThreads {
    int omp;   /* OMP_NUM_THREADS */
    int blas;  /* OPENBLAS_NUM_THREADS and MKL_NUM_THREADS */
    int torch; /* torch.set_num_threads */
} TorchThreads;

typedef struct Torch {
    pid_t process; /* 0: none */
    FILE *to, *from;
    TorchThreads threads;
    char version[48], blas[128];
    char variant[32]; /* the fastest form of the optimizer: "fused" */
} Torch;

/* Finds a Python that can import torch: `asked` if not NULL, else python3 on the PATH, else
 * /usr/bin/python3. STATUS_MISSING with the cure when there is none. */
Status torch_find_python(char *python, size_t python_bytes, const char *asked);

/* Starts the child. */
Status torch_start(Torch *torch, const char *python, const TorchThreads *threads);

/* Sets up the training step that train_step_export wrote into `file` ... */
typedef struct TorchModel {
    const int *layers; /* features from input to classes, ReLU between */
    int layer_count, batch, batches;
    double lr; /* of SGD */
    const char *file;
} TorchModel;
Status torch_set_train_step(Torch *torch, const TorchModel *model);
/* ... or one operation. */
Status torch_set_op(Torch *torch, const char *op, const size_t *dims, int dim_count);

/* Runs it `count` times; *ns for all together, *loss the last one (NAN for an operation). */
Status torch_run(Torch *torch, long count, double *ns, double *loss);

/* Ends the child, if there is one. */
void torch_stop(Torch *torch);

#endif
