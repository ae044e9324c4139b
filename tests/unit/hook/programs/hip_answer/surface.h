/* Replaces the generated header. */
#ifndef SURFACE_H
#define SURFACE_H

enum {
    NB_SLOT_hipGetLastError,
    NB_SLOT_hipPeekAtLastError,
    NB_SLOT_hipMalloc,
    NB_SLOT_hipFree,
    NB_SLOT_COUNT
};

#endif
