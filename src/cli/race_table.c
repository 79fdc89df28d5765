/* The figures of a race as columns of text, 80 wide. */
#include "cli/race_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_COLUMNS = 9, LIVE_ROWS_ABOVE = 9, CELL_COLUMNS = 12, BAR_COLUMNS = 14 };

const char *race_number(char text[32], double value, int columns) {
    int digits = fabs(value) < 9.995 ? 2 : fabs(value) < 99.95 ? 1 : 0;
    if (isnan(value)) {
        snprintf(text, 32, "%*s", columns, "-");
    } else {
        snprintf(text, 32, "%*.*f", columns, digits, value);
    }
    return text;
}

const char *race_grouped(char text[32], int64_t value) {
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)value);
    int used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && digits[i - 1] != '-' && (length - i) % 3 == 0) {
            text[used++] = ',';
        }
        text[used++] = digits[i];
    }
    text[used] = '\0';
    return text;
}

const char *race_model(char text[160], const Model *model) {
    int used = snprintf(text, 160, "%s", model->name), features = 1;
    if (strchr(model->name, ':') != NULL) {
        return text;
    }
    for (int d = 0; d < model->input.rank; d++) {
        features *= model->input.dim[d];
    }
    used += snprintf(text + used, 160 - (size_t)used, " %d", features);
    for (int i = 0; i < model->layer_count && used < 160; i++) {
        if (model->layers[i].units > 0) {
            used += snprintf(text + used, 160 - (size_t)used, "-%d", model->layers[i].units);
        }
    }
    return text;
}

/* The runner with the shortest median step, -1 before there is one; emulated times do not count. */
static int fastest(const RaceReport *report) {
    int best = -1;
    for (int i = 0; i < report->count; i++) {
        const RaceResult *result = &report->results[i];
        if (!result->emulated && result->step_ms.count > 0 &&
            (best < 0 || result->step_ms.median < report->results[best].step_ms.median)) {
            best = i;
        }
    }
    return best;
}

/* "8.22x" */
static const char *times_text(char text[32], double value) {
    char number[32];
    snprintf(text, 32, isnan(value) ? "-" : "%sx", race_number(number, value, 0));
    return text;
}

static void speed_row(Frame *frame, const RaceResult *result, Style style) {
    char rate[32], step[32], spread[32], serial[32], best[32], loss[32], accuracy[32] = "-";
    bool timed = result->step_ms.count > 0;
    race_grouped(rate, llround(result->images_per_s));
    race_number(step, result->step_ms.median, 0);
    race_number(spread, stats_iqr(&result->step_ms), 0);
    snprintf(loss, sizeof loss, isnan(result->loss) ? "-" : "%.4f", result->loss);
    if (!isnan(result->accuracy)) {
        snprintf(accuracy, sizeof accuracy, "%.1f %%", 100.0 * result->accuracy);
    }
    frame_print(frame, "  ");
    frame_style(frame, style, "%-*s", NAME_COLUMNS, result->backend);
    frame_print(frame, "%10s%9s%7s%11s%13s%8s%9s\n", timed ? rate : "-", timed ? step : "-",
                timed ? spread : "-",
                result->emulated ? "EMULATED" : times_text(serial, result->speedup_serial),
                times_text(best, result->speedup_best_cpu), loss, accuracy);
}

void race_table_speed(Frame *frame, const RaceReport *report) {
    int best = fastest(report);
    frame_style(frame, STYLE_FAINT, "  %-*s%10s%9s%7s%11s%13s%8s%9s\n", NAME_COLUMNS, "backend",
                "images/s", "step ms", "iqr", "vs serial", "vs best CPU", "loss", "accuracy");
    for (int i = 0; i < report->count; i++) {
        speed_row(frame, &report->results[i], i == best ? STYLE_BOLD : STYLE_PLAIN);
    }
}

/* ---- where the time goes --------------------------------------------------------------------- */

