/* The openblas backend: a tuned library where it has the operation, OpenMP kernels elsewhere (each
 * table says which). BLAS is called from the one thread that runs the step, never inside a parallel
 * region: there, a library with threads of its own would start threads within threads. */
#include "cpu/openblas/openblas.h"

#include <cblas.h>
#include <omp.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/passport.h"
#include "ops/host.h"

static char device_text[256];

/* openblas_get_parallel() of the library that is loaded: the same name may hide another build. */
static const char *threading_model(void) {
    switch (openblas_get_parallel()) {
    case OPENBLAS_SEQUENTIAL:
        return "sequential build: 1 BLAS thread";
    case OPENBLAS_THREAD:
        return "pthreads build";
    case OPENBLAS_OPENMP:
        return "OpenMP build";
    default:
        return "unknown threading";
    }
}

static Status open_openblas(int threads) {
    TRY(host_check_threads("openblas", threads));
    omp_set_dynamic(0);
    omp_set_num_threads(threads);
    openblas_set_num_threads(threads);
    snprintf(device_text, sizeof device_text, "%s (%d thread%s; OpenBLAS core %s, %s)",
             processor_name(), threads, threads == 1 ? "" : "s", openblas_get_corename(),
             threading_model());
    return STATUS_OK;
}

static void close_openblas(void) {
}

static const char *device_openblas(void) {
    return device_text;
}

static const Kernel *const tables_openblas[] = {
    vector_kernels_openblas,     transpose_kernels_openblas,
    reduce_kernels_openblas,     matmul_kernels_openblas,
    activation_kernels_openblas, loss_kernels_openblas,
    optimizer_kernels_openblas,  NULL,
};

const Backend backend_openblas = {
    .name = "openblas",
    .summary = "OpenBLAS where it has the operation, OpenMP kernels elsewhere",
    .open = open_openblas,
    .close = close_openblas,
    .device = device_openblas,
    .alloc = memory_alloc,
    .release = memory_free,
    .upload = host_copy,
    .download = host_copy,
    .synchronize = host_synchronize,
    .now_ns = clock_now_ns,
    .tables = tables_openblas,
};
