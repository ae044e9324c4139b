/* Channel descriptors, the runtime's way to write the driver's array formats. */
#ifndef NEUTRINO_SIM_RUNTIME_CHANNEL_H
#define NEUTRINO_SIM_RUNTIME_CHANNEL_H

#include "runtime/cudart.h"

/* False: no array has this format. */
bool channel_to_format(const struct cudaChannelFormatDesc *channel, CUarray_format *format,
                       unsigned *channels);

struct cudaChannelFormatDesc channel_of_format(CUarray_format format, unsigned channels);

/* Bytes of an element; 0 for a format that is not a channel descriptor's. */
size_t channel_element_bytes(CUarray_format format, unsigned channels);

#endif
