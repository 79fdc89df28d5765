#include "bench/cache.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* text = the first line of folder/index<i>/name, without its newline; false when unreadable. */
static bool read_line(char *text, int text_bytes, const char *folder, int i, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/index%d/%s", folder, i, name);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return false;
    }
    bool found = fgets(text, text_bytes, file) != NULL;
    fclose(file);
    if (found) {
        text[strcspn(text, "\n")] = '\0';
    }
    return found;
}

/* "512K" or "32M" to bytes. */
static size_t size_bytes(const char *text) {
    char *unit;
    size_t bytes = (size_t)strtoull(text, &unit, 10);
    return *unit == 'K' ? bytes << 10 : *unit == 'M' ? bytes << 20 : bytes;
}

int cpu_list_count(const char *list) {
    int count = 0;
    while (*list >= '0' && *list <= '9') {
        char *end;
        long first = strtol(list, &end, 10), last = first;
        if (*end == '-') {
            last = strtol(end + 1, &end, 10);
        }
        count += last >= first ? (int)(last - first) + 1 : 0;
        list = *end == ',' ? end + 1 : end;
    }
    return count;
}

int cache_levels(CacheLevel levels[CACHE_MAX_LEVELS], const char *folder) {
    int count = 0;
    char type[32], level[32], size[32], shared[1024];
    for (int i = 0; count < CACHE_MAX_LEVELS && read_line(type, sizeof type, folder, i, "type");
         i++) {
        if (strcmp(type, "Instruction") == 0 ||
            !read_line(level, sizeof level, folder, i, "level") ||
            !read_line(size, sizeof size, folder, i, "size") || size_bytes(size) == 0) {
            continue;
        }
        bool counted = read_line(shared, sizeof shared, folder, i, "shared_cpu_list");
        int processors = counted ? cpu_list_count(shared) : 1;
        levels[count++] =
            (CacheLevel){atoi(level), size_bytes(size), processors > 0 ? processors : 1};
    }
    return count;
}

size_t cache_capacity(const CacheLevel *level, int threads, int processors) {
    int instances = (processors + level->shared - 1) / level->shared;
    int used = threads < instances ? threads : instances;
    return level->bytes * (size_t)(used > 0 ? used : 1);
}
