/* Stands in for the CUDA backend in builds without it: a name that says why, and the cure. */
#include "cuda/backends.h"

const Backend backend_cuda = {
    .name = "cuda",
    .summary = "CUDA kernels on an NVIDIA GPU",
    .missing = "not built here: it needs nvcc, and is built where a GPU is found or with make "
               "CUDA=1; the same kernels run in backend simt",
};
