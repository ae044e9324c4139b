/* The decoded form of a module, which the parser creates and the engine runs. */
#ifndef NEUTRINO_SIM_PTX_PROGRAM_H
#define NEUTRINO_SIM_PTX_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/decoded_instruction.h"

/* A .param variable of a kernel, function or call, in the frame of each lane. */
struct slot {
    uint32_t offset;
    uint32_t bytes;
};

#define CALL_BUILTIN  UINT32_MAX
#define CALL_INDIRECT (UINT32_MAX - 1)

struct call {
    uint32_t
        function; /* index of the callee, or CALL_BUILTIN, or CALL_INDIRECT: the address is in a register */
    uint32_t caller;
    uint32_t argument_count, result_count;
    struct slot *arguments; /* in the caller's frame */
    struct slot *results;
};

struct table { /* targets of brx.idx */
    uint32_t count;
    int64_t *targets;
};

struct ptx_kernel { /* an .entry or a .func */
    char *name;
    struct ptx_module *module;
    bool entry, defined;
    uint32_t begin, end; /* range of its instructions */
    uint32_t registers, predicates;
    uint32_t frame_bytes; /* bytes of .param variables per lane */
    uint32_t local_bytes; /* bytes of local memory per lane */
    uint32_t parameter_count, result_count;
    struct slot *parameters; /* for an entry: offsets in the parameter buffer */
    struct slot *results;
    uint32_t parameter_bytes;
    uint32_t shared_bytes; /* static shared memory that the function itself uses */
    uint32_t max_threads;
    uint32_t required_threads[3]; /* .reqntid; 0: no requirement */
    uint32_t required_cluster[3]; /* .reqnctapercluster; 0: no requirement */
    bool calls;
    char *refusal;      /* why the function cannot run; NULL: it can */
    bool lacks_runtime; /* because it, or a function that it calls, calls a function that the engine lacks */
};

/* An address in an initial value, filled in when memory is allocated. */
struct relocation {
    uint32_t at; /* byte offset in the variable */
    uint32_t bytes;
    uint32_t variable;
    int64_t addend;
};

struct ptx_variable {
    char *name;
    enum space space;
    uint32_t alignment;
    uint64_t bytes;
    bool external;        /* without a size: dynamic shared memory */
    bool managed;         /* .attribute(.managed); cuLibraryGetManaged returns it */
    bool declared;        /* .extern and not yet defined */
    unsigned char *value; /* initial bytes, or NULL for zeros */
    uint32_t relocation_count;
    struct relocation *relocations;
    uint64_t address; /* device address, or offset in shared memory */
    uint32_t user;    /* 1 + the index of the only function that uses a shared variable; UINT32_MAX: several
                         functions use it */
};

/* A constant that is the address of a variable, filled in when memory is allocated. */
struct fixup {
    uint32_t constant;
    uint32_t variable;
    int64_t addend;
};

struct ptx_module {
    uint32_t version, target;
    struct instruction *code;
    size_t code_count, code_room;
    uint64_t *constants; /* blocks of LANES equal words */
    size_t constant_count, constant_room;
    struct ptx_kernel **functions;
    size_t function_count, function_room;
    struct ptx_variable **variables;
    size_t variable_count, variable_room;
    struct fixup *fixups;
    size_t fixup_count, fixup_room;
    struct call *calls;
    size_t call_count, call_room;
    struct table *tables;
    size_t table_count, table_room;
    struct matrices *matrices;
    size_t matrix_count, matrix_room;
    struct placement *placements;  /* a list of all that differ */
    struct image_access *accesses; /* operands of instructions on images */
    size_t access_count, access_room;
    bool uses_reserved;
    bool uses_cluster;            /* uses cluster instructions; a cluster is one block here */
    uint32_t common_shared_bytes; /* size of the variables that several functions use */
    char *text;                   /* a copy of the text, for diagnostics */
    size_t text_bytes;
};

/* Makes room for one more element of an array; NULL if out of memory. */
void *ptx_grow(void *array, size_t count, size_t *room, size_t size);

/* Shared memory that the driver reserves per block for cooperative groups. Here it follows all other shared
 * memory, in modules that read %reserved_smem_offset. */
#define RESERVED_SHARED 1024u

/* Windows of shared and local memory in the generic address space. No host allocation can have these
 * addresses. */
#define SHARED_WINDOW UINT64_C(0x7e00000000000000)
#define LOCAL_WINDOW  UINT64_C(0x7d00000000000000)
enum { STACK_ALIGNMENT = 16 };

#define CODE_WINDOW UINT64_C(0x7c00000000000000)
#define WINDOW_MASK UINT64_C(0xff00000000000000)

/* The address of function `index`. Programs can store, compare and call it, but not read from it. */
#define CODE_STEP           16u
#define CODE_ADDRESS(index) (CODE_WINDOW + ((uint64_t)(index) + 1) * CODE_STEP)

#endif
