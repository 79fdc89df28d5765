/* The passport: the machine, build and settings behind a figure. No figure leaves without one. */
#ifndef LOCKSTEP_PASSPORT_H
#define LOCKSTEP_PASSPORT_H

#include <stddef.h>

#include "base/threads.h"

typedef struct Passport {
    char version[48];   /* of Lockstep, with the commit where it is known */
    char processor[96]; /* model name */
    char vector[32];    /* widest vectors this build uses: "AVX2 + FMA" */
    ThreadPlan threads;
    size_t memory_bytes; /* of the machine */
    char system[128];    /* kernel and release */
    char compiler[96];
    char flags[256]; /* what decides speed and rounding */
    char date[32];   /* ISO 8601, UTC */
} Passport;

/* Fills *passport for this process, with the thread plan in force. */
void passport_fill(Passport *passport, const ThreadPlan *threads);

/* "0.1.0+fa1e164". Static storage. */
const char *passport_version(void);

/* One line for people. Returns text. */
char *passport_line(char *text, size_t text_bytes, const Passport *passport);

/* The processor's model name, "AMD EPYC"; the kind of machine where the system does not say. Static
 * storage. */
const char *processor_name(void);

#endif
