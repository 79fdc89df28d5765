/* Stands in for the interpreter in builds with a sanitizer: fibers have stacks of their own, of
 * which it knows nothing. */
#include "cuda/backends.h"

const Backend backend_simt = {
    .name = "simt",
    .summary = "the CUDA kernels, interpreted on the CPU: EMULATED",
    .missing = "not built here: SIMT=0, or a build with a sanitizer; plain make has it",
    .emulated = true,
};
