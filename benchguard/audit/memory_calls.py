"""Driver calls, of both vendors, that allocate, release, map and copy memory. Names are those of the documentation.

Arguments are found by position, which the vendors share where they name them differently.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

DEVICE, MANAGED, HOST, ARRAY, PHYSICAL = "device", "managed", "pinned host", "array", "physical"


@dataclass(frozen=True)
class Allocation:
    """A call that returns the address or handle of new memory in its first argument.

    The size is the product of the arguments at `size`; without any, the call's record does not have the size.
    """

    kind: str
    size: tuple[int, ...] = (1,)

    def bytes(self, words: Sequence[int]) -> int | None:
        """The size that a call asked for. Raises IndexError."""
        product = 1
        for position in self.size:
            product *= words[position]
        return product if self.size else None


_DEVICE, _HOST, _ARRAY = Allocation(DEVICE), Allocation(HOST), Allocation(ARRAY, ())
_PITCHED = Allocation(DEVICE, (1, 3))

ALLOCATIONS = {
    **dict.fromkeys(("cuMemAlloc", "cuMemAllocAsync", "cuMemAllocFromPoolAsync"), _DEVICE),
    **dict.fromkeys(
        ("hipMalloc", "hipMallocAsync", "hipMallocFromPoolAsync", "hipExtMallocWithFlags"), _DEVICE
    ),
    **dict.fromkeys(("cuMemAllocPitch", "hipMallocPitch", "hipMemAllocPitch"), _PITCHED),
    **dict.fromkeys(("cuMemAllocManaged", "hipMallocManaged"), Allocation(MANAGED)),
    **dict.fromkeys(("cuMemAllocHost", "cuMemHostAlloc"), _HOST),
    **dict.fromkeys(("hipHostMalloc", "hipHostAlloc", "hipMallocHost", "hipMemAllocHost"), _HOST),
    **dict.fromkeys(("cuArrayCreate", "cuArray3DCreate", "cuMipmappedArrayCreate"), _ARRAY),
    **dict.fromkeys(("hipArrayCreate", "hipArray3DCreate", "hipMipmappedArrayCreate"), _ARRAY),
    **dict.fromkeys(("hipMallocArray", "hipMalloc3DArray", "hipMallocMipmappedArray"), _ARRAY),
    **dict.fromkeys(("cuMemCreate", "hipMemCreate"), Allocation(PHYSICAL)),
}

_ADDRESSES = frozenset({DEVICE, MANAGED})

RELEASES = {
    **dict.fromkeys(("cuMemFree", "cuMemFreeAsync", "hipFree", "hipFreeAsync"), _ADDRESSES),
    **dict.fromkeys(("cuMemFreeHost", "hipHostFree", "hipFreeHost"), frozenset({HOST})),
    **dict.fromkeys(("cuArrayDestroy", "cuMipmappedArrayDestroy"), frozenset({ARRAY})),
    **dict.fromkeys(("hipArrayDestroy", "hipMipmappedArrayDestroy", "hipFreeArray"), frozenset({ARRAY})),
    "hipFreeMipmappedArray": frozenset({ARRAY}),
    **dict.fromkeys(("cuMemRelease", "hipMemRelease"), frozenset({PHYSICAL})),
}
"""The kinds of memory that a call releases. Its first argument is the address or handle."""

RETAINS = frozenset({"cuMemRetainAllocationHandle", "hipMemRetainAllocationHandle"})
MAPS = frozenset({"cuMemMap", "hipMemMap"})
UNMAPS = frozenset({"cuMemUnmap", "hipMemUnmap"})

REGISTERS = frozenset({"cuMemHostRegister", "hipHostRegister"})
UNREGISTERS = frozenset({"cuMemHostUnregister", "hipHostUnregister"})
GLOBALS = frozenset({"cuModuleGetGlobal", "cuLibraryGetGlobal", "cuLibraryGetManaged", "hipModuleGetGlobal"})
"""Calls that return the address and the size of a variable in their first two arguments."""
UNSEEN = frozenset(
    {
        *("cuGraphAddMemAllocNode", "cuGraphAddNode", "hipGraphAddMemAllocNode", "hipGraphAddNode"),
        *("cuIpcOpenMemHandle", "hipIpcOpenMemHandle", "cuExternalMemoryGetMappedBuffer"),
        *(
            "hipExternalMemoryGetMappedBuffer",
            "cuMemPoolImportPointer",
            "hipMemPoolImportPointer",
            "hipMalloc3D",
        ),
    }
)
"""Calls after which there may be device memory whose address or size is in no record."""

CONTEXTS_MADE = frozenset({"cuCtxCreate", "hipCtxCreate"})
CONTEXTS_SET = frozenset({"cuCtxSetCurrent", "hipCtxSetCurrent"})
CONTEXTS_PUSHED = frozenset({"cuCtxPushCurrent", "hipCtxPushCurrent"})
CONTEXTS_POPPED = frozenset({"cuCtxPopCurrent", "hipCtxPopCurrent"})
CONTEXTS_DESTROYED = frozenset({"cuCtxDestroy", "hipCtxDestroy"})
PRIMARY_RETAINED = frozenset({"cuDevicePrimaryCtxRetain", "hipDevicePrimaryCtxRetain"})
PRIMARY_RELEASED = frozenset({"cuDevicePrimaryCtxRelease", "hipDevicePrimaryCtxRelease"})
PRIMARY_RESET = frozenset({"cuDevicePrimaryCtxReset", "hipDevicePrimaryCtxReset"})
DEVICE_RESET = frozenset({"hipDeviceReset"})
