/* Downloads one URL to the end of an open file, and shows how far it is. */
#ifndef LOCKSTEP_DATA_FETCH_H
#define LOCKSTEP_DATA_FETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef struct Fetch {
    const char *url;   /* http, https or file */
    const char *path;  /* of fd, for messages */
    const char *label; /* for the progress line */
    int fd;            /* open for reading and writing */
    uint64_t limit;    /* bytes that the file may have at most */
    bool quiet;        /* no progress */
} Fetch;

/* Appends what the file lacks of the URL's content. STATUS_MISSING: the network or the server
 * failed; what came is in the file, and a second call goes on behind it. STATUS_NO: the file cannot
 * be continued from this URL (the server has no ranges, or its content is longer than limit): empty
 * it first. STATUS_BAD: a fault of this side: the disk, the URL. */
Status fetch_url(const Fetch *fetch);

#endif
