/* Lookup of entry points: cuGetProcAddress and cuGetExportTable. */
#include "driver/core/procaddr.h"
#include "driver/core/api.h"
#include "driver/core/inject.h"
#include "driver/core/message.h"
#include "driver/core/state.h"
#include "driver/core/undeclared.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

/* First row whose name is not less than `name`. */
static size_t search(const char *name)
{
    size_t low = 0;
    size_t high = sim_entry_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(sim_entries[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct choice {
    void *address;
    bool known;
};

/* The newest variant that is not newer than `version`. With `per_thread`, prefers the variant for per-thread
 * default streams. */
static struct choice choose(const char *name, int version, bool per_thread)
{
    struct choice chosen = {0};
    struct choice other = {0};
    for (size_t i = search(name); i < sim_entry_count && strcmp(sim_entries[i].name, name) == 0; i++) {
        if (sim_inject_drops(sim_entries[i].symbol))
            continue;
        chosen.known = true;
        if (sim_entries[i].version > version)
            continue;
        if ((sim_entries[i].per_thread != 0) == per_thread)
            chosen.address = sim_entries[i].address;
        else if (sim_entries[i].per_thread == 0)
            other.address = sim_entries[i].address;
    }
    if (chosen.address == NULL)
        chosen.address = other.address;
    if (!chosen.known && !sim_inject_drops(name))
        chosen.address = sim_undeclared_find(name);
    return chosen;
}

static CUresult look_up(const char *symbol, void **pfn, int version, cuuint64_t flags,
                        CUdriverProcAddressQueryResult *status)
{
    const cuuint64_t known =
        CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    if (symbol == NULL || pfn == NULL || (flags & ~known) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    const int newest = sim_driver_version();
    const struct choice chosen = choose(symbol, version < newest ? version : newest,
                                        (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0);
    *pfn = chosen.address;
    if (status != NULL)
        *status = chosen.address != NULL ? CU_GET_PROC_ADDRESS_SUCCESS
                  : chosen.known         ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                         : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
    const CUresult result = look_up(symbol, pfn, cudaVersion, flags, NULL);
    return result == CUDA_SUCCESS && *pfn == NULL ? CUDA_ERROR_NOT_FOUND : result;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *symbolStatus)
{
    return look_up(symbol, pfn, cudaVersion, flags, symbolStatus);
}

/* The table that NVIDIA's CUDA runtimes 12.9 and 13.0 cannot start without. */
static const unsigned char runtime_table_id[16] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                                   0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};

static void explain_runtime(const CUuuid *id)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (memcmp(id, runtime_table_id, sizeof runtime_table_id) == 0 && !atomic_flag_test_and_set(&said))
        sim_print(
            "NVIDIA's CUDA runtime cannot run here: it calls private tables of NVIDIA's driver. Link the "
            "program with `nvcc -cudart shared`, and run it with `neutrino-bench --driver sim`, or with "
            "this driver's folder first in LD_LIBRARY_PATH");
}

/* Export tables are private interfaces between a vendor's libraries. This driver has only its own. */
CUresult cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId)
{
    if (ppExportTable == NULL || pExportTableId == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const bool ours = memcmp(pExportTableId, &sim_inject_table_id, sizeof sim_inject_table_id) == 0;
    *ppExportTable = ours ? &sim_inject_table : NULL;
    explain_runtime(pExportTableId);
    return ours ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
