/* Words of the PTX ISA 9.0: they distinguish an instruction that the engine lacks from invalid PTX. */
#include "ptx/statement.h"

#include <stdio.h>
#include <string.h>

static const char lacking[] = " clusterlaunchcontrol multimem tcgen05 tensormap vabsdiff vadd vmad vmax vmin"
                              " vset vset2 vset4 vshl vshr vsub wgmma ";

/* Modifiers of the opcodes that the engine has, without shapes (.m8n8k4) and those with "::". */
static const char modifiers[] =
    " .1d .2d .2dms .3d .L1 .L2 .NaN .a .a1d .a2d .a2dms .abs .acq_rel .acquire .acube .add .addr_mode_0"
    " .addr_mode_1 .addr_mode_2 .alias .aligned .all .and .any .approx .array_size .arrive .arrive_drop"
    " .async .b .b1 .b128 .b16 .b32 .b4e .b64 .b8 .ballot .base .bf16 .bf16x2 .bfly .block_scale .bulk"
    " .bulk_group .c .ca .cas .cc .cg .channel_data_type .channel_order .ci .clamp .cluster .col"
    " .commit_group .complete_tx .const .cp_mask .cs .cta .cube .cv .d .dec .depth .down .e2m1 .e2m1x2"
    " .e2m1x4 .e2m3 .e2m3x2 .e2m3x4 .e3m2 .e3m2x2 .e3m2x4 .e4m3 .e4m3x2 .e4m3x4 .e5m2 .e5m2x2 .e5m2x4"
    " .ecl .ecr .eq .equ .exch .expect_tx .f16 .f16x2 .f32 .f32x2 .f4e .f64 .filter_mode .finite"
    " .force_unnormalized_coords .fractional .ftz .full .g .ge .generic .geu .global .gpu .grad .gt .gtu"
    " .height .hi .hs .idx .im2col .inc .infinite .init .inval .l .launch_dependents .le .leu .level .lo"
    " .load .local .ls .lt .ltu .lu .max .mbarrier .mbarrier_init .memory_layout .min .mma .mmio .nan .nc"
    " .ne .neu .noComplete .noftz .noinc .normal .normalized_coords .not .notanumber .num"
    " .num_mipmap_levels .num_samples .number .oob .or .ordered_metadata .p .param .parity .pending_count"
    " .popc .pred .prefetch .proxy .r .range .rc16 .rc8 .read .red .reduce .relaxed .release .relu .rm"
    " .rmi .rn .rna .rni .row .rp .rpi .rs .rz .rzi .s16 .s16x2 .s2f6x2 .s32 .s4 .s64 .s8 .s8x4"
    " .samplerref .sat .satfinite .sc .shared .shiftamt .sp .store .subnormal .surfref .sync .sys .tensor"
    " .tensormap .test_wait .tex .texref .tf32 .tile .to .trans .trap .try_wait .u16 .u16x2 .u32 .u4 .u64"
    " .u8 .u8x4 .ue4m3 .ue8m0 .ue8m0x2 .uni .unified .up .v2 .v4 .v8 .volatile .wait .wait_all"
    " .wait_group .warp .wb .weak .wide .width .wrap .wt .x1 .x2 .x4 .xor .xorsign .zero ";

static bool lists(const char *list, const struct token *token)
{
    char word[64];
    if (token->length + 3 > sizeof word)
        return false;
    (void)snprintf(word, sizeof word, " %.*s ", (int)token->length, token->text);
    return strstr(list, word) != NULL;
}

static bool is_modifier(const struct token *token)
{
    const bool shape =
        token->length > 2 && token->text[1] == 'm' && token->text[2] >= '0' && token->text[2] <= '9';
    return shape || memmem(token->text, token->length, "::", 2) != NULL || lists(modifiers, token);
}

bool ptx_lacks_opcode(const struct token *opcode)
{
    return lists(lacking, opcode);
}

bool ptx_is_in_isa(const struct statement *statement)
{
    bool known = true;
    for (unsigned i = 0; i < statement->modifier_count; i++)
        known = known && is_modifier(statement->modifiers[i]);
    return known || ptx_lacks_opcode(statement->base);
}
