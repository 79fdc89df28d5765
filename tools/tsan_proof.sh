#!/bin/sh
# Proves that the thread sanitizer's build can fail and does not fail for nothing: it must report the
# race in tests/tsan/racy.c and say nothing about its mended twin. Usage: tsan_proof.sh BUILD, with
# the environment that `make tsan` sets.
set -eu
build=$1
mkdir -p "$build"

reports() { # NAME: does the sanitizer report a race when tests/tsan/NAME.c runs?
    clang -O1 -g -fopenmp -fsanitize=thread -o "$build/$1" "tests/tsan/$1.c"
    if "$build/$1" > "$build/$1.log" 2>&1; then
        return 1
    fi
    grep -q 'ThreadSanitizer: data race' "$build/$1.log"
}

if ! reports racy; then
    cat "$build/racy.log"
    echo "tsan: the race in tests/tsan/racy.c was NOT reported: this build would find nothing"
    exit 1
fi
if reports mended || [ "$(cat "$build/mended.log")" != 999 ]; then
    cat "$build/mended.log"
    echo "tsan: tests/tsan/mended.c was reported, and it has no race: Archer is not at work"
    exit 1
fi
echo "tsan: reports the race in tests/tsan/racy.c, and nothing about its mended twin"
