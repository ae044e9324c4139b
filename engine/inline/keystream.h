/* The keystream of keystream.cuh on the host: uploads are encrypted before they leave, so that their key is
 * in no launch that a driver may keep. */
#ifndef NEUTRINO_INLINE_KEYSTREAM_H
#define NEUTRINO_INLINE_KEYSTREAM_H

#include "inline/kernels.h"

/* XOR memory in place, beginning with block `first` of the stream. Aligned to 16 bytes; overwrites up to
 * three blocks behind the last one. */
void nb_keystream(void *memory, uint64_t bytes, const struct nb_key *key, uint64_t stream, uint64_t first)
    __attribute__((visibility("hidden")));

#endif
