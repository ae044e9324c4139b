/* The driver functions that the runtime calls: X(name) for each. */
#ifndef NEUTRINO_SIM_RUNTIME_DRIVER_FUNCTIONS_H
#define NEUTRINO_SIM_RUNTIME_DRIVER_FUNCTIONS_H

/* clang-format off */
#define DRIVER_START(X) \
    X(cuInit) X(cuDriverGetVersion) X(cuGetErrorString) X(cuGetProcAddress) X(cuProfilerStart) \
    X(cuProfilerStop)

#define DRIVER_DEVICES(X) \
    X(cuDeviceGetCount) X(cuDeviceGetName) X(cuDeviceGetUuid) X(cuDeviceTotalMem) X(cuDeviceGetAttribute) \
    X(cuDeviceGetByPCIBusId) X(cuDeviceGetPCIBusId) X(cuDeviceCanAccessPeer) X(cuDeviceGetP2PAttribute) \
    X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxReset) X(cuDevicePrimaryCtxSetFlags) \
    X(cuDevicePrimaryCtxGetState) X(cuCtxGetCurrent) X(cuCtxSetCurrent) X(cuCtxGetDevice) \
    X(cuCtxSynchronize) X(cuCtxSetLimit) X(cuCtxGetLimit) X(cuCtxSetCacheConfig) X(cuCtxGetCacheConfig) \
    X(cuCtxGetStreamPriorityRange) X(cuCtxResetPersistingL2Cache)

#define DRIVER_CODE(X) \
    X(cuLibraryLoadData) X(cuLibraryLoadFromFile) X(cuLibraryGetKernelCount) X(cuLibraryEnumerateKernels) \
    X(cuLibraryGetUnifiedFunction) X(cuKernelSetAttribute) X(cuLibraryUnload) X(cuLibraryGetKernel) X(cuLibraryGetGlobal) \
    X(cuLibraryGetManaged) X(cuKernelGetFunction) X(cuFuncGetAttribute) X(cuFuncSetAttribute) \
    X(cuFuncSetCacheConfig) X(cuFuncGetName) X(cuFuncGetParamInfo) X(cuLaunchKernel) X(cuLaunchKernelEx) \
    X(cuLaunchHostFunc) X(cuOccupancyMaxActiveBlocksPerMultiprocessor) \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags) X(cuOccupancyAvailableDynamicSMemPerBlock) \
    X(cuOccupancyMaxPotentialClusterSize) X(cuOccupancyMaxActiveClusters)

#define DRIVER_MEMORY(X) \
    X(cuMemAlloc) X(cuMemAllocPitch) X(cuMemAllocManaged) X(cuMemFree) X(cuMemGetInfo) X(cuMemHostAlloc) \
    X(cuMemFreeHost) X(cuMemHostRegister) X(cuMemHostUnregister) X(cuMemHostGetFlags) \
    X(cuMemHostGetDevicePointer) X(cuMemAllocAsync) X(cuMemAllocFromPoolAsync) X(cuMemFreeAsync) \
    X(cuPointerGetAttributes) X(cuMemPrefetchAsync) X(cuMemAdvise) X(cuDeviceGetDefaultMemPool) \
    X(cuDeviceGetMemPool) X(cuDeviceSetMemPool) X(cuMemGetDefaultMemPool) X(cuMemGetMemPool) X(cuMemSetMemPool) \
    X(cuMemPoolCreate) X(cuMemPoolDestroy) X(cuMemPoolTrimTo) \
    X(cuMemPoolSetAttribute) X(cuMemPoolGetAttribute) X(cuMemPoolSetAccess) X(cuMemPoolGetAccess)

#define DRIVER_COPIES(X) \
    X(cuMemcpyBatchAsync) X(cuMemcpy3DBatchAsync) X(cuMemPrefetchBatchAsync) X(cuMemDiscardBatchAsync) \
    X(cuMemDiscardAndPrefetchBatchAsync) \
    X(cuMemcpy) X(cuMemcpyHtoD) X(cuMemcpyDtoH) X(cuMemcpyDtoD) X(cuMemcpyAsync) X(cuMemcpyHtoDAsync) \
    X(cuMemcpyDtoHAsync) X(cuMemcpyDtoDAsync) X(cuMemcpy2DUnaligned) X(cuMemcpy2DAsync) X(cuMemsetD8) \
    X(cuMemsetD8Async) X(cuMemsetD2D8) X(cuMemsetD2D8Async)

#define DRIVER_IMAGES(X) \
    X(cuArrayGetMemoryRequirements) X(cuMipmappedArrayGetMemoryRequirements) \
    X(cuArray3DCreate) X(cuArray3DGetDescriptor) X(cuArrayDestroy) X(cuMipmappedArrayCreate) \
    X(cuMipmappedArrayGetLevel) X(cuMipmappedArrayDestroy) X(cuMemcpy3D) X(cuMemcpy3DAsync) \
    X(cuTexObjectCreate) X(cuTexObjectDestroy) X(cuTexObjectGetResourceDesc) X(cuTexObjectGetTextureDesc) \
    X(cuTexObjectGetResourceViewDesc) X(cuSurfObjectCreate) X(cuSurfObjectDestroy) \
    X(cuSurfObjectGetResourceDesc)

