/* Uploads inputs and expected values before the submission is loaded. */
#ifndef NEUTRINO_INLINE_UPLOAD_H
#define NEUTRINO_INLINE_UPLOAD_H

#include "inline/session.h"

/* Load the next case. After an error, `step` names the failed step. */
int nb_upload(struct nb_session *session, struct nb_inline_case *loading, const char **step)
    __attribute__((visibility("hidden")));

/* 0 for none. */
unsigned nb_dtype_bytes(uint32_t dtype) __attribute__((visibility("hidden")));

#endif
