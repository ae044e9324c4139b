/* Rules and messages are those of ptxas 13.0 and of an H200's driver 580.159. */
#include "driver/code/target.h"

/* The first PTX version (88 for 8.8) that knows the target. */
static const struct {
    unsigned number, since;
} targets[] = {{50, 40}, {52, 41},  {53, 42},  {60, 50},  {61, 50},  {62, 50},  {70, 60},
               {72, 61}, {75, 63},  {80, 70},  {86, 71},  {87, 74},  {88, 90},  {89, 78},
               {90, 78}, {100, 86}, {101, 86}, {103, 88}, {110, 90}, {120, 87}, {121, 88}};

static CUresult refuse(const char *words, const char **reason)
{
    *reason = words;
    return CUDA_ERROR_INVALID_PTX;
}

CUresult sim_target_check(unsigned device, unsigned version, unsigned target, char suffix,
                          const char **reason)
{
    unsigned since = target < targets[0].number ? 10 : 0; /* older targets are valid in every version */
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (targets[i].number == target)
            since = targets[i].since;
    if (since == 0)
        return refuse("Unsupported .target", reason);
    if (suffix == 'a' && since < 80)
        since = 80;
    if (suffix == 'f' && since < 88)
        since = 88;
    if (version < since)
        return refuse("PTX .version does not support .target", reason);
    if (target > device)
        return refuse("SM version specified by .target is higher than default SM version assumed", reason);
    if (suffix == 'a' && target != device)
        return refuse("Program with .target 'sm_..a' cannot be compiled to future architecture", reason);
    if (suffix == 'f' && target / 10 != device / 10)
        return refuse("Program with .target 'sm_..f' cannot be compiled to different SM-family architecture",
                      reason);
    return CUDA_SUCCESS;
}