#define DRIVER_STREAMS(X) \
    X(cuStreamCopyAttributes) \
    X(cuStreamCreate) X(cuStreamCreateWithPriority) X(cuStreamDestroy) X(cuStreamSynchronize) \
    X(cuStreamQuery) X(cuStreamWaitEvent) X(cuStreamGetPriority) X(cuStreamGetFlags) X(cuStreamGetId) \
    X(cuStreamGetDevice) X(cuStreamAttachMemAsync) X(cuStreamGetAttribute) X(cuStreamSetAttribute) \
    X(cuStreamAddCallback) X(cuEventCreate) X(cuEventDestroy) X(cuEventQuery) X(cuEventSynchronize) \
    X(cuEventElapsedTime) X(cuEventRecord) X(cuEventRecordWithFlags) X(cuStreamBeginCapture) \
    X(cuStreamBeginCaptureToGraph) X(cuStreamEndCapture) X(cuStreamIsCapturing) X(cuStreamGetCaptureInfo) \
    X(cuStreamUpdateCaptureDependencies) X(cuThreadExchangeStreamCaptureMode)

#define DRIVER_GRAPHS(X) \
    X(cuGraphKernelNodeGetParams) X(cuGraphMemcpyNodeGetParams) \
    X(cuGraphCreate) X(cuGraphDestroy) X(cuGraphClone) X(cuGraphNodeFindInClone) X(cuGraphGetNodes) \
    X(cuGraphGetRootNodes) X(cuGraphGetEdges) X(cuGraphAddDependencies) X(cuGraphRemoveDependencies) \
    X(cuGraphDebugDotPrint) X(cuGraphInstantiateWithFlags) X(cuGraphInstantiateWithParams) \
    X(cuGraphExecDestroy) X(cuGraphExecGetFlags) X(cuGraphExecUpdate) X(cuGraphLaunch) X(cuGraphUpload) \
    X(cuGraphAddEmptyNode) X(cuGraphAddChildGraphNode) X(cuGraphAddHostNode) X(cuGraphAddEventRecordNode) \
    X(cuGraphAddEventWaitNode) X(cuGraphAddMemFreeNode) X(cuGraphAddKernelNode) X(cuGraphAddMemsetNode) \
    X(cuGraphAddMemcpyNode) X(cuGraphNodeGetType) X(cuGraphChildGraphNodeGetGraph) \
    X(cuGraphNodeGetDependencies) X(cuGraphNodeGetDependentNodes) X(cuGraphDestroyNode) \
    X(cuGraphNodeSetEnabled) X(cuGraphNodeGetEnabled) X(cuGraphKernelNodeSetParams) \
    X(cuGraphExecKernelNodeSetParams) X(cuGraphKernelNodeCopyAttributes) X(cuGraphKernelNodeGetAttribute) \
    X(cuGraphKernelNodeSetAttribute) X(cuGraphMemcpyNodeSetParams) X(cuGraphExecMemcpyNodeSetParams) \
    X(cuGraphMemsetNodeGetParams) X(cuGraphMemsetNodeSetParams) X(cuGraphExecMemsetNodeSetParams) \
    X(cuGraphHostNodeGetParams) X(cuGraphHostNodeSetParams) X(cuGraphExecHostNodeSetParams) \
    X(cuGraphEventRecordNodeGetEvent) X(cuGraphEventRecordNodeSetEvent) \
    X(cuGraphExecEventRecordNodeSetEvent) X(cuGraphEventWaitNodeGetEvent) X(cuGraphEventWaitNodeSetEvent) \
    X(cuGraphExecEventWaitNodeSetEvent) X(cuGraphExecChildGraphNodeSetParams) X(cuGraphAddMemAllocNode) \
    X(cuGraphMemAllocNodeGetParams) X(cuGraphMemFreeNodeGetParams) X(cuGraphAddNode) \
    X(cuGraphNodeSetParams) X(cuGraphExecNodeSetParams) X(cuGraphConditionalHandleCreate) \
    X(cuUserObjectCreate) X(cuUserObjectRetain) X(cuUserObjectRelease) X(cuGraphRetainUserObject) \
    X(cuGraphReleaseUserObject) X(cuDeviceGetGraphMemAttribute) X(cuDeviceSetGraphMemAttribute) \
    X(cuDeviceGraphMemTrim)

#define DRIVER_SHARING(X) \
    X(cuDeviceGetP2PAtomicCapabilities) X(cuMemcpyPeer) X(cuMemcpyPeerAsync) X(cuCtxEnablePeerAccess) X(cuCtxDisablePeerAccess) \
    X(cuMemPoolExportToShareableHandle) X(cuMemPoolImportFromShareableHandle) X(cuMemPoolExportPointer) \
    X(cuMemPoolImportPointer) X(cuIpcGetMemHandle) X(cuIpcOpenMemHandle) X(cuIpcCloseMemHandle) \
    X(cuIpcGetEventHandle) X(cuIpcOpenEventHandle) X(cuMemRangeGetAttribute) X(cuMemRangeGetAttributes)

#define DRIVER_FUNCTIONS(X) \
    DRIVER_START(X) DRIVER_DEVICES(X) DRIVER_CODE(X) DRIVER_MEMORY(X) DRIVER_COPIES(X) DRIVER_IMAGES(X) DRIVER_STREAMS(X) DRIVER_GRAPHS(X) \
    DRIVER_SHARING(X)
/* clang-format on */

#endif
