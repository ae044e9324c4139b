/* What the driver says of an address, told of the program's own allocation, as cuPointerGetAttribute and the
 * like.
 */
#include "cuda/memory/query.h"
#include "hip/hooks/answer.h"
#include "hip/hooks/same.h"
#include "real.h"
#include "special.h"
#include "surface.h"

static void *asked(const void *pointer)
{
    return (void *)(uintptr_t)nb_memory_address_to_ask(nb_address(pointer));
}

hipError_t nb_through_hip_allocated_bytes(const struct nb_call *call, nb_hipMemPtrGetInfo_t real, void *ptr,
                                          size_t *size)
{
    (void)call;
    const hipError_t result = real(asked(ptr), size);
    if (result == hipSuccess && size != NULL)
        nb_memory_correct(nb_address(ptr), CU_POINTER_ATTRIBUTE_RANGE_SIZE, size);
    return result;
}

/* Of an arena's block HIP says what it says of an allocation's, but where either begins and ends. */
hipError_t nb_through_hip_pointer_description(const struct nb_call *call, nb_hipPointerGetAttributes_t real,
                                              hipPointerAttribute_t *attributes, const void *ptr)
{
    (void)call;
    return real(attributes, asked(ptr));
}

/* The numbers of the attributes are CUDA's; but a context has a handle of HIP's own. */
static void correct(const void *pointer, hipPointer_attribute attribute, void *data)
{
    _Static_assert((int)HIP_POINTER_ATTRIBUTE_RANGE_SIZE == (int)CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                   "see above");
    if (attribute != HIP_POINTER_ATTRIBUTE_CONTEXT)
        nb_memory_correct(nb_address(pointer), (CUpointer_attribute)attribute, data);
}

hipError_t nb_through_hip_pointer_attribute(const struct nb_call *call, nb_hipPointerGetAttribute_t real,
                                            void *data, hipPointer_attribute attribute, hipDeviceptr_t ptr)
{
    (void)call;
    const hipError_t result = real(data, attribute, asked(ptr));
    if (result == hipSuccess && data != NULL)
        correct(ptr, attribute, data);
    return result;
}

hipError_t nb_through_hip_pointer_attributes(const struct nb_call *call, nb_hipDrvPointerGetAttributes_t real,
                                             unsigned int numAttributes, hipPointer_attribute *attributes,
                                             void **data, hipDeviceptr_t ptr)
{
    (void)call;
    const hipError_t result = real(numAttributes, attributes, data, asked(ptr));
    for (unsigned int i = 0; result == hipSuccess && i < numAttributes; i++)
        correct(ptr, attributes[i], data[i]);
    return result;
}
