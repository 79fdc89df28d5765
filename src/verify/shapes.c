/* Shapes for test cases: where kernels go wrong. Tiles of 4, 6, 8, 16, 32, 64, 128 and what lies
 * one beside them; nothing at all; one; primes; long and thin. */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/philox.h"
#include "verify/cases.h"

typedef struct ShapeList {
    const size_t (*shapes)[SPEC_MAX_DIMS];
    int count;
} ShapeList;

static const size_t vectors[][SPEC_MAX_DIMS] = {
    {0},   {1},   {2},   {3},   {4},    {5},    {6},    {7},    {8},     {9},      {15},
    {16},  {17},  {31},  {32},  {33},   {63},   {64},   {65},   {127},   {128},    {129},
    {255}, {257}, {997}, {999}, {1000}, {1023}, {1025}, {4099}, {65536}, {100003},
};

static const size_t matrices[][SPEC_MAX_DIMS] = {
    {0, 5},    {5, 0},    {1, 1},    {1, 2},    {2, 1},     {3, 3},      {1, 1000},
    {1000, 1}, {31, 33},  {32, 32},  {33, 31},  {17, 129},  {129, 17},   {128, 128},
    {7, 1031}, {1031, 7}, {64, 784}, {3, 4097}, {1, 65536}, {65536, 1},  {65, 127},
    {1, 48},   {16, 768}, {2, 127},  {2, 129},  {5, 1025},  {1, 100003}, {64, 10},
};

/* 20,000,000 terms: past the 2^24 at which fp32 can no longer count. */
static const size_t long_rows[][SPEC_MAX_DIMS] = {{2, 1500001}, {1, 20000000}};

static const size_t products[][SPEC_MAX_DIMS] = {
    {0, 3, 4},    {3, 0, 4},    {3, 4, 0},       {1, 1, 1},      {5, 2, 1},      {2, 3, 4},
    {1, 1, 1000}, {1, 1000, 1}, {1000, 1, 1},    {1, 1000, 7},   {1000, 1, 7},   {4, 6, 8},
    {3, 5, 7},    {5, 7, 9},    {6, 16, 64},     {5, 15, 63},    {7, 17, 65},    {31, 32, 32},
    {32, 32, 32}, {33, 31, 33}, {100, 100, 100}, {65, 129, 127}, {129, 127, 65}, {3, 257, 97},
    {257, 3, 97}, {97, 257, 3}, {64, 10, 128},   {17, 784, 10},  {127, 64, 129}, {2, 2, 4097},
    {15, 9, 129}, {8, 130, 31},
};

static const size_t large_products[][SPEC_MAX_DIMS] = {{1000, 1000, 1000}};

#define SHAPE_LIST(list)                                                                           \
    { list, sizeof(list) / sizeof(list)[0] }

static int dims_of(OpId op) {
    int count = 0;
    while (spec_of(op)->dims[count] != NULL) {
        count++;
    }
    return count;
}

/* The operation's lists: the common one of its rank, and its own. */
static void lists_of(ShapeList lists[2], OpId op) {
    static const ShapeList of_rank[] = {
        {NULL, 0}, SHAPE_LIST(vectors), SHAPE_LIST(matrices), SHAPE_LIST(products)};
    static const ShapeList own[OP_COUNT] = {
        [OP_sum] = SHAPE_LIST(long_rows),
        [OP_mean] = SHAPE_LIST(long_rows),
        [OP_matmul] = SHAPE_LIST(large_products),
    };
    lists[0] = of_rank[dims_of(op)];
    lists[1] = own[op];
}

/* What the contract demands: a mean, a largest element and a label need something to choose from.
 */
static size_t smallest(OpId op, int dim) {
    static const bool needs_one[OP_COUNT] = {
        [OP_mean] = true,
        [OP_max] = true,
        [OP_argmax] = true,
        [OP_softmax_cross_entropy_forward] = true,
        [OP_softmax_cross_entropy_backward] = true,
    };
    return needs_one[op] && dim == 1 ? 1 : 0;
}

/* Mostly the neighbourhood of a tile, sometimes anything up to 300. */
static size_t random_size(Philox rng, uint64_t at) {
    static const size_t tiles[] = {4, 6, 8, 16, 32, 64, 128};
    enum { TILES = sizeof tiles / sizeof tiles[0] };
    if (philox_below(rng, at, 3) == 0) {
        return philox_below(rng, at + 1, 301);
    }
    return tiles[philox_below(rng, at + 2, TILES)] - 1 + philox_below(rng, at + 3, 3);
}

void case_shape(size_t dim[SPEC_MAX_DIMS], OpId op, int index, uint64_t seed) {
    Philox rng = {seed, 1};
    ShapeList lists[2];
    lists_of(lists, op);
    const size_t *listed = index < lists[0].count ? lists[0].shapes[index]
                           : index < lists[0].count + lists[1].count
                               ? lists[1].shapes[index - lists[0].count]
                               : NULL;
    for (int d = 0; d < SPEC_MAX_DIMS; d++) {
        size_t size = listed != NULL ? listed[d] : random_size(rng, 4 * (uint64_t)d);
        dim[d] = d >= dims_of(op) ? 0 : size > smallest(op, d) ? size : smallest(op, d);
    }
}

char *case_shape_text(char text[CASE_TEXT_BYTES], const OpCall *call) {
    size_t used = 0;
    for (int d = 0; call->spec->dims[d] != NULL; d++) {
        used += (size_t)snprintf(text + used, CASE_TEXT_BYTES - used, "%s%zu", d > 0 ? "x" : "",
                                 call->dim[d]);
    }
    return text;
}

static Status bad_shape(OpId op, const char *text) {
    char dims[64] = "";
    for (int d = 0; d < dims_of(op); d++) {
        size_t used = strlen(dims);
        snprintf(dims + used, sizeof dims - used, "%s%s", d > 0 ? "x" : "", spec_of(op)->dims[d]);
    }
    return fail("--shape %s: %s takes %s, whole numbers of 0 to %d", text, op_name(op), dims,
                INT_MAX);
}

Status case_parse_shape(size_t dim[SPEC_MAX_DIMS], OpId op, const char *text) {
    const char *at = text;
    for (int d = 0; d < dims_of(op); d++) {
        char *end;
        if (!isdigit((unsigned char)*at)) {
            return bad_shape(op, text);
        }
        unsigned long long size = strtoull(at, &end, 10);
        bool is_last = d + 1 == dims_of(op);
        if (size > INT_MAX || *end != (is_last ? '\0' : 'x')) {
            return bad_shape(op, text);
        }
        if (size < smallest(op, d)) {
            return fail("--shape %s: %s needs %s of at least %zu", text, op_name(op),
                        spec_of(op)->dims[d], smallest(op, d));
        }
        dim[d] = (size_t)size;
        at = end + 1;
    }
    return STATUS_OK;
}
