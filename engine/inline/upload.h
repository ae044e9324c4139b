/* Secrets: inputs and expected values, on the device before the submission is there. */
#ifndef NEUTRINO_INLINE_UPLOAD_H
#define NEUTRINO_INLINE_UPLOAD_H

#include "inline/session.h"

/* The next case. `step` says what was being done, for people. */
int nb_upload(struct nb_session *session, struct nb_inline_case *loading, const char **step)
    __attribute__((visibility("hidden")));

/* 0 for none. */
unsigned nb_dtype_bytes(uint32_t dtype) __attribute__((visibility("hidden")));

#endif
