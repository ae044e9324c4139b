#include "hip/driver/hip.h"

#include <stdatomic.h>

/* hipRuntimeGetVersion gives HIP_VERSION: 10000000 major + 100000 minor + patch. */
enum { OF_MAJOR = 10000000, OF_MINOR = 100000 };

unsigned nb_hip_version(void)
{
    static _Atomic unsigned cached;
    unsigned version = atomic_load_explicit(&cached, memory_order_relaxed);
    int number = 0;
    if (version != 0)
        return version;
    if (HIP(hipRuntimeGetVersion)(&number) != hipSuccess || number < OF_MAJOR)
        number = HIP_VERSION; /* a library without a version is taken for the header's release */
    version = (unsigned)(100 * (number / OF_MAJOR) + number % OF_MAJOR / OF_MINOR);
    atomic_store_explicit(&cached, version, memory_order_relaxed);
    return version;
}
