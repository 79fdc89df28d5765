/* Errors. A function that can fail returns a Status and leaves one message for this thread that
 * says what went wrong, where, and how to mend it. The values are the program's exit codes. */
#ifndef LOCKSTEP_STATUS_H
#define LOCKSTEP_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum Status {
    STATUS_OK = 0,      /* done */
    STATUS_NO = 1,      /* the answer is no: a mismatch, a failed check */
    STATUS_BAD = 2,     /* wrong use or bad input */
    STATUS_MISSING = 3, /* something is missing here: a GPU, a display, nvcc, data */
} Status;

/* Each leaves the formatted message for this thread and returns the Status it is named after.
 * Messages start in lower case and carry no final full stop and no newline. */
Status fail(const char *format, ...) __attribute__((format(printf, 1, 2)));    /* STATUS_BAD */
Status fail_no(const char *format, ...) __attribute__((format(printf, 1, 2))); /* STATUS_NO */
Status fail_missing(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Puts "where: " before the message that is there; returns status unchanged. */
Status fail_at(Status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* STATUS_BAD with a message that lists what exists and names the nearest match:
 * "unknown backend 'opnmp': did you mean 'openmp'? There are: serial, openmp, openblas" */
Status fail_unknown(const char *what, const char *given, const char *const *names, int name_count);

/* The latest message of this thread; "" before the first failure. Valid until the next one. */
const char *status_message(void);

/* Returns from the calling function with the first Status that is not STATUS_OK. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        Status try_status = (call);                                                                \
        if (try_status != STATUS_OK) {                                                             \
            return try_status;                                                                     \
        }                                                                                          \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif
