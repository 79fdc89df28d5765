#!/bin/sh
# Everything that `make lint` checks. Called by it, with CHECK_FLAGS: the compiler's flags without
# those that only gcc knows. Each check ends in one line; one whose tool is missing counts as failed,
# because it was not made.
set -u
cd "$(dirname "$0")/.." || exit 1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
bad=0

check() { # NAME COMMAND...: its output is shown only where it fails
    name=$1
    shift
    if ! command -v "$1" > /dev/null; then
        echo "lint: $name: NOT CHECKED, $1 is not installed"
        bad=$((bad + 1))
    elif "$@" > "$log" 2>&1; then
        echo "lint: $name: ok"
    else
        cat "$log"
        echo "lint: $name: FAILED"
        bad=$((bad + 1))
    fi
}

sources() { # EXTENSION...: our files, one a line
    for extension in "$@"; do
        find src cpu viz tests -name "*.$extension" 2> /dev/null
    done | sort
}

# With the C library's own checks of sizes, which some systems' compilers turn on for every build.
compile_with_warnings() {
    PROBE_QUIET=1 make BUILD=build/lint all test-objects \
        CFLAGS='-O2 -g -Wpedantic -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3'
}

# Four files a process, as many processes as processors.
tidy() {
    # shellcheck disable=SC2016 # expanded by the inner shell
    sources c | xargs -P "$(nproc)" -n 4 sh -c 'clang-tidy --quiet "$@" -- $CHECK_FLAGS' sh
}

format() {
    sources c h | xargs clang-format --dry-run -Werror
}

cpp_check() {
    cppcheck --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
        --std=c11 --library=posix,openmp --suppressions-list=tools/cppcheck.txt -q -j "$(nproc)" \
        -Isrc -I. src cpu
}

# No -ffast-math or part of it, as a flag of the real compile command, in a pragma or an attribute.
no_fast_math() {
    parts='fast.math|Ofast|unsafe-math|associative-math|finite-math|reciprocal-math'
    # shellcheck disable=SC2046 # a list of words
    ! grep -E "$parts" build/lint/command &&
        ! grep -rnE "(pragma|optimize).*($parts)" $(ls -d src cpu cuda viz tests 2> /dev/null)
}

check "compiler warnings" compile_with_warnings
check "clang-tidy" tidy
check "cppcheck" cpp_check
check "clang-format" format
check "shellcheck" shellcheck tools/*.sh .ci/run
check "layers" tools/check_layers.sh
check "no fast-math" no_fast_math
[ "$bad" -eq 0 ]
