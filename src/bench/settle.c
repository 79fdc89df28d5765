#include "bench/settle.h"

#include <time.h>

#include "base/clock.h"

enum { STEP_NS = 1000000 };

/* Processor time of all threads of the process; 0 where it cannot be read. */
static double used_ns(pid_t process) {
    clockid_t clock = CLOCK_PROCESS_CPUTIME_ID;
    struct timespec used;
    if ((process != 0 && clock_getcpuclockid(process, &clock) != 0) ||
        clock_gettime(clock, &used) != 0) {
        return 0;
    }
    return (double)used.tv_sec * 1e9 + (double)used.tv_nsec;
}

double settle(pid_t process, double limit_ms) {
    const struct timespec step = {0, STEP_NS};
    uint64_t start = clock_now_ns(), now = start;
    double used = used_ns(process);
    for (double waited_ms = 0; waited_ms < limit_ms;) {
        nanosleep(&step, NULL);
        double used_then = used;
        uint64_t then = now;
        now = clock_now_ns();
        used = used_ns(process);
        waited_ms = (double)(now - start) * 1e-6;
        if (used - used_then < 0.1 * (double)(now - then)) {
            return waited_ms;
        }
    }
    return limit_ms;
}
