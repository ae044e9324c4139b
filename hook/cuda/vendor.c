#include "slots.h"

const char nb_driver_soname[] = "libcuda.so.1";
const char nb_driver_variable[] = "NEUTRINO_DRIVER";
const char nb_driver_probe[] = "cuInit";
