/* The state of a running grid: blocks, warps, and groups of lanes at one instruction. */
#ifndef NEUTRINO_SIM_PTX_ENGINE_H
#define NEUTRINO_SIM_PTX_ENGINE_H

#include <string.h>

#include "ptx/program.h"

enum { DEPTH_MAX = 1024, RANGES = 8 };

#define ALL_LANES UINT32_MAX

/* Result of a runner: the group waits for other threads, and has passed the instruction. */
#define PTX_WAITS ((enum ptx_status) - 1)

/* Lanes of a warp that run together. A warp is one group until its lanes diverge; groups that meet at an
 * instruction merge. */
enum group_state { GROUP_RUNS, GROUP_AT_BARRIER, GROUP_CONVERGES };

struct group {
    uint32_t mask;
    uint32_t pc;
    uint32_t depth;     /* number of active calls */
    uint32_t registers; /* where the frame begins in each stack */
    uint32_t predicates;
    uint32_t frame;
    uint32_t local;
    uint32_t alloca;  /* bytes after the function's own local memory */
    uint32_t barrier; /* the barrier it waits at */
    uint8_t state;
    bool forced;                  /* run the collective although lanes are missing: they cannot come */
    bool waits;                   /* it waits for other threads: they run first */
    uint32_t loop, rounds, lanes; /* the loop that it runs in vain, how often, and with which lanes */
};

/* Return state of a lane. */
struct caller {
    uint32_t pc, call, callee, registers, predicates, frame, local, alloca;
};

struct grid;
struct launches;

struct barrier {
    uint32_t arrived, expected; /* in threads; 0 expected: all live threads */
    uint32_t true_count, voters;
};

struct block {
    const struct grid *grid;
    uint32_t index[3];
    uint32_t threads, warp_count;
    struct warp *warps;
    unsigned char *shared;
    uint32_t shared_bytes, dynamic_offset;
    struct barrier barriers[BARRIERS];
    struct kept_image *images; /* IMAGES_KEPT entries; NULL if the module has no instruction on images */
    uint32_t next_image;
};

struct range {
    uint64_t begin, end;
    bool writable;
};

enum access { ACCESS_READ, ACCESS_WRITE };

struct warp {
    struct block *block;
    uint32_t number;
    uint32_t live;
    uint32_t carry; /* the carry flag, one bit per lane */
    struct group groups[LANES];
    uint32_t group_count;
    uint32_t diverged; /* steps since the warp was last one group */
    uint64_t thread_index[3][LANES];
    uint64_t *registers;
    size_t register_room; /* in registers */
    uint32_t *predicates;
    size_t predicate_room;
    unsigned char *frames; /* .param variables: frame_room bytes per lane */
    uint32_t frame_room;
    unsigned char *locals; /* .local memory: local_room bytes per lane */
    uint32_t local_room;
    struct caller (*callers)[LANES];
    uint32_t caller_room;
    struct range ranges[RANGES]; /* recently used allocations */
    uint32_t next_range;
    /* Cached from the running group. */
    uint64_t *frame_registers;
    uint32_t *frame_predicates;
    const uint64_t *constants;
    struct group *now;
    uint32_t last_error[LANES]; /* of the device runtime: cudaGetLastError */
};

struct grid {
    const struct ptx_launch *launch;
    const struct ptx_module *module;
    const unsigned char *parameters; /* a copy: the caller may free the original */
    uint32_t workspace[2];           /* of a cooperative grid: its size and the counter of grid.sync() */
    uint64_t start_ns;
    _Atomic uint64_t next_block;
    uint64_t block_count;
    _Atomic int status; /* enum ptx_status; the first fault ends the grid */
    struct ptx_diagnostic *diagnostic;
    _Atomic bool diagnosed;
    struct launches *launches; /* by its kernel */
};

