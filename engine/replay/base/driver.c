#include "replay/base/driver.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "replay/base/error.h"
#include "replay/replay.h"

static const struct {
    const char *name;
    size_t place; /* in struct nb_driver */
    int optional;
} functions[] = {
#define NB_ROW(function) {#function, offsetof(struct nb_driver, function), 0},
    NB_DRIVER_FUNCTIONS(NB_ROW)
#undef NB_ROW
#define NB_ROW(function, parameters) {#function, offsetof(struct nb_driver, function), 1},
        NB_DRIVER_OPTIONAL(NB_ROW)
#undef NB_ROW
};

static uint64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static CUresult CUDAAPI answer_not_supported(void)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}

int nb_driver_open(struct nb_driver *driver, const char *path, char *error)
{
    memset(driver, 0, sizeof *driver);
    driver->now_ns = monotonic_ns;
    driver->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (driver->library == NULL)
        return nb_error(error, NB_REPLAY_NO_DRIVER, "no driver: %s", dlerror());
    CUresult(CUDAAPI *const absent)(void) = answer_not_supported;
    const bool over_hip = dlsym(driver->library, "nb_module_load_source") != NULL;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *address = dlsym(driver->library, functions[i].name);
        if (address == NULL && over_hip && !functions[i].optional)
            memcpy(&address, &absent, sizeof address);
        if (address == NULL && !functions[i].optional)
            return nb_error(error, NB_REPLAY_NO_DRIVER,
                            "%s has no %s; replaying needs a driver for CUDA 12.0 or newer", path,
                            functions[i].name);
        memcpy((char *)driver + functions[i].place, &address, sizeof address);
    }
    return NB_REPLAY_OK;
}

const char *nb_driver_name(const struct nb_driver *driver, CUresult result)
{
    const char *name = NULL;
    if (driver->cuGetErrorName(result, &name) != CUDA_SUCCESS || name == NULL)
        return "unknown error";
    return name;
}

int nb_failure_status(CUresult result)
{
    const bool of_memory =
        result == CUDA_ERROR_ECC_UNCORRECTABLE || result == CUDA_ERROR_NVLINK_UNCORRECTABLE;
    return of_memory ? NB_REPLAY_NO_DRIVER : NB_REPLAY_FAILED;
}

int nb_driver_status(const struct nb_driver *driver, CUresult result, const char *call, char *error)
{
    if (result == CUDA_SUCCESS)
        return NB_REPLAY_OK;
    const bool lives_on = result == CUDA_ERROR_OUT_OF_MEMORY || result == CUDA_ERROR_NOT_SUPPORTED;
    return nb_error(error, lives_on ? NB_REPLAY_CANNOT : nb_failure_status(result), "%s: %s (%d)", call,
                    nb_driver_name(driver, result), (int)result);
}
