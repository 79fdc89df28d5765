/* The data caches of this machine, as the system reports them. */
#ifndef LOCKSTEP_CACHE_H
#define LOCKSTEP_CACHE_H

#include <stddef.h>

enum { CACHE_MAX_LEVELS = 4 };

typedef struct CacheLevel {
    int level;    /* 1 is the closest to the core */
    size_t bytes; /* of one instance */
    int shared;   /* how many processors share one instance */
} CacheLevel;

/* Reads folder/index*: level, type, size, shared_cpu_list (folder is
 * "/sys/devices/system/cpu/cpu0/cache"; tests pass their own). Instruction caches are left out.
 * Returns how many levels it found, closest first; 0 where the system says nothing. */
int cache_levels(CacheLevel levels[CACHE_MAX_LEVELS], const char *folder);

/* How many processors a list such as "0-3,8" names. */
int cpu_list_count(const char *list);

/* The most that `threads` threads can hold in this level together on a machine of `processors`
 * processors: one instance each, as long as there are that many. */
size_t cache_capacity(const CacheLevel *level, int threads, int processors);

#endif
