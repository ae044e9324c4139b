/* A fat binary as nvcc 13.0 writes it: a header, then entries with code for one target each. */
#ifndef NEUTRINO_FATBIN_H
#define NEUTRINO_FATBIN_H

#include <stdint.h>

#define NB_FATBIN_MAGIC 0xba55ed50u

#define NB_FATBIN_PTX   1u
#define NB_FATBIN_ELF   2u
#define NB_FATBIN_LTOIR 8u

#define NB_FATBIN_FLAG_LZ4  0x2000u
#define NB_FATBIN_FLAG_ZSTD 0x8000u

struct nb_fatbin_header {
    uint32_t magic;
    uint16_t version;
    uint16_t header_bytes;
    uint64_t payload_bytes;
};

struct nb_fatbin_entry {
    uint16_t kind;
    uint16_t version;
    uint32_t header_bytes;
    uint64_t payload_bytes; /* padded */
    uint32_t compressed_bytes;
    uint32_t options_offset;
    uint16_t minor;
    uint16_t major;
    uint32_t architecture; /* 90 for sm_90 */
    uint32_t name_offset;
    uint32_t name_bytes;
    uint64_t flags;
    uint64_t zero;
    uint64_t uncompressed_bytes;
};

_Static_assert(sizeof(struct nb_fatbin_header) == 16, "as nvcc writes it");
_Static_assert(sizeof(struct nb_fatbin_entry) == 64, "as nvcc writes it");

#endif
