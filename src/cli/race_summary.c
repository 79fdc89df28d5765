/* The summary of a race: what ran, how fast, where the time went, what was learned by when, and
 * whether all backends learned the same. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/race_table.h"

enum { LABEL_COLUMNS = 10, NAME_COLUMNS = 9, OPERATION_ROWS = 9 };

static void heading(Frame *frame, const char *text) {
    frame_print(frame, "\n");
    frame_style(frame, STYLE_BOLD, "%s\n", text);
}

/* "  machine   AMD EPYC, 2 threads", later lines indented to the same column. */
static void fact(Frame *frame, const char *label, const char *text) {
    Frame body = {.terminal = frame->terminal};
    frame_wrap(&body, LABEL_COLUMNS + 2, text);
    frame_style(frame, STYLE_FAINT, "  %-*s", LABEL_COLUMNS, label);
    frame_print(frame, "%s", body.text == NULL ? "\n" : body.text + LABEL_COLUMNS + 2);
    frame_free(&body);
}

/* Kernels other than the defaults, by backend; backends that cannot race here, and why. */
static void print_choices(Frame *frame, const RaceReport *report) {
    char text[512];
    int used = 0;
    for (int i = 0; i < report->count; i++) {
        const Backend *backend = &report->options->backends[i];
        for (int op = 0; op < OP_COUNT && used < (int)sizeof text; op++) {
            const Kernel *kernel = backend->chosen[op];
            if (kernel != NULL && !kernel->is_default) {
                used +=
                    snprintf(text + used, sizeof text - (size_t)used, "%s%s:%s=%s",
                             used > 0 ? ", " : "", backend->name, op_name((OpId)op), kernel->name);
            }
        }
    }
    fact(frame, "kernels", used > 0 ? text : "the default of each operation");
    for (int b = 0; b < backend_count(); b++) {
        if (backend_missing(backend_at(b)) != NULL) {
            snprintf(text, sizeof text, "%s: %s", backend_at(b)->name,
                     backend_missing(backend_at(b)));
            fact(frame, "absent", text);
        }
    }
}

static void print_facts(Frame *frame, const RaceReport *report) {
    const Passport *passport = &report->passport;
    const RaceOptions *options = report->options;
    char text[512], model[160], a[32], b[32];
    snprintf(text, sizeof text, "%s (%s), %s", passport->processor, passport->vector,
             passport->threads.reason);
    fact(frame, "machine", text);
    snprintf(text, sizeof text, "Lockstep %s, %s", passport->version, passport->flags);
    fact(frame, "build", text);
    snprintf(text, sizeof text, "%s, %s weights, fp32, %s, learning rate %g, seed %llu",
             race_model(model, options->model), race_grouped(a, (int64_t)report->weight_count),
             report->optimizer, report->lr, (unsigned long long)options->train.seed);
    fact(frame, "model", text);
    snprintf(text, sizeof text, "%s, %s images to train on, %s to test, batches of %d",
             options->data->name, race_grouped(a, options->data->train.count),
             race_grouped(b, options->data->test.count), options->train.batch);
    fact(frame, "data", text);
    print_choices(frame, report);
    snprintf(text, sizeof text,
             "%s steps (%.1f epochs) on each backend, one step each in turn; %.1f s, of which "
             "%.1f s to evaluate and %.1f s to check agreement",
             race_grouped(a, report->steps), report->epochs, report->wall_s, report->evaluation_s,
             report->agreement_s);
    fact(frame, "race", text);
    if (report->interrupted) {
        fact(frame, "", "Stopped early by a signal; the figures are those up to then.");
    }
}

/* ---- how fast -------------------------------------------------------------------------------- */

static void print_speed(Frame *frame, const RaceReport *report) {
    char text[512], ms[32];
    int samples = 0;
    heading(frame, "Speed");
    race_table_speed(frame, report);
    for (int i = 0; i < report->count; i++) {
        int count = report->results[i].step_ms.count;
        samples = samples == 0 || count < samples ? count : samples;
    }
    int used = snprintf(text, sizeof text,
                        "step ms: median of %d steps, each alone on the machine, without warm-up "
                        "and smaller last batches; speedups are ratios of medians. Cold first "
                        "step:",
                        samples);
    for (int i = 0; i < report->count && used < (int)sizeof text; i++) {
        used +=
            snprintf(text + used, sizeof text - (size_t)used, "%s %s %s ms", i > 0 ? "," : "",
                     report->results[i].backend, race_number(ms, report->results[i].cold_ms, 0));
    }
    frame_print(frame, "\n");
    frame_wrap(frame, 2, text);
}

/* ---- what was learned by when ---------------------------------------------------------------- */

