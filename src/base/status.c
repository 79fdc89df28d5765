/* Errors: one message per thread, and the search for the nearest name. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_BYTES = 2048, NAME_BYTES = 64 };

static _Thread_local char message[MESSAGE_BYTES];

/* Formats into a second buffer first, so that the old message may be an argument of the new one. */
static void set_message(const char *format, va_list args) {
    char text[MESSAGE_BYTES];
    vsnprintf(text, sizeof text, format, args);
    memcpy(message, text, sizeof text);
}

#define FAIL_WITH(status)                                                                          \
    va_list args;                                                                                  \
    va_start(args, format);                                                                        \
    set_message(format, args);                                                                     \
    va_end(args);                                                                                  \
    return status

Status fail(const char *format, ...) {
    FAIL_WITH(STATUS_BAD);
}

Status fail_no(const char *format, ...) {
    FAIL_WITH(STATUS_NO);
}

Status fail_missing(const char *format, ...) {
    FAIL_WITH(STATUS_MISSING);
}

Status fail_at(Status status, const char *format, ...) {
    char where[MESSAGE_BYTES / 4], text[MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(where, sizeof where, format, args);
    va_end(args);
    snprintf(text, sizeof text, "%s: %.*s", where, (int)(sizeof text - sizeof where - 3), message);
    memcpy(message, text, sizeof text);
    return status;
}

const char *status_message(void) {
    return message;
}

static int min_int(int a, int b) {
    return a < b ? a : b;
}

/* Levenshtein's edit distance by dynamic programming, one row at a time. */
static int edit_distance(const char *a, const char *b) {
    int a_length = min_int((int)strlen(a), NAME_BYTES),
        b_length = min_int((int)strlen(b), NAME_BYTES);
    int row[NAME_BYTES + 1];
    for (int j = 0; j <= b_length; j++) {
        row[j] = j;
    }
    for (int i = 1; i <= a_length; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= b_length; j++) {
            int replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = min_int(replaced, 1 + min_int(row[j], row[j - 1]));
        }
    }
    return row[b_length];
}

/* The name that is fewest edits away, or one that contains what was given; NULL when none is near.
 */
static const char *nearest_name(const char *given, const char *const *names, int name_count) {
    int nearest = -1;
    int best = min_int(3, (int)strlen(given) / 2) + 1;
    for (int i = 0; i < name_count; i++) {
        int distance = edit_distance(given, names[i]);
        if (distance < best) {
            best = distance;
            nearest = i;
        }
    }
    for (int i = 0; nearest < 0 && given[0] != '\0' && i < name_count; i++) {
        if (strstr(names[i], given) != NULL) {
            nearest = i;
        }
    }
    return nearest < 0 ? NULL : names[nearest];
}

Status fail_unknown(const char *what, const char *given, const char *const *names, int name_count) {
    char list[MESSAGE_BYTES / 2] = "";
    size_t used = 0;
    for (int i = 0; i < name_count && used < sizeof list; i++) {
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    const char *nearest = nearest_name(given, names, name_count);
    if (nearest == NULL) {
        return fail("unknown %s '%.100s'; there are: %s", what, given, list);
    }
    return fail("unknown %s '%.100s': did you mean '%s'? There are: %s", what, given, nearest,
                list);
}
