/* A backend: where kernels run. The training loop, the verifier and the bench know it as this one
 * struct and nothing else. Backends are values: copy one and choose other kernels in the copy. */
#ifndef LOCKSTEP_BACKEND_H
#define LOCKSTEP_BACKEND_H

#include "base/status.h"
#include "ops/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One kernel of an operation: a row of the table that ends each kernel file. The simplest kernel of
 * an operation stands first; together they are its ladder. */
typedef struct Kernel {
    OpId op;
    const char *name;   /* "tiled"; NULL ends a table */
    const char *idea;   /* one line for the reader */
    int lesson;         /* the lesson that explains it; 0: none */
    bool is_default;    /* exactly one per operation and backend */
    bool deterministic; /* two runs agree to the bit */
    generic_fn *function;
} Kernel;

/* Rows of a kernel table. A function of another type than the operation's does not compile: C++
 * refuses two types around a colon, C warns at most, but knows _Generic. */
#ifdef __cplusplus
#define KERNEL_OF(op, function) (true ? (function) : (op##_fn *)0)
#else
#define KERNEL_OF(op, function) _Generic((function), op##_fn * : (function))
#endif
#define KERNEL_ROW(op, name, idea, lesson, is_default, function)                                   \
    { OP_##op, name, idea, lesson, is_default, true, (generic_fn *)KERNEL_OF(op, function) }
#define KERNEL(op, name, idea, lesson, function) KERNEL_ROW(op, name, idea, lesson, false, function)
#define KERNEL_DEFAULT(op, name, idea, lesson, function)                                           \
    KERNEL_ROW(op, name, idea, lesson, true, function)
#define KERNEL_TABLE_END                                                                           \
    { OP_COUNT, 0, 0, 0, false, false, 0 }

/* What an operation did and how long it took, added up by the fronts of src/ops/front.h. */
typedef struct OpCost {
    uint64_t calls;
    double flops; /* arithmetic the operation needs, whatever the kernel does */
    double bytes; /* each input read once, each output written once */
    uint64_t ns;  /* on the backend's own clock; CPU backends only (a GPU's are read from events) */
} OpCost;

typedef struct Backend {
    const char *name;    /* "openmp" */
    const char *summary; /* one line: what it is */
    const char *missing; /* NULL, or why this build has it not, and the cure: backend_missing */
    const char *(*probe)(void); /* NULL, or looks at the machine: NULL or why not; static storage */
    bool emulated;              /* its times are not times of the hardware it imitates */

    /* Gets ready to run on the given number of CPU threads; may be called again to change it. */
    Status (*open)(int threads);
    void (*close)(void);
    const char *(*device)(void); /* what it runs on, for figures; after open; static storage */

    void *(*alloc)(size_t bytes);                                     /* NULL: out of memory */
    void (*release)(void *memory);                                    /* NULL is allowed */
    Status (*upload)(void *device, const void *host, size_t bytes);   /* host to device */
    Status (*download)(void *host, const void *device, size_t bytes); /* device to host; waits */
    Status (*synchronize)(void); /* waits; returns the first failure since the last call */
    uint64_t (*now_ns)(void);    /* host clock, meaningful after synchronize */

    const Kernel *const *tables; /* one kernel table per family; NULL ends the list */
    Ops ops;                     /* the chosen kernel of each operation; filled by the registry */
    const Kernel *chosen[OP_COUNT];
    OpCost *costs; /* OP_COUNT entries to add to, or NULL */
} Backend;

/* ---- registry (registry.c) ------------------------------------------------------------------ */

/* Every backend in the order serial, openmp, openblas, cuda, simt, those that cannot run here
 * included (their missing says why). */
int backend_count(void);
const Backend *backend_at(int index);

/* NULL where the backend can run here, or why it cannot and the cure. */
const char *backend_missing(const Backend *backend);

/* Is it used where nobody names a backend? Those that can run here and are not emulated are. */
bool backend_runs_unnamed(const Backend *backend);

/* *backend = a copy of the named one with its default kernels. Fails for unknown names
 * (STATUS_BAD) and for backends that are not available here (STATUS_MISSING). Does not open it. */
Status backend_get(Backend *backend, const char *name);

/* Finds an operation by name; fails with the list of all and the nearest match. */
Status op_find(OpId *op, const char *name);

/* Makes op run the named kernel of this backend; fails with the ladder's names. */
Status backend_choose_kernel(Backend *backend, OpId op, const char *kernel_name);
/* The same for "op=kernel", as on the command line. */
Status backend_choose_assignment(Backend *backend, const char *assignment);

/* The index-th kernel of op in this backend's ladder, simplest first; NULL past the end. */
const Kernel *backend_kernel(const Backend *backend, OpId op, int index);

/* Every operation must have its specification, and every available backend must fill every slot,
 * with exactly one default per operation and no kernel name twice in a ladder. Names the first
 * fault. Run at start-up and by the tests. */
Status registry_check(void);

#ifdef __cplusplus
}
#endif
#endif
