/* Choose the function that runs each instruction, once, when a module is parsed. */
#include <stdatomic.h>

#include "ptx/engine.h"
#include "ptx/parser.h"

static enum ptx_status run_fence(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    (void)warp, (void)instruction, (void)mask;
    atomic_thread_fence(memory_order_seq_cst);
    return PTX_OK;
}

static enum ptx_status run_nothing(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    (void)warp, (void)instruction, (void)mask;
    return PTX_OK;
}

/* A thread that sleeps lets all others go first. */
static enum ptx_status run_pause(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    (void)warp, (void)instruction, (void)mask;
    return PTX_WAITS;
}

/* Operations without an entry are arithmetic: ptx_run_float or ptx_run_integer, by type. */
static runner *const runners[] = {
    [OP_MOV] = ptx_run_move,
    [OP_MOV_SPECIAL] = ptx_run_move,
    [OP_PACK] = ptx_run_pack,
    [OP_UNPACK] = ptx_run_pack,
    [OP_LD] = ptx_run_load,
    [OP_ST] = ptx_run_store,
    [OP_LD_PARAM] = ptx_run_frame,
    [OP_LD_FRAME] = ptx_run_frame,
    [OP_ST_FRAME] = ptx_run_frame,
    [OP_ATOM] = ptx_run_atomic,
    [OP_LD_WIDE] = ptx_run_wide,
    [OP_ST_WIDE] = ptx_run_wide,
    [OP_ATOM_WIDE] = ptx_run_wide,
    [OP_TEXTURE] = ptx_run_texture,
    [OP_TEXTURE_GATHER] = ptx_run_gather,
    [OP_SURFACE_LOAD] = ptx_run_surface,
    [OP_SURFACE_STORE] = ptx_run_surface,
    [OP_SURFACE_REDUCE] = ptx_run_surface,
    [OP_IMAGE_QUERY] = ptx_run_image_query,
    [OP_IMAGE_TEST] = ptx_run_image_query,
    [OP_COPY_ASYNC] = ptx_run_copy_async,
    [OP_COPY_BULK] = ptx_run_copy_bulk,
    [OP_MBARRIER] = ptx_run_mbarrier,
    [OP_PAUSE] = run_pause,
    [OP_ADDRESS_LOCAL] = ptx_run_move,
    [OP_ADDRESS_DYNAMIC] = ptx_run_move,
    [OP_CVTA] = ptx_run_move,
    [OP_CVTA_TO] = ptx_run_move,
    [OP_ISSPACEP] = ptx_run_move,
    [OP_DP4A] = ptx_run_packed,
    [OP_DP2A] = ptx_run_packed,
    [OP_BMSK] = ptx_run_packed,
    [OP_SZEXT] = ptx_run_packed,
    [OP_FNS] = ptx_run_packed,
    [OP_PACKED] = ptx_run_packed,
    [OP_VIDEO] = ptx_run_packed,
    [OP_SETP] = ptx_run_compare,
    [OP_SET] = ptx_run_compare,
    [OP_SELP] = ptx_run_select,
    [OP_SLCT] = ptx_run_select,
    [OP_CVT] = ptx_run_convert,
    [OP_CVT_PAIR] = ptx_run_convert_pair,
    [OP_CVT_PACK] = ptx_run_convert_pack,
    [OP_PRED_LOGIC] = ptx_run_predicate_logic,
    [OP_PRED_MOV] = ptx_run_predicate_move,
    [OP_TESTP] = ptx_run_test,
    [OP_SHFL] = ptx_run_shuffle,
    [OP_VOTE] = ptx_run_collective,
    [OP_MATCH] = ptx_run_collective,
    [OP_ACTIVEMASK] = ptx_run_activemask,
    [OP_REDUX] = ptx_run_collective,
    [OP_ELECT] = ptx_run_collective,
    [OP_MMA] = ptx_run_mma,
    [OP_MATRIX_LOAD] = ptx_run_matrix_memory,
    [OP_MATRIX_STORE] = ptx_run_matrix_memory,
    [OP_MATRIX_LOAD8] = ptx_run_matrix8,
    [OP_MATRIX_STORE8] = ptx_run_matrix8,
    [OP_MATRIX_MOVE] = ptx_run_matrix_move,
    [OP_BAR_WARP] = run_nothing,
    [OP_FENCE] = run_fence,
    [OP_BUILTIN] = ptx_run_builtin,
    [OP_NOP] = run_nothing,
};

void ptx_bind_runners(struct ptx_module *module)
{
    for (size_t i = 0; i < module->code_count; i++) {
        struct instruction *instruction = &module->code[i];
        runner *own = runners[instruction->operation];
        instruction->run = own != NULL                                       ? own
                           : ptx_type_is_float((enum type)instruction->type) ? ptx_run_float
                                                                             : ptx_run_integer;
    }
}
