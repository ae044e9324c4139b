/* Run warps in lockstep: groups of lanes, divergence, reconvergence, calls and barriers. The group with the
 * deepest call stack runs first; among equals, the group with the lowest program counter. Since code moves
 * forward to the point where branches meet, groups reconverge there without an analysis of the control flow.
 * A group that spins on another group of its warp would starve it, so after PATIENCE diverged steps the last
 * group gets a turn. A group that is known to wait for other threads (nanosleep, an mbarrier that is not
 * complete, a loop over a flag) lets the other groups run, and then ends the turn of the warp. */
#if defined(__SANITIZE_THREAD__)
#pragma GCC diagnostic ignored                                                                               \
    "-Wtsan" /* ThreadSanitizer ignores fences; the driver's own data does not depend on this one */
#endif

#include <stdlib.h>

#include "ptx/engine.h"

enum { PATIENCE = 20000, TURN = 2000, YIELD = 4096 };

/* Rounds of a waiting loop without a lane that leaves before the group gives way: a loop over atom.cas ends
 * for one lane after the other. And instructions that a turn needs to count as work. */
enum { VAIN = 16, WORK = 256 };

static void unpack(struct warp *warp, struct group *group)
{
    warp->now = group;
    warp->frame_registers = warp->registers + (size_t)group->registers * LANES;
    warp->frame_predicates = warp->predicates + group->predicates;
}

struct group *ptx_add_group(struct warp *warp, const struct group *like, uint32_t mask, uint32_t pc)
{
    struct group *group = &warp->groups[warp->group_count++];
    *group = *like;
    group->mask = mask;
    group->pc = pc;
    group->state = GROUP_RUNS;
    group->forced = false;
    group->waits = false;
    group->rounds = 0;
    return group;
}

void ptx_remove_group(struct warp *warp, const struct group *group)
{
    warp->groups[group - warp->groups] = warp->groups[--warp->group_count];
}

static bool stand_together(const struct group *one, const struct group *other)
{
    return one->pc == other->pc && one->depth == other->depth && one->registers == other->registers &&
           one->frame == other->frame && one->local == other->local && one->predicates == other->predicates &&
           one->alloca == other->alloca;
}

/* Merges groups at the same instruction. Groups at a barrier have already arrived and stay apart. */
static void merge(struct warp *warp)
{
    for (uint32_t i = 0; i < warp->group_count; i++)
        for (uint32_t j = i + 1; j < warp->group_count;) {
            struct group *one = &warp->groups[i], *other = &warp->groups[j];
            if (one->state == GROUP_AT_BARRIER || other->state == GROUP_AT_BARRIER ||
                !stand_together(one, other)) {
                j++;
                continue;
            }
            one->mask |= other->mask;
            one->state = GROUP_RUNS;
            one->waits = one->waits && other->waits;
            ptx_remove_group(warp, other);
        }
}

static bool comes_first(const struct group *one, const struct group *other)
{
    return one->depth != other->depth ? one->depth > other->depth : one->pc < other->pc;
}

/* NULL: all groups wait. `waits`: one of them not at a barrier. */
static struct group *select_group(struct warp *warp, bool *waits)
{
    struct group *best = NULL;
    *waits = false;
    for (int state = GROUP_RUNS; best == NULL && !*waits && state <= GROUP_CONVERGES;
         state += GROUP_CONVERGES) {
        for (uint32_t i = 0; i < warp->group_count; i++) {
            struct group *group = &warp->groups[i];
            if (group->state == state && group->waits)
                *waits = true;
            else if (group->state == state && (best == NULL || comes_first(group, best)))
                best = group;
        }
        if (best != NULL && state == GROUP_CONVERGES) {
            best->state = GROUP_RUNS;
            best->forced = true; /* the missing lanes have ended or wait elsewhere */
        }
    }
    return best;
}

static void end_lanes(struct warp *warp, struct group *group, uint32_t mask)
{
    warp->live &= ~mask;
    group->mask &= ~mask;
    if (group->mask == 0)
        ptx_remove_group(warp, group);
    else
        group->pc++;
}

