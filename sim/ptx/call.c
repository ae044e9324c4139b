/* Calls: frames on the stacks of a warp, and a return address per lane. */
#include <stdlib.h>

#include "ptx/engine.h"

static const struct ptx_kernel *function_of(const struct ptx_module *module, uint32_t pc)
{
    for (size_t i = 0; i < module->function_count; i++)
        if (pc >= module->functions[i]->begin && pc < module->functions[i]->end)
            return module->functions[i];
    return NULL; /* unreachable: every instruction belongs to a function */
}

static enum ptx_status make_room(struct warp *warp, const struct instruction *instruction,
                                 const struct group *group, const struct ptx_kernel *function)
{
    const size_t registers = (size_t)group->registers + function->registers + 1;
    const size_t predicates = (size_t)group->predicates + function->predicates + 1;
    if (registers > warp->register_room) {
        uint64_t *grown = realloc(warp->registers, 2 * registers * LANES * sizeof *grown);
        if (grown == NULL)
            return ptx_fault(warp, instruction, PTX_OUT_OF_RESOURCES, "no memory for registers", 0);
        warp->registers = grown;
        warp->register_room = 2 * registers;
    }
    if (predicates > warp->predicate_room) {
        uint32_t *grown = realloc(warp->predicates, 2 * predicates * sizeof *grown);
        if (grown == NULL)
            return ptx_fault(warp, instruction, PTX_OUT_OF_RESOURCES, "no memory for predicates", 0);
        warp->predicates = grown;
        warp->predicate_room = 2 * predicates;
    }
    if (group->frame + function->frame_bytes > warp->frame_room ||
        group->local + (uint64_t)function->local_bytes + STACK_ALIGNMENT > warp->local_room)
        return ptx_fault(warp, instruction, PTX_ILLEGAL_ADDRESS, "stack overflow", group->depth);
    return PTX_OK;
}

static void copy_slots(struct warp *warp, uint32_t mask, uint32_t to, const struct slot *to_slots,
                       uint32_t from, const struct slot *from_slots, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t bytes =
            to_slots[i].bytes < from_slots[i].bytes ? to_slots[i].bytes : from_slots[i].bytes;
        for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
            unsigned char *lane = warp->frames + (size_t)(unsigned)__builtin_ctz(rest) * warp->frame_room;
            memmove(lane + to + to_slots[i].offset, lane + from + from_slots[i].offset, bytes);
        }
    }
}

static enum ptx_status enter(struct warp *warp, struct group *group, const struct instruction *instruction,
                             uint32_t callee_index)
{
    const struct ptx_module *module = warp->block->grid->module;
    const struct call *call = &module->calls[instruction->offset];
    const struct ptx_kernel *caller = module->functions[call->caller];
    const struct ptx_kernel *callee = module->functions[callee_index];
    if (group->depth >= DEPTH_MAX)
        return ptx_fault(warp, instruction, PTX_ILLEGAL_ADDRESS, "calls nest too deep", group->depth);
    if (group->depth >= warp->caller_room) {
        const uint32_t room = warp->caller_room != 0 ? 2 * warp->caller_room : 16;
        struct caller(*grown)[LANES] = realloc(warp->callers, room * sizeof *grown);
        if (grown == NULL)
            return ptx_fault(warp, instruction, PTX_OUT_OF_RESOURCES, "no memory for calls", 0);
        warp->callers = grown;
        warp->caller_room = room;
    }
    const struct caller back = {group->pc + 1,     (uint32_t)instruction->offset,
                                callee_index,      group->registers,
                                group->predicates, group->frame,
                                group->local,      group->alloca};
    for (uint32_t rest = group->mask; rest != 0; rest &= rest - 1)
        warp->callers[group->depth][__builtin_ctz(rest)] = back;
    group->depth++;
    group->registers += caller->registers + 1;
    group->predicates += caller->predicates + 1;
    group->frame += (caller->frame_bytes + 15) & ~15u;
    group->local += ((caller->local_bytes + 15) & ~15u) + group->alloca;
    group->alloca = 0;
    group->pc = callee->begin;
    const enum ptx_status status = make_room(warp, instruction, group, callee);
    if (status == PTX_OK)
        copy_slots(warp, group->mask, group->frame, callee->parameters, back.frame, call->arguments,
                   call->argument_count);
    return status;
}

/* Returns the function at a code address if its parameters and results fit the call, else UINT32_MAX. */
static uint32_t function_at(const struct ptx_module *module, const struct call *call, uint64_t address)
{
    const uint64_t index = (address - CODE_WINDOW) / CODE_STEP - 1;
    if (address % CODE_STEP != 0 || index >= module->function_count)
        return UINT32_MAX;
    const struct ptx_kernel *callee = module->functions[index];
    const bool fits = callee->defined && !callee->entry && callee->parameter_count == call->argument_count;
    return fits ? (uint32_t)index : UINT32_MAX;
}

