#include "driver/context/green.h"

#include "driver/capture/capture.h"
#include "driver/context/event.h"
#include "driver/context/life.h"
#include "driver/core/state.h"
#include "driver/device/device.h"
#include "driver/device/model.h"
#include "driver/device/resource.h"
#include "driver/stream/event.h"
#include "driver/stream/stream.h"

#include <stdlib.h>

unsigned sim_context_multiprocessors(const struct sim_context *context)
{
#if CUDA_VERSION >= 12040
    if (context->green != NULL)
        return context->green->resource.sm.smCount;
#else
    (void)context;
#endif
    return sim_multiprocessors();
}

#if CUDA_VERSION >= 12040

static void dispose(struct sim_object *object)
{
    struct sim_green *green = (struct sim_green *)object;
    sim_object_release(green->context);
    free(green);
}

static struct sim_green *make(struct sim_context *primary, unsigned multiprocessors)
{
    struct sim_green *green = calloc(1, sizeof(*green));
    if (green == NULL)
        return NULL;
    sim_object_init(&green->object, SIM_GREEN, NULL, dispose);
    sim_resource_fill(&green->resource, multiprocessors);
    green->context = sim_context_make(atomic_load(&primary->flags));
    if (green->context == NULL || sim_context_begin(green->context) != CUDA_SUCCESS) {
        sim_object_release(green);
        return NULL;
    }
    green->context->primary = primary;
    green->context->green = green;
    return green;
}

static void finish(struct sim_green *green)
{
    (void)sim_object_withdraw(green->context, SIM_CONTEXT);
    sim_context_end(green->context);
    green->context->green = NULL;
    sim_object_release(green);
}

/* Without a description the green context gets all multiprocessors of the device. */
CUresult cuGreenCtxCreate(CUgreenCtx *phCtx, CUdevResourceDesc desc, CUdevice dev, unsigned int flags)
{
    struct sim_context *primary;
    CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    const struct sim_description *description = sim_object_find(desc, SIM_DESCRIPTION);
    if (phCtx == NULL || flags != CU_GREEN_CTX_DEFAULT_STREAM || (desc != NULL && description == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    if (dev != SIM_DEVICE)
        return CUDA_ERROR_INVALID_DEVICE;
    result = sim_primary_retain(&primary);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_green *green =
        make(primary, description == NULL ? sim_multiprocessors() : description->multiprocessors);
    if (green != NULL && sim_object_publish(green->context) && sim_object_publish(green)) {
        *phCtx = (CUgreenCtx)green;
        return CUDA_SUCCESS;
    }
    if (green != NULL)
        finish(green);
    (void)sim_primary_release();
    return CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult find(CUgreenCtx handle, struct sim_green **green)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    *green = sim_object_find(handle, SIM_GREEN);
    return *green == NULL ? CUDA_ERROR_INVALID_CONTEXT : sim_context_check((*green)->context);
}

CUresult cuGreenCtxDestroy(CUgreenCtx hCtx)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (!sim_object_withdraw(hCtx, SIM_GREEN))
        return CUDA_ERROR_INVALID_CONTEXT;
    finish((struct sim_green *)hCtx);
    return sim_primary_release();
}

CUresult cuCtxFromGreenCtx(CUcontext *pContext, CUgreenCtx hCtx)
{
    struct sim_green *green;
    if (pContext == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = find(hCtx, &green);
    if (result == CUDA_SUCCESS)
        *pContext = (CUcontext)green->context;
    return result;
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx hCtx, CUdevResource *resource, CUdevResourceType type)
{
    struct sim_green *green;
    if (resource == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = find(hCtx, &green);
    if (result != CUDA_SUCCESS)
        return result;
    if (type != CU_DEV_RESOURCE_TYPE_SM)
        return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    *resource = green->resource;
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxRecordEvent(CUgreenCtx hCtx, CUevent hEvent)
{
    struct sim_green *green;
    struct sim_event *event;
    CUresult result = find(hCtx, &green);
    if (result == CUDA_SUCCESS)
        result = sim_event_enter(hEvent, &event);
    if (result != CUDA_SUCCESS)
        return result;
    if (sim_context_root(event->object.context) != sim_context_root(green->context))
        return CUDA_ERROR_INVALID_HANDLE;
    return sim_capture_invalidate_context(green->context) ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                                                          : sim_context_record(green->context, event);
}

CUresult cuGreenCtxWaitEvent(CUgreenCtx hCtx, CUevent hEvent)
{
    struct sim_green *green;
    struct sim_event *event;
    CUresult result = find(hCtx, &green);
    if (result == CUDA_SUCCESS)
        result = sim_event_enter(hEvent, &event);
    if (result != CUDA_SUCCESS)
        return result;
    if (sim_capture_invalidate_context(green->context) ||
        sim_capture_classify_event(event, true) == SIM_EVENT_CAPTURED)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return sim_context_wait(green->context, event);
}

static CUresult get_green(CUstream hStream, CUgreenCtx *green, bool per_thread)
{
    struct sim_stream *stream;
    if (green == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = sim_stream_enter(hStream, per_thread, &stream);
    if (result == CUDA_SUCCESS)
        *green = (CUgreenCtx)stream->object.context->green;
    return result;
}

CUresult cuStreamGetGreenCtx(CUstream hStream, CUgreenCtx *phCtx)
{
    return get_green(hStream, phCtx, false);
}

#if CUDA_VERSION >= 12050

CUresult cuGreenCtxStreamCreate(CUstream *phStream, CUgreenCtx greenCtx, unsigned int flags, int priority)
{
    struct sim_green *green;
    if (phStream == NULL || flags != CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = find(greenCtx, &green);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_stream *stream = sim_stream_make(green->context, flags, sim_stream_clamp_priority(priority));
    if (stream == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!sim_object_publish(stream)) {
        sim_stream_close(stream);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *phStream = (CUstream)stream;
    return CUDA_SUCCESS;
}

static CUresult get_both(CUstream hStream, CUcontext *context, CUgreenCtx *green, bool per_thread)
{
    struct sim_stream *stream;
    const CUresult result = sim_stream_enter(hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (context != NULL)
        *context = (CUcontext)stream->object.context;
    if (green != NULL)
        *green = (CUgreenCtx)stream->object.context->green;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx_v2(CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx)
{
    return get_both(hStream, pCtx, pGreenCtx, false);
}

CUresult cuStreamGetCtx_v2_ptsz(CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx)
{
    return get_both(hStream, pCtx, pGreenCtx, true);
}

#endif

#if CUDA_VERSION >= 12090
/* The id is that of the underlying context. */
CUresult cuGreenCtxGetId(CUgreenCtx greenCtx, unsigned long long *greenCtxId)
{
    struct sim_context *context;
    struct sim_green *green;
    if (greenCtxId == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = greenCtx == NULL ? sim_enter(&context) : find(greenCtx, &green);
    if (result != CUDA_SUCCESS)
        return result;
    if (greenCtx == NULL && context->green == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    *greenCtxId = greenCtx == NULL ? context->id : green->context->id;
    return CUDA_SUCCESS;
}
#endif

#endif