static void print_time_to_accuracy(Frame *frame, const RaceReport *report) {
    heading(frame, "Time to accuracy");
    frame_style(frame, STYLE_FAINT, "  %-*s", NAME_COLUMNS, "backend");
    for (int t = 0; t < RACE_TARGETS; t++) {
        frame_style(frame, STYLE_FAINT, "%13.0f %%", 100.0 * race_targets[t]);
    }
    frame_print(frame, "\n");
    for (int i = 0; i < report->count; i++) {
        const RaceResult *result = &report->results[i];
        frame_print(frame, "  %-*s", NAME_COLUMNS, result->backend);
        for (int t = 0; t < RACE_TARGETS; t++) {
            char seconds[32];
            if (isnan(result->time_to_s[t])) {
                frame_print(frame, "%15s", "not reached");
            } else {
                frame_print(frame, "%13s s", race_number(seconds, result->time_to_s[t], 0));
            }
        }
        frame_print(frame, "\n");
    }
    frame_print(frame, "\n");
    frame_wrap(frame, 2,
               "Seconds on a backend's own clock (its steps, nothing else) until an "
               "evaluation on the test images first reached that accuracy.");
}

static void print_equal_time(Frame *frame, const RaceReport *report) {
    char text[256], number[32];
    double seconds = (double)NAN;
    for (int i = 0; i < report->count; i++) {
        seconds = fmin(seconds, report->results[i].equal_time.own_s);
    }
    if (report->count < 2 || isnan(seconds)) {
        return;
    }
    heading(frame, "Accuracy in equal time");
    frame_style(frame, STYLE_FAINT, "  %-*s%15s%15s%15s\n", NAME_COLUMNS, "backend", "steps",
                "epochs", "accuracy");
    for (int i = 0; i < report->count; i++) {
        const RaceResult *result = &report->results[i];
        char accuracy[32] = "-";
        if (!isnan(result->equal_time.accuracy)) {
            snprintf(accuracy, sizeof accuracy, "%.1f %%", 100.0 * result->equal_time.accuracy);
        }
        double epochs = report->steps > 0 ? report->epochs * (double)result->equal_time.steps /
                                                (double)report->steps
                                          : 0.0;
        frame_print(frame, "  %-*s%15s%15.1f%15s\n", NAME_COLUMNS, result->backend,
                    race_grouped(number, result->equal_time.steps), epochs, accuracy);
    }
    frame_print(frame, "\n");
    snprintf(text, sizeof text,
             "Where each stood after %s s on its own clock, when the fastest was done: the faster "
             "one could try more.",
             race_number(number, seconds, 0));
    frame_wrap(frame, 2, text);
}

/* ---- do they agree --------------------------------------------------------------------------- */

static void print_finding(Frame *frame, const RaceReport *report, const AgreeFinding *finding,
                          const char *claim) {
    char text[512];
    snprintf(text, sizeof text,
             "%s: nearest to its bound came %s of %s at step %lld, %.2g apart where %.2g is "
             "allowed (%.2g %% of it).",
             claim, finding->what, report->results[finding->run].backend, (long long)finding->step,
             finding->distance, finding->bound,
             finding->bound > 0.0 ? 100.0 * finding->distance / finding->bound : 0.0);
    frame_wrap(frame, 2, text);
}

static void print_fault(Frame *frame, const RaceReport *report) {
    const Agreement *agreement = &report->agreement;
    const AgreeFinding *fault = &agreement->fault;
    char text[512];
    frame_style(frame, STYLE_BAD, "  NO");
    frame_print(frame, ", they did not learn the same.\n");
    snprintf(text, sizeof text,
             "%s and %s part at step %lld: %s is %.3g apart, the bound is %.3g %s.",
             report->results[fault->run].backend, report->results[agreement->referee].backend,
             (long long)fault->step, fault->what, fault->distance, fault->bound,
             agreement->fault_is_step ? "for one step from equal weights" : "for the whole course");
    frame_wrap(frame, 2, text);
    frame_wrap(frame, 2, "lockstep verify checks each of their operations against the reference.");
}

static void print_agreement(Frame *frame, const RaceReport *report) {
    const Agreement *agreement = &report->agreement;
    heading(frame, "Did they all learn the same?");
    if (report->count < 2) {
        frame_print(frame, "  One backend alone: nothing to compare.\n");
        return;
    }
    if (!agreement->agree) {
        print_fault(frame, report);
        return;
    }
    frame_style(frame, STYLE_GOOD, "  YES");
    frame_print(frame, ", within bounds that were measured in this race.\n");
    if (agreement->step.any) {
        print_finding(frame, report, &agreement->step, "One step from equal weights");
    }
    if (agreement->course.any) {
        print_finding(frame, report, &agreement->course, "The whole course");
    }
    frame_wrap(
        frame, 2,
        "(Distances are L2 norms. A step may differ by what rounding explains: 16 times what "
        "moving each weight to its neighbouring number changes. A course may part as far "
        "as 4 times what one wrong label in the first batch does.)");
}

void race_summary(Frame *frame, const RaceReport *report) {
    frame_style(frame, STYLE_BOLD, "Lockstep race");
    frame_print(frame, ": the same network, seed and batches on every backend\n\n");
    print_facts(frame, report);
    print_speed(frame, report);
    heading(frame, "Where the time goes");
    race_table_operations(frame, report, OPERATION_ROWS);
    print_time_to_accuracy(frame, report);
    print_equal_time(frame, report);
    print_agreement(frame, report);
}
