#!/bin/sh
# Finds out what this machine can build, by compiling and linking small programs: a header that is
# there says little, a program that links says enough.
#
#   probe.sh BUILD              writes BUILD/config.mk and BUILD/probed.h and prints what it found
#   probe.sh --missing NAME...  prints those of the named things that are not here, and no more
#   probe.sh --archer           prints the path of LLVM's libarcher.so
#
# Environment: CC, ARCH (for -march), OPENBLAS (openmp, pthread, serial or auto), PROBE_QUIET=1.
set -eu

CC=${CC:-gcc}
ARCH=${ARCH:-native}
OPENBLAS=${OPENBLAS:-auto}
tools=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# compiles FLAGS...: does the program on standard input compile and link with them?
compiles() {
    cat > "$scratch/t.c"
    # shellcheck disable=SC2086 # CC may be "ccache gcc"
    $CC -o "$scratch/t" "$scratch/t.c" "$@" > "$scratch/log" 2>&1
}

# flags_of MODULE: what pkg-config says, and nothing where it or the module is not here.
cflags_of() { pkg-config --cflags "$@" 2> /dev/null || true; }
libs_of() { pkg-config --libs "$@" 2> /dev/null || true; }

# library NAME MODULE LIBS PROGRAM: tries MODULE's flags from pkg-config, then plain LIBS; sets
# cflags and libs.
library() {
    cflags=$(cflags_of "$1")
    for libs in "$(libs_of "$1")" "$2"; do
        # shellcheck disable=SC2086 # flags are lists of words
        if [ -n "$libs" ] && printf '%s\n' "$3" | compiles $cflags $libs; then
            return 0
        fi
    done
    return 1
}

probe_compiler() {
    echo 'int main(void) { return 0; }' | compiles
}

# For the interpreter of cuda/, whose kernels are C++; objcopy shows only its backend to the linker.
probe_cxx() {
    printf '#include <tuple>\nint main() { return std::get<0>(std::make_tuple(0)); }\n' > "$scratch/t.cpp" &&
        g++ -std=gnu++17 -o "$scratch/t" "$scratch/t.cpp" > "$scratch/log" 2>&1 &&
        objcopy --version > "$scratch/log" 2>&1
}

probe_openmp() {
    echo '#include <omp.h>
    int main(void) { int n = 0;
    #pragma omp parallel reduction(+:n)
    n += omp_get_num_threads() > 0; return n == 0; }' | compiles -fopenmp
}

# Tries one place where OpenBLAS may be; sets blas_cflags, blas_libs and blas_threads, which is what
# the library itself says when asked, so a folder's name is not trusted.
try_openblas() {
    # shellcheck disable=SC2086
    compiles -fopenmp $1 $2 << 'END' || return 1
#include <cblas.h>
#include <stdio.h>
extern int openblas_get_parallel(void);
extern void openblas_set_num_threads(int);
extern char *openblas_get_config(void);
int main(void) {
    static const char *names[] = {"serial", "pthread", "openmp"};
    float x = 3;
    openblas_set_num_threads(1);
    printf("%s %s\n", names[openblas_get_parallel() % 3], openblas_get_config());
    return cblas_sdot(1, &x, 1, &x, 1) != 9;
}
END
    answer=$("$scratch/t" 2> /dev/null) || return 1
    blas_threads=${answer%% *}
    blas_version=$(echo "$answer" | sed -n 's/.* OpenBLAS \([0-9.]*\).*/\1/p')
    blas_cflags=$1
    blas_libs=$2
}

# The OpenMP-threaded OpenBLAS comes first: it runs on the same pool of threads as our own kernels,
# while one with pthreads keeps a second pool that competes with the first. Debian keeps each build
# in a folder of its own with one soname for all, so the folder must be in the run path as well, or
# the program would load whichever the system's default is. Fedora tells them apart by name.
probe_openblas() {
    multiarch=$($CC -print-multiarch 2> /dev/null || true)
    order=$OPENBLAS
    [ "$order" = auto ] && order="openmp any pthread serial"
    for kind in $order; do
        folder=/usr/lib/$multiarch/openblas-$kind
        letter=
        [ "$kind" = openmp ] && letter=o
        [ "$kind" = pthread ] && letter=p
        if [ -f "$folder/libopenblas.so" ] &&
            try_openblas "-I/usr/include/$multiarch/openblas-$kind" \
                "-L$folder -Wl,-rpath,$folder -lopenblas"; then
            :
        elif [ -n "$letter" ] && try_openblas "$(cflags_of openblas)" "-lopenblas$letter"; then
            :
        elif library openblas -lopenblas 'int main(void) { return 0; }' &&
            try_openblas "$cflags" "$libs"; then
            :
        else
            continue
        fi
        if [ "$kind" = any ] || [ "$kind" = "$blas_threads" ]; then
            return 0
        fi
    done
    return 1
}

