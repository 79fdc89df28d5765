/* Who else was at work: processor time that other processes took while ours measured. A figure
 * with all threads, taken while a neighbour holds a processor, is a figure of both. */
#ifndef LOCKSTEP_NEIGHBOURS_H
#define LOCKSTEP_NEIGHBOURS_H

typedef struct Neighbours {
    double start_s;    /* of the clock */
    double all_busy_s; /* processor seconds of all processes since the machine started */
    double own_busy_s; /* of this process */
} Neighbours;

/* The state now; zeros where the system does not say. */
Neighbours neighbours_now(void);

/* Processors' worth of time that others took between `before` and now; 0 when unknown. */
double neighbours_busy(const Neighbours *before);

/* Seconds that were not idle, from the first line of a /proc/stat; ticks_per_s as in
 * sysconf(_SC_CLK_TCK). Time that a hypervisor took (steal) counts as a neighbour's. */
double neighbours_parse(const char *stat_line, double ticks_per_s);

#endif
