#ifndef NEUTRINO_SIM_PTX_RUNTIME_H
#define NEUTRINO_SIM_PTX_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Functions that kernels may call without defining them. They are C in the engine (`enum builtin`), or PTX,
 * or missing. */
struct ptx_builtin {
    const char *name;
    uint8_t builtin;
    uint8_t result;       /* bytes of the result; 0: none, or not checked */
    uint8_t count;        /* of the arguments */
    uint8_t arguments[4]; /* bytes of the first ones; 0: not checked */
};

/* NULL: the engine has no such function in C. */
const struct ptx_builtin *ptx_find_builtin(const char *name, size_t length);

/* Returns the definition of a device runtime function, or NULL if the engine has none of that name. */
const char *ptx_runtime_text(const char *name, size_t length);

/* Whether libcudadevrt.a has a function of that name and the engine has not. */
bool ptx_runtime_lacks(const char *name, size_t length);

#endif
