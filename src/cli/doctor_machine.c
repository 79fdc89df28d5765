/* The doctor's look at the processor, the threads, the libraries, the clock and the data. */
#include <cblas.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/passport.h"
#include "base/trace.h"
#include "bench/neighbours.h"
#include "bench/peak.h"
#include "bench/peak_loops.h"
#include "cli/doctor.h"
#include "data/catalog.h"

/* ---- processor and threads ------------------------------------------------------------------- */

enum { LOOP_STEPS = 4000000, LOOP_TRIES = 7 };

/* The best nanoseconds for every one of `threads` threads to do the same work at once; *seen = the
 * threads that were really there. */
static double time_threads(int threads, int *seen) {
    double best = 0;
    for (int i = 0; i < LOOP_TRIES; i++) {
        float sink = 0;
        int here = 0;
        uint64_t start = clock_now_ns();
#pragma omp parallel num_threads(threads) reduction(+ : sink, here)
        {
            sink += peak_loops()->fma(LOOP_STEPS);
            here++;
        }
        double ns = (double)(clock_now_ns() - start);
        volatile float used = sink;
        (void)used;
        best = i == 0 || ns < best ? ns : best;
        *seen = here;
    }
    return best;
}

static void look_at_threads(Doctor *doctor) {
    int threads = doctor->plan.threads, seen = 1, alone = 1;
    Neighbours before = neighbours_now();
    double one = time_threads(1, &alone), all = time_threads(threads, &seen);
    double speedup = one * threads / all, busy = neighbours_busy(&before);
    DoctorCheck *check = doctor_add(doctor, "threads measured", true,
                                    "%d of %d threads seen in a parallel region; together they do "
                                    "the work of %.2f",
                                    seen, threads, speedup);
    if (seen < threads) {
        doctor_cure(check, "unset OMP_THREAD_LIMIT and OMP_DYNAMIC, or ask for --threads %d", seen);
    } else if (speedup < 0.75 * threads) {
        doctor_cure(
            check,
            "they get in each other's way (%.1f processors were busy with other work): stop "
            "that, unset GOMP_CPU_AFFINITY and OMP_PROC_BIND, or use --threads %d",
            busy, speedup < 1.5 ? 1 : (int)(speedup + 0.5));
        check->needed = false; /* slower, but right */
    }
}

void doctor_look_at_processor(Doctor *doctor) {
    Passport passport;
    passport_fill(&passport, &doctor->plan);
    const char *widest = peak_loops()->vectors;
    DoctorCheck *check =
        doctor_add(doctor, "processor", true, "%s; this build uses %s, the processor has %s",
                   passport.processor, passport.vector, widest);
    if (strcmp(widest, "4-lane vectors") != 0 && strcmp(widest, passport.vector) != 0) {
        check->needed = false;
        doctor_cure(check, "rebuild for this processor: make clean && make ARCH=native");
    }
    const ThreadPlan *plan = &doctor->plan;
    check = doctor_add(doctor, "cores allowed", true, "%s; %d online", plan->reason, plan->online);
    if (plan->quota > 0 && plan->quota < 1) {
        check->needed = false;
        doctor_cure(check,
                    "the cgroup grants %.2f of a processor: every figure waits for it; raise "
                    "cpu.max",
                    plan->quota);
    }
    look_at_threads(doctor);
    size_t available = memory_available_bytes();
    check = doctor_add(doctor, "memory", true,
                       "%.1f GiB, of which %.1f GiB are free for this "
                       "process",
                       (double)passport.memory_bytes / 0x1p30, (double)available / 0x1p30);
    if (available < (size_t)256 << 20) {
        doctor_cure(check, "256 MiB are needed: end other programs or raise the memory limit");
    }
}

/* ---- libraries, compiler, environment -------------------------------------------------------- */

static const char *const variables[] = {
    "OMP_NUM_THREADS",   "OMP_THREAD_LIMIT",     "OMP_DYNAMIC",      "OMP_PROC_BIND",
    "OMP_PLACES",        "OMP_WAIT_POLICY",      "GOMP_SPINCOUNT",   "GOMP_CPU_AFFINITY",
    "OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OPENBLAS_MAIN_FREE",
    "LOCKSTEP_DATA",     "CUDA_VISIBLE_DEVICES"};

/* What the environment overrides. The thread plan sets the counts itself; the others act. */
static void look_at_environment(Doctor *doctor) {
    char found[300] = "";
    size_t used = 0;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = getenv(variables[i]);
        if (value != NULL && used < sizeof found) {
            used += (size_t)snprintf(found + used, sizeof found - used, "%s%s=%.40s",
                                     used > 0 ? " " : "", variables[i], value);
        }
    }
    DoctorCheck *check = doctor_add(doctor, "environment", false, "%s",
                                    used > 0 ? found : "nothing overrides threads or kernels");
    if (getenv("OPENBLAS_CORETYPE") != NULL) {
        doctor_cure(check, "unset OPENBLAS_CORETYPE: it forces another processor's BLAS kernels");
    } else if (getenv("GOMP_CPU_AFFINITY") != NULL || getenv("OMP_THREAD_LIMIT") != NULL) {
        doctor_cure(check, "unset GOMP_CPU_AFFINITY and OMP_THREAD_LIMIT unless you mean them: "
                           "they keep threads from the cores they could have");
    }
}

