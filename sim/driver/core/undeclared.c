/* The names are from the export list of driver 580.159.04 (tests/data). */
#include "driver/core/undeclared.h"

#include "driver/core/api.h"
#include "driver/core/state.h"
#include "driver/core/stub.h"

#include <stddef.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT CUresult cuProfilerInitialize(const char *configuration, const char *output, int mode);
EXPORT CUresult cuProfilerStart(void);
EXPORT CUresult cuProfilerStop(void);

/* Deprecated since CUDA 11. A driver without profiling tools returns this error. */
CUresult cuProfilerInitialize(const char *configuration, const char *output, int mode)
{
    (void)configuration, (void)output, (void)mode;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuProfilerStart(void)
{
    return sim_check_initialized();
}

CUresult cuProfilerStop(void)
{
    return sim_check_initialized();
}

void *sim_undeclared_find(const char *name)
{
    static const struct {
        const char *name;
        CUresult (*function)(void);
    } functions[] = {{"cuProfilerStart", cuProfilerStart}, {"cuProfilerStop", cuProfilerStop}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0)
            return (void *)functions[i].function;
    return strcmp(name, "cuProfilerInitialize") == 0 ? (void *)cuProfilerInitialize : NULL;
}

/* Each returns an error, whatever its arguments are. */
#define MISSING(name)                                                                                        \
    EXPORT CUresult name(void);                                                                              \
    CUresult name(void)                                                                                      \
    {                                                                                                        \
        return sim_not_supported(#name);                                                                     \
    }

MISSING(cuEGLApiInit)
MISSING(cuEGLStreamConsumerAcquireFrame)
MISSING(cuEGLStreamConsumerConnect)
MISSING(cuEGLStreamConsumerConnectWithFlags)
MISSING(cuEGLStreamConsumerDisconnect)
MISSING(cuEGLStreamConsumerReleaseFrame)
MISSING(cuEGLStreamProducerConnect)
MISSING(cuEGLStreamProducerDisconnect)
MISSING(cuEGLStreamProducerPresentFrame)
MISSING(cuEGLStreamProducerReturnFrame)
MISSING(cuGLCtxCreate)
MISSING(cuGLCtxCreate_v2)
MISSING(cuGLGetDevices)
MISSING(cuGLGetDevices_v2)
MISSING(cuGLInit)
MISSING(cuGLMapBufferObject)
MISSING(cuGLMapBufferObjectAsync)
MISSING(cuGLMapBufferObjectAsync_v2)
MISSING(cuGLMapBufferObjectAsync_v2_ptsz)
MISSING(cuGLMapBufferObject_v2)
MISSING(cuGLMapBufferObject_v2_ptds)
MISSING(cuGLRegisterBufferObject)
MISSING(cuGLSetBufferObjectMapFlags)
MISSING(cuGLUnmapBufferObject)
MISSING(cuGLUnmapBufferObjectAsync)
MISSING(cuGLUnregisterBufferObject)
MISSING(cuGraphicsEGLRegisterImage)
MISSING(cuGraphicsGLRegisterBuffer)
MISSING(cuGraphicsGLRegisterImage)
MISSING(cuGraphicsResourceGetMappedEglFrame)
MISSING(cuGraphicsVDPAURegisterOutputSurface)
MISSING(cuGraphicsVDPAURegisterVideoSurface)
MISSING(cuMemGetAttribute)
MISSING(cuMemGetAttribute_v2)
MISSING(cuVDPAUCtxCreate)
MISSING(cuVDPAUCtxCreate_v2)
MISSING(cuVDPAUGetDevice)
