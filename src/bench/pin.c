#define _GNU_SOURCE /* sched_setaffinity, CPU_SET */
#include "bench/pin.h"

#include <omp.h>
#include <sched.h>
#include <stdio.h>

_Static_assert(sizeof(cpu_set_t) == PIN_MAX / 8, "PinScope holds a cpu_set_t");

/* The lowest-numbered processor of the core that `processor` belongs to; itself when unknown. */
static int first_sibling(int processor) {
    char path[128];
    int first = processor;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
             processor);
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        if (fscanf(file, "%d", &first) != 1) {
            first = processor;
        }
        fclose(file);
    }
    return first;
}

void pin_order(PinOrder *order) {
    cpu_set_t allowed;
    order->count = 0;
    if (omp_get_proc_bind() != omp_proc_bind_false ||
        sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return;
    }
    for (int sibling = 0; sibling < 2; sibling++) {
        for (int p = 0; p < PIN_MAX; p++) {
            if (CPU_ISSET(p, &allowed) && (first_sibling(p) != p) == (sibling == 1)) {
                order->processors[order->count++] = p;
            }
        }
    }
}

PinScope pin_thread(const PinOrder *order, int index) {
    PinScope scope = {0};
    cpu_set_t one;
    if (order->count > 0 &&
        sched_getaffinity(0, sizeof scope.mask, (cpu_set_t *)(void *)scope.mask) == 0) {
        CPU_ZERO(&one);
        CPU_SET(order->processors[index % order->count], &one);
        scope.moved = sched_setaffinity(0, sizeof one, &one) == 0;
    }
    return scope;
}

void pin_restore(const PinScope *scope) {
    if (scope->moved) {
        sched_setaffinity(0, sizeof scope->mask, (const cpu_set_t *)(const void *)scope->mask);
    }
}