probe_cjson() {
    library libcjson -lcjson '#include <cjson/cJSON.h>
    int main(void) { cJSON_Delete(cJSON_Parse("{}")); return 0; }' ||
        library libcjson -lcjson '#include <cJSON.h>
    int main(void) { cJSON_Delete(cJSON_Parse("{}")); return 0; }'
}

probe_zlib() {
    library zlib -lz '#include <zlib.h>
    int main(void) { return zlibVersion() == 0; }'
}

probe_curl() {
    library libcurl -lcurl '#include <curl/curl.h>
    int main(void) { return curl_easy_init() == 0; }'
}

probe_crypto() {
    library libcrypto -lcrypto '#include <openssl/evp.h>
    int main(void) { return EVP_sha256() == 0; }'
}

probe_criterion() {
    library criterion -lcriterion '#include <criterion/criterion.h>
    Test(a, b) { cr_assert(1); }'
}

probe_sdl2() {
    library "sdl2 SDL2_ttf" "-lSDL2 -lSDL2_ttf" '#include <SDL.h>
    #include <SDL_ttf.h>
    int main(int argc, char **argv) { return argc < 0 || argv == 0 || TTF_Init() == 5; }'
}

probe_mpi() {
    command -v mpicc > /dev/null &&
        echo '#include <mpi.h>
        int main(void) { return MPI_Init(0, 0); }' > "$scratch/t.c" &&
        mpicc -o "$scratch/t" "$scratch/t.c" > "$scratch/log" 2>&1
}

# nvcc is found when it compiles a kernel: it refuses host compilers that are newer than it knows.
probe_nvcc() {
    nvcc_reason="not found"
    echo '__global__ void k(float *x) { x[threadIdx.x] = 1; }
    int main() { k<<<1, 1>>>(0); return 0; }' > "$scratch/t.cu"
    for nvcc in "$(command -v nvcc || true)" "${CUDA_HOME:-/none}/bin/nvcc" /usr/local/cuda/bin/nvcc; do
        [ -x "$nvcc" ] || continue
        nvcc_version=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
        if "$nvcc" -c -o "$scratch/t.o" "$scratch/t.cu" > "$scratch/log" 2>&1; then
            return 0
        fi
        nvcc_reason="$nvcc ${nvcc_version:-} does not compile a kernel: $(head -n 1 "$scratch/log")"
    done
    return 1
}

# The program's own tools for checks; each probe asks for the tool by running it.
probe_clang() { clang --version; }
probe_clang_tidy() { clang-tidy --version; }
probe_clang_format() { clang-format --version; }
probe_cppcheck() { cppcheck --version; }
probe_shellcheck() { shellcheck --version; }

# ThreadSanitizer knows OpenMP's barriers only through LLVM's runtime and its Archer tool, which lies
# beside that runtime. Prints where.
archer() {
    for file in "$(clang -print-file-name=libarcher.so)" \
        "$(clang -print-resource-dir)/../../libarcher.so"; do
        if [ -f "$file" ]; then
            readlink -f "$file"
            return 0
        fi
    done
    return 1
}
probe_archer() {
    command -v clang > /dev/null && archer > /dev/null &&
        echo '#include <omp.h>
        int main(void) { return omp_get_max_threads() < 0; }' > "$scratch/t.c" &&
        clang -fopenmp -fsanitize=thread -o "$scratch/t" "$scratch/t.c" > "$scratch/log" 2>&1
}

# A second OpenMP runtime must not stand beside LLVM's in that build, so its OpenBLAS is the serial
# one.
# For clang-tidy, which needs clang's own omp.h.
probe_openmp_clang() {
    echo '#include <omp.h>
    int main(void) { return omp_get_max_threads() < 0; }' > "$scratch/t.c" &&
        clang-tidy "$scratch/t.c" '--checks=-*,misc-misplaced-const' -- -fopenmp
}

probe_openblas_serial() {
    (OPENBLAS=serial && probe_openblas)
}

if [ "${1:-}" = --missing ]; then
    shift
    for name in "$@"; do
        "probe_$(echo "$name" | tr - _)" > /dev/null 2>&1 || printf '%s ' "$name"
    done
    echo
    exit 0
fi

if [ "${1:-}" = --archer ]; then
    archer
    exit
fi

build=${1:?usage: probe.sh BUILD, or probe.sh --missing NAME...}
mkdir -p "$build"
missing=
all_cflags=
all_libs=

say() {
    [ "${PROBE_QUIET:-0}" = 1 ] || printf '  %-16s %s\n' "$1" "$2"
}

define() { # NAME 1|0
    echo "#define LOCKSTEP_HAVE_$1 $2" >> "$scratch/probed.h"
}

need() { # NAME LABEL WHAT-FOR: a library without which nothing is built
    if "probe_$1"; then
        all_cflags="$all_cflags $cflags"
        all_libs="$all_libs $libs"
        say "$2" "found: $3"
    else
        missing="$missing $1"
        say "$2" "MISSING: $3"
    fi
}

