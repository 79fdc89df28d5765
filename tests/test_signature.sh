#!/bin/sh
# A kernel whose parameters are not those of its operation does not compile, in no row of a table:
# README promises it. The same file with the right parameters does, so that it is they that decide.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

compiles() { # SIZE_TYPE: a kernel of sum that takes its row's length in this type
    cat > "$work/kernel.c" << END
#include "ops/backend.h"
static void sum_mine(float *out, const float *inp, int M, $1 N) { (void)out; (void)inp; (void)M; (void)N; }
extern const Kernel mine[];
const Kernel mine[] = {KERNEL(sum, "mine", "", 0, sum_mine), KERNEL_TABLE_END};
END
    "${CC:-gcc}" -std=gnu11 -Isrc -I. -fsyntax-only "$work/kernel.c" 2> "$work/errors"
}

compiles size_t || { cat "$work/errors"; echo "FAILED: the right parameters"; exit 1; }
if compiles int; then
    echo "FAILED: int instead of size_t compiles"
    exit 1
fi
