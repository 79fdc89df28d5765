/* Copies and fills. Sizes and directions are checked against the table of memory; a copy in a
 * stream that captures becomes a node of its graph. */
#include <cstring>

#include "state.h"

namespace simt {

static bool reachable_from_host(Place place) {
    return place != Place::DEVICE;
}

static bool reachable_from_device(Place place) {
    return place != Place::UNKNOWN;
}

/* Is [to, to + to_bytes) such memory as the kind names, and [from, ...) likewise? */
static cudaError_t check_copy(const void *to, size_t to_bytes, const void *from, size_t from_bytes,
                              cudaMemcpyKind kind) {
    if ((unsigned)kind > cudaMemcpyDefault) {
        return cudaErrorInvalidMemcpyDirection;
    }
    if (to == nullptr || from == nullptr) {
        return cudaErrorInvalidValue;
    }
    bool to_fits, from_fits;
    Place to_place = find_memory(to, to_bytes, &to_fits);
    Place from_place = find_memory(from, from_bytes, &from_fits);
    if (!to_fits || !from_fits) {
        return cudaErrorInvalidValue;
    }
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (kind != cudaMemcpyDefault &&
        (!(to_device ? reachable_from_device(to_place) : reachable_from_host(to_place)) ||
         !(from_device ? reachable_from_device(from_place) : reachable_from_host(from_place)))) {
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

/* Blocking calls are not allowed while a stream captures; asynchronous ones become nodes. */
static cudaError_t check_mode(cudaStream_t stream, bool wait) {
    return wait ? refuse_during_capture() : check_stream(stream);
}

static cudaError_t copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                        cudaStream_t stream, bool wait) {
    SIMT_BEGIN_CALL();
    cudaError_t error = check_mode(stream, wait);
    if (error != cudaSuccess || bytes == 0) {
        return report(error);
    }
    error = check_copy(to, bytes, from, bytes, kind);
    if (error != cudaSuccess) {
        return report(error);
    }
    return submit(stream, [=] {
        memmove(to, from, bytes);
        return cudaSuccess;
    });
}

static cudaError_t copy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                           size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                           bool wait) {
    SIMT_BEGIN_CALL();
    cudaError_t error = check_mode(stream, wait);
    if (error != cudaSuccess) {
        return report(error);
    }
    if (width > to_pitch || width > from_pitch) {
        return report(cudaErrorInvalidPitchValue);
    }
    if (width == 0 || height == 0) {
        return cudaSuccess;
    }
    error = check_copy(to, to_pitch * (height - 1) + width, from, from_pitch * (height - 1) + width,
                       kind);
    if (error != cudaSuccess) {
        return report(error);
    }
    return submit(stream, [=] {
        for (size_t row = 0; row < height; row++) {
            memmove((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width);
        }
        return cudaSuccess;
    });
}

static cudaError_t fill(void *memory, size_t pitch, int value, size_t width, size_t height,
                        cudaStream_t stream, bool wait) {
    SIMT_BEGIN_CALL();
    cudaError_t error = check_mode(stream, wait);
    if (error != cudaSuccess || width == 0 || height == 0) {
        return report(error);
    }
    if (height > 1 && width > pitch) {
        return report(cudaErrorInvalidPitchValue);
    }
    bool fits;
    Place place = find_memory(memory, pitch * (height - 1) + width, &fits);
    if (!reachable_from_device(place) || !fits) {
        return report(cudaErrorInvalidValue);
    }
    return submit(stream, [=] {
        for (size_t row = 0; row < height; row++) {
            memset((char *)memory + row * pitch, value, width);
        }
        return cudaSuccess;
    });
}

/* To a symbol if `to` is NULL, else from it. */
cudaError_t copy_symbol(void *to, const void *from, size_t bytes, const void *symbol,
                        size_t symbol_bytes, size_t offset, cudaMemcpyKind kind,
                        cudaStream_t stream, bool wait) {
    void *address;
    cudaError_t error = symbol_address(&address, symbol, symbol_bytes);
    if (error != cudaSuccess) {
        return error;
    }
    bool to_symbol = to == nullptr && from != nullptr;
    bool direction_fits = kind == cudaMemcpyDefault || kind == cudaMemcpyDeviceToDevice ||
                          kind == (to_symbol ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
    if (!direction_fits) {
        return report(cudaErrorInvalidMemcpyDirection);
    }
    if (offset > symbol_bytes || bytes > symbol_bytes - offset) {
        return report(cudaErrorInvalidValue);
    }
    char *place = (char *)address + offset;
    return to_symbol ? copy(place, from, bytes, kind, stream, wait)
                     : copy(to, place, bytes, kind, stream, wait);
}

} // namespace simt

using namespace simt;

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    return copy(to, from, bytes, kind, nullptr, true);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    return copy(to, from, bytes, kind, stream, false);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width_bytes, size_t height, cudaMemcpyKind kind) {
    return copy_2d(to, to_pitch, from, from_pitch, width_bytes, height, kind, nullptr, true);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width_bytes, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
    return copy_2d(to, to_pitch, from, from_pitch, width_bytes, height, kind, stream, false);
}

cudaError_t cudaMemset(void *memory, int value, size_t bytes) {
    return fill(memory, bytes, value, bytes, 1, nullptr, true);
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream) {
    return fill(memory, bytes, value, bytes, 1, stream, false);
}

cudaError_t cudaMemset2D(void *memory, size_t pitch, int value, size_t width_bytes, size_t height) {
    return fill(memory, pitch, value, width_bytes, height, nullptr, true);
}
