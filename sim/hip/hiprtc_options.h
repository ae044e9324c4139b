/* Translates hiprtc's options, which are clang's, to NVRTC's. */
#ifndef NEUTRINO_SIM_HIP_HIPRTC_OPTIONS_H
#define NEUTRINO_SIM_HIP_HIPRTC_OPTIONS_H

/* Returns a list of `*total` options; the caller frees the list only. Returns NULL if memory runs out.
 * `includes` may be empty. */
const char **hiprtc_options(int count, const char *const *options, const char *includes, int *total);

#endif
