/* lockstep doctor: what it looks at, and the parsers behind it. */
#ifndef LOCKSTEP_DOCTOR_H
#define LOCKSTEP_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/threads.h"

typedef struct DoctorCheck {
    const char *name;
    bool needed;     /* Lockstep does not work without it */
    bool ok;         /* here, and nothing wrong with it */
    char found[320]; /* what is here */
    char cure[320];  /* one line; "" where there is nothing to cure */
} DoctorCheck;

enum { DOCTOR_MAX_CHECKS = 32 };

typedef struct Doctor {
    DoctorCheck checks[DOCTOR_MAX_CHECKS];
    int count;
    ThreadPlan plan;
} Doctor;

/* Adds a check that is all right; found as printf. */
DoctorCheck *doctor_add(Doctor *doctor, const char *name, bool needed, const char *found, ...)
    __attribute__((format(printf, 4, 5)));

/* Marks a check as not ok and says what helps. */
void doctor_cure(DoctorCheck *check, const char *cure, ...) __attribute__((format(printf, 2, 3)));

void doctor_look_at_processor(Doctor *doctor); /* doctor_machine.c */
void doctor_look_at_libraries(Doctor *doctor);
void doctor_look_at_clock(Doctor *doctor);
void doctor_look_at_data(Doctor *doctor);
void doctor_look_at_cuda(Doctor *doctor); /* doctor_cuda.c */
void doctor_look_at_display(Doctor *doctor);
void doctor_look_at_peaks(Doctor *doctor); /* doctor_machine.c; takes seconds */

/* ---- parsers (doctor_parse.c) ---------------------------------------------------------------- */

/* "release 13.0" in the output of nvcc --version: 13 and 0. False where there is none. */
bool parse_nvcc_version(const char *output, int *major, int *minor);

/* "12.2.0" or "13" to 12 or 13; 0 where there is no number. */
int parse_major(const char *version);

/* The newest gcc that CUDA's crt/host_config.h lets pass: the 15 of "#if __GNUC__ > 15"; 0 where it
 * says nothing. */
int parse_host_config(const char *text);

/* The same from the CUDA version, for when the header is not found. From the tables of NVIDIA's
 * "CUDA Installation Guide for Linux", section "Host Compiler Support Policy", of each version; 0
 * for versions newer than the table. */
int cuda_newest_gcc(int major, int minor);

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  ..." to "535.104.05"; false where
 * there is none. Open kernel modules say "for x86_64" in between. */
bool parse_driver_version(char *version, size_t version_bytes, const char *text);

/* Is this OpenBLAS core made for a processor without fused multiply-add? */
bool is_old_blas_core(const char *core);

#endif
