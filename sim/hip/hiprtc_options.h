/* hiprtc's options, which are clang's, in NVRTC's words. */
#ifndef NEUTRINO_SIM_HIP_HIPRTC_OPTIONS_H
#define NEUTRINO_SIM_HIP_HIPRTC_OPTIONS_H

/* A list of `*total` options to be freed, itself alone; NULL without memory. `includes` may be empty. */
const char **hiprtc_options(int count, const char *const *options, const char *includes, int *total);

#endif
