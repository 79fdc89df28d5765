#!/bin/sh
# Runs BUILD/tests (Criterion) and tests/*.sh and ends in one line, "N passed, N failed". Whatever
# does not clearly pass has failed: a crash, a test program that dies, a run of no test at all.
# TEST_TIMEOUT (120) is the number of seconds after which a test counts as hung.
#
#   run_tests.sh BUILD [FILTER]     FILTER is Criterion's: suite/test with wildcards; with one, the
#                                   shell tests are left out
set -u

build=${1:?usage: run_tests.sh BUILD [FILTER]}
filter=${2:-}
log=$build/tests.log
passed=0
failed=0

# Waiting threads sleep: several tests run at a time, and spinning ones would slow each other down.
export OMP_WAIT_POLICY=passive
export LOCKSTEP="$build/lockstep"
export LSAN_OPTIONS="suppressions=$PWD/tools/lsan.txt:print_suppressions=0"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"

"$build/tests" --timeout "${TEST_TIMEOUT:-120}" ${filter:+--filter "$filter"} > "$log" 2>&1
status=$?
cat "$log"

# The last line of the form "Synthesis: Tested: 5 | Passing: 5 | Failing: 0 | Crashing: 0".
synthesis=$(sed 's/\x1b\[[0-9;]*m//g' "$log" | grep 'Synthesis: Tested:' | tail -n 1)
number() { # NAME: the number after it in the synthesis
    echo "$synthesis" | sed -n "s/.*$1: \([0-9][0-9]*\).*/\1/p"
}
tested=$(number Tested)
passed=$(number Passing)
if [ -z "$tested" ] || [ -z "$passed" ]; then
    echo "The test program ended with status $status and without a summary."
    tested=1
    passed=0
elif [ "$status" -ne 0 ] && [ "$tested" -eq "$passed" ]; then
    echo "Every test passed, but the test program ended with status $status."
    tested=$((tested + 1))
fi
failed=$((tested - passed))
# The leak checker speaks when a test's process ends, after Criterion has called the test passed.
leaks=$(grep -c 'ERROR: LeakSanitizer' "$log")
failed=$((failed + leaks))
passed=$((passed - leaks))

if [ -z "$filter" ]; then
    for script in tests/*.sh; do
        [ -f "$script" ] || continue
        [ "$script" = tests/gpu.sh ] && continue # run by hand, where a GPU is
        if timeout 300 "$script" > "$log" 2>&1; then
            passed=$((passed + 1))
            echo "[PASS] $script"
        else
            failed=$((failed + 1))
            cat "$log"
            echo "[FAIL] $script"
        fi
    done
fi

if [ $((passed + failed)) -eq 0 ]; then
    echo "No test ran."
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
