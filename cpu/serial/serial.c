/* The serial backend: one thread, plain C. The yardstick that is read first. */
#include "cpu/serial/serial.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/passport.h"
#include "ops/host.h"

static char device_text[192];

/* One thread, whatever the plan grants. */
static Status open_serial(int threads) {
    TRY(host_check_threads("serial", threads));
    snprintf(device_text, sizeof device_text, "%s (1 thread)", processor_name());
    return STATUS_OK;
}

static void close_serial(void) {
}

static const char *device_serial(void) {
    return device_text;
}

static const Kernel *const tables_serial[] = {
    vector_kernels_serial,     transpose_kernels_serial,
    reduce_kernels_serial,     matmul_kernels_serial,
    activation_kernels_serial, loss_kernels_serial,
    optimizer_kernels_serial,  NULL,
};

const Backend backend_serial = {
    .name = "serial",
    .summary = "plain C on one CPU thread",
    .open = open_serial,
    .close = close_serial,
    .device = device_serial,
    .alloc = memory_alloc,
    .release = memory_free,
    .upload = host_copy,
    .download = host_copy,
    .synchronize = host_synchronize,
    .now_ns = clock_now_ns,
    .tables = tables_serial,
};
