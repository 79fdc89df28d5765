/* lockstep race: the same network on several backends, one step each in turn. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "cli/race_table.h"

static const double default_seconds = 20.0;

typedef struct RaceArguments {
    const char *model, *data, *optimizer;
    CliList backends, kernels;
    double seconds, lr;
    int steps, batch, seed, threads;
    bool view, json;
} RaceArguments;

static Status parse(RaceArguments *a, int argc, char **argv) {
    const CliOption options[] = {
        {"--model", CLI_STRING, &a->model, "M", "a preset, mlp:784-128-10, or a file (mlp)", 0, 0},
        {"--data", CLI_STRING, &a->data, "D", "a name or a folder (mnist-small)", 0, 0},
        {"--backends", CLI_COMMAS, &a->backends, "A,B,...",
         "who races (all that can run here, none emulated)", 0, 0},
        {"--seconds", CLI_FLOAT, &a->seconds, "S", "length of the whole race (20)", 0.1, 1e6},
        {"--steps", CLI_INT, &a->steps, "N", "steps on each backend, instead of seconds", 1,
         INT_MAX},
        {"--batch", CLI_INT, &a->batch, "N", "images a step (64)", 1, 1 << 24},
        {"--lr", CLI_FLOAT, &a->lr, "X", "learning rate (the optimizer's own)", 1e-30, 1e30},
        {"--optimizer", CLI_STRING, &a->optimizer, "O", "sgd, momentum, adam or adamw (sgd)", 0, 0},
        {"--seed", CLI_INT, &a->seed, "N", "decides weights and shuffles (1)", 0, INT_MAX},
        {"--threads", CLI_INT, &a->threads, "N", "CPU threads (what the machine grants)", 1, 1024},
        {"--kernel", CLI_REPEAT, &a->kernels, "[B:]OP=K",
         "a kernel other than the default, on backend B or on all that have it", 0, 0},
        {"--view", CLI_FLAG, &a->view, NULL, "a window instead of the table (not yet)", 0, 0},
        {"--json", CLI_FLAG, &a->json, NULL, "one JSON object at the end", 0, 0},
        {0},
    };
    return cli_parse(
        argc, argv,
        "race [--model M] [--data D] [--backends A,B,...]\n"
        "                     [--seconds S | --steps N] [options]",
        "Trains the same network on several backends, one step each in turn, shows how "
        "fast each one is, and checks that all of them learn the same.",
        options, NULL);
}

/* ---- backends and kernels -------------------------------------------------------------------- */

static Status choose_backends(RaceOptions *options, const CliList *names) {
    for (int i = 0; i < names->count; i++) {
        for (int j = 0; j < i; j++) {
            if (strcmp(names->items[i], names->items[j]) == 0) {
                return fail("--backends: %s is named twice", names->items[i]);
            }
        }
        if (i == RACE_MAX_RUNNERS) {
            return fail("--backends: at most %d can race", RACE_MAX_RUNNERS);
        }
        TRY(backend_get(&options->backends[options->backend_count++], names->items[i]));
    }
    for (int b = 0; names->count == 0 && b < backend_count(); b++) {
        if (backend_runs_unnamed(backend_at(b)) && options->backend_count < RACE_MAX_RUNNERS) {
            TRY(backend_get(&options->backends[options->backend_count++], backend_at(b)->name));
        }
    }
    return STATUS_OK;
}

