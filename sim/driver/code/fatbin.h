/* Fat binaries as fatbinary writes them: a header and entries, each with code for one target. What is known
 * of the layout was read from files of nvcc 13.0 (--compress-mode none, speed, size, balance, default). */
#ifndef NEUTRINO_SIM_FATBIN_H
#define NEUTRINO_SIM_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_FATBIN_MAGIC 0xba55ed50u
#define SIM_FATBIN_HEAD  16u /* bytes that tell how many there are in all */

/* PTX text, not NUL-terminated. */
struct sim_text {
    const char *text;
    size_t bytes;
    char *owned; /* to be freed; NULL: the text lies in the image */
};

enum sim_fatbin {
    SIM_FATBIN_TEXT,
    SIM_FATBIN_NOTHING,    /* no PTX for the device */
    SIM_FATBIN_MALFORMED,  /* the container contradicts itself or ends too early */
    SIM_FATBIN_CORRUPT,    /* the PTX does not decompress to the size that it declares */
    SIM_FATBIN_NO_LIBRARY, /* the PTX is compressed, and the library that undoes it is not there */
    SIM_FATBIN_NO_MEMORY
};

/* The whole size by the header's own account; 0 if it is no fat binary. Reads SIM_FATBIN_HEAD bytes. */
size_t sim_fatbin_bytes(const void *image);

/* The PTX that a device of compute capability `device` (90 for 9.0) would compile: of the highest target that
 * is not above it, of those one with the target's own features (sm_90a), of those the last. Touches no byte
 * beyond `bytes`. `reason` gets words for every result but SIM_FATBIN_TEXT, valid as long as the program
 * runs. */
enum sim_fatbin sim_fatbin_text(const void *image, size_t bytes, uint32_t device, struct sim_text *text,
                                const char **reason);

#endif
