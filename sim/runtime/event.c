/* Events. */
#include "runtime/cudart.h"

FORWARD(cudaEventCreate, (cudaEvent_t * event), cuEventCreate, event, CU_EVENT_DEFAULT)
FORWARD(cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned int flags), cuEventCreate, event, flags)
FORWARD(cudaEventDestroy, (cudaEvent_t event), cuEventDestroy, event)
FORWARD(cudaEventQuery, (cudaEvent_t event), cuEventQuery, event)
FORWARD(cudaEventSynchronize, (cudaEvent_t event), cuEventSynchronize, event)
FORWARD(cudaEventElapsedTime, (float *ms, cudaEvent_t start, cudaEvent_t end), cuEventElapsedTime, ms, start,
        end)
FORWARD_STREAM(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), cuEventRecord, event, stream)
FORWARD_STREAM(cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream, unsigned int flags),
               cuEventRecordWithFlags, event, stream, flags)
