/* keystream.cuh's on the host: what is uploaded is a secret before it leaves, so its key is in no launch that
 * a driver may keep. */
#ifndef NEUTRINO_INLINE_KEYSTREAM_H
#define NEUTRINO_INLINE_KEYSTREAM_H

#include "inline/kernels.h"

/* XOR memory in place, from block `first` of the stream on. Aligned to 16 bytes; up to three blocks behind
 * its last one are overwritten, too. */
void nb_keystream(void *memory, uint64_t bytes, const struct nb_key *key, uint64_t stream, uint64_t first)
    __attribute__((visibility("hidden")));

#endif
