/* What the backends that run on the CPU share beside memory_alloc: copies that are traced, a clock
 * that needs no waiting, and the check of a thread count. */
#ifndef LOCKSTEP_HOST_H
#define LOCKSTEP_HOST_H

#include <stddef.h>

#include "base/status.h"

Status host_copy(void *to, const void *from, size_t bytes); /* upload and download alike */
Status host_synchronize(void); /* nothing to wait for: kernels return when they are done */

/* Fails unless 1 <= threads <= 1024. */
Status host_check_threads(const char *backend, int threads);

#endif
