#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Linux grants more memory than there is, and kills who then uses it. A look costs microseconds, so
 * it is for large pieces only. */
static int is_there(size_t bytes) {
    enum { LARGE = 1 << 26 };
    return bytes < LARGE || bytes <= memory_available_bytes();
}

void *memory_alloc(size_t bytes) {
    void *memory = NULL;
    size_t rounded = (bytes + MEMORY_ALIGNMENT - 1) / MEMORY_ALIGNMENT * MEMORY_ALIGNMENT;
    if (rounded < bytes || !is_there(rounded) ||
        posix_memalign(&memory, MEMORY_ALIGNMENT, rounded ? rounded : 1) != 0) {
        return NULL;
    }
    return memory;
}

void memory_free(void *memory) {
    free(memory);
}

char *bytes_text(char *text, size_t text_bytes, size_t bytes) {
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    int i = 0;
    while (value >= 1024.0 && i < 6) {
        value /= 1024.0;
        i++;
    }
    snprintf(text, text_bytes, i == 0 ? "%.0f %s" : "%.1f %s", value, unit[i]);
    return text;
}

/* The group of that name, made if it is new; NULL when there are too many. */
static PlanGroup *find_group(MemoryPlan *plan, const char *group) {
    for (int i = 0; i < plan->group_count; i++) {
        if (strcmp(plan->groups[i].group, group) == 0) {
            return &plan->groups[i];
        }
    }
    if (plan->group_count == PLAN_MAX_GROUPS) {
        return NULL;
    }
    plan->groups[plan->group_count] = (PlanGroup){.group = group};
    return &plan->groups[plan->group_count++];
}

static Status grow(MemoryPlan *plan) {
    if (plan->entry_count < plan->entry_capacity) {
        return STATUS_OK;
    }
    int capacity = plan->entry_capacity == 0 ? 64 : 2 * plan->entry_capacity;
    PlanEntry *entries = realloc(plan->entries, (size_t)capacity * sizeof *entries);
    if (entries == NULL) {
        return fail("memory plan: no memory for a list of %d tensors", capacity);
    }
    plan->entries = entries;
    plan->entry_capacity = capacity;
    return STATUS_OK;
}

Status memory_plan_add(MemoryPlan *plan, const char *group_name, Tensor *tensor) {
    TRY(grow(plan));
    PlanGroup *group = find_group(plan, group_name);
    if (group == NULL) {
        return fail("memory plan: more than %d groups", PLAN_MAX_GROUPS);
    }
    size_t padded, total;
    if (__builtin_add_overflow(tensor->bytes, (size_t)(MEMORY_ALIGNMENT - 1), &padded) ||
        __builtin_add_overflow(plan->total_bytes, padded, &total) || total > SIZE_MAX / 2) {
        return fail("memory plan: %s/%s makes the sum larger than an address can hold; use a "
                    "smaller model or batch",
                    group_name, tensor->name);
    }
    padded = padded / MEMORY_ALIGNMENT * MEMORY_ALIGNMENT;
    plan->entries[plan->entry_count++] = (PlanEntry){group->group, tensor, group->bytes};
    group->bytes += padded;
    plan->total_bytes += padded;
    return STATUS_OK;
}

Status memory_plan_fits(const MemoryPlan *plan, size_t available_bytes, const char *where) {
    if (plan->total_bytes <= available_bytes) {
        return STATUS_OK;
    }
    const PlanEntry *largest = &plan->entries[0];
    for (int i = 1; i < plan->entry_count; i++) {
        if (plan->entries[i].tensor->bytes > largest->tensor->bytes) {
            largest = &plan->entries[i];
        }
    }
    char need[32], have[32], one[32];
    return fail("memory: the plan needs %s, but %s has %s free; the largest tensor is %s/%s with "
                "%s; use a smaller model or batch",
                bytes_text(need, sizeof need, plan->total_bytes), where,
                bytes_text(have, sizeof have, available_bytes), largest->group,
                largest->tensor->name, bytes_text(one, sizeof one, largest->tensor->bytes));
}

void memory_plan_print(const MemoryPlan *plan, FILE *out) {
    char shape[80], size[32];
    for (int i = 0; i < plan->entry_count; i++) {
        const Tensor *tensor = plan->entries[i].tensor;
        fprintf(out, "  %-22s %-24s %-6s %-16s %12s\n", plan->entries[i].group, tensor->name,
                dtype_name(tensor->dtype),
                shape_text(shape, sizeof shape, tensor->rank, tensor->dim),
                bytes_text(size, sizeof size, tensor->bytes));
    }
    for (int i = 0; i < plan->group_count; i++) {
        fprintf(out, "  %-22s %-48s %12s\n", plan->groups[i].group, "in all",
                bytes_text(size, sizeof size, plan->groups[i].bytes));
    }
    fprintf(out, "  %-71s %12s\n", "total", bytes_text(size, sizeof size, plan->total_bytes));
}

static void release_groups(MemoryPlan *plan, void (*release)(void *memory)) {
    for (int i = 0; i < plan->group_count; i++) {
        release(plan->groups[i].block);
        plan->groups[i].block = NULL;
    }
}

Status memory_plan_allocate(MemoryPlan *plan, void *(*alloc)(size_t bytes),
                            void (*release)(void *memory)) {
    char size[32];
    for (int i = 0; i < plan->group_count; i++) {
        PlanGroup *group = &plan->groups[i];
        group->block = alloc(group->bytes);
        if (group->block == NULL) {
            release_groups(plan, release);
            return fail("memory: no %s for the %s, though the plan fits; something else took it",
                        bytes_text(size, sizeof size, group->bytes), group->group);
        }
    }
    for (int i = 0; i < plan->entry_count; i++) {
        PlanEntry *entry = &plan->entries[i];
        entry->tensor->data = (char *)find_group(plan, entry->group)->block + entry->offset;
    }
    return STATUS_OK;
}

void memory_plan_release(MemoryPlan *plan, void (*release)(void *memory)) {
    release_groups(plan, release);
    for (int i = 0; i < plan->entry_count; i++) {
        plan->entries[i].tensor->data = NULL;
    }
    free(plan->entries);
    *plan = (MemoryPlan){0};
}

/* The number behind "key" in a file of "key value" lines (or the first number if key is NULL);
 * SIZE_MAX when it is not there. */
static size_t number_in_file(const char *path, const char *key) {
    FILE *file = fopen(path, "r");
    char line[256];
    unsigned long long number = 0;
    int found = 0;
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        if (key == NULL || strncmp(line, key, strlen(key)) == 0) {
            found = sscanf(line + (key == NULL ? 0 : strlen(key)), "%llu", &number) == 1;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return found ? (size_t)number : SIZE_MAX;
}

size_t memory_available_bytes(void) {
    size_t kib = number_in_file("/proc/meminfo", "MemAvailable:");
    size_t available = kib == SIZE_MAX ? SIZE_MAX : kib * 1024;
    const char *const limits[2][2] = {
        {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
        {"/sys/fs/cgroup/memory/memory.limit_in_bytes",
         "/sys/fs/cgroup/memory/memory.usage_in_bytes"},
    };
    for (int i = 0; i < 2; i++) {
        size_t limit = number_in_file(limits[i][0], NULL),
               used = number_in_file(limits[i][1], NULL);
        if (limit != SIZE_MAX && used != SIZE_MAX) {
            size_t left = limit > used ? limit - used : 0;
            available = left < available ? left : available;
        }
    }
    return available;
}