static inline const uint64_t *operand_values(const struct warp *warp, struct operand operand)
{
    return operand.kind == OPERAND_CONSTANT ? warp->constants + (size_t)operand.index * LANES
                                            : warp->frame_registers + (size_t)operand.index * LANES;
}

static inline uint64_t *result_values(struct warp *warp, struct operand operand)
{
    return warp->frame_registers + (size_t)operand.index * LANES;
}

static inline uint32_t predicate_mask(const struct warp *warp, struct operand operand)
{
    const uint32_t mask = warp->frame_predicates[operand.index];
    return operand.negated ? ~mask : mask;
}

static inline void set_predicate(struct warp *warp, struct operand operand, uint32_t mask, uint32_t values)
{
    uint32_t *predicate = &warp->frame_predicates[operand.index];
    *predicate = (*predicate & ~mask) | (values & mask);
}

/* Runs a statement for each lane of `mask`. The loop over a full warp can be vectorised: no lane reads or
 * writes data of another lane. */
#if defined(__clang__)
#define LANES_APART _Pragma("clang loop vectorize(assume_safety)")
#else
#define LANES_APART _Pragma("GCC ivdep")
#endif

#define EACH_LANE(mask, lane, ...)                                                                           \
    do {                                                                                                     \
        if ((mask) == ALL_LANES) {                                                                           \
            LANES_APART                                                                                      \
            for (unsigned lane = 0; lane < LANES; lane++) {                                                  \
                __VA_ARGS__;                                                                                 \
            }                                                                                                \
        } else {                                                                                             \
            for (uint32_t rest_ = (mask); rest_ != 0; rest_ &= rest_ - 1) {                                  \
                const unsigned lane = (unsigned)__builtin_ctz(rest_);                                        \
                __VA_ARGS__;                                                                                 \
            }                                                                                                \
        }                                                                                                    \
    } while (0)

/* Ends the grid and records the PTX line; always returns `status`. */
enum ptx_status ptx_fault(struct warp *warp, const struct instruction *instruction, enum ptx_status status,
                          const char *what, uint64_t address);

/* Whether (address + offset) & kept of each lane is aligned (no bit of `misaligned` is set) and at most
 * `last` bytes after `begin`. */
bool ptx_all_inside(const uint64_t *addresses, uint32_t mask, uint64_t offset, uint64_t kept, uint64_t begin,
                    uint64_t last, uint64_t misaligned);

/* Whether each lane's address is `bytes` (a power of two) after the previous lane's, or all are equal
 * (`uniform`). */
bool ptx_is_line(const uint64_t *addresses, unsigned bytes, bool *uniform);

/* As ptx_is_line(), for each half of the warp: a block that is 16 threads wide has two rows of a tile in a
 * warp. */
enum { HALF = LANES / 2 };
bool ptx_has_two_lines(const uint64_t *addresses, unsigned bytes, bool *uniform);

/* Move an element for each lane, from or to memory, each `step` elements after the previous lane's. */
void ptx_load_line(enum type type, const void *from, unsigned step, uint64_t *values);
void ptx_load_half(enum type type, const void *from, unsigned step, uint64_t *values);
void ptx_store_line(unsigned bytes, const uint64_t *values, void *to, unsigned step);

/* d = a for lanes whose bit in `chosen` is set, else b. */
void ptx_choose(uint32_t chosen, uint32_t mask, const uint64_t *a, const uint64_t *b, uint64_t *d);

/* Runs an instruction that has a fast version; returns false for any other. */
bool ptx_run_common(struct warp *warp, const struct instruction *instruction, uint32_t mask);
/* Like ptx_fault(), for an access of `bytes` bytes by one lane. */
enum ptx_status ptx_fault_access(struct warp *warp, const struct instruction *instruction,
                                 enum ptx_status status, const char *what, uint64_t address, unsigned bytes,
                                 enum space space, unsigned lane);

/* The thread index of a lane. */
void ptx_thread_index(const struct warp *warp, unsigned lane, uint32_t index[3]);

