/* Pointer queries, answered with the address range of the program's own allocation. */
#include "cuda/memory/query.h"
#include "hip/hooks/answer.h"
#include "hip/hooks/same.h"
#include "real.h"
#include "special.h"
#include "surface.h"

static void *address_to_query(const void *pointer)
{
    return (void *)(uintptr_t)nb_memory_address_to_ask(nb_address(pointer));
}

hipError_t nb_wrap_when_recording_hip_allocated_bytes(const struct nb_call *call, nb_hipMemPtrGetInfo_t real,
                                                      void *ptr, size_t *size)
{
    (void)call;
    const hipError_t result = real(address_to_query(ptr), size);
    if (result == hipSuccess && size != NULL)
        nb_memory_correct(nb_address(ptr), CU_POINTER_ATTRIBUTE_RANGE_SIZE, size);
    return result;
}

/* For a block of the arena HIP returns the attributes of an allocation; the structure has no address range.
 */
hipError_t nb_wrap_when_recording_hip_pointer_description(const struct nb_call *call,
                                                          nb_hipPointerGetAttributes_t real,
                                                          hipPointerAttribute_t *attributes, const void *ptr)
{
    (void)call;
    return real(attributes, address_to_query(ptr));
}

/* Attributes have CUDA's numbers. A context has HIP's own handle and is left as it is. */
static void correct_answer(const void *pointer, hipPointer_attribute attribute, void *data)
{
    _Static_assert((int)HIP_POINTER_ATTRIBUTE_RANGE_SIZE == (int)CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                   "see above");
    if (attribute != HIP_POINTER_ATTRIBUTE_CONTEXT)
        nb_memory_correct(nb_address(pointer), (CUpointer_attribute)attribute, data);
}

hipError_t nb_wrap_when_recording_hip_pointer_attribute(const struct nb_call *call,
                                                        nb_hipPointerGetAttribute_t real, void *data,
                                                        hipPointer_attribute attribute, hipDeviceptr_t ptr)
{
    (void)call;
    const hipError_t result = real(data, attribute, address_to_query(ptr));
    if (result == hipSuccess && data != NULL)
        correct_answer(ptr, attribute, data);
    return result;
}

hipError_t nb_wrap_when_recording_hip_pointer_attributes(const struct nb_call *call,
                                                         nb_hipDrvPointerGetAttributes_t real,
                                                         unsigned int numAttributes,
                                                         hipPointer_attribute *attributes, void **data,
                                                         hipDeviceptr_t ptr)
{
    (void)call;
    const hipError_t result = real(numAttributes, attributes, data, address_to_query(ptr));
    for (unsigned int i = 0; result == hipSuccess && i < numAttributes; i++)
        correct_answer(ptr, attributes[i], data[i]);
    return result;
}