/* The operation that has the largest share on any runner, of those not shown yet. */
static OpId next_operation(const RaceReport *report, const bool shown[OP_COUNT]) {
    OpId best = OP_COUNT;
    double largest = 0.005; /* what would show as 0 % stays in "other" */
    for (int i = 0; i < report->count; i++) {
        for (int s = 0; s < report->results[i].share_count; s++) {
            const RaceShare *share = &report->results[i].shares[s];
            if (share->op != OP_COUNT && !shown[share->op] && share->share > largest) {
                largest = share->share;
                best = share->op;
            }
        }
    }
    return best;
}

/* The rows of the table of operations: the largest ones by name, then the rest together. */
typedef struct OperationRows {
    OpId ops[OP_COUNT];
    int count;
    bool shown[OP_COUNT];
    int name_columns, cell_columns;
    double longest_ms; /* of all cells: what a full bar stands for */
} OperationRows;

/* One cell's figures: an operation's, or for OP_COUNT those of all without a row of their own. */
static RaceShare cell_of(const OperationRows *rows, const RaceResult *result, OpId op) {
    RaceShare cell = {op, 0.0, 0.0};
    for (int s = 0; s < result->share_count; s++) {
        const RaceShare *share = &result->shares[s];
        bool unnamed = share->op == OP_COUNT || !rows->shown[share->op];
        if (op == OP_COUNT ? unnamed : share->op == op) {
            cell.share += share->share;
            cell.ms += share->ms;
        }
    }
    return cell;
}

static void choose_rows(OperationRows *rows, const RaceReport *report, int limit, int width) {
    rows->name_columns = (int)strlen("ms of a step, share");
    for (OpId op; rows->count < limit && (op = next_operation(report, rows->shown)) != OP_COUNT;) {
        int length = (int)strlen(op_name(op));
        rows->shown[op] = true;
        rows->ops[rows->count++] = op;
        rows->name_columns = length > rows->name_columns ? length : rows->name_columns;
        for (int i = 0; i < report->count; i++) {
            double ms = cell_of(rows, &report->results[i], op).ms;
            rows->longest_ms = ms > rows->longest_ms ? ms : rows->longest_ms;
        }
    }
    int left = (width - 3 - rows->name_columns) / (report->count > 0 ? report->count : 1);
    int most = CELL_COLUMNS + BAR_COLUMNS;
    rows->cell_columns = left < CELL_COLUMNS + 3 ? CELL_COLUMNS : left > most ? most : left;
}

/* One operation on every runner. Bars are times, on one scale: a short one is a fast one. */
static void operation_row(Frame *frame, const RaceReport *report, const OperationRows *rows,
                          OpId op) {
    frame_print(frame, "  %-*s", rows->name_columns, op == OP_COUNT ? "other" : op_name(op));
    for (int i = 0; i < report->count; i++) {
        char text[32];
        RaceShare cell = cell_of(rows, &report->results[i], op);
        frame_print(frame, "%s%4.0f%% ", race_number(text, cell.ms, 6), 100.0 * cell.share);
        frame_bar(frame, STYLE_FAINT, cell.ms / rows->longest_ms,
                  rows->cell_columns - CELL_COLUMNS);
    }
    frame_print(frame, "\n");
}

void race_table_operations(Frame *frame, const RaceReport *report, int row_limit) {
    OperationRows rows = {0};
    choose_rows(&rows, report, row_limit < OP_COUNT ? row_limit : OP_COUNT, frame->terminal->width);
    if (rows.count == 0) {
        return;
    }
    frame_style(frame, STYLE_FAINT, "  %-*s", rows.name_columns, "ms of a step, share");
    for (int i = 0; i < report->count; i++) {
        frame_style(frame, STYLE_FAINT, "%11s%*s", report->results[i].backend,
                    rows.cell_columns - 11, "");
    }
    frame_print(frame, "\n");
    for (int r = 0; r < rows.count; r++) {
        operation_row(frame, report, &rows, rows.ops[r]);
    }
    operation_row(frame, report, &rows, OP_COUNT);
}

