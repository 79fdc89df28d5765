/* Blocks over worker threads. The launching thread is a worker itself; the others are woken only
 * when a launch turns out to take long, because waking costs more than a small launch. */
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sched.h>
#include <thread>
#include <vector>

#include "launch.h"
#include "state.h"

namespace simt {

enum { MAX_WORKERS = 1024, INLINE_NS = 20000 };

/* SIMT_WORKERS, or one for each processor that this process may use. */
static int count_workers() {
    const char *wanted = getenv("SIMT_WORKERS");
    cpu_set_t allowed;
    int count = 1;
    if (wanted != nullptr && atoi(wanted) > 0) {
        count = atoi(wanted);
    } else if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
        count = CPU_COUNT(&allowed);
    }
    return count < MAX_WORKERS ? count : MAX_WORKERS;
}

static std::atomic<int> wanted_workers{0};

int worker_count() {
    if (wanted_workers == 0) {
        wanted_workers = count_workers();
    }
    return wanted_workers;
}

void set_worker_count(int count) {
    wanted_workers = count < 1 ? 1 : count < MAX_WORKERS ? count : MAX_WORKERS;
}

/* A launch under way. */
struct Job {
    const Launch *launch;
    uint64_t block_count, chunk;
    std::atomic<uint64_t> next{0}; /* first block that nobody has taken */
    std::atomic<bool> stop{false};
    std::mutex failure_mutex;
    uint64_t failed_block = ~0ull; /* the lowest of those that failed */
    Failure failure;
};

struct Pool {
    std::mutex launch_mutex; /* one launch at a time */
    std::mutex mutex;
    std::condition_variable wake, done;
    Job *job = nullptr;
    uint64_t round = 0;       /* counts jobs handed to the helpers */
    int wanted = 0, busy = 0; /* helpers that this job still takes; that work on it */
    int threads = 0;
};
static Pool &pool() {
    static Pool *shared = new Pool; /* never destroyed: helpers wait in it until the process ends */
    return *shared;
}

struct OwnWorker { /* of each OS thread that runs blocks */
    Worker *worker = nullptr;
    ~OwnWorker() {
        if (worker != nullptr) {
            release_worker(worker);
        }
    }
};
static thread_local OwnWorker own;

static void note_failure(Job *job, uint64_t block, const Worker *w) {
    std::lock_guard<std::mutex> lock(job->failure_mutex);
    job->stop = true;
    if (block < job->failed_block) {
        job->failed_block = block;
        job->failure = w->failure;
    }
}

/* Takes blocks until none is left, or until `until_ns` on the clock (0: no limit). True when done.
 */
static bool run_blocks(Job *job, int64_t until_ns) {
    const Launch *launch = job->launch;
    while (!job->stop) {
        uint64_t first = job->next.fetch_add(job->chunk);
        if (first >= job->block_count) {
            return true;
        }
        uint64_t last = std::min(first + job->chunk, job->block_count);
        for (uint64_t b = first; b < last && !job->stop; b++) {
            uint3 index = {(unsigned)(b % launch->grid.x),
                           (unsigned)(b / launch->grid.x % launch->grid.y),
                           (unsigned)(b / launch->grid.x / launch->grid.y)};
            run_block(worker, launch, index);
            if (worker->failure.code != cudaSuccess) {
                note_failure(job, b, worker);
            }
        }
        if (until_ns != 0 &&
            std::chrono::steady_clock::now().time_since_epoch().count() > until_ns) {
            return false;
        }
    }
    return true;
}

static void begin_work() {
    if (own.worker == nullptr) {
        own.worker = new Worker(); /* (): all of it zero, the groups of its warps too */
        catch_faults();
    }
    worker = own.worker;
}

static void helper_thread() {
    Pool &p = pool();
    begin_work();
    std::unique_lock<std::mutex> lock(p.mutex);
    for (uint64_t seen = 0;;) {
        p.wake.wait(lock, [&] { return p.round != seen && p.wanted > 0; });
        seen = p.round;
        p.wanted--;
        p.busy++;
        Job *job = p.job;
        lock.unlock();
        run_blocks(job, 0);
        lock.lock();
        if (--p.busy == 0) {
            p.done.notify_one();
        }
    }
}

