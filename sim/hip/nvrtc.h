/* NVRTC, which compiles for the CPU driver what hiprtc would for an AMD GPU: opened when first needed. */
#ifndef NEUTRINO_SIM_HIP_NVRTC_H
#define NEUTRINO_SIM_HIP_NVRTC_H

#include <stddef.h>

#define NVRTC_VARIABLE "NEUTRINO_NVRTC"

struct _nvrtcProgram;

/* nvrtc.h, whose results have the numbers of hiprtcResult. */
struct hip_nvrtc {
    int (*create)(struct _nvrtcProgram **program, const char *source, const char *name, int headers,
                  const char *const *texts, const char *const *names);
    int (*destroy)(struct _nvrtcProgram **program);
    int (*compile)(struct _nvrtcProgram *program, int count, const char *const *options);
    int (*ptx_size)(struct _nvrtcProgram *program, size_t *bytes);
    int (*ptx)(struct _nvrtcProgram *program, char *text);
    int (*log_size)(struct _nvrtcProgram *program, size_t *bytes);
    int (*log)(struct _nvrtcProgram *program, char *text);
    int (*add_name)(struct _nvrtcProgram *program, const char *expression);
    int (*lowered_name)(struct _nvrtcProgram *program, const char *expression, const char **name);
    char includes[4096]; /* the headers that came with it, as an option; empty if there are none */
};

/* NULL where there is none: hip_nvrtc_missing() says what to do. */
const struct hip_nvrtc *hip_nvrtc(void);
const char *hip_nvrtc_missing(void);

#endif
