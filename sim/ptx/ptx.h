/* The PTX engine: text in, decoded module out, grids executed on the CPU.
 *
 * It knows nothing of the driver API; sim/driver/ knows nothing of PTX beyond this file. Device addresses
 * are host addresses: the engine reads and writes through them after asking `struct ptx_memory` whether
 * they may be touched.
 */
#ifndef NEUTRINO_SIM_PTX_H
#define NEUTRINO_SIM_PTX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/image.h"

struct ptx_module;
struct ptx_kernel;
struct ptx_variable;

/* The place of a fault. `what` is a literal, as is `access` ("read", "write", "atomic access"; NULL if the
 * fault was no access); `address` is an offset unless `global`. */
struct ptx_fault {
    const struct ptx_kernel *kernel; /* the one that was launched, or one that it launched */
    const char *what;
    const char *access;
    uint64_t address;
    uint32_t bytes;
    bool global;
    uint32_t block[3], thread[3];
};

/* Why a module was refused or a launch faulted; `line` counts from 1 in the PTX text, 0 if none. To be zeroed
 * before use. */
struct ptx_diagnostic {
    uint32_t line;
    char text[480];
    struct ptx_fault fault; /* of a launch */
};

/* Parse and decode. `text` need not be NUL-terminated. Returns 0, or -1 with `diagnostic` filled in; an
 * instruction that the engine does not execute is refused here, never at run time. */
int ptx_module_parse(const char *text, size_t bytes, struct ptx_module **module,
                     struct ptx_diagnostic *diagnostic);
void ptx_module_free(struct ptx_module *module);

/* Linking: texts that refer to each other's functions and variables become one text, in which static names
 * that collide are kept apart. */
struct ptx_link;

enum ptx_link_status {
    PTX_LINKED = 0,
    PTX_LINK_TEXT,   /* a text was refused, as by ptx_module_parse */
    PTX_LINK_SYMBOL, /* symbols are defined twice or not at all: a line for each in `diagnostic` */
    PTX_LINK_MEMORY
};

struct ptx_link *ptx_link_begin(void); /* NULL if out of memory */
/* `name` is what diagnostics call the text, which is copied up to a NUL. A text that is refused changes
 * nothing. */
enum ptx_link_status ptx_link_add(struct ptx_link *link, const char *text, size_t bytes, const char *name,
                                  struct ptx_diagnostic *diagnostic);
/* `text` is to be freed, and is NUL-terminated; `bytes` does not count the NUL. */
enum ptx_link_status ptx_link_finish(struct ptx_link *link, char **text, size_t *bytes,
                                     struct ptx_diagnostic *diagnostic);
void ptx_link_end(struct ptx_link *link);

/* With `yes`, a module with instructions that the engine does not have is accepted, and each function that
 * has one cannot run: ptx_kernel_refusal. Without, which is the default, the module is refused. */
void ptx_accept_unsupported(bool yes);

/* Why the kernel cannot run: its first unsupported instruction, with the line. NULL: it can run. */
const char *ptx_kernel_refusal(const struct ptx_kernel *kernel);

/* Give every module-scope .global and .const variable device memory from `allocate` and its initial value
 * (which may hold other variables' addresses). To be called once, before the first launch. */
int ptx_module_place(struct ptx_module *module,
                     void *(*allocate)(size_t bytes, size_t alignment, void *context), void *context);

size_t ptx_module_kernel_count(const struct ptx_module *module);
const struct ptx_kernel *ptx_module_kernel(const struct ptx_module *module, size_t index);
const struct ptx_kernel *ptx_module_find_kernel(const struct ptx_module *module, const char *name);

const char *ptx_kernel_name(const struct ptx_kernel *kernel);
/* One more than the highest line with an instruction, in any function of the kernel's module. */
uint32_t ptx_kernel_lines(const struct ptx_kernel *kernel);
/* Copies one line of the PTX text, stripped and cut to fit; an empty string if the line does not exist. */
void ptx_kernel_line(const struct ptx_kernel *kernel, uint32_t line, char *text, size_t room);
size_t ptx_kernel_parameter_count(const struct ptx_kernel *kernel);
/* Offset and size in bytes of a parameter in the kernel's parameter buffer. */
void ptx_kernel_parameter(const struct ptx_kernel *kernel, size_t index, size_t *offset, size_t *bytes);
size_t ptx_kernel_parameter_bytes(const struct ptx_kernel *kernel);