void doctor_look_at_libraries(Doctor *doctor) {
    static const char *const models[] = {"one thread", "threads of its own", "OpenMP threads"};
    Passport passport;
    int model = openblas_get_parallel();
    const char *core = openblas_get_corename();
    passport_fill(&passport, &doctor->plan);
    doctor_add(doctor, "compiler", true, "%s; built with %s", passport.compiler, passport.flags);
    DoctorCheck *check =
        doctor_add(doctor, "OpenBLAS", true, "%s; core %s, %s", openblas_get_config(), core,
                   model >= 0 && model < 3 ? models[model] : "threads unknown");
    if (is_old_blas_core(core) && peak_loops()->lanes > 4) {
        check->needed = false;
        doctor_cure(check, "it runs kernels for an older processor: unset OPENBLAS_CORETYPE, or "
                           "install a newer OpenBLAS");
    } else if (model == OPENBLAS_SEQUENTIAL && doctor->plan.threads > 1) {
        check->needed = false;
        doctor_cure(check, "this build of it uses one thread: apt-get install "
                           "libopenblas-openmp-dev, then make clean && make");
    }
    look_at_environment(doctor);
}

/* ---- clock ---------------------------------------------------------------------------------- */

/* The quickest of several blocks of readings; *step = the smallest difference seen. */
static double time_reading(uint64_t *step) {
    enum { BLOCKS = 20, READS = 1000 };
    double best = 0;
    *step = UINT64_MAX;
    for (int b = 0; b < BLOCKS; b++) {
        uint64_t start = clock_now_ns(), before = start, now = start;
        for (int i = 0; i < READS; i++) {
            now = clock_now_ns();
            *step = now > before && now - before < *step ? now - before : *step;
            before = now;
        }
        double ns = (double)(now - start) / READS;
        best = b == 0 || ns < best ? ns : best;
    }
    return best;
}

void doctor_look_at_clock(Doctor *doctor) {
    uint64_t step;
    double read_ns = time_reading(&step);
    DoctorCheck *check =
        doctor_add(doctor, "clock", true, "monotonic; smallest step %llu ns, one reading %.0f ns",
                   (unsigned long long)step, read_ns);
    if (read_ns > 500 || step > 10000) {
        check->needed = false;
        doctor_cure(check, "a slow clock blurs short operations: see "
                           "/sys/devices/system/clocksource/clocksource0; tsc is the fast one");
    }
    doctor_add(doctor, "trace", false, "one recorded span costs %.0f ns", trace_overhead_ns());
}

/* ---- data ----------------------------------------------------------------------------------- */

/* The first folder on the way up that exists: the data home may not have been made yet. */
static bool free_bytes(char *folder, double *bytes) {
    struct statvfs disk;
    while (statvfs(folder, &disk) != 0) {
        char *slash = strrchr(folder, '/');
        if (slash == NULL || slash == folder) {
            return false;
        }
        *slash = '\0';
    }
    *bytes = (double)disk.f_bavail * (double)disk.f_frsize;
    return true;
}

void doctor_look_at_data(Doctor *doctor) {
    static char folder[DATA_PATH_BYTES]; /* too large for the stack's taste */
    for (int i = 0; i < catalog_count(); i++) {
        const DataInfo *info = catalog_at(i);
        bool here = catalog_locate(folder, info) == STATUS_OK;
        DoctorCheck *check = doctor_add(doctor, info->name, info->shipped, "data set %s",
                                        here ? folder : "not on this machine");
        if (!here && info->shipped) {
            doctor_cure(check, "it comes with Lockstep: run from the source tree, make install, or "
                               "set LOCKSTEP_DATA to the folder above it");
        } else if (!here) {
            doctor_cure(check, "lockstep data get %s", info->name);
        }
    }
    double bytes = 0;
    if (catalog_home(folder, "") != STATUS_OK || !free_bytes(folder, &bytes)) {
        DoctorCheck *check = doctor_add(doctor, "disk", false, "no folder for data of your own");
        doctor_cure(check, "set XDG_DATA_HOME or HOME to a folder that exists");
        return;
    }
    DoctorCheck *check =
        doctor_add(doctor, "disk", false, "%.1f GiB free in %s", bytes / 0x1p30, folder);
    if (bytes < 0x1p28) {
        doctor_cure(check, "256 MiB are good to have for data and checkpoints: free some space");
    } else if (access(folder, W_OK) != 0) {
        doctor_cure(check, "%.200s cannot be written to: set XDG_DATA_HOME to a folder that can",
                    folder);
    }
}

/* ---- peaks ---------------------------------------------------------------------------------- */

void doctor_look_at_peaks(Doctor *doctor) {
    Peaks peaks;
    for (int threads = 1;; threads = doctor->plan.threads) {
        if (peak_measure(&peaks, threads, false) != STATUS_OK) {
            DoctorCheck *check = doctor_add(doctor, "peaks", false, "not measured");
            doctor_cure(check, "%s", status_message());
            return;
        }
        DoctorCheck *check =
            doctor_add(doctor, threads == 1 ? "peaks, 1 thread" : "peaks, all threads", false,
                       "%.1f GFLOP/s fp32;", peaks.gflops);
        for (int i = 0; i < peaks.level_count; i++) {
            size_t used = strlen(check->found);
            snprintf(check->found + used, sizeof check->found - used, " %s %.0f GB/s",
                     peaks.levels[i].name, peak_bandwidth(&peaks.levels[i], false, NULL));
        }
        if (threads == doctor->plan.threads) {
            return;
        }
    }
}