/* ---- while it runs --------------------------------------------------------------------------- */

/* Seconds left by the limit that there is; NAN before that can be told. */
static double seconds_left(const RaceReport *report) {
    double left = (double)NAN;
    if (report->options->wall_limit_s > 0.0) {
        left = report->options->wall_limit_s - report->wall_s;
    }
    if (report->options->step_limit > 0 && report->steps > 0) {
        double pace = report->wall_s / (double)report->steps;
        left = fmin(left, pace * (double)(report->options->step_limit - report->steps));
    }
    return left < 0.0 ? 0.0 : left;
}

static double part_done(const RaceReport *report) {
    double done = 0.0;
    if (report->options->wall_limit_s > 0.0) {
        done = report->wall_s / report->options->wall_limit_s;
    }
    if (report->options->step_limit > 0) {
        done = fmax(done, (double)report->steps / (double)report->options->step_limit);
    }
    return done > 1.0 ? 1.0 : done;
}

static void progress_line(Frame *frame, const RaceReport *report) {
    char steps[32], text[160];
    double left = seconds_left(report);
    int used = snprintf(text, sizeof text, "step %s, epoch %.1f, %.0f s",
                        race_grouped(steps, report->steps), report->epochs, report->wall_s);
    if (!isnan(left)) {
        snprintf(text + used, sizeof text - (size_t)used, ", %.0f s left", ceil(left));
    }
    int columns = frame->terminal->width - 6 - 44;
    columns = columns > 60 ? 60 : columns < 10 ? 10 : columns;
    frame_print(frame, "  ");
    frame_print(frame, "[");
    frame_bar(frame, STYLE_GOOD, part_done(report), columns);
    frame_print(frame, "] %s\n", text);
}

static void agreement_line(Frame *frame, const RaceReport *report) {
    const Agreement *agreement = &report->agreement;
    int checks = agreement->step_checks + agreement->course_checks;
    if (!agreement->agree) {
        frame_style(frame, STYLE_BAD, "  They do not agree: %s at step %lld", agreement->fault.what,
                    (long long)agreement->fault.step);
    } else if (checks > 0) {
        frame_style(frame, STYLE_GOOD, "  All agree");
        frame_print(frame, " so far: %d checks", checks);
    } else if (report->count > 1) {
        frame_print(frame, "  Agreement: not checked yet");
    }
    frame_print(frame, "\n");
}

void race_table_live(Frame *frame, const RaceReport *report) {
    int rows = frame->terminal->height - LIVE_ROWS_ABOVE - report->count - 2;
    frame_style(frame, STYLE_BOLD, "  Lockstep race");
    char model[160];
    frame_print(frame, "  %s on %s, batch %d, fp32\n", race_model(model, report->options->model),
                report->options->data->name, report->options->train.batch);
    progress_line(frame, report);
    frame_print(frame, "\n");
    race_table_speed(frame, report);
    if (rows > 0) {
        frame_print(frame, "\n");
        race_table_operations(frame, report, rows > 7 ? 7 : rows);
    }
    frame_print(frame, "\n");
    agreement_line(frame, report);
}

void race_table_line(Frame *frame, const RaceReport *report) {
    frame_print(frame, "%3.0f s  step %lld", report->wall_s, (long long)report->steps);
    for (int i = 0; i < report->count; i++) {
        const RaceResult *result = &report->results[i];
        char step[32];
        frame_print(
            frame, "  %s %s ms", result->backend,
            race_number(step, result->step_ms.count > 0 ? result->step_ms.median : (double)NAN, 0));
        if (!isnan(result->accuracy)) {
            frame_print(frame, " %.1f %%", 100.0 * result->accuracy);
        }
    }
    frame_print(frame, "\n");
}
