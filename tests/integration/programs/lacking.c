/* Functions that HIP lacks: linked into a test's program beside libcuda-over-hip.so, which lacks it. */
enum { NOT_SUPPORTED = 801 };

/* A caller's arguments are left where they are. */
#define LACKING(name)                                                                                        \
    int name(void);                                                                                          \
    int name(void)                                                                                           \
    {                                                                                                        \
        return NOT_SUPPORTED;                                                                                \
    }

LACKING(cuFuncSetBlockShape)
LACKING(cuParamSetSize)
LACKING(cuParamSetf)
LACKING(cuParamSeti)
LACKING(cuParamSetv)
LACKING(cuLaunchGrid)
LACKING(cuLaunchCooperativeKernelMultiDevice)
LACKING(cuGraphExecNodeSetParams)
LACKING(cuCtxCreate)
LACKING(cuCtxCreate_v4)
LACKING(cuCtxDestroy)
LACKING(cuCtxDestroy_v2)
LACKING(cuStreamWaitValue32_v2)
LACKING(cuGraphAddMemAllocNode)
LACKING(cuGraphAddNode)
LACKING(cuGraphAddNode_v2)
LACKING(cuGraphConditionalHandleCreate)
LACKING(cuOccupancyMaxActiveBlocksPerMultiprocessor)
