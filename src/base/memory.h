/* The memory plan: every tensor that a run will need is entered first; the sum is checked for
 * overflow and for fit and printed; then each group is allocated once, and freed once. */
#ifndef LOCKSTEP_MEMORY_H
#define LOCKSTEP_MEMORY_H

#include <stdio.h>

#include "base/tensor.h"

enum { MEMORY_ALIGNMENT = 64 }; /* bytes: a cache line, and the widest vector */

typedef struct PlanEntry {
    const char *group; /* "parameters"; of static storage */
    Tensor *tensor;    /* the plan's user owns it; must stay where it is until release */
    size_t offset;     /* bytes from the start of its group's block */
} PlanEntry;

typedef struct PlanGroup {
    const char *group;
    size_t bytes; /* with the padding between tensors */
    void *block;  /* NULL until allocated */
} PlanGroup;

enum { PLAN_MAX_GROUPS = 16 };

typedef struct MemoryPlan {
    PlanEntry *entries;
    int entry_count, entry_capacity;
    PlanGroup groups[PLAN_MAX_GROUPS];
    int group_count;
    size_t total_bytes;
} MemoryPlan;

/* Enters a tensor (from tensor_init). Start from a zeroed plan: MemoryPlan plan = {0}. Fails on
 * overflow of the sum and when there is no memory for the entry. */
Status memory_plan_add(MemoryPlan *plan, const char *group, Tensor *tensor);

/* Fails when the plan needs more than available_bytes of `where` ("this machine"), naming the
 * largest tensor and both sizes. */
Status memory_plan_fits(const MemoryPlan *plan, size_t available_bytes, const char *where);

/* One line a tensor, the groups' sums, the total. */
void memory_plan_print(const MemoryPlan *plan, FILE *out);

/* Allocates each group with alloc (aligned to 64 bytes, contents undefined) and sets every
 * tensor's data. On failure nothing stays allocated. */
Status memory_plan_allocate(MemoryPlan *plan, void *(*alloc)(size_t bytes),
                            void (*release)(void *memory));

/* Frees all groups and the list of entries; the plan is empty afterwards. */
void memory_plan_release(MemoryPlan *plan, void (*release)(void *memory));

/* Host memory: 64-byte aligned, not cleared; NULL when there is none. memory_free(NULL) is fine. */
void *memory_alloc(size_t bytes);
void memory_free(void *memory);

/* Bytes that this process may still take: MemAvailable and the cgroup's limit, the smaller. */
size_t memory_available_bytes(void);

/* "412.5 KiB". Returns text. */
char *bytes_text(char *text, size_t text_bytes, size_t bytes);

#endif
