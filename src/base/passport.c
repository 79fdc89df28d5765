#include "base/passport.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#if __has_include("config.h")
#include "config.h" /* written by the build: version, flags */
#endif
#ifndef LOCKSTEP_VERSION
#define LOCKSTEP_VERSION "0.1.0"
#endif
#ifndef LOCKSTEP_BUILD
#define LOCKSTEP_BUILD "unknown flags"
#endif

/* Copies the value of the first "model name : value" line; false when there is none. */
static bool read_model_name(char *name, size_t name_bytes) {
    char line[256];
    bool found = false;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            const char *value = colon + 1 + strspn(colon + 1, " \t");
            snprintf(name, name_bytes, "%.*s", (int)strcspn(value, "\n"), value);
            found = name[0] != '\0';
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return found;
}

const char *processor_name(void) {
    static char name[96];
    struct utsname system;
    if (name[0] == '\0' && !read_model_name(name, sizeof name)) {
        snprintf(name, sizeof name, "%.60s", uname(&system) == 0 ? system.machine : "CPU");
    }
    return name;
}

/* What the compiler was allowed to use, not what the processor could do. */
static const char *vector_name(void) {
#if defined(__AVX512F__)
    return "AVX-512 + FMA";
#elif defined(__AVX2__) && defined(__FMA__)
    return "AVX2 + FMA";
#elif defined(__AVX__)
    return "AVX";
#elif defined(__x86_64__)
    return "SSE2";
#elif defined(__ARM_NEON)
    return "NEON + FMA";
#else
    return "no vectors known";
#endif
}

const char *passport_version(void) {
    return LOCKSTEP_VERSION;
}

void passport_fill(Passport *passport, const ThreadPlan *threads) {
    struct utsname system;
    time_t now = time(NULL);
    struct tm utc;
    *passport = (Passport){.threads = *threads};
    snprintf(passport->version, sizeof passport->version, "%s", LOCKSTEP_VERSION);
    snprintf(passport->processor, sizeof passport->processor, "%s", processor_name());
    snprintf(passport->vector, sizeof passport->vector, "%s", vector_name());
    passport->memory_bytes = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    if (uname(&system) == 0) {
        snprintf(passport->system, sizeof passport->system, "%.40s %.60s %.20s", system.sysname,
                 system.release, system.machine);
    }
#ifdef __clang__
    snprintf(passport->compiler, sizeof passport->compiler, "clang %s", __clang_version__);
#else
    snprintf(passport->compiler, sizeof passport->compiler, "gcc %s", __VERSION__);
#endif
    snprintf(passport->flags, sizeof passport->flags, "%s", LOCKSTEP_BUILD);
    gmtime_r(&now, &utc);
    strftime(passport->date, sizeof passport->date, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

char *passport_line(char *text, size_t text_bytes, const Passport *passport) {
    snprintf(text, text_bytes, "%s (%s), %s; Lockstep %s, %s", passport->processor,
             passport->vector, passport->threads.reason, passport->version, passport->flags);
    return text;
}
