/* The thread plan: how many CPU threads a run should use, and why. It respects the affinity mask
 * and the cgroup's CPU quota (v2 cpu.max, v1 cpu.cfs_quota_us, the tightest of all ancestors). */
#ifndef LOCKSTEP_THREADS_H
#define LOCKSTEP_THREADS_H

#include "base/status.h"

typedef struct ThreadPlan {
    int online;       /* processors that the system has running */
    int allowed;      /* of these, the ones in this process's affinity mask */
    double quota;     /* processors' worth of time that the cgroup grants; 0 means no limit */
    int threads;      /* the plan: min(allowed, floor(quota), at least 1), or what was asked for */
    char reason[160]; /* one line: "2 threads: 2 of 2 processors allowed, no quota" */
} ThreadPlan;

/* Fills *plan. asked = 0 lets the plan decide; otherwise 1 <= asked <= 1024 is taken as it is, and
 * the reason says so when it is more than the machine grants. */
Status threads_plan(ThreadPlan *plan, int asked);

/* The quota that cgroup files under root grant to the process whose /proc/self/cgroup is
 * cgroup_file (tests pass their own folders). 0 when there is no limit. */
double threads_cgroup_quota(const char *root, const char *cgroup_file);

/* Makes waiting threads of OpenMP sleep after some 20 microseconds, where libgomp's default is to
 * spin for milliseconds. Between the operations of a training step the wait is shorter than that;
 * and where other programs want the processors, a spinning thread holds up the very one it waits
 * for (measured beside 8 busy processes on 2 processors: 20 to 30 times fewer images a second).
 * OpenMP reads this from the environment before main, so the program starts itself once more; call
 * this first in main. Leaves a choice of the user's own (OMP_WAIT_POLICY, GOMP_SPINCOUNT) alone,
 * and the environment as it was. */
void threads_limit_spinning(char **argv);

#endif
