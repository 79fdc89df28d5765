/* Device memory is host memory, kept in a table, so that a pointer's kind and its allocation's end
 * are known: wrong kinds and sizes of copies, double and foreign frees are found as on a card. */
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

#include "state.h"

namespace simt {

struct Allocation {
    size_t bytes;
    Place place;
    bool owned; /* ours to free: not a registered host buffer, not a __device__ variable */
};

/* Pages of its own for each allocation, which ends (rounded up to 256 bytes) where a page begins
 * that nobody may touch: a kernel that runs past the end stops there, and never writes into the
 * host's own data. */
static size_t page_bytes() {
    static const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    return bytes;
}

static size_t round_up(size_t bytes, size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

static void *map_memory(size_t bytes) {
    size_t used = round_up(bytes, 256), pages = round_up(used, page_bytes());
    char *start = (char *)mmap(nullptr, pages + 2 * page_bytes(), PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) {
        return nullptr;
    }
    if (mprotect(start + page_bytes(), pages, PROT_READ | PROT_WRITE) != 0) {
        munmap(start, pages + 2 * page_bytes());
        return nullptr;
    }
    return start + page_bytes() + (pages - used);
}

static void unmap_memory(void *memory, size_t bytes) {
    size_t used = round_up(bytes, 256), pages = round_up(used, page_bytes());
    char *start = (char *)memory - (pages - used) - page_bytes();
    munmap(start, pages + 2 * page_bytes());
}

/* Reached through a function: __device__ variables may be asked for before main. */
struct MemoryTable {
    std::mutex mutex;
    std::map<const char *, Allocation> allocations;
    size_t device_bytes_used = 0;
};
static MemoryTable &table() {
    static MemoryTable *memory = new MemoryTable; /* never destroyed: exit handlers may free */
    return *memory;
}

/* The imaginary device has half of the machine's memory. */
size_t device_memory_bytes() {
    static const size_t bytes = (size_t)sysconf(_SC_PHYS_PAGES) / 2 * (size_t)sysconf(_SC_PAGESIZE);
    return bytes;
}

static std::map<const char *, Allocation>::iterator find_allocation(const char *address) {
    auto &allocations = table().allocations;
    auto next = allocations.upper_bound(address);
    if (next == allocations.begin()) {
        return allocations.end();
    }
    auto found = std::prev(next);
    return address < found->first + found->second.bytes ? found : allocations.end();
}

Place find_memory(const void *memory, size_t bytes, bool *fits) {
    MemoryTable &t = table();
    std::lock_guard<std::mutex> lock(t.mutex);
    const char *address = (const char *)memory;
    auto found = find_allocation(address);
    *fits = true;
    if (found == t.allocations.end()) {
        return Place::UNKNOWN;
    }
    *fits = bytes <= (size_t)(found->first + found->second.bytes - address);
    return found->second.place;
}

static cudaError_t allocate(void **memory, size_t bytes, Place place) {
    if (memory == nullptr) {
        return report(cudaErrorInvalidValue);
    }
    *memory = nullptr;
    if (bytes == 0) {
        return cudaSuccess;
    }
    MemoryTable &t = table();
    std::lock_guard<std::mutex> lock(t.mutex);
    bool counts = place != Place::PINNED;
    if (bytes > device_memory_bytes() ||
        (counts && bytes > device_memory_bytes() - t.device_bytes_used)) {
        return report(cudaErrorMemoryAllocation);
    }
    void *fresh = map_memory(bytes);
    if (fresh == nullptr) {
        return report(cudaErrorMemoryAllocation);
    }
    t.device_bytes_used += counts ? bytes : 0;
    t.allocations[(const char *)fresh] = {bytes, place, true};
    *memory = fresh;
    return cudaSuccess;
}

/* Frees an allocation whose place is one of two. */
static cudaError_t release(void *memory, Place place, Place other, bool owned) {
    if (memory == nullptr) {
        return cudaSuccess;
    }
    MemoryTable &t = table();
    std::lock_guard<std::mutex> lock(t.mutex);
    auto found = t.allocations.find((const char *)memory);
    if (found == t.allocations.end() || found->second.owned != owned ||
        (found->second.place != place && found->second.place != other)) {
        return report(cudaErrorInvalidValue);
    }
    if (owned) {
        t.device_bytes_used -= found->second.place != Place::PINNED ? found->second.bytes : 0;
        unmap_memory(memory, found->second.bytes);
    }
    t.allocations.erase(found);
    return cudaSuccess;
}

void free_all_memory() {
    MemoryTable &t = table();
    std::lock_guard<std::mutex> lock(t.mutex);
    for (auto it = t.allocations.begin(); it != t.allocations.end();) {
        if (it->second.owned) {
            unmap_memory((void *)it->first, it->second.bytes);
            it = t.allocations.erase(it);
        } else {
            ++it;
        }
    }
    t.device_bytes_used = 0;
}

cudaError_t device_malloc(void **memory, size_t bytes) {
    SIMT_BEGIN_CALL();
    return allocate(memory, bytes, Place::DEVICE);
}

cudaError_t device_malloc_pitch(void **memory, size_t *pitch, size_t width_bytes, size_t height) {
    SIMT_BEGIN_CALL();
    if (pitch == nullptr) {
        return report(cudaErrorInvalidValue);
    }
    *pitch = (width_bytes + 511) / 512 * 512;
    if (height != 0 && *pitch > (size_t)-1 / height) {
        return report(cudaErrorMemoryAllocation);
    }
    return allocate(memory, *pitch * height, Place::DEVICE);
}

cudaError_t host_malloc(void **memory, size_t bytes) {
    SIMT_BEGIN_CALL();
    return allocate(memory, bytes, Place::PINNED);
}

cudaError_t managed_malloc(void **memory, size_t bytes, unsigned flags) {
    SIMT_BEGIN_CALL();
    if (bytes == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)) {
        return report(cudaErrorInvalidValue);
    }
    return allocate(memory, bytes, Place::MANAGED);
}

/* A __device__ or __constant__ variable enters the table when it is first asked for by name. */
cudaError_t symbol_address(void **address, const void *symbol, size_t bytes) {
    SIMT_BEGIN_CALL();
    MemoryTable &t = table();
    std::lock_guard<std::mutex> lock(t.mutex);
    t.allocations.insert({(const char *)symbol, {bytes, Place::DEVICE, false}});
    *address = (void *)symbol;
    return cudaSuccess;
}

} // namespace simt

