/* Silence between two contenders. Thread pools spin for a while after their work (libgomp for some
 * 10 ms, OpenBLAS's pthreads build for 100), and would take the processors from whoever runs next.
 */
#ifndef LOCKSTEP_SETTLE_H
#define LOCKSTEP_SETTLE_H

#include <sys/types.h>

/* Waits until the process (0: this one) uses less than a tenth of a processor, at most limit_ms.
 * Returns the milliseconds it waited. */
double settle(pid_t process, double limit_ms);

#endif
