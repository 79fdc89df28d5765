/* What the backends that run on the CPU share: memory, copies, and the processor's name. */
#ifndef LOCKSTEP_HOST_H
#define LOCKSTEP_HOST_H

#include <stddef.h>

#include "base/status.h"

enum { HOST_ALIGNMENT_BYTES = 64 }; /* a cache line; the widest vector register */

void *host_alloc(size_t bytes);  /* aligned, not cleared; NULL: out of memory */
void host_release(void *memory); /* NULL is allowed */
Status host_copy(void *to, const void *from, size_t bytes); /* upload and download alike */
Status host_synchronize(void); /* nothing to wait for: kernels return when they are done */

/* The processor's name from /proc/cpuinfo, "AMD EPYC"; the kind of machine where there is none. */
const char *host_processor(void);

/* Fails unless 1 <= threads <= 1024. */
Status host_check_threads(const char *backend, int threads);

#endif
