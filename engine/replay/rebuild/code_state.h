/* The part of struct nb_replay that belongs to code.h. */
#ifndef NEUTRINO_ENGINE_CODE_STATE_H
#define NEUTRINO_ENGINE_CODE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/base/driver.h"

/* One of the two handles, as the recorded program had it. */
struct nb_code_module {
    CUmodule module;
    CUlibrary library;
};

struct nb_code_kernel {
    CUfunction function;
    bool shared; /* another kernel is the same function with other settings: set them before each launch */
};

struct nb_code_global {
    CUdeviceptr address;
    uint64_t bytes;  /* as the driver says */
    uint64_t shadow; /* where its content is in the shadow */
};

/* Everything of one copy. */
struct nb_code_copy {
    struct nb_code_module *modules;
    struct nb_code_kernel *kernels;
    struct nb_code_global *globals;
    struct nb_code_global *unlisted; /* globals of the images that the capture does not list */
    uint32_t unlisted_count;
};

struct nb_code {
    struct nb_code_copy *copies;
    uint32_t copy_count;
    uint32_t current;     /* the copy that ran last */
    uint32_t *sorted;     /* globals by their recorded address */
    bool unknown_globals; /* an image may have globals that no name was found for */
};

#endif
