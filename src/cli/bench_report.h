/* How `lockstep bench` shows its figures: a table of 100 columns, or JSON. */
#ifndef LOCKSTEP_BENCH_REPORT_H
#define LOCKSTEP_BENCH_REPORT_H

#include <cjson/cJSON.h>

#include "bench/figure.h"
#include "ops/spec.h"

/* The figures of one operation and shape. */
void bench_report_table(const OpCall *call, const Figure *figures, int count);
/* The same as objects at the end of the array `rows`. */
void bench_report_json(cJSON *rows, const OpCall *call, const Figure *figures, int count);

/* Figures of something else than an operation: rows without speedups. */
void bench_report_rows(cJSON *rows, const char *op, const char *shape, const Figure *figures,
                       int count);

void bench_report_peaks(const Peaks *peaks);
cJSON *bench_report_peaks_json(const Peaks *peaks);

/* "M=64 N=784 K=128". Returns text. */
char *bench_shape_text(char *text, size_t text_bytes, const OpCall *call);

#endif
