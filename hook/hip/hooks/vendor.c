#include <string.h>

#include "core/wire/capture_format.h"
#include "hip/driver/hip.h"

const unsigned nb_vendor = NB_CAPTURE_HIP;
const int nb_status_refused = 801; /* hipErrorNotSupported: HIP has no "not permitted" */
const char nb_driver_probe[] = "hipInit";
const char nb_driver_global[] = "NEUTRINO_HIP_DRIVER";

/* Searches the shim's exports, which are the driver's. Rare: see HIP_LATER. */
void *nb_hip_find(const char *name)
{
    nb_resolve_all();
    for (unsigned i = 0; i < nb_export_count; i++)
        if (strcmp(nb_export_names[i], name) == 0) {
            void *function = __atomic_load_n(&nb_slots[i], __ATOMIC_RELAXED);
            return function != (void *)nb_absent ? function : NULL;
        }
    return NULL;
}
