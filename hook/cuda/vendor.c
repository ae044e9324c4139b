#include "cuda/vendor.h"

#include "core/driver/slots.h"
#include "core/wire/capture_format.h"

const unsigned nb_vendor = NB_CAPTURE_CUDA;
const int nb_status_refused = 800; /* CUDA_ERROR_NOT_PERMITTED */
const char nb_driver_probe[] = "cuInit";
const char nb_driver_global[] = "NEUTRINO_DRIVER";

const struct nb_component *const nb_vendor_components[] = {NULL};

const char *nb_vendor_stream_problem(CUstream stream)
{
    (void)stream; /* capture/stream.c handles all that CUDA's streams can have */
    return NULL;
}
