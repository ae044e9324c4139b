/* Attributes of streams. Ids, defaults and refusals are as on an H200. */
#include "driver/context/context.h"
#include "driver/device/device.h"
#include "driver/stream/stream.h"

#include <string.h>

#define WINDOW_BYTES_MAX (128u << 20)
#define DOMAINS          4 /* CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT of compute capability 9.0 */

static CUresult get(const struct sim_stream *stream, CUstreamAttrID attribute, CUstreamAttrValue *value)
{
    switch (attribute) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        value->accessPolicyWindow = stream->attributes.window;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        value->syncPolicy = (CUsynchronizationPolicy)stream->attributes.policy;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        value->priority = stream->priority;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        value->memSyncDomainMap.default_ = stream->attributes.domain_map[0];
        value->memSyncDomainMap.remote = stream->attributes.domain_map[1];
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        value->memSyncDomain = (CUlaunchMemSyncDomain)stream->attributes.domain;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult set_window(struct sim_stream *stream, const CUaccessPolicyWindow *window)
{
    if (window->num_bytes > WINDOW_BYTES_MAX || !(window->hitRatio >= 0 && window->hitRatio <= 1) ||
        window->missProp == CU_ACCESS_PROPERTY_PERSISTING)
        return CUDA_ERROR_INVALID_VALUE;
    stream->attributes.window = *window;
    return CUDA_SUCCESS;
}

static CUresult set(struct sim_stream *stream, CUstreamAttrID attribute, const CUstreamAttrValue *value)
{
    switch (attribute) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        return set_window(stream, &value->accessPolicyWindow);
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        if ((int)value->syncPolicy < CU_SYNC_POLICY_AUTO ||
            (int)value->syncPolicy > CU_SYNC_POLICY_BLOCKING_SYNC)
            return CUDA_ERROR_INVALID_VALUE;
        stream->attributes.policy = (int)value->syncPolicy;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        stream->priority = sim_stream_clamp_priority(value->priority);
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        if (value->memSyncDomainMap.default_ >= DOMAINS || value->memSyncDomainMap.remote >= DOMAINS)
            return CUDA_ERROR_INVALID_VALUE;
        stream->attributes.domain_map[0] = value->memSyncDomainMap.default_;
        stream->attributes.domain_map[1] = value->memSyncDomainMap.remote;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        if ((unsigned)value->memSyncDomain > CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE)
            return CUDA_ERROR_INVALID_VALUE;
        stream->attributes.domain = (int)value->memSyncDomain;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult get_attribute(CUstream hStream, CUstreamAttrID attribute, CUstreamAttrValue *value,
                              bool per_thread)
{
    struct sim_stream *stream;
    if (value == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_stream_enter(hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&stream->object.context->order);
    result = get(stream, attribute, value);
    pthread_mutex_unlock(&stream->object.context->order);
    return result;
}

CUresult cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue *value)
{
    return get_attribute(hStream, attr, value, false);
}

CUresult cuStreamGetAttribute_ptsz(CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue *value)
{
    return get_attribute(hStream, attr, value, true);
}

static CUresult set_attribute(CUstream hStream, CUstreamAttrID attribute, const CUstreamAttrValue *value,
                              bool per_thread)
{
    struct sim_stream *stream;
    if (value == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = sim_stream_enter(hStream, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&stream->object.context->order);
    result = set(stream, attribute, value);
    pthread_mutex_unlock(&stream->object.context->order);
    return result;
}

CUresult cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr, const CUstreamAttrValue *param)
{
    return set_attribute(hStream, attr, param, false);
}

CUresult cuStreamSetAttribute_ptsz(CUstream hStream, CUstreamAttrID attr, const CUstreamAttrValue *param)
{
    return set_attribute(hStream, attr, param, true);
}

static CUresult copy(CUstream destination, CUstream source, bool per_thread)
{
    struct sim_stream *to;
    struct sim_stream *from;
    CUresult result = sim_stream_enter(destination, per_thread, &to);
    if (result == CUDA_SUCCESS)
        result = sim_stream_enter(source, per_thread, &from);
    if (result != CUDA_SUCCESS)
        return result;
    if (to->object.context != from->object.context)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&to->object.context->order);
    to->attributes = from->attributes;
    to->priority = from->priority;
    pthread_mutex_unlock(&to->object.context->order);
    return CUDA_SUCCESS;
}

CUresult cuStreamCopyAttributes(CUstream dstStream, CUstream srcStream)
{
    return copy(dstStream, srcStream, false);
}

CUresult cuStreamCopyAttributes_ptsz(CUstream dstStream, CUstream srcStream)
{
    return copy(dstStream, srcStream, true);
}
