#include "bench/neighbours.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

double neighbours_parse(const char *stat_line, double ticks_per_s) {
    double user, nice, system, idle, iowait, irq = 0, softirq = 0, steal = 0;
    if (sscanf(stat_line, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle,
               &iowait, &irq, &softirq, &steal) < 5) {
        return 0;
    }
    return (user + nice + system + irq + softirq + steal) / ticks_per_s;
}

Neighbours neighbours_now(void) {
    Neighbours now = {.start_s = (double)clock_now_ns() * 1e-9};
    struct timespec own;
    char line[256];
    FILE *file = fopen("/proc/stat", "r");
    if (file != NULL) {
        if (fgets(line, sizeof line, file) != NULL) {
            now.all_busy_s = neighbours_parse(line, (double)sysconf(_SC_CLK_TCK));
        }
        fclose(file);
    }
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own) == 0) {
        now.own_busy_s = (double)own.tv_sec + (double)own.tv_nsec * 1e-9;
    }
    return now;
}

double neighbours_busy(const Neighbours *before) {
    Neighbours now = neighbours_now();
    double seconds = now.start_s - before->start_s;
    double others = (now.all_busy_s - before->all_busy_s) - (now.own_busy_s - before->own_busy_s);
    return now.all_busy_s > 0 && seconds > 0 && others > 0 ? others / seconds : 0;
}
