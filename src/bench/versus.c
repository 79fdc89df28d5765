#include "bench/versus.h"

#include <math.h>

#include "bench/settle.h"

enum { TRIAL_ROUNDS = 7, TRIAL_NS = 60000000, SETTLE_LIMIT_MS = 400 };

/* How far the losses may part, relatively: both round, in different orders, at every step. */
static const double LOSS_TOLERANCE = 1e-3;

/* The thread settings worth trying; the last two differ in whether BLAS may use threads too. */
static int list_settings(VersusSetting *settings, int threads) {
    int count = 0;
    settings[count++].threads = (TorchThreads){1, 1, 1};
    if (threads > 1) {
        settings[count++].threads = (TorchThreads){threads, 1, 1};
        settings[count++].threads = (TorchThreads){threads, 1, threads};
        settings[count++].threads = (TorchThreads){threads, threads, threads};
    }
    return count;
}

static Status run_torch(void *self, long count, double *ns) {
    double loss;
    return torch_run(self, count, ns, &loss);
}

/* All children in turns; the fastest median wins. */
static Status try_settings(Versus *versus, Torch *children) {
    double samples[VERSUS_MAX_SETTINGS][TRIAL_ROUNDS], ns, loss;
    for (int round = 0; round < TRIAL_ROUNDS; round++) {
        for (int i = 0; i < versus->setting_count; i++) {
            long count = 1;
            TRY(torch_run(&children[i], 1, &ns, &loss));
            if (ns > 0 && ns < TRIAL_NS) {
                count = (long)(TRIAL_NS / ns);
            }
            TRY(torch_run(&children[i], count, &ns, &loss));
            samples[i][round] = ns / (double)count;
            settle(children[i].process, SETTLE_LIMIT_MS);
        }
    }
    for (int i = 0; i < versus->setting_count; i++) {
        versus->settings[i].ns = stats_of(samples[i], TRIAL_ROUNDS);
        if (versus->settings[i].ns.median < versus->settings[versus->best].ns.median) {
            versus->best = i;
        }
    }
    return STATUS_OK;
}

/* Both sides from the same weights through the same batches: the same loss, or no comparison. */
static Status check_losses(Versus *versus, const VersusPlan *plan, Torch *torch) {
    double ns;
    if (plan->our_loss == NULL) {
        return STATUS_OK;
    }
    TRY(plan->set_work(torch, plan->work)); /* from the start again */
    TRY(plan->our_loss(plan->ours.self, plan->check_count, &versus->check_loss[0]));
    TRY(torch_run(torch, plan->check_count, &ns, &versus->check_loss[1]));
    versus->check_count = plan->check_count;
    double difference = fabs(versus->check_loss[0] - versus->check_loss[1]);
    if (!(difference <= LOSS_TOLERANCE * fabs(versus->check_loss[0]))) {
        return fail_no("not the same work: after %d steps our loss is %g and PyTorch's %g, so no "
                       "figures are given",
                       plan->check_count, versus->check_loss[0], versus->check_loss[1]);
    }
    return STATUS_OK;
}

static Status compare(Versus *versus, const VersusPlan *plan, Torch *children) {
    for (int i = 0; i < versus->setting_count; i++) {
        TRY(torch_start(&children[i], versus->python, &versus->settings[i].threads));
        TRY(plan->set_work(&children[i], plan->work));
        settle(children[i].process, SETTLE_LIMIT_MS);
    }
    TRY(try_settings(versus, children));
    Torch *best = &children[versus->best];
    for (int i = 0; i < versus->setting_count; i++) {
        if (&children[i] != best) {
            torch_stop(&children[i]);
        }
    }
    TRY(check_losses(versus, plan, best));
    snprintf(versus->version, sizeof versus->version, "%s", best->version);
    snprintf(versus->blas, sizeof versus->blas, "%s", best->blas);
    snprintf(versus->variant, sizeof versus->variant, "%s", best->variant);
    Side sides[2] = {plan->ours, {"pytorch", run_torch, best, best->process}};
    return alternate(&versus->alternation, sides, plan->seconds, plan->rounds);
}

Status versus_torch(Versus *versus, const VersusPlan *plan) {
    Torch children[VERSUS_MAX_SETTINGS] = {0};
    *versus = (Versus){0};
    snprintf(versus->python, sizeof versus->python, "%s", plan->python);
    versus->setting_count = list_settings(versus->settings, plan->threads);
    Status status = compare(versus, plan, children);
    for (int i = 0; i < VERSUS_MAX_SETTINGS; i++) {
        torch_stop(&children[i]);
    }
    return status;
}