static void run_with_helpers(Job *job) {
    Pool &p = pool();
    {
        std::lock_guard<std::mutex> lock(p.mutex);
        p.job = job;
        p.wanted = worker_count() - 1;
        p.round++;
        for (; p.threads < p.wanted; p.threads++) {
            std::thread(helper_thread).detach();
        }
        p.wake.notify_all();
    }
    run_blocks(job, 0);
    std::unique_lock<std::mutex> lock(p.mutex);
    p.wanted = 0; /* whoever has not woken by now need not */
    p.done.wait(lock, [&] { return p.busy == 0; });
}

static std::string describe(const Launch *launch, const Failure &failure) {
    unsigned t = (unsigned)failure.thread;
    dim3 b = launch->block;
    char text[600];
    snprintf(text, sizeof text,
             "simt: kernel %.120s<<<(%u,%u,%u), (%u,%u,%u)>>>, block (%u,%u,%u), thread "
             "(%u,%u,%u): %s\n",
             launch->name, launch->grid.x, launch->grid.y, launch->grid.z, b.x, b.y, b.z,
             failure.block.x, failure.block.y, failure.block.z, t % b.x, t / b.x % b.y,
             t / b.x / b.y, failure.text);
    return text;
}

/* Runs all blocks; a kernel's fault is kept for the next call that waits. */
cudaError_t run_grid(const Launch *launch) {
    static std::atomic<uint64_t> launch_count{0};
    std::lock_guard<std::mutex> one_at_a_time(pool().launch_mutex);
    Launch numbered = *launch;
    numbered.number = ++launch_count;
    Job job;
    job.launch = &numbered;
    job.block_count = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
    job.chunk = 1;
    begin_work();
    int64_t until_ns = std::chrono::steady_clock::now().time_since_epoch().count() + INLINE_NS;
    bool alone = worker_count() == 1 || job.block_count == 1;
    if (!run_blocks(&job, alone ? 0 : until_ns)) {
        uint64_t left = job.block_count - std::min(job.next.load(), job.block_count);
        job.chunk = std::min<uint64_t>(64, 1 + left / ((uint64_t)worker_count() * 16));
        run_with_helpers(&job);
    }
    worker = nullptr;
    if (job.failed_block != ~0ull) {
        fputs(describe(&numbered, job.failure).c_str(), stderr);
        set_kernel_fault(job.failure.code);
    }
    return cudaSuccess;
}

static cudaError_t check_limits(const Launch *launch) {
    const cudaDeviceProp &p = device_limits();
    dim3 g = launch->grid, b = launch->block;
    bool block_fits = b.x > 0 && b.y > 0 && b.z > 0 && b.x <= (unsigned)p.maxThreadsDim[0] &&
                      b.y <= (unsigned)p.maxThreadsDim[1] && b.z <= (unsigned)p.maxThreadsDim[2] &&
                      b.x * b.y * b.z <= (unsigned)p.maxThreadsPerBlock;
    bool grid_fits = g.x > 0 && g.y > 0 && g.z > 0 && g.x <= (unsigned)p.maxGridSize[0] &&
                     g.y <= (unsigned)p.maxGridSize[1] && g.z <= (unsigned)p.maxGridSize[2];
    if (!block_fits || !grid_fits) {
        return cudaErrorInvalidConfiguration;
    }
    return launch->dynamic_shared_bytes > dynamic_shared_limit(launch->function)
               ? cudaErrorInvalidValue
               : cudaSuccess;
}

cudaError_t run_launch(const Launch *launch, cudaStream_t stream) {
    SIMT_BEGIN_CALL();
    if (worker != nullptr) {
        fail_thread(cudaErrorNotSupported, "a kernel launches a kernel: the interpreter has no "
                                           "dynamic parallelism");
    }
    cudaError_t error = check_stream(stream);
    if (error == cudaSuccess) {
        error = check_limits(launch);
    }
    if (error != cudaSuccess) {
        return report(error);
    }
    if (capture_of(stream) == nullptr) {
        return kernel_fault() ? cudaSuccess : run_grid(launch);
    }
    Launch kept = *launch;
    std::string name = launch->name;
    std::shared_ptr<const void> closure = launch->keep(launch->kernel);
    return submit(stream, [kept, name, closure]() mutable {
        kept.name = name.c_str();
        kept.kernel = closure.get();
        return run_grid(&kept);
    });
}

} // namespace simt