/* Splits the group by the function that each lane calls. */
static enum ptx_status enter_indirect(struct warp *warp, struct group *group,
                                      const struct instruction *instruction)
{
    const struct ptx_module *module = warp->block->grid->module;
    const struct call *call = &module->calls[instruction->offset];
    uint64_t targets[LANES];
    memcpy(targets, operand_values(warp, instruction->from[0]), sizeof targets);
    const struct group from = *group;
    uint32_t rest = group->mask;
    ptx_remove_group(warp, group);
    while (rest != 0) {
        const uint64_t target = targets[__builtin_ctz(rest)];
        uint32_t together = 0;
        for (uint32_t lanes = rest; lanes != 0; lanes &= lanes - 1) {
            const unsigned lane = (unsigned)__builtin_ctz(lanes);
            together |= (uint32_t)(targets[lane] == target) << lane;
        }
        const uint32_t callee = function_at(module, call, target);
        if (callee == UINT32_MAX)
            return ptx_fault(warp, instruction, PTX_INVALID_PC,
                             "call of an address that is not a matching function", target);
        rest &= ~together;
        const enum ptx_status status =
            enter(warp, ptx_add_group(warp, &from, together, from.pc), instruction, callee);
        if (status != PTX_OK)
            return status;
    }
    return PTX_OK;
}

enum ptx_status ptx_enter_call(struct warp *warp, struct group *group, const struct instruction *instruction)
{
    const uint32_t callee = warp->block->grid->module->calls[instruction->offset].function;
    return callee == CALL_INDIRECT ? enter_indirect(warp, group, instruction)
                                   : enter(warp, group, instruction, callee);
}

/* Splits the group by the place that each lane returns to. */
void ptx_leave_call(struct warp *warp, struct group *group)
{
    const struct ptx_module *module = warp->block->grid->module;
    struct caller(*callers)[LANES] = &warp->callers[group->depth - 1];
    const struct group from = *group;
    uint32_t rest = group->mask;
    ptx_remove_group(warp, group);
    while (rest != 0) {
        const struct caller back = (*callers)[__builtin_ctz(rest)];
        uint32_t together = 0;
        for (uint32_t lanes = rest; lanes != 0; lanes &= lanes - 1) {
            const unsigned lane = (unsigned)__builtin_ctz(lanes);
            together |= (uint32_t)(memcmp(&(*callers)[lane], &back, sizeof back) == 0) << lane;
        }
        rest &= ~together;
        const struct call *call = &module->calls[back.call];
        const struct ptx_kernel *callee = module->functions[back.callee];
        copy_slots(warp, together, back.frame, call->results, from.frame, callee->results,
                   callee->result_count < call->result_count ? callee->result_count : call->result_count);
        struct group *returned = ptx_add_group(warp, &from, together, back.pc);
        returned->depth = from.depth - 1;
        returned->registers = back.registers;
        returned->predicates = back.predicates;
        returned->frame = back.frame;
        returned->local = back.local;
        returned->alloca = back.alloca;
    }
}

/* alloca, stacksave and stackrestore. The lanes of a group share one stack pointer: the largest request moves
 * it. */
enum ptx_status ptx_run_stack(struct warp *warp, struct group *group, const struct instruction *instruction)
{
    const struct ptx_module *module = warp->block->grid->module;
    const uint32_t pc = group->pc, own = (function_of(module, pc)->local_bytes + 15) & ~15u;
    const uint64_t *values = operand_values(warp, instruction->from[0]);
    uint64_t wanted = 0, address = 0;
    for (uint32_t rest = group->mask; rest != 0; rest &= rest - 1) {
        const uint64_t value = values[__builtin_ctz(rest)];
        wanted = value > wanted ? value : wanted;
    }
    if (instruction->operation == OP_STACK_SAVE) {
        address = group->alloca;
    } else if (instruction->operation == OP_STACK_RESTORE) {
        group->alloca = wanted < group->alloca ? (uint32_t)wanted : group->alloca;
    } else {
        const uint64_t room = warp->local_room - group->local - own - group->alloca;
        if (wanted > room || (wanted + STACK_ALIGNMENT) > room)
            return ptx_fault(warp, instruction, PTX_ILLEGAL_ADDRESS, "stack overflow", wanted);
        address = (uint64_t)group->local + own + group->alloca;
        group->alloca += (uint32_t)(wanted + STACK_ALIGNMENT - 1) & ~(uint32_t)(STACK_ALIGNMENT - 1);
    }
    if (instruction->operation != OP_STACK_RESTORE) {
        uint64_t *d = result_values(warp, instruction->to[0]);
        EACH_LANE(group->mask, lane, d[lane] = address);
    }
    group->pc++;
    return PTX_OK;
}
