/* End a grid early and report the reason. */
#include "ptx/diagnostic.h"
#include "ptx/engine.h"

void ptx_thread_index(const struct warp *warp, unsigned lane, uint32_t index[3])
{
    const uint32_t *shape = warp->block->grid->launch->block;
    const uint32_t thread = warp->number * LANES + lane;
    index[0] = thread % shape[0];
    index[1] = thread / shape[0] % shape[1];
    index[2] = thread / shape[0] / shape[1];
}

/* Only the first fault of a grid is reported. */
static enum ptx_status end_grid(struct warp *warp, const struct instruction *instruction,
                                enum ptx_status status, struct ptx_fault fault, unsigned lane)
{
    const struct grid *grid = warp->block->grid;
    struct grid *shared = (struct grid *)(uintptr_t)grid; /* writes atomics and the diagnostic only */
    int expected = PTX_OK;
    if (!atomic_compare_exchange_strong(&shared->status, &expected, (int)status) ||
        atomic_exchange(&shared->diagnosed, true) || grid->diagnostic == NULL)
        return status;
    fault.kernel = grid->launch->kernel;
    memcpy(fault.block, warp->block->index, sizeof fault.block);
    ptx_thread_index(warp, lane, fault.thread);
    diagnose(grid->diagnostic, instruction->line, "line %u of the PTX: %s (0x%llx) in block (%u, %u, %u)",
             instruction->line, fault.what, (unsigned long long)fault.address, fault.block[0], fault.block[1],
             fault.block[2]);
    grid->diagnostic->fault = fault;
    return status;
}

enum ptx_status ptx_fault(struct warp *warp, const struct instruction *instruction, enum ptx_status status,
                          const char *what, uint64_t address)
{
    const uint32_t mask = warp->now != NULL && warp->now->mask != 0 ? warp->now->mask : 1;
    return end_grid(warp, instruction, status, (struct ptx_fault){.what = what, .address = address},
                    (unsigned)__builtin_ctz(mask));
}

enum ptx_status ptx_fault_access(struct warp *warp, const struct instruction *instruction,
                                 enum ptx_status status, const char *what, uint64_t address, unsigned bytes,
                                 enum space space, unsigned lane)
{
    const bool stores = instruction->operation == OP_ST || instruction->operation == OP_ST_WIDE;
    const bool is_atomic = instruction->operation == OP_ATOM || instruction->operation == OP_ATOM_WIDE;
    const char *access = stores ? "write" : is_atomic ? "atomic access" : "read";
    const struct ptx_fault fault = {.what = what,
                                    .access = access,
                                    .address = address,
                                    .bytes = bytes,
                                    .global = space != SPACE_SHARED && space != SPACE_LOCAL};
    return end_grid(warp, instruction, status, fault, lane);
}