/* Counts a round of a loop that waits. Apart from the loop over instructions, which it would make slower. */
__attribute__((noinline, cold)) static enum ptx_status go_round(struct group *group, uint32_t target)
{
    if (group->loop != target || group->lanes != group->mask)
        group->rounds = 0;
    group->loop = target;
    group->lanes = group->mask;
    if (group->rounds < VAIN) {
        group->rounds++;
        return PTX_OK;
    }
    group->waits = true;
    return PTX_WAITS;
}

static enum ptx_status branch(struct warp *warp, struct group *group, const struct instruction *instruction,
                              uint32_t taken)
{
    const uint32_t rest = group->mask & ~taken, target = (uint32_t)instruction->offset;
    if (rest == 0) {
        group->pc = target;
        if (instruction->waits)
            return go_round(group, target);
    } else if (taken == 0) {
        group->pc++;
    } else {
        group->mask = rest;
        group->pc++;
        ptx_add_group(warp, group, taken, target);
    }
    return PTX_OK;
}

static enum ptx_status branch_by_table(struct warp *warp, struct group *group,
                                       const struct instruction *instruction, uint32_t mask)
{
    const struct table *table = &warp->block->grid->module->tables[instruction->offset];
    uint64_t indices[LANES];
    memcpy(indices, operand_values(warp, instruction->from[0]), sizeof indices);
    const struct group from = *group;
    const uint32_t others = group->mask & ~mask;
    ptx_remove_group(warp, group);
    if (others != 0)
        ptx_add_group(warp, &from, others, from.pc + 1);
    while (mask != 0) {
        const uint32_t index = (uint32_t)indices[__builtin_ctz(mask)];
        uint32_t together = 0;
        for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
            const unsigned lane = (unsigned)__builtin_ctz(lanes);
            together |= (uint32_t)((uint32_t)indices[lane] == index) << lane;
        }
        if (index >= table->count)
            return ptx_fault(warp, instruction, PTX_ILLEGAL_INSTRUCTION, "brx.idx index out of range", index);
        mask &= ~together;
        ptx_add_group(warp, &from, together, (uint32_t)table->targets[index]);
    }
    return PTX_OK;
}

static enum ptx_status arrive(struct warp *warp, struct group *group, const struct instruction *instruction)
{
    const unsigned lane = (unsigned)__builtin_ctz(group->mask);
    const uint32_t number = (uint32_t)operand_values(warp, instruction->from[0])[lane];
    if (number >= (instruction->vector != 0 ? BARRIERS : BARRIER_CLUSTER))
        return ptx_fault(warp, instruction, PTX_ILLEGAL_INSTRUCTION, "no such barrier", number);
    struct barrier *barrier = &warp->block->barriers[number];
    barrier->arrived += (uint32_t)__builtin_popcount(group->mask);
    barrier->expected = instruction->from[1].kind != OPERAND_NONE
                            ? (uint32_t)operand_values(warp, instruction->from[1])[lane]
                            : 0;
    if (instruction->flags & FLAG_REDUCE) {
        const uint32_t yes = predicate_mask(warp, instruction->from[2]) & group->mask;
        barrier->true_count += (uint32_t)__builtin_popcount(yes);
        barrier->voters += (uint32_t)__builtin_popcount(group->mask);
    }
    group->barrier = number;
    if (instruction->flags & FLAG_ARRIVE)
        group->pc++;
    else
        group->state = GROUP_AT_BARRIER;
    return PTX_OK;
}

/* Whether a collective must wait: a live lane of its member mask is still in another group. */
static bool must_wait(struct warp *warp, const struct group *group, const struct instruction *instruction)
{
    const struct operand members =
        instruction->operation == OP_SHFL ? instruction->from[3] : instruction->from[1];
    if (group->forced || warp->group_count == 1)
        return false;
    if (instruction->operation >= OP_MMA && instruction->operation <= OP_MATRIX_MOVE)
        return (warp->live & ~group->mask) != 0;
    if (members.kind == OPERAND_NONE)
        return false;
    const uint64_t *masks = operand_values(warp, members);
    uint32_t wanted = 0;
    for (uint32_t rest = group->mask; rest != 0; rest &= rest - 1)
        wanted |= (uint32_t)masks[__builtin_ctz(rest)];
    return (wanted & warp->live & ~group->mask) != 0;
}

