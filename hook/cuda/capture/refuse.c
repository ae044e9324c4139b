#include "cuda/capture/refuse.h"

#include <cuda.h>

#include <stdatomic.h>
#include <string.h>

#include "core/driver/slots.h"
#include "core/region/raw_capture.h"
#include "core/region/region.h"
#include "core/region/region_about.h"
#include "core/wire/capture_format.h"
#include "cuda/kernel/stream.h"

/* Further refusals are dropped: no user reads that many. Reads and addresses leave room for
 * other refusals, because these may not prevent a replay. */
#define REFUSALS_MAX 256
#define READS_MAX    128

/* Hashes of the refusals written so far: a set without locks. */
static _Atomic uint64_t refusals[REFUSALS_MAX];

static atomic_bool has_lost_later_data;

static uint64_t hash(uint32_t slot, const char *reason)
{
    uint64_t value = 0xcbf29ce484222325u ^ slot; /* FNV-1a */
    for (; *reason != 0; reason++)
        value = (value ^ (unsigned char)*reason) * 0x100000001b3u;
    return value | 1; /* 0 marks a free place */
}

static bool add_refusal(uint64_t key, unsigned places)
{
    for (unsigned i = 0; i < places; i++) {
        uint64_t attribute = 0;
        if (atomic_compare_exchange_strong(&refusals[i], &attribute, key))
            return true;
        if (attribute == key)
            return false;
    }
    return false;
}

static void append(const struct nb_call *call, const char *reason, uint32_t flags)
{
    const char *name = nb_export_names[call->slot];
    const size_t name_bytes = strlen(name), reason_bytes = strlen(reason);
    const struct nb_capture_refusal refusal = {.operation = nb_raw_capture_count(NB_CAPTURE_OPERATION),
                                               .flags = flags,
                                               .call = {sizeof refusal, name_bytes},
                                               .reason = {sizeof refusal + name_bytes, reason_bytes}};
    const struct nb_piece pieces[] = {{&refusal, sizeof refusal}, {name, name_bytes}, {reason, reason_bytes}};
    nb_raw_capture_append(NB_CAPTURE_REFUSAL, pieces, 3);
}

void nb_capture_refuse(const struct nb_call *call, const char *reason)
{
    if (add_refusal(hash(call->slot, reason), REFUSALS_MAX))
        append(call, reason, 0);
}

void nb_capture_refuse_read(const struct nb_call *call, const char *reason)
{
    if (add_refusal(hash(call->slot, reason), READS_MAX))
        append(call, reason, NB_REFUSAL_READ);
}

void nb_capture_refuse_address(const struct nb_call *call, const char *reason)
{
    if (add_refusal(hash(call->slot, reason), READS_MAX))
        append(call, reason, NB_REFUSAL_ADDRESS);
}

void nb_capture_refuse_incomplete(void)
{
    static const char reason[] = "not enough memory to record all calls";
    if (add_refusal(hash(UINT32_MAX, reason), REFUSALS_MAX))
        nb_region_refuse(reason);
}

void nb_capture_refuse_later(void)
{
    atomic_store(&has_lost_later_data, true);
    if (nb_region_is_open())
        nb_capture_refuse_incomplete();
}

void nb_capture_refuse_earlier_losses(void)
{
    if (atomic_load(&has_lost_later_data))
        nb_capture_refuse_incomplete();
}

static void reset(void)
{
    for (unsigned i = 0; i < REFUSALS_MAX; i++)
        atomic_store(&refusals[i], 0);
}

const struct nb_component nb_capture_refuse_component = {.reset = reset};

void nb_refuse(const struct nb_call *call, int result, const char *reason)
{
    if (result != CUDA_SUCCESS || !nb_hook_enter(call))
        return;
    nb_capture_refuse(call, reason);
    nb_hook_leave(call);
}

void nb_refuse_on_stream(const struct nb_call *call, int result, void *stream, const char *reason)
{
    if (result != CUDA_SUCCESS || !nb_hook_enter(call))
        return;
    if (!nb_stream_is_captured(call, stream))
        nb_capture_refuse(call, reason);
    nb_hook_leave(call);
}
