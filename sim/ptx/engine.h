/* The running state of a grid: blocks, warps and groups of lanes that stand at one instruction. */
#ifndef NEUTRINO_SIM_PTX_ENGINE_H
#define NEUTRINO_SIM_PTX_ENGINE_H

#include <string.h>

#include "ptx/program.h"

enum { DEPTH_MAX = 1024, RANGES = 8 };

#define ALL_LANES UINT32_MAX

/* Lanes of a warp that go on together. A warp is one group until its lanes take different branches; groups
 * that meet at an instruction again become one. */
enum group_state { GROUP_RUNS, GROUP_AT_BARRIER, GROUP_CONVERGES };

struct group {
    uint32_t mask;
    uint32_t pc;
    uint32_t depth;     /* calls it is inside of */
    uint32_t registers; /* where its frame begins, in each stack */
    uint32_t predicates;
    uint32_t frame;
    uint32_t local;
    uint32_t alloca;  /* bytes behind the function's own local memory */
    uint32_t barrier; /* that it waits at */
    uint8_t state;
    bool forced; /* nobody else can come to the collective it stands at */
};

/* Where a lane goes back to. */
struct caller {
    uint32_t pc, call, callee, registers, predicates, frame, local, alloca;
};

struct grid;

struct barrier {
    uint32_t arrived, expected; /* threads; 0 expected: all that live */
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
    uint32_t carry; /* the condition code, a bit a lane */
    struct group groups[LANES];
    uint32_t group_count;
    uint32_t diverged; /* steps since it last was one group */
    uint64_t *registers;
    size_t register_room; /* in registers */
    uint32_t *predicates;
    size_t predicate_room;
    unsigned char *frames; /* .param variables: frame_room bytes a lane */
    uint32_t frame_room;
    unsigned char *locals; /* .local memory, likewise */
    uint32_t local_room;
    struct caller (*callers)[LANES];
    uint32_t caller_room;
    struct range ranges[RANGES]; /* allocations that were touched lately */
    uint32_t next_range;
    /* The group that runs, unpacked. */
    uint64_t *frame_registers;
    uint32_t *frame_predicates;
    const uint64_t *constants;
    struct group *now;
};

struct grid {
    const struct ptx_launch *launch;
    const struct ptx_module *module;
    const unsigned char *parameters; /* a copy: the caller's may go */
    uint32_t workspace[2]; /* of a cooperative grid: its size, and the word that grid.sync() counts in */
    uint64_t start_ns;
    _Atomic uint64_t next_block;
    uint64_t block_count;
    _Atomic int status; /* enum ptx_status: the first fault ends all */
    struct ptx_diagnostic *diagnostic;
    _Atomic bool diagnosed;
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

/* Runs the rest with `lane` set to each lane of `mask`; the loop over a whole warp is one that compilers
 * vectorise: one lane reads and writes nothing of another's. */
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

/* Ends the grid, with the PTX line; always returns the status. */
enum ptx_status fault(struct warp *warp, const struct instruction *instruction, enum ptx_status status,
                      const char *what, uint64_t address);

/* Whether every lane's address plus offset is aligned (has no bit of `misaligned`) and at most `last` beyond
 * `begin`. */
bool all_inside(const uint64_t *addresses, uint32_t mask, uint64_t offset, uint64_t begin, uint64_t last,
                uint64_t misaligned);

/* False where the instruction is none of the few that are run in a fast form. */
bool run_common(struct warp *warp, const struct instruction *instruction, uint32_t mask);
/* The same for an access of `bytes` by one lane. */
enum ptx_status fault_access(struct warp *warp, const struct instruction *instruction, enum ptx_status status,
                             const char *what, uint64_t address, unsigned bytes, enum space space,
                             unsigned lane);

/* A lane's place in its block. */
void thread_index(const struct warp *warp, unsigned lane, uint32_t index[3]);

/* Each runs one family of instructions. */
runner run_integer, run_float, run_packed, run_convert, run_convert_pair, run_convert_pack, run_compare,
    run_select, run_test, run_predicate_move, run_predicate_logic, run_move, run_pack, run_load, run_store,
    run_frame, run_atomic, run_copy_async, run_mbarrier, run_shuffle, run_activemask, run_collective, run_mma,
    run_matrix_memory, run_matrix8, run_matrix_move, run_builtin;

/* Host address behind a device address, or NULL with a fault. */
void *reach(struct warp *warp, const struct instruction *instruction, enum space space, uint64_t address,
            unsigned bytes, enum access access, unsigned lane, enum ptx_status *status);

/* Groups of a warp; both may move the others in memory. */
struct group *add_group(struct warp *warp, const struct group *like, uint32_t mask, uint32_t pc);
void remove_group(struct warp *warp, const struct group *group);

/* Into a function and out of it, for all lanes of the group. */
enum ptx_status enter_call(struct warp *warp, struct group *group, const struct instruction *instruction);
enum ptx_status run_stack(struct warp *warp, struct group *group, const struct instruction *instruction);
void leave_call(struct warp *warp, struct group *group);

/* Until every lane has ended or waits at a barrier, or it has had its turn: `yielded` then. */
enum ptx_status run_warp(struct warp *warp, bool *yielded);

/* Whether the grid is to go on: not cancelled, in time, without a fault elsewhere. */
enum ptx_status poll_grid(struct warp *warp, const struct instruction *instruction);

struct block *make_block(const struct grid *grid); /* NULL without memory */
void free_block(struct block *block);
void start_block(struct block *block, uint64_t number);
enum ptx_status run_block(struct block *block, bool *ended);

uint64_t now_ns(void);

#endif
