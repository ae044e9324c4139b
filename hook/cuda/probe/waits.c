/* The calls at which maps are collected: the program waits for the device, or ends a context. */
#include "core/driver/slots.h"
#include "core/probe/mailbox.h"
#include "cuda/kernel/handle.h"
#include "cuda/kernel/stream.h"
#include "cuda/memory/foreign.h"
#include "cuda/probe/graph.h"
#include "cuda/probe/launch.h"
#include "cuda/time/launch_time.h"
#include "real.h"
#include "special.h"
#include "surface.h"

/* The program waited for the device. */
static void waited(const struct nb_call *call)
{
    nb_launch_time_collect(call);
    if (!nb_probing() || !nb_hook_enter(call))
        return;
    nb_probe_collect(call);
    nb_hook_leave(call);
}

/* Queued frees of these streams have happened. */
static void settle(const struct nb_call *call, CUresult result, uint64_t stream)
{
    CUcontext context = NULL;
    if (nb_probing() && result == CUDA_SUCCESS && call->thread != NULL &&
        NB_REAL(cuCtxGetCurrent)(&context) == CUDA_SUCCESS)
        nb_foreign_settle(nb_handle(context), stream, call->begin);
}

void nb_post_wait(const struct nb_call *call, CUresult result)
{
    settle(call, result, 0);
    waited(call);
}

void nb_post_wait_of_stream(const struct nb_call *call, CUresult result, CUstream hStream)
{
    if (nb_probing()) {
        const uint64_t stream = nb_stream_query_number(nb_stream_resolve(call, hStream));
        if (stream != 0)
            settle(call, result, stream);
    }
    waited(call);
}

void nb_post_wait_of_event(const struct nb_call *call, CUresult result, CUevent hEvent)
{
    (void)result, (void)hEvent;
    waited(call);
}

void nb_post_copy_to_host(const struct nb_call *call, CUresult result, void *dstHost, CUdeviceptr srcDevice,
                          size_t ByteCount)
{
    (void)result, (void)dstHost, (void)srcDevice, (void)ByteCount;
    waited(call);
}

CUresult nb_wrap_when_recording_context_destroy(const struct nb_call *call, nb_cuCtxDestroy_t real,
                                                CUcontext ctx)
{
    if (nb_probing() && ctx != NULL && call->thread != NULL)
        nb_probe_collect_all(call, ctx);
    return real(ctx);
}

/* Only the last release ends the context, and its number is unknown: each one may be the last. */
CUresult nb_wrap_when_recording_primary_context(const struct nb_call *call, nb_cuDevicePrimaryCtxReset_t real,
                                                CUdevice dev)
{
    if (nb_probing() && call->thread != NULL)
        nb_probe_collect_all(call, NULL);
    return real(dev);
}

/* A primary context can be made again with the same handle. No call tells which one it was, so all go. */
void nb_post_primary_context(const struct nb_call *call, CUresult result, CUdevice dev)
{
    unsigned int flags = 0;
    int active = 0;
    if (!(nb_probing() || nb_timing_launches()) || result != CUDA_SUCCESS || !nb_hook_enter(call))
        return;
    if (NB_REAL(cuDevicePrimaryCtxGetState)(dev, &flags, &active) != CUDA_SUCCESS || !active) {
        nb_probe_forget_context(call, 0);
        nb_launch_time_forget_context(0);
    }
    nb_hook_leave(call);
}