static bool has_kernel(const Backend *backend, OpId op, const char *name) {
    const Kernel *kernel;
    for (int i = 0; (kernel = backend_kernel(backend, op, i)) != NULL; i++) {
        if (strcmp(kernel->name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* "openmp:matmul=naive" */
static Status choose_on_one(RaceOptions *options, const char *choice, const char *colon) {
    const char *names[RACE_MAX_RUNNERS];
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)(colon - choice), choice);
    for (int i = 0; i < options->backend_count; i++) {
        names[i] = options->backends[i].name;
        if (strcmp(names[i], name) == 0) {
            return backend_choose_assignment(&options->backends[i], colon + 1);
        }
    }
    return fail_at(fail_unknown("backend in this race", name, names, options->backend_count),
                   "--kernel %s", choice);
}

/* "matmul=naive": on every backend whose ladder has it, at least one. */
static Status choose_on_all(RaceOptions *options, const char *choice) {
    char name[64];
    const char *equals = strchr(choice, '=');
    OpId op = OP_COUNT;
    bool chosen = false;
    if (equals == NULL) {
        return fail("--kernel %s: expected OP=K or B:OP=K, such as matmul=naive or "
                    "openmp:matmul=naive",
                    choice);
    }
    snprintf(name, sizeof name, "%.*s", (int)(equals - choice), choice);
    TRY(op_find(&op, name));
    for (int i = 0; i < options->backend_count; i++) {
        if (has_kernel(&options->backends[i], op, equals + 1)) {
            TRY(backend_choose_kernel(&options->backends[i], op, equals + 1));
            chosen = true;
        }
    }
    /* Nobody has it: the first one's message lists what there is. */
    return chosen ? STATUS_OK : backend_choose_kernel(&options->backends[0], op, equals + 1);
}

static Status choose_kernels(RaceOptions *options, const CliList *choices) {
    for (int i = 0; i < choices->count; i++) {
        const char *choice = choices->items[i], *colon = strchr(choice, ':');
        TRY(colon != NULL ? choose_on_one(options, choice, colon) : choose_on_all(options, choice));
    }
    return STATUS_OK;
}

static Status choose(RaceOptions *options, const RaceArguments *a) {
    if (a->view) {
        return fail_missing("--view: the window comes with a later version of Lockstep; without "
                            "--view the same figures stand in a table");
    }
    if (a->steps > 0 && a->seconds > 0.0) {
        return fail("--steps and --seconds: give one of the two");
    }
    options->train = train_default_options;
    options->train.batch = a->batch;
    options->train.seed = (uint64_t)a->seed;
    options->train.optimizer = a->optimizer;
    options->train.settings.lr = a->lr;
    options->step_limit = a->steps;
    options->wall_limit_s = a->steps > 0 ? 0.0 : a->seconds > 0.0 ? a->seconds : default_seconds;
    TRY(threads_plan(&options->threads, a->threads));
    TRY(choose_backends(options, &a->backends));
    return choose_kernels(options, &a->kernels);
}

/* ---- running --------------------------------------------------------------------------------- */

static const uint64_t FRAME_NS = 200000000, LINE_NS = 5000000000;

/* Where progress is shown, and when next. */
typedef struct Display {
    Terminal terminal;
    Frame frame;
    bool lines; /* plain lines where nothing can be redrawn */
    uint64_t next_ns;
} Display;

static void show(Display *display, const Race *race) {
    RaceReport report;
    uint64_t now_ns = clock_now_ns();
    if (now_ns < display->next_ns || (!display->terminal.live && !display->lines)) {
        return;
    }
    race_report(&report, race);
    display->frame.used = 0;
    if (display->terminal.live) {
        terminal_measure(&display->terminal);
        race_table_live(&display->frame, &report);
        terminal_draw(&display->terminal, &display->frame);
        display->next_ns = clock_now_ns() + FRAME_NS;
    } else {
        race_table_line(&display->frame, &report);
        fputs(display->frame.text, display->terminal.out);
        fflush(display->terminal.out);
        display->next_ns = now_ns + LINE_NS;
    }
}

static Status run_rounds(Race *race, Display *display) {
    while (!race_is_over(race) && !terminal_stopped()) {
        TRY(race_round(race));
        show(display, race);
    }
    return race_finish(race);
}

static Status print_result(const RaceReport *report, bool json) {
    if (json) {
        cli_print_json(race_json(report));
    } else {
        Terminal terminal = terminal_of(stdout);
        Frame frame = {.terminal = &terminal};
        race_summary(&frame, report);
        fputs(frame.text == NULL ? "" : frame.text, stdout);
        frame_free(&frame);
    }
    const Agreement *agreement = &report->agreement;
    if (agreement->agree) {
        return STATUS_OK;
    }
    return fail_no("race: %s and %s do not agree: step %lld, %s",
                   report->results[agreement->fault.run].backend,
                   report->results[agreement->referee].backend, (long long)agreement->fault.step,
                   agreement->fault.what);
}

static Status run_race(const RaceOptions *options, bool json) {
    RaceReport report;
    Race *race = NULL;
    Display display = {.terminal = terminal_of(json ? stderr : stdout), .lines = !json};
    display.frame.terminal = &display.terminal;
    TRY(race_create(&race, options));
    terminal_catch_signals(&display.terminal);
    display.next_ns = clock_now_ns() + (display.terminal.live ? 0 : LINE_NS);
    Status status = run_rounds(race, &display);
    bool interrupted = terminal_stopped();
    terminal_clear(&display.terminal);
    terminal_restore_signals();
    frame_free(&display.frame);
    if (status == STATUS_OK) {
        race_report(&report, race);
        report.interrupted = interrupted;
        status = print_result(&report, json);
    }
    race_destroy(race);
    return status;
}

Status cli_race(int argc, char **argv) {
    RaceArguments arguments = {
        .model = "mlp", .data = "mnist-small", .optimizer = "sgd", .batch = 64, .seed = 1};
    RaceOptions options = {0};
    Model model = {0};
    Dataset data = {0};
    TRY(parse(&arguments, argc, argv));
    TRY(choose(&options, &arguments));
    TRY(dataset_load(&data, arguments.data));
    Shape input = {3, {data.channels, data.height, data.width}};
    Status status = model_load(&model, arguments.model, input, data.class_count);
    if (status == STATUS_OK) {
        options.model = &model;
        options.data = &data;
        status = run_race(&options, arguments.json);
    }
    dataset_free(&data);
    return status;
}