/* Each function runs one family of instructions. */
runner ptx_run_integer, ptx_run_float, ptx_run_packed, ptx_run_convert, ptx_run_convert_pair,
    ptx_run_convert_pack, ptx_run_compare, ptx_run_select, ptx_run_test, ptx_run_predicate_move,
    ptx_run_predicate_logic, ptx_run_move, ptx_run_pack, ptx_run_load, ptx_run_store, ptx_run_frame,
    ptx_run_atomic, ptx_run_wide, ptx_run_copy_async, ptx_run_copy_bulk, ptx_run_mbarrier, ptx_run_shuffle,
    ptx_run_activemask, ptx_run_collective, ptx_run_mma, ptx_run_matrix_memory, ptx_run_matrix8,
    ptx_run_matrix_move, ptx_run_builtin, ptx_run_texture, ptx_run_gather, ptx_run_surface,
    ptx_run_image_query;

/* Runs an atomic operation on memory of the instruction's type; returns the old value. */
uint64_t ptx_update_atomically(const struct instruction *instruction, void *at, uint64_t value,
                               uint64_t swap);

/* The place of address a in the host's memory is base + (a & mask). */
struct view {
    uintptr_t base;
    uint64_t mask;
};

/* Like ptx_all_in_reach(), for an instruction with several addresses. */
bool ptx_all_in_space(struct warp *warp, enum space space, const uint64_t *addresses, uint64_t offset,
                      uint32_t mask, unsigned bytes, enum access access, struct view *view);

/* Whether the addresses of all lanes are valid and lie in shared memory or in one allocation. Otherwise the
 * caller checks each lane. */
bool ptx_all_in_reach(struct warp *warp, const struct instruction *instruction, const uint64_t *addresses,
                      uint32_t mask, unsigned bytes, enum access access, struct view *view);

/* Returns the host address of a device address, or NULL if it is misaligned or not accessible. */
void *ptx_find_host_address(struct warp *warp, enum space space, uint64_t address, unsigned bytes,
                            enum access access, unsigned lane);

/* Like ptx_find_host_address(), but ends the grid with a fault before it returns NULL. */
void *ptx_reach(struct warp *warp, const struct instruction *instruction, enum space space, uint64_t address,
                unsigned bytes, enum access access, unsigned lane, enum ptx_status *status);

/* Read or write device memory by one access, or by one for every 16 bytes. `bytes`: a power of two. */
void ptx_load_whole(void *to, const void *from, unsigned bytes);
void ptx_store_whole(void *to, const void *from, unsigned bytes);

/* Add or remove a group. Both may move other groups in memory. */
struct group *ptx_add_group(struct warp *warp, const struct group *like, uint32_t mask, uint32_t pc);
void ptx_remove_group(struct warp *warp, const struct group *group);

/* Enter and leave a function with all lanes of the group. */
enum ptx_status ptx_enter_call(struct warp *warp, struct group *group, const struct instruction *instruction);
enum ptx_status ptx_run_stack(struct warp *warp, struct group *group, const struct instruction *instruction);
void ptx_leave_call(struct warp *warp, struct group *group);

/* Runs a warp until all lanes have ended or wait. Sets `yielded` if its turn ended before they were at a
 * barrier, and `worked` unless they did little but wait. */
enum ptx_status ptx_run_warp(struct warp *warp, bool *yielded, bool *worked);

/* Returns PTX_OK unless the grid is cancelled, timed out or faulted. */
enum ptx_status ptx_poll_grid(struct warp *warp, const struct instruction *instruction);

struct block *ptx_make_block(const struct grid *grid); /* NULL if out of memory */
void ptx_free_block(struct block *block);
void ptx_start_block(struct block *block, uint64_t number);
enum ptx_status ptx_run_block(struct block *block, bool *ended, bool *worked);

uint64_t ptx_now_ns(void);

#endif
