#!/bin/sh
# Everything that needs an NVIDIA GPU, in one run of a few minutes: build for it, the conformance
# programs, the self-test, verify, a race and a benchmark. Not a part of `make test`.
# Exit code: 0 all is well, 1 something is not, 3 there is no GPU or no nvcc here.
set -u
cd "$(dirname "$0")/.." || exit 1

if ! nvidia-smi -L 2> /dev/null | grep -q GPU; then
    echo "gpu.sh: no NVIDIA GPU here; nothing was checked"
    exit 3
fi
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if [ ! -x "$nvcc" ]; then
    echo "gpu.sh: no nvcc here; install the CUDA toolkit; nothing was checked"
    exit 3
fi
nvidia-smi --query-gpu=name,driver_version,compute_cap,memory.total --format=csv
"$nvcc" --version | tail -n 1

failed=0
step() { # NAME COMMAND...: runs it, says how it ended
    name=$1
    shift
    echo "== $name: $*"
    if "$@"; then
        echo "== $name: ok"
    else
        echo "== $name: FAILED with status $?"
        failed=$((failed + 1))
    fi
}

build=build/gpu
step build make BUILD=$build CUDA=1 all
mkdir -p $build/conformance
for source in tests/conformance/*.cu; do
    program=$build/conformance/$(basename "$source" .cu)
    step "compile $source" "$nvcc" -O2 -std=c++17 -arch=native -Isrc -I. -o "$program" "$source"
    [ -x "$program" ] && step "$program" timeout 60 "$program"
done
step verify timeout 120 $build/lockstep verify --backend cuda --cases 40
step race timeout 60 $build/lockstep race --backends serial,openmp,openblas,cuda --seconds 20
step bench timeout 120 $build/lockstep bench matmul --backends openblas,cuda --kernels all \
    --sizes 512,1024,4096 --samples 10

echo "$failed steps failed"
[ "$failed" -eq 0 ]