struct ptx_kernel_attributes {
    uint32_t registers;      /* 32-bit registers a thread, as declared */
    uint32_t shared_bytes;   /* static */
    uint32_t local_bytes;    /* a thread */
    uint32_t constant_bytes; /* of the module */
    uint32_t max_threads;    /* product of .maxntid or .reqntid, else 1024 */
    uint32_t required[3];    /* .reqntid, the only shape of a block; 0: any */
    uint32_t cluster[3];     /* .reqnctapercluster, the blocks of a cluster; 0: any */
    bool uses_cluster;       /* its module asks for the cluster, which is always one block */
    uint32_t ptx_version;    /* 87 for .version 8.7 */
    uint32_t target;         /* 90 for .target sm_90 */
};
void ptx_kernel_attributes(const struct ptx_kernel *kernel, struct ptx_kernel_attributes *attributes);

size_t ptx_module_global_count(const struct ptx_module *module);
const struct ptx_variable *ptx_module_global(const struct ptx_module *module, size_t index);
const struct ptx_variable *ptx_module_find_global(const struct ptx_module *module, const char *name);
const char *ptx_variable_name(const struct ptx_variable *variable);
uint64_t ptx_variable_address(const struct ptx_variable *variable); /* 0 before ptx_module_place */
size_t ptx_variable_bytes(const struct ptx_variable *variable);
bool ptx_variable_is_managed(const struct ptx_variable *variable);

/* The memory that kernels may access. `find` gives the live allocation that holds `address`, as [begin, end),
 * and whether it may be written; the engine may remember the answer for the rest of one launch. Called from
 * several threads. */
struct ptx_memory {
    bool (*find)(void *context, uint64_t address, uint64_t *begin, uint64_t *end, bool *writable);
    /* malloc and free for kernels; if NULL, malloc in a kernel fails. 0: out of memory. */
    uint64_t (*allocate)(void *context, size_t bytes);
    void (*release)(void *context, uint64_t address);
    /* The texture or surface object of a handle; the engine may remember it for the rest of one launch.
     * False: the handle is invalid, or its memory was freed. If NULL, every handle is invalid. */
    bool (*image)(void *context, uint64_t handle, bool is_surface, struct ptx_image *image);
    void *context;
};

enum ptx_status {
    PTX_OK = 0,
    PTX_ILLEGAL_ADDRESS,
    PTX_MISALIGNED,
    PTX_TRAP,
    PTX_ASSERT,
    PTX_TIMEOUT,
    PTX_INVALID_PC, /* call of an address that is not a function */
    PTX_ILLEGAL_INSTRUCTION,
    PTX_OUT_OF_RESOURCES,
    PTX_CANCELLED,
    PTX_DEADLOCK /* a barrier that can never open */
};

/* Executed instructions of a launch: for each line of the PTX text, the threads that executed its
 * instructions, and those whose guard was false. `lines` is ptx_kernel_lines(kernel). */
struct ptx_counts {
    uint32_t lines;
    _Atomic uint64_t (*threads)[2];
};

struct ptx_launch {
    const struct ptx_kernel *kernel;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared_bytes;  /* dynamic shared memory */
    const void *parameters; /* ptx_kernel_parameter_bytes(kernel) bytes */
    struct ptx_memory memory;
    uint64_t timeout_ns;       /* 0: no limit */
    const atomic_bool *cancel; /* may be NULL */
    bool cooperative;          /* all blocks run concurrently, and grid.sync() works */
    unsigned workers;          /* number of host threads; 0: one per core */
    struct ptx_counts *counts; /* NULL: nothing is counted */
};

/* Runs a grid, and the grids that its kernel launches, to their end on the calling thread and `workers - 1`
 * other threads. */
enum ptx_status ptx_run(const struct ptx_launch *launch, struct ptx_diagnostic *diagnostic);

#endif
