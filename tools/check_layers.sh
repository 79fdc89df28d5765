#!/bin/sh
# Checks that includes point down the layers (see the map of folders in README.md), that nothing but
# a window's code knows SDL, and that no #if chooses a backend. Prints each fault as file:line.
set -eu
cd "$(dirname "$0")/.."

# layer: what its files may include besides their own folder. Backends build on the simpler ones: the
# openmp kernels cut the work and call the serial micro-kernel; openblas borrows what BLAS lacks.
rules='
src/base:
src/ops:      src/base
cpu/serial:   src/ops src/base
cpu/openmp:   cpu/serial src/ops src/base
cpu/openblas: cpu/openmp cpu/serial src/ops src/base
src/data:     src/ops src/base
src/trace:    src/ops src/base
src/nn:       src/data src/trace src/ops src/base
src/bench:    src/nn src/data src/trace src/ops src/base
src/verify:   src/nn src/data src/trace src/ops src/base
src/lab:      src/verify src/nn src/data src/trace src/ops src/base
src/cli:      src/lab src/bench src/verify src/nn src/data src/trace src/ops src/base
viz:          src/nn src/data src/trace src/base'

# shellcheck disable=SC2016 # $0 is awk's
faults=$(find src cpu viz -name '*.[ch]' 2> /dev/null | sort | xargs awk -v rules="$rules" '
    BEGIN {
        n = split(rules, line, "\n")
        for (i = 1; i <= n; i++) {
            if (split(line[i], part, ":") == 2) allowed[part[1]] = part[2] " " part[1] " "
        }
    }
    function fault(text) { print FILENAME ":" FNR ": " text }
    FNR == 1 {
        layer = FILENAME
        sub("/[^/]*$", "", layer)
        if (!(layer in allowed)) fault("folder " layer " is in no layer; add it to tools/check_layers.sh")
    }
    /^#[ ]*include "/ {
        split($0, quoted, "\"")
        target = quoted[2]
        if (target == "config.h") next              # written by the build, for all
        if (target !~ "/") { fault("include \"" target "\" without its folder"); next }
        sub("/[^/]*$", "", target)
        if (target !~ "^(cpu|cuda|viz|tests)") target = "src/" target
        # The registry knows every backend by one header; nothing else does.
        if (FILENAME == "src/ops/registry.c" && quoted[2] ~ "^(cpu/([a-z]+)|cuda)/[a-z]+\\.h$") next
        if (index(" " allowed[layer], " " target " ") == 0)
            fault(layer " may not include " target " (" quoted[2] ")")
    }
    /^#[ ]*include <SDL/ && layer != "viz" { fault("SDL is included in viz/ only") }
    /^#[ ]*(if|ifdef|ifndef|elif).*(OPENMP|OPENBLAS|SERIAL|CUDA|SIMT)/ && !/_H$/ {
        fault("no #if chooses a backend: it is a row in a table")
    }')

if [ -n "$faults" ]; then
    echo "$faults"
    exit 1
fi
