/* The third lookup path: addresses that the driver returns by name. */
#include <cuda.h>

#include "core/base/filter.h"
#include "core/driver/slots.h"
#include "core/process/call.h"
#include "cuda/kernel/handle.h"
#include "real.h"
#include "special.h"
#include "surface.h"

static void write_unmapped(const struct nb_call *call, const char *symbol, int version, cuuint64_t flags)
{
    const uint32_t name_bytes = (uint32_t)strnlen(symbol, NB_STRING_MAX);
    const size_t size = (sizeof(struct nb_unmapped) + name_bytes + 7) & ~(size_t)7;
    struct nb_unmapped *record = nb_ring_reserve(call->thread, size);
    if (record == NULL)
        return;
    memset(record, 0, size);
    record->record = (struct nb_record){.size = (uint32_t)size,
                                        .kind = NB_RECORD_UNMAPPED,
                                        .slot = (uint16_t)call->slot,
                                        .begin = call->begin,
                                        .end = nb_clock(),
                                        .count = name_bytes};
    record->flags = flags;
    record->asked_version = (uint32_t)version;
    memcpy(record + 1, symbol, name_bytes);
    nb_ring_commit(call->thread, size);
}

/* The driver decides which function a name, version and flag mean. Only then replace its address by the
 * wrapper of the same export. All 1100 answers of driver 580 were exported addresses, and no two exports
 * shared one. Other addresses are returned unchanged and shown in the summary. */
static CUresult replace_address(const struct nb_call *call, CUresult result, const char *symbol, void **pfn,
                                int version, cuuint64_t flags)
{
    if (result == CUDA_SUCCESS && symbol != NULL && pfn != NULL && *pfn != NULL &&
        !nb_filter_matches(call->caller)) {
        const int slot = nb_slot_of_address(*pfn);
        if (slot >= 0)
            *pfn = nb_exports[slot];
        else if (call->thread != NULL)
            write_unmapped(call, symbol, version, flags);
    }
    const uint64_t arguments[] = {nb_word_pointer(symbol), nb_out_word(result, pfn, sizeof *pfn),
                                  (uint64_t)version, flags};
    nb_call_end(call, (int)result, arguments, 4);
    return result;
}

CUresult nb_wrap_get_proc_address(const struct nb_call *call, nb_cuGetProcAddress_t real, const char *symbol,
                                  void **pfn, int cudaVersion, cuuint64_t flags)
{
    return replace_address(call, real(symbol, pfn, cudaVersion, flags), symbol, pfn, cudaVersion, flags);
}

CUresult nb_wrap_get_proc_address_v2(const struct nb_call *call, nb_cuGetProcAddress_v2_t real,
                                     const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
                                     CUdriverProcAddressQueryResult *symbolStatus)
{
    return replace_address(call, real(symbol, pfn, cudaVersion, flags, symbolStatus), symbol, pfn,
                           cudaVersion, flags);
}
