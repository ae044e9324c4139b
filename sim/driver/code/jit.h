/* The JIT options that matter here: the logs, the wall time, the target. */
#ifndef NEUTRINO_SIM_JIT_H
#define NEUTRINO_SIM_JIT_H

#include "ptx/ptx.h"
#include "driver/core/api.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A buffer of the program's; lines are appended, each cut where the room ends. */
struct sim_jit_log {
    char *text; /* NULL: none */
    size_t room, used;
    void **size; /* the option value that gets the bytes written, the NUL included; 0 for no text */
};

struct sim_jit {
    struct sim_jit_log error, info;
    void **wall_time; /* the option value that gets a float's bytes; NULL: none */
    uint64_t begun_ns;
    uint32_t target; /* what is compiled for: the device, or what CU_JIT_TARGET says */
    bool verbose;
};

/* CUDA_ERROR_INVALID_VALUE for an option or a target that does not exist, or a log without its size;
 * CUDA_ERROR_INVALID_SOURCE for a target above the device. The logs and sizes are empty from here on. */
CUresult sim_jit_options(struct sim_jit *jit, unsigned count, const CUjit_option *options, void **values);

__attribute__((format(printf, 2, 3))) void sim_jit_error(struct sim_jit *jit, const char *format, ...);
__attribute__((format(printf, 2, 3))) void sim_jit_info(struct sim_jit *jit, const char *format, ...);

/* What the engine has against a text, in the words that ptxas has for such things. */
void sim_jit_refused(struct sim_jit *jit, const struct ptx_diagnostic *diagnostic);

/* Why texts were not linked, a line for each symbol; the code that says so. Not for PTX_LINK_MEMORY. */
CUresult sim_jit_unlinked(struct sim_jit *jit, enum ptx_link_status status,
                          const struct ptx_diagnostic *diagnostic);

/* What a compiler would say of a module that was accepted, if the program wants to hear it. */
void sim_jit_describe(struct sim_jit *jit, const struct ptx_module *module);

/* The wall time since the options were read. */
void sim_jit_finish(const struct sim_jit *jit);

#endif
