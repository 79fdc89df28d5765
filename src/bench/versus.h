/* Ours against PyTorch: its best thread setting is found first, then both take turns. */
#ifndef LOCKSTEP_VERSUS_H
#define LOCKSTEP_VERSUS_H

#include "bench/alternate.h"
#include "bench/pytorch.h"

enum { VERSUS_MAX_SETTINGS = 4 };

typedef struct VersusSetting {
    TorchThreads threads;
    Stats ns; /* one piece of work */
} VersusSetting;

typedef struct Versus {
    char python[512], version[48], blas[128], variant[32];
    int setting_count, best; /* index of the setting that the comparison uses */
    VersusSetting settings[VERSUS_MAX_SETTINGS];
    int check_count;         /* pieces of work after which results were compared; 0: not */
    double check_loss[2];    /* ours, theirs */
    Alternation alternation; /* side 0 is ours */
} Versus;

typedef struct VersusPlan {
    const char *python; /* from torch_find_python */
    int threads;        /* that both sides may use */
    double seconds;
    int rounds; /* 0: as many as fit */
    Side ours;
    /* Tells a child what to do; work is passed on. */
    Status (*set_work)(Torch *torch, const void *work);
    const void *work;
    /* Does the first check_count pieces of our work and gives the loss; NULL: nothing to compare.
     */
    Status (*our_loss)(void *self, long count, double *loss);
    int check_count;
} VersusPlan;

/* STATUS_NO when the two sides come to different losses: then
 * they do not do the same work, and there is no figure. */
Status versus_torch(Versus *versus, const VersusPlan *plan);

#endif