/* Runs control flow: branches, calls, barriers and ends. */
static enum ptx_status run_control(struct warp *warp, struct group *group,
                                   const struct instruction *instruction, uint32_t mask)
{
    if (instruction->operation == OP_BRA)
        return branch(warp, group, instruction, mask);
    if (instruction->operation == OP_BRX)
        return branch_by_table(warp, group, instruction, mask);
    if (mask == 0) {
        group->pc++;
        return PTX_OK;
    }
    if (instruction->operation == OP_EXIT || (instruction->operation == OP_RET && group->depth == 0)) {
        end_lanes(warp, group, mask);
        return PTX_OK;
    }
    if (instruction->operation == OP_TRAP)
        return ptx_fault(warp, instruction, PTX_TRAP, "trap", 0);
    if (instruction->operation == OP_UNSUPPORTED)
        return ptx_fault(warp, instruction, PTX_ILLEGAL_INSTRUCTION, "unsupported PTX instruction", 0);
    if (mask != group->mask) { /* splits off the lanes whose guard is false */
        const uint32_t others = group->mask & ~mask;
        group->mask = mask;
        ptx_add_group(warp, group, others, group->pc + 1);
        unpack(warp, group);
    }
    switch (instruction->operation) {
    case OP_CALL:
        return ptx_enter_call(warp, group, instruction);
    case OP_RET:
        ptx_leave_call(warp, group);
        return PTX_OK;
    case OP_ALLOCA:
    case OP_STACK_SAVE:
    case OP_STACK_RESTORE:
        return ptx_run_stack(warp, group, instruction);
    default:
        return arrive(warp, group, instruction);
    }
}

static bool is_control(uint8_t operation)
{
    return operation >= OP_BAR && operation != OP_FENCE && operation != OP_NOP && operation != OP_BUILTIN &&
           operation != OP_BAR_WARP;
}

static bool is_collective(uint8_t operation)
{
    return (operation >= OP_SHFL && operation <= OP_MATRIX_MOVE && operation != OP_ACTIVEMASK) ||
           operation == OP_BAR_WARP;
}

enum ptx_status ptx_poll_grid(struct warp *warp, const struct instruction *instruction)
{
    const struct grid *grid = warp->block->grid;
    const struct ptx_launch *launch = grid->launch;
    if (launch->cancel != NULL && atomic_load(launch->cancel))
        return ptx_fault(warp, instruction, PTX_CANCELLED, "cancelled", 0);
    if (launch->timeout_ns != 0 && ptx_now_ns() - grid->start_ns > launch->timeout_ns)
        return ptx_fault(warp, instruction, PTX_TIMEOUT, "the kernel exceeded its time limit", 0);
    return (enum ptx_status)atomic_load((_Atomic int *)(uintptr_t)&grid->status);
}

/* The program counter up to which this group may run: another group waits there or must run first. */
static uint32_t next_meeting(const struct warp *warp, const struct group *group)
{
    uint32_t meeting = UINT32_MAX;
    for (uint32_t i = 0; i < warp->group_count; i++) {
        const struct group *other = &warp->groups[i];
        if (other != group && other->depth >= group->depth && other->pc < meeting)
            meeting = other->pc;
    }
    return meeting; /* if another group is already behind, the group runs single steps */
}

/* The instruction has run: the group goes on behind it, after the others. */
__attribute__((noinline, cold)) static enum ptx_status give_way(struct group *group)
{
    group->waits = true;
    group->forced = false;
    group->pc++;
    return PTX_WAITS;
}