using namespace simt;

cudaError_t cudaFree(void *memory) {
    SIMT_BEGIN_CALL();
    return release(memory, Place::DEVICE, Place::MANAGED, true);
}

cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream) {
    if (!is_stream(stream)) {
        return report(cudaErrorInvalidResourceHandle);
    }
    return cudaFree(memory);
}

cudaError_t cudaFreeHost(void *memory) {
    SIMT_BEGIN_CALL();
    return release(memory, Place::PINNED, Place::PINNED, true);
}

cudaError_t cudaHostRegister(void *memory, size_t bytes, unsigned) {
    SIMT_BEGIN_CALL();
    if (memory == nullptr || bytes == 0) {
        return report(cudaErrorInvalidValue);
    }
    MemoryTable &t = table();
    std::lock_guard<std::mutex> lock(t.mutex);
    if (find_allocation((const char *)memory) != t.allocations.end()) {
        return report(cudaErrorHostMemoryAlreadyRegistered);
    }
    t.allocations[(const char *)memory] = {bytes, Place::PINNED, false};
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *memory) {
    SIMT_BEGIN_CALL();
    if (memory == nullptr) {
        return report(cudaErrorInvalidValue);
    }
    bool fits;
    if (find_memory(memory, 1, &fits) == Place::UNKNOWN) {
        return report(cudaErrorHostMemoryNotRegistered);
    }
    return release(memory, Place::PINNED, Place::PINNED, false);
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    SIMT_BEGIN_CALL();
    if (free_bytes == nullptr || total_bytes == nullptr) {
        return report(cudaErrorInvalidValue);
    }
    MemoryTable &t = table();
    std::lock_guard<std::mutex> lock(t.mutex);
    *total_bytes = device_memory_bytes();
    *free_bytes = *total_bytes - t.device_bytes_used;
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *memory) {
    SIMT_BEGIN_CALL();
    if (attributes == nullptr) {
        return report(cudaErrorInvalidValue);
    }
    bool fits;
    void *pointer = (void *)memory;
    switch (find_memory(memory, 1, &fits)) {
    case Place::UNKNOWN:
        *attributes = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, pointer};
        break;
    case Place::DEVICE:
        *attributes = {cudaMemoryTypeDevice, 0, pointer, nullptr};
        break;
    case Place::MANAGED:
        *attributes = {cudaMemoryTypeManaged, 0, pointer, pointer};
        break;
    case Place::PINNED:
        *attributes = {cudaMemoryTypeHost, 0, pointer, pointer};
        break;
    }
    return cudaSuccess;
}

/* Hints about managed memory: checked, and then nothing to do. */
static cudaError_t check_managed(const void *memory, size_t bytes, int device) {
    SIMT_BEGIN_CALL();
    bool fits;
    if (find_memory(memory, bytes, &fits) != Place::MANAGED || !fits) {
        return report(cudaErrorInvalidValue);
    }
    return device == 0 || device == cudaCpuDeviceId ? cudaSuccess : report(cudaErrorInvalidDevice);
}

cudaError_t cudaMemPrefetchAsync(const void *memory, size_t bytes, int device, cudaStream_t) {
    return check_managed(memory, bytes, device);
}

cudaError_t cudaMemAdvise(const void *memory, size_t bytes, cudaMemoryAdvise, int device) {
    return check_managed(memory, bytes, device);
}
