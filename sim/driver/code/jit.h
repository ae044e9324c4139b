/* The JIT options that have an effect here: the logs, the wall time, the target. */
#ifndef NEUTRINO_SIM_JIT_H
#define NEUTRINO_SIM_JIT_H

#include "driver/core/api.h"
#include "ptx/ptx.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A buffer of the program. Lines are appended, and cut at its end. */
struct sim_jit_log {
    char *text; /* NULL: no log */
    size_t room, used;
    void **size; /* the option value that receives the bytes written, with the NUL; 0: no text */
};

struct sim_jit {
    struct sim_jit_log error, info;
    char first_error[512]; /* for stderr, if the program passed no error log */
    void **wall_time;      /* the option value that receives the bits of a float; NULL: not requested */
    uint64_t begun_ns;
    uint32_t target; /* compilation target: the device, or CU_JIT_TARGET */
    bool verbose;
};

/* Parse the options and empty the logs. CUDA_ERROR_INVALID_VALUE for an unknown option or target, or a log
 * without its size. CUDA_ERROR_INVALID_SOURCE for a target above the device. */
CUresult sim_jit_options(struct sim_jit *jit, unsigned count, const CUjit_option *options, void **values);

__attribute__((format(printf, 2, 3))) void sim_jit_error(struct sim_jit *jit, const char *format, ...);
/* Empty the error log: another part of the image may load. */
void sim_jit_forget_errors(struct sim_jit *jit);

__attribute__((format(printf, 2, 3))) void sim_jit_info(struct sim_jit *jit, const char *format, ...);

/* Log why the engine refused a text, in ptxas' words. */
void sim_jit_log_refusal(struct sim_jit *jit, const struct ptx_diagnostic *diagnostic);

/* Log why texts were not linked, one line per symbol. Returns the matching result. Not for PTX_LINK_MEMORY.
 */
CUresult sim_jit_log_link_errors(struct sim_jit *jit, enum ptx_link_status status,
                                 const struct ptx_diagnostic *diagnostic);

/* Log the compiler's information about an accepted module, if the program asked for verbose logs. */
void sim_jit_describe(struct sim_jit *jit, const struct ptx_module *module);

/* Report the wall time since the options were parsed. Print why PTX was refused if the program passed no
 * error log: a GPU may accept it. */
void sim_jit_finish(const struct sim_jit *jit, CUresult result);

#endif
