/* The doctor's parsers: text in, facts out. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor.h"

bool parse_nvcc_version(const char *output, int *major, int *minor) {
    const char *release = strstr(output, "release ");
    return release != NULL && sscanf(release, "release %d.%d", major, minor) == 2;
}

int parse_major(const char *version) {
    return atoi(version + strcspn(version, "0123456789"));
}

int parse_host_config(const char *text) {
    static const char condition[] = "__GNUC__ >";
    int newest = 0;
    for (const char *at = strstr(text, condition); at != NULL; at = strstr(at + 1, condition)) {
        const char *number = at + sizeof condition - 1;
        number += strspn(number, " ");
        if (isdigit((unsigned char)*number) && newest == 0) {
            newest = atoi(number);
        }
    }
    return newest;
}

int cuda_newest_gcc(int major, int minor) {
    static const struct {
        int major, minor; /* up to this CUDA version */
        int gcc;
    } limits[] = {
        {8, 99, 5},   {9, 1, 6},   {10, 0, 7},  {10, 99, 8},  {11, 0, 9},  {11, 3, 10},
        {11, 99, 11}, {12, 3, 12}, {12, 6, 13}, {12, 99, 14}, {13, 3, 15},
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (major < limits[i].major || (major == limits[i].major && minor <= limits[i].minor)) {
            return limits[i].gcc;
        }
    }
    return 0;
}

bool parse_driver_version(char *version, size_t version_bytes, const char *text) {
    const char *at = strstr(text, "Kernel Module");
    if (at == NULL) {
        return false;
    }
    for (; *at != '\0' && *at != '\n'; at++) {
        /* a word that begins with digits and a dot: not the 86 of x86_64 */
        size_t digits = strspn(at, "0123456789");
        if (digits > 0 && at[digits] == '.' && at[-1] == ' ') {
            snprintf(version, version_bytes, "%.*s", (int)strspn(at, "0123456789."), at);
            return true;
        }
    }
    return false;
}

bool is_old_blas_core(const char *core) {
    static const char *const old[] = {
        "Generic",   "generic", "Prescott",  "Core2",      "Katmai",  "Coppermine",
        "Northwood", "Banias",  "Penryn",    "Dunnington", "Nehalem", "Atom",
        "Opteron",   "Athlon",  "Barcelona", "Bobcat",     "Nano",    "Sandybridge"};
    for (size_t i = 0; i < sizeof old / sizeof old[0]; i++) {
        if (strncmp(core, old[i], strlen(old[i])) == 0) {
            return true;
        }
    }
    return false;
}
