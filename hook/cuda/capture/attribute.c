#include "cuda/capture/attribute.h"

#include <stdio.h>
#include <string.h>

#include "cuda/capture/refuse.h"

/* Attributes missing from cuda.h 12.5, the oldest header for which the shim is built. */
enum {
    ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION = 11,
    ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 14,
    ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING = 16
};

/* Return NULL if a replay can repeat the attribute. A handle means nothing in another process. */
static const char *find_problem(uint32_t id)
{
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    case ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
        return NULL;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        return "a launch triggers an event from inside its kernel (programmatic event)";
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        return "a launch records an event when its blocks have started (launch completion event)";
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        return "a kernel node can be changed from the device";
    default:
        return "";
    }
}

uint32_t nb_capture_copy_attributes(const struct nb_call *call, const CUlaunchAttribute *attributes,
                                    uint32_t count, struct nb_attribute *copies)
{
    _Static_assert(sizeof attributes->value == sizeof copies->value, "CUlaunchAttributeValue is 64 bytes");
    uint32_t count_copied = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t id = (uint32_t)attributes[i].id;
        const char *reason = id != CU_LAUNCH_ATTRIBUTE_IGNORE ? find_problem(id) : NULL;
        char unknown[96];
        if (reason != NULL && *reason == 0) {
            snprintf(unknown, sizeof unknown, "a launch has unknown attribute %u", id);
            reason = unknown;
        }
        if (reason != NULL)
            nb_capture_refuse(call, reason);
        if (reason != NULL || id == CU_LAUNCH_ATTRIBUTE_IGNORE)
            continue;
        copies[count_copied] = (struct nb_attribute){.id = id};
        memcpy(copies[count_copied++].value, &attributes[i].value, sizeof copies->value);
    }
    return count_copied;
}
