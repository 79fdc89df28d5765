/* A trace as a file for ui.perfetto.dev or chrome://tracing (the Trace Event Format's JSON). */
#ifndef LOCKSTEP_PERFETTO_H
#define LOCKSTEP_PERFETTO_H

#include "base/status.h"

/* Writes all spans of all threads, one row a thread, times from the first span on; only while
 * recording is stopped (trace_stop). Spans that the rings lost are counted in otherData, in all,
 * and beside the threads' names. Atomic: on failure the old file is untouched. */
Status perfetto_write(const char *path);

#endif
