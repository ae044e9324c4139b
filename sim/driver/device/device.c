#include "driver/device/device.h"

#include "driver/core/api.h"
#include "driver/core/state.h"
#include "driver/device/model.h"

#include <stdio.h>
#include <string.h>

static const char pci_bus_id[] = "0000:01:00.0";

size_t sim_device_memory(void)
{
    return sim_environment()->memory_bytes;
}

static CUresult check(CUdevice dev, const void *out)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return dev == SIM_DEVICE ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    const CUresult result = check(ordinal, device);
    if (result == CUDA_SUCCESS)
        *device = SIM_DEVICE;
    return result;
}

CUresult cuDeviceGetCount(int *count)
{
    const CUresult result = check(SIM_DEVICE, count);
    if (result == CUDA_SUCCESS)
        *count = 1;
    return result;
}

CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
{
    const CUresult result = check(dev, name);
    if (result != CUDA_SUCCESS)
        return result;
    if (len <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    (void)snprintf(name, (size_t)len, "%s", sim_model()->name);
    return CUDA_SUCCESS;
}

static CUresult get_uuid(CUuuid *uuid, CUdevice dev)
{
    const CUresult result = check(dev, uuid);
    if (result != CUDA_SUCCESS)
        return result;
    char text[sizeof uuid->bytes +
              1]; /* derived from the model's name, because UUIDs of different devices must differ */
    (void)snprintf(text, sizeof text, "neutrino:%-7.7s", sim_model()->key);
    memcpy(uuid->bytes, text, sizeof uuid->bytes);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
    return get_uuid(uuid, dev);
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
    return get_uuid(uuid, dev);
}

CUresult cuDeviceGetLuid(char *luid, unsigned int *deviceNodeMask, CUdevice dev)
{
    const CUresult result = check(dev, luid);
    if (result != CUDA_SUCCESS)
        return result;
    if (deviceNodeMask == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    memset(luid, 0, 8); /* only Windows has LUIDs */
    *deviceNodeMask = 0;
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(unsigned int *bytes, CUdevice dev)
{
    const CUresult result = check(dev, bytes);
    if (result == CUDA_SUCCESS)
        *bytes = sim_device_memory() > 0xffffffffu ? 0xffffffffu : (unsigned)sim_device_memory();
    return result;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
    const CUresult result = check(dev, bytes);
    if (result == CUDA_SUCCESS)
        *bytes = sim_device_memory();
    return result;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
    const CUresult result = check(dev, major);
    if (result != CUDA_SUCCESS)
        return result;
    if (minor == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *major = sim_model()->major;
    *minor = sim_model()->minor;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetProperties(CUdevprop *prop, CUdevice dev)
{
    const CUresult result = check(dev, prop);
    if (result == CUDA_SUCCESS)
        *prop = (CUdevprop){.maxThreadsPerBlock = SIM_BLOCK_THREADS,
                            .maxThreadsDim = {SIM_BLOCK_THREADS, SIM_BLOCK_THREADS, SIM_BLOCK_Z},
                            .maxGridSize = {SIM_GRID_X, SIM_GRID_YZ, SIM_GRID_YZ},
                            .sharedMemPerBlock = SIM_BLOCK_SHARED,
                            .totalConstantMemory = SIM_CONSTANT_BYTES,
                            .SIMDWidth = SIM_WARP,
                            .memPitch = 0x7fffffff,
                            .regsPerBlock = SIM_SM_REGISTERS,
                            .clockRate = sim_model()->clock_khz,
                            .textureAlign = 512};
    return result;
}

CUresult cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)
{
    const CUresult result = check(dev, pciBusId);
    if (result != CUDA_SUCCESS)
        return result;
    if (len < (int)sizeof pci_bus_id)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(pciBusId, pci_bus_id, sizeof pci_bus_id);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId)
{
    const CUresult result = check(SIM_DEVICE, dev);
    if (result != CUDA_SUCCESS)
        return result;
    if (pciBusId == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (strcmp(pciBusId, pci_bus_id) != 0 && strcmp(pciBusId, pci_bus_id + 5) != 0)
        return CUDA_ERROR_INVALID_DEVICE;
    *dev = SIM_DEVICE;
    return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
{
    const CUresult result = check(dev, canAccessPeer);
    if (result != CUDA_SUCCESS)
        return result;
    if (peerDev != SIM_DEVICE)
        return CUDA_ERROR_INVALID_DEVICE;
    *canAccessPeer = 0; /* a device is not its own peer */
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetExecAffinitySupport(int *pi, CUexecAffinityType type, CUdevice dev)
{
    (void)type;
    const CUresult result = check(dev, pi);
    if (result == CUDA_SUCCESS)
        *pi = 0;
    return result;
}
