/* Which function runs an instruction: decided once, when its module is parsed. */
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

/* Arithmetic that is missing here has two functions: one for integers, one for floats. */
static runner *const runners[] = {
    [OP_MOV] = run_move,
    [OP_MOV_SPECIAL] = run_move,
    [OP_PACK] = run_pack,
    [OP_UNPACK] = run_pack,
    [OP_LD] = run_load,
    [OP_ST] = run_store,
    [OP_LD_PARAM] = run_frame,
    [OP_LD_FRAME] = run_frame,
    [OP_ST_FRAME] = run_frame,
    [OP_ATOM] = run_atomic,
    [OP_COPY_ASYNC] = run_copy_async,
    [OP_MBARRIER] = run_mbarrier,
    [OP_ADDRESS_LOCAL] = run_move,
    [OP_ADDRESS_DYNAMIC] = run_move,
    [OP_CVTA] = run_move,
    [OP_CVTA_TO] = run_move,
    [OP_ISSPACEP] = run_move,
    [OP_DP4A] = run_packed,
    [OP_DP2A] = run_packed,
    [OP_BMSK] = run_packed,
    [OP_SZEXT] = run_packed,
    [OP_FNS] = run_packed,
    [OP_PACKED] = run_packed,
    [OP_VIDEO] = run_packed,
    [OP_SETP] = run_compare,
    [OP_SET] = run_compare,
    [OP_SELP] = run_select,
    [OP_SLCT] = run_select,
    [OP_CVT] = run_convert,
    [OP_CVT_PAIR] = run_convert_pair,
    [OP_CVT_PACK] = run_convert_pack,
    [OP_PRED_LOGIC] = run_predicate_logic,
    [OP_PRED_MOV] = run_predicate_move,
    [OP_TESTP] = run_test,
    [OP_SHFL] = run_shuffle,
    [OP_VOTE] = run_collective,
    [OP_MATCH] = run_collective,
    [OP_ACTIVEMASK] = run_activemask,
    [OP_REDUX] = run_collective,
    [OP_ELECT] = run_collective,
    [OP_MMA] = run_mma,
    [OP_MATRIX_LOAD] = run_matrix_memory,
    [OP_MATRIX_STORE] = run_matrix_memory,
    [OP_MATRIX_LOAD8] = run_matrix8,
    [OP_MATRIX_STORE8] = run_matrix8,
    [OP_MATRIX_MOVE] = run_matrix_move,
    [OP_BAR_WARP] = run_nothing,
    [OP_FENCE] = run_fence,
    [OP_BUILTIN] = run_builtin,
    [OP_NOP] = run_nothing,
};

void bind_runners(struct ptx_module *module)
{
    for (size_t i = 0; i < module->code_count; i++) {
        struct instruction *instruction = &module->code[i];
        runner *own = runners[instruction->operation];
        instruction->run = own != NULL                                   ? own
                           : type_is_float((enum type)instruction->type) ? run_float
                                                                         : run_integer;
    }
}