/* Counts an instruction for the threads that execute it, and for those whose guard is false. */
__attribute__((noinline, cold)) static void count(const struct warp *warp, const struct group *group,
                                                  const struct instruction *instruction, uint32_t mask)
{
    const struct ptx_counts *counts = warp->block->grid->launch->counts;
    if (!instruction->counted || instruction->line >= counts->lines)
        return;
    _Atomic uint64_t *threads = counts->threads[instruction->line];
    atomic_fetch_add_explicit(&threads[0], (uint64_t)__builtin_popcount(mask), memory_order_relaxed);
    atomic_fetch_add_explicit(&threads[1], (uint64_t)__builtin_popcount(group->mask & ~mask),
                              memory_order_relaxed);
}

/* Runs one group until another group may have to be selected. */
static enum ptx_status run_group(struct warp *warp, struct group *group, uint32_t turns,
                                 uint32_t *until_yield)
{
    const struct instruction *code = warp->block->grid->module->code;
    const bool alone = warp->group_count == 1;
    const bool counting = warp->block->grid->launch->counts != NULL;
    const uint32_t meeting = alone ? 0 : next_meeting(warp, group);
    unpack(warp, group);
    while (turns-- > 0) {
        const struct instruction *instruction = &code[group->pc];
        uint32_t mask = group->mask;
        if (instruction->guard.kind == OPERAND_PREDICATE)
            mask &= predicate_mask(warp, instruction->guard);
        if (*until_yield == 0)
            return PTX_OK;
        --*until_yield;
        if (is_control(instruction->operation)) {
            if (counting)
                count(warp, group, instruction, mask);
            const enum ptx_status status = run_control(warp, group, instruction, mask);
            /* A uniform branch of the only group needs no new selection. */
            if (status != PTX_OK || !alone || warp->group_count != 1 || instruction->operation != OP_BRA)
                return status;
            continue;
        }
        if (mask != 0) {
            if (!alone && is_collective(instruction->operation) && must_wait(warp, group, instruction)) {
                group->state = GROUP_CONVERGES;
                return PTX_OK;
            }
            if (counting)
                count(warp, group, instruction, mask);
            if (!instruction->common || !ptx_run_common(warp, instruction, mask)) {
                const enum ptx_status status = instruction->run(warp, instruction, mask);
                if (status != PTX_OK)
                    return status == PTX_WAITS ? give_way(group) : status;
            }
        } else if (counting) {
            count(warp, group, instruction, mask);
        }
        group->forced = false;
        group->pc++;
        if (!alone && group->pc >= meeting)
            return PTX_OK; /* another group may stand here or be behind */
    }
    return PTX_OK;
}

enum ptx_status ptx_run_warp(struct warp *warp, bool *yielded, bool *worked)
{
    uint32_t until_yield = YIELD;
    for (uint32_t i = 0; i < warp->group_count; i++)
        warp->groups[i].waits = false;
    for (;;) {
        if (warp->group_count > 1)
            merge(warp);
        bool waits;
        struct group *group = select_group(warp, &waits);
        if (group == NULL || until_yield == 0) {
            *worked |= YIELD - until_yield >= WORK;
            *yielded |= group != NULL || waits;
            return group == NULL ? PTX_OK : ptx_poll_grid(warp, &warp->block->grid->module->code[group->pc]);
        }
        warp->diverged = warp->group_count > 1 ? warp->diverged + 1 : 0;
        if (warp->diverged > PATIENCE) {
            /* Run the last group: it may hold the lock that the first one spins on. */
            for (uint32_t i = 0; i < warp->group_count; i++)
                if (warp->groups[i].state == GROUP_RUNS && !warp->groups[i].waits &&
                    comes_first(group, &warp->groups[i]))
                    group = &warp->groups[i];
            if (warp->diverged > PATIENCE + TURN)
                warp->diverged = 0;
        }
        const enum ptx_status status = run_group(warp, group, UINT32_MAX, &until_yield);
        if (status != PTX_OK && status != PTX_WAITS)
            return status;
    }
}