[ "${PROBE_QUIET:-0}" = 1 ] || echo "Looking at this machine (each thing is tried, not assumed):"
if ! probe_compiler; then
    echo "lockstep: no working C compiler: '$CC' cannot make a program." >&2
    "$tools/install-deps.sh" --names build >&2
    exit 1
fi
arch_flag=
for flag in "-march=$ARCH" "-mcpu=$ARCH"; do
    if echo 'int main(void) { return 0; }' | compiles "$flag"; then
        arch_flag=$flag
        break
    fi
done
if [ -z "$arch_flag" ] && [ "$ARCH" != native ]; then
    echo "lockstep: $CC does not know ARCH=$ARCH; try ARCH=native or ARCH=x86-64-v3" >&2
    exit 1
fi
# shellcheck disable=SC2086
compiler="$CC $($CC -dumpfullversion 2> /dev/null || $CC -dumpversion)"
say compiler "$compiler ${arch_flag:-for any processor of this kind}"
if probe_openmp; then
    say OpenMP "found: the openmp backend"
else
    missing="$missing openmp"
    say OpenMP "MISSING: $CC cannot link -fopenmp programs"
fi
if probe_cxx; then
    say g++ "found: backend simt, the CUDA kernels interpreted on the CPU"
else
    missing="$missing cxx"
    say g++ "MISSING: backend simt, the CUDA kernels interpreted on the CPU"
fi
if probe_openblas; then
    all_cflags="$all_cflags $blas_cflags"
    all_libs="$all_libs $blas_libs"
    case $blas_threads in
    openmp) note="OpenMP threads, shared with the openmp kernels" ;;
    pthread) note="threads of its own; the OpenMP build of it shares the openmp kernels' threads" ;;
    *) note="one thread only" ;;
    esac
    say OpenBLAS "found: the openblas backend ($blas_version, $note)"
else
    missing="$missing openblas"
    say OpenBLAS "MISSING: the openblas backend"
fi
need cjson cJSON "reading and writing JSON"
need zlib zlib "compressed data sets"
need curl libcurl "lockstep data get"
need crypto libcrypto "sha256 checks of data and checkpoints"

if [ -n "$missing" ]; then
    echo "lockstep: cannot build without:$missing" >&2
    # shellcheck disable=SC2086
    "$tools/install-deps.sh" --names $missing >&2
    exit 1
fi

cat > "$scratch/config.mk" << END
# Written by tools/probe.sh; made anew when it or the Makefile changes.
PROBED_COMPILER := $compiler
PROBED_ARCH     := $arch_flag
PROBED_CFLAGS   := $all_cflags
PROBED_LIBS     := $all_libs
END

# What nothing depends on, or only some targets. Builds for one check (PROBE_QUIET) need just the
# tests' library.
if probe_criterion; then
    say Criterion "found: make test"
    echo "CRITERION_CFLAGS := $cflags
CRITERION_LIBS   := $libs" >> "$scratch/config.mk"
else
    say Criterion "not found: make test installs it or says how"
fi
if [ "${PROBE_QUIET:-0}" != 1 ]; then
    if probe_sdl2; then
        say SDL2 "found, with SDL2_ttf: windows for the visualizer"
        define SDL2 1
        echo "SDL2_CFLAGS := $cflags
SDL2_LIBS   := $libs" >> "$scratch/config.mk"
    else
        say SDL2 "not found, or not SDL2_ttf: no windows; the terminal views need neither"
        define SDL2 0
    fi
    if probe_nvcc; then
        say nvcc "found: $nvcc_version compiles for GPUs"
        define NVCC 1
        echo "#define LOCKSTEP_NVCC_VERSION \"$nvcc_version\"" >> "$scratch/probed.h"
        echo "NVCC := $nvcc" >> "$scratch/config.mk"
    else
        say nvcc "$nvcc_reason: no CUDA kernels for a real GPU"
        define NVCC 0
        echo '#define LOCKSTEP_NVCC_VERSION ""' >> "$scratch/probed.h"
    fi
    if probe_mpi; then
        say MPI "found: runs over several machines"
        define MPI 1
    else
        say MPI "not found: no runs over several machines"
        define MPI 0
    fi
    tools_found=
    for tool in clang-tidy clang-format cppcheck shellcheck archer; do
        if "probe_$(echo $tool | tr - _)" > /dev/null 2>&1; then
            tools_found="$tools_found $tool"
        fi
    done
    say "check tools" "found:${tools_found:- none} (make lint, make tsan)"
else
    for name in SDL2 NVCC MPI; do
        define $name 0
    done
    echo '#define LOCKSTEP_NVCC_VERSION ""' >> "$scratch/probed.h"
fi
"$tools/write_if_changed.sh" "$build/probed.h" < "$scratch/probed.h"
mv "$scratch/config.mk" "$build/config.mk"
