/* The table of a race, while it runs and after it. */
#ifndef LOCKSTEP_RACE_TABLE_H
#define LOCKSTEP_RACE_TABLE_H

#include "bench/race.h"
#include "cli/terminal.h"

/* The parts, in the order in which the summary shows them. */
void race_table_speed(Frame *frame, const RaceReport *report);
void race_table_operations(Frame *frame, const RaceReport *report, int row_limit);

/* One frame of the live table, no higher than the terminal. */
void race_table_live(Frame *frame, const RaceReport *report);

/* The same facts as one plain line, for logs. */
void race_table_line(Frame *frame, const RaceReport *report);

/* Everything, at the end: what ran, how fast, where the time went, what was learned by when, and
 * whether all backends agree. */
void race_summary(Frame *frame, const RaceReport *report);

/* The same as one JSON object; the caller prints it. */
struct cJSON *race_json(const RaceReport *report);

/* "1.23", "12.3", "123": three digits that matter, right-aligned in `columns`; "-" for NAN. */
const char *race_number(char text[32], double value, int columns);
/* "mlp 784-128-10": the model's name and the widths of its layers that learn, where the name does
 * not say them. Returns text. */
const char *race_model(char text[160], const Model *model);
/* "12,345" */
const char *race_grouped(char text[32], int64_t value);

#endif
