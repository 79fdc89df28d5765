/* The thread plan: affinity mask and cgroup quota, read from the system's own files. */
#define _GNU_SOURCE /* sched_getaffinity, CPU_COUNT_S */
#include "base/threads.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Turns of libgomp's waiting loop, each a pause of some 10 to 40 ns. */
#define SPIN_COUNT "1000"

enum { MAX_ASKED = 1024, MAX_PROCESSORS = 8192, PATH_BYTES = 1024 };

/* Processors in this process's affinity mask; the ones online if the mask cannot be read. */
static int allowed_processors(int online) {
    cpu_set_t *mask = CPU_ALLOC(MAX_PROCESSORS);
    size_t mask_bytes = CPU_ALLOC_SIZE(MAX_PROCESSORS);
    int allowed = online;
    if (mask != NULL && sched_getaffinity(0, mask_bytes, mask) == 0) {
        allowed = CPU_COUNT_S(mask_bytes, mask);
    }
    CPU_FREE(mask);
    return allowed;
}

/* One cgroup folder's quota in processors: v2 "cpu.max" holds "QUOTA PERIOD" or "max PERIOD", v1
 * has two files, with -1 for no limit. 0 when there is none. */
static double folder_quota(const char *folder) {
    char path[PATH_BYTES + 32];
    double quota = 0.0, period = 0.0;
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        int fields = fscanf(file, "%lf %lf", &quota, &period); /* "max" is no number */
        fclose(file);
        return fields == 2 && quota > 0.0 && period > 0.0 ? quota / period : 0.0;
    }
    const char *const names[2] = {"cpu.cfs_quota_us", "cpu.cfs_period_us"};
    double value[2] = {0.0, 0.0};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        file = fopen(path, "r");
        if (file == NULL || fscanf(file, "%lf", &value[i]) != 1) {
            value[i] = 0.0;
        }
        if (file != NULL) {
            fclose(file);
        }
    }
    return value[0] > 0.0 && value[1] > 0.0 ? value[0] / value[1] : 0.0;
}

/* The tightest quota of mount/path and all folders above it, mount itself included: a container
 * often sees its own group there, whatever path /proc names. */
static double tightest_quota(const char *mount, const char *path) {
    char folder[PATH_BYTES];
    double tightest = 0.0;
    snprintf(folder, sizeof folder, "%s%s", mount, path);
    size_t mount_length = strlen(mount);
    while (strlen(folder) >= mount_length) {
        double quota = folder_quota(folder);
        if (quota > 0.0 && (tightest == 0.0 || quota < tightest)) {
            tightest = quota;
        }
        char *slash = strrchr(folder, '/');
        if (slash == NULL) {
            break;
        }
        *slash = '\0';
    }
    return tightest;
}

/* Does a comma-separated list of cgroup controllers ("cpu,cpuacct") name cpu? */
static int names_cpu(const char *controllers) {
    for (const char *name = controllers; name != NULL; name = strchr(name, ',')) {
        name += *name == ',';
        if (strncmp(name, "cpu", 3) == 0 && (name[3] == ',' || name[3] == '\0')) {
            return 1;
        }
    }
    return 0;
}

double threads_cgroup_quota(const char *root, const char *cgroup_file) {
    char line[PATH_BYTES], mount[PATH_BYTES];
    double tightest = 0.0;
    FILE *file = fopen(cgroup_file, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'); /* "ID:controllers:path"; v2 has none */
        char *path = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (path == NULL) {
            continue;
        }
        *path++ = '\0';
        controllers++;
        if (*controllers != '\0' && !names_cpu(controllers)) {
            continue;
        }
        snprintf(mount, sizeof mount, "%s%s%s", root, *controllers == '\0' ? "" : "/", controllers);
        double quota = tightest_quota(mount, path);
        if (quota > 0.0 && (tightest == 0.0 || quota < tightest)) {
            tightest = quota;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return tightest;
}

static int planned_threads(const ThreadPlan *plan) {
    int threads = plan->allowed;
    if (plan->quota > 0.0 && plan->quota < threads) {
        threads = (int)floor(plan->quota);
    }
    return threads < 1 ? 1 : threads;
}

Status threads_plan(ThreadPlan *plan, int asked) {
    if (asked < 0 || asked > MAX_ASKED) {
        return fail("--threads %d: expected 1 to %d, or 0 to let the plan decide", asked,
                    MAX_ASKED);
    }
    *plan = (ThreadPlan){.online = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    plan->allowed = allowed_processors(plan->online);
    plan->quota = threads_cgroup_quota("/sys/fs/cgroup", "/proc/self/cgroup");
    int granted = planned_threads(plan);
    plan->threads = asked > 0 ? asked : granted;
    char quota[48] = "no quota";
    if (plan->quota > 0.0) {
        snprintf(quota, sizeof quota, "a quota of %.2g processors", plan->quota);
    }
    snprintf(plan->reason, sizeof plan->reason, "%d thread%s%s: %d of %d processors allowed, %s%s",
             plan->threads, plan->threads == 1 ? "" : "s", asked > 0 ? " as asked" : "",
             plan->allowed, plan->online, quota,
             plan->threads > granted ? "; more threads than that slow each other down" : "");
    return STATUS_OK;
}

static const char MARK[] = "LOCKSTEP_LIMITS_SPINNING"; /* this process was started by itself */

void threads_limit_spinning(char **argv) {
    if (getenv(MARK) != NULL) {
        unsetenv(MARK);
        unsetenv("GOMP_SPINCOUNT"); /* it has been read; children shall find what the user set */
        return;
    }
    if (getenv("OMP_WAIT_POLICY") != NULL || getenv("GOMP_SPINCOUNT") != NULL) {
        return;
    }
    if (setenv(MARK, "1", 1) == 0 && setenv("GOMP_SPINCOUNT", SPIN_COUNT, 1) == 0) {
        execv("/proc/self/exe", argv);
    }
    unsetenv(MARK); /* no second start here: go on with the default */
    unsetenv("GOMP_SPINCOUNT");
}
