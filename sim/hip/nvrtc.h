/* NVRTC compiles for the CPU driver as hiprtc does for an AMD GPU. It is opened at first use. */
#ifndef NEUTRINO_SIM_HIP_NVRTC_H
#define NEUTRINO_SIM_HIP_NVRTC_H

#include <stddef.h>

#define NVRTC_VARIABLE "NEUTRINO_NVRTC"

struct _nvrtcProgram;

/* Declarations of nvrtc.h. Its results have hiprtcResult's numbers. */
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
    char includes[4096]; /* the headers of this NVRTC as an option, or empty */
};

/* Returns NULL without NVRTC: hip_nvrtc_missing() prints what to install. */
const struct hip_nvrtc *hip_nvrtc(void);
const char *hip_nvrtc_missing(void);

#endif
