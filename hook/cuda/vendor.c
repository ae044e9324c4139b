#include "capture_format.h"
#include "slots.h"

const unsigned nb_vendor = NB_CAPTURE_CUDA;
const char nb_driver_probe[] = "cuInit";
const char nb_driver_variable[] = "NEUTRINO_DRIVER";
