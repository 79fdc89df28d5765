/* The openmp backend: the serial kernels' loops, shared out among CPU threads. */
#include "cpu/openmp/openmp.h"

#include <omp.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/passport.h"
#include "ops/host.h"

static char device_text[192];

static Status open_openmp(int threads) {
    TRY(host_check_threads("openmp", threads));
    omp_set_dynamic(0); /* exactly as many as the plan says */
    omp_set_num_threads(threads);
    snprintf(device_text, sizeof device_text, "%s (%d thread%s)", processor_name(), threads,
             threads == 1 ? "" : "s");
    return STATUS_OK;
}

static void close_openmp(void) {
}

static const char *device_openmp(void) {
    return device_text;
}

static const Kernel *const tables_openmp[] = {
    vector_kernels_openmp,     transpose_kernels_openmp,
    reduce_kernels_openmp,     matmul_kernels_openmp,
    activation_kernels_openmp, loss_kernels_openmp,
    optimizer_kernels_openmp,  NULL,
};

const Backend backend_openmp = {
    .name = "openmp",
    .summary = "plain C, shared out among CPU threads by OpenMP",
    .open = open_openmp,
    .close = close_openmp,
    .device = device_openmp,
    .alloc = memory_alloc,
    .release = memory_free,
    .upload = host_copy,
    .download = host_copy,
    .synchronize = host_synchronize,
    .now_ns = clock_now_ns,
    .tables = tables_openmp,
};
