/* Fat binaries as fatbinary writes them: a header and entries, each with code for one target. The layout was
 * read from files of nvcc 13.0 (--compress-mode none, speed, size, balance, default). */
#ifndef NEUTRINO_SIM_FATBIN_H
#define NEUTRINO_SIM_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_FATBIN_MAGIC 0xba55ed50u
#define SIM_FATBIN_HEAD  16u /* bytes of the header, which tells the whole size */

/* PTX text, not NUL-terminated. */
struct sim_text {
    const char *text;
    size_t bytes;
    char *owned; /* to be freed; NULL: the text is part of the image */
};

enum sim_fatbin {
    SIM_FATBIN_TEXT,
    SIM_FATBIN_NOTHING,    /* no PTX for this device */
    SIM_FATBIN_MALFORMED,  /* the container is inconsistent or truncated */
    SIM_FATBIN_CORRUPT,    /* the PTX does not decompress to its declared size */
    SIM_FATBIN_NO_LIBRARY, /* the library that decompresses the PTX is missing */
    SIM_FATBIN_NO_MEMORY
};

/* The size that the header declares. 0: not a fat binary. Reads SIM_FATBIN_HEAD bytes. */
size_t sim_fatbin_bytes(const void *image);

/* Find the PTX that a device of compute capability `device` (90 for 9.0) would compile: the highest target
 * that is not above the device, preferably with architecture-specific features (sm_90a), and the last of
 * those. Reads no byte beyond `bytes`. On failure `reason` gets a text with static lifetime. */
enum sim_fatbin sim_fatbin_text(const void *image, size_t bytes, uint32_t device, struct sim_text *text,
                                const char **reason);

/* Whether the machine code is that of libcudadevrt.a, which has no PTX for most devices. */
bool sim_fatbin_is_device_runtime(const void *image, size_t bytes, uint32_t device);

#endif
