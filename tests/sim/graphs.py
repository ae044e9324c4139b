"""Structures of the graph API, and a class that builds graphs node by node."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any

from .conftest import STORE, Driver

INVALID_VALUE, INVALID_CONTEXT, NOT_SUPPORTED, LOSSY_QUERY, UPDATE_FAILURE = 1, 201, 801, 402, 910
HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Kernel(ctypes.Structure):
    _fields_ = (
        ("function", ctypes.c_void_p),
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_uint),
        ("parameters", ctypes.POINTER(ctypes.c_void_p)),
        ("extra", ctypes.c_void_p),
        ("kernel", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
    )


class Memset(ctypes.Structure):
    _fields_ = (
        ("to", ctypes.c_uint64),
        ("pitch", ctypes.c_size_t),
        ("value", ctypes.c_uint),
        ("element", ctypes.c_uint),
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("context", ctypes.c_void_p),  # from v2 on
    )


class Host(ctypes.Structure):
    _fields_ = (("function", ctypes.c_void_p), ("data", ctypes.c_void_p))


class Memcpy(ctypes.Structure):
    _fields_ = (
        ("from_x", ctypes.c_size_t),
        ("from_y", ctypes.c_size_t),
        ("from_z", ctypes.c_size_t),
        ("from_level", ctypes.c_size_t),
        ("from_type", ctypes.c_uint),
        ("from_host", ctypes.c_void_p),
        ("from_device", ctypes.c_uint64),
        ("from_array", ctypes.c_void_p),
        ("reserved0", ctypes.c_void_p),
        ("from_pitch", ctypes.c_size_t),
        ("from_height", ctypes.c_size_t),
        ("to_x", ctypes.c_size_t),
        ("to_y", ctypes.c_size_t),
        ("to_z", ctypes.c_size_t),
        ("to_level", ctypes.c_size_t),
        ("to_type", ctypes.c_uint),
        ("to_host", ctypes.c_void_p),
        ("to_device", ctypes.c_uint64),
        ("to_array", ctypes.c_void_p),
        ("reserved1", ctypes.c_void_p),
        ("to_pitch", ctypes.c_size_t),
        ("to_height", ctypes.c_size_t),
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("depth", ctypes.c_size_t),
    )


class Operation(ctypes.Structure):
    _fields_ = (
        ("kind", ctypes.c_uint),
        ("address", ctypes.c_uint64),
        ("value", ctypes.c_uint64),
        ("flags", ctypes.c_uint),
        ("alias", ctypes.c_uint64),
        ("padding", ctypes.c_uint64),
    )


class Batch(ctypes.Structure):
    _fields_ = (
        ("context", ctypes.c_void_p),
        ("count", ctypes.c_uint),
        ("operations", ctypes.POINTER(Operation)),
        ("flags", ctypes.c_uint),
    )


class Allocation(ctypes.Structure):
    _fields_ = (
        ("kind", ctypes.c_uint),
        ("handles", ctypes.c_uint),
        ("location", ctypes.c_uint),
        ("device", ctypes.c_uint),
        ("security", ctypes.c_void_p),
        ("most", ctypes.c_size_t),
        ("usage", ctypes.c_ushort),
        ("reserved", ctypes.c_ubyte * 54),
        ("descriptors", ctypes.c_void_p),
        ("descriptor_count", ctypes.c_size_t),
        ("size", ctypes.c_size_t),
        ("address", ctypes.c_uint64),
    )


class Condition(ctypes.Structure):
    _fields_ = (
        ("handle", ctypes.c_uint64),
        ("kind", ctypes.c_uint),
        ("size", ctypes.c_uint),
        ("bodies", ctypes.POINTER(ctypes.c_void_p)),
        ("context", ctypes.c_void_p),
    )


class Node(ctypes.Structure):
    """CUgraphNodeParams."""

    _fields_ = (
        ("kind", ctypes.c_uint),
        ("reserved0", ctypes.c_int * 3),
        ("member", ctypes.c_ubyte * 232),
        ("reserved2", ctypes.c_longlong),
    )

    @classmethod
    def of(cls, kind: int, member: ctypes.Structure | None = None) -> Node:
        node = cls(kind=kind)
        if member is not None:
            ctypes.memmove(node.member, ctypes.byref(member), ctypes.sizeof(member))
        return node

    def read(self, kind: Any) -> Any:
        return kind.from_buffer_copy(bytes(self.member))


class Edge(ctypes.Structure):
    _fields_ = (
        ("from_port", ctypes.c_ubyte),
        ("to_port", ctypes.c_ubyte),
        ("kind", ctypes.c_ubyte),
        ("reserved", ctypes.c_ubyte * 5),
    )


class Update(ctypes.Structure):
    _fields_ = (("result", ctypes.c_int), ("node", ctypes.c_void_p), ("origin", ctypes.c_void_p))


class Instantiation(ctypes.Structure):
    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("stream", ctypes.c_void_p),
        ("node", ctypes.c_void_p),
        ("result", ctypes.c_int),
    )


def nodes(*items: ctypes.c_void_p) -> tuple[Any, ctypes.c_size_t]:
    """Convert nodes to call arguments: a list and its length."""
    return (ctypes.c_void_p * max(1, len(items)))(*(item.value for item in items)), ctypes.c_size_t(
        len(items)
    )


@dataclass
class Graph:
    """A graph whose nodes use 4096 bytes of memory."""

    driver: Driver
    handle: ctypes.c_void_p
    memory: ctypes.c_uint64
    kept: list[Any] = field(default_factory=list)  # objects that parameters point to

    @classmethod
    def make(cls, driver: Driver, memory: ctypes.c_uint64 | None = None) -> Graph:
        return cls(driver, driver.handle("cuGraphCreate", 0), memory or driver.allocate(4096))

    def inside(self, handle: int | ctypes.c_void_p | None) -> Graph:
        """Return another graph over the same memory."""
        return Graph(self.driver, ctypes.c_void_p(getattr(handle, "value", handle)), self.memory, self.kept)

    @property
    def context(self) -> ctypes.c_void_p:
        return self.driver.handle("cuCtxGetCurrent")

    def store_parameters(self, value: int, offset: int = 0, at: int | None = None, grid: int = 1) -> Kernel:
        """Return the parameters of a kernel that stores a number."""
        address = ctypes.c_uint64((self.memory.value if at is None else at) + offset)
        number = ctypes.c_uint(value)
        pointers = (ctypes.c_void_p * 2)(ctypes.addressof(address), ctypes.addressof(number))
        self.kept += [address, number, pointers]
        function = self.driver.function(STORE, "store")
        return Kernel(function.value, (grid, 1, 1), (1, 1, 1), 0, pointers)

    def store(self, value: int, *after: ctypes.c_void_p, offset: int = 0) -> ctypes.c_void_p:
        return self.kernel(self.store_parameters(value, offset), *after)

    def kernel(self, parameters: Kernel, *after: ctypes.c_void_p) -> ctypes.c_void_p:
        return self.driver.handle(
            "cuGraphAddKernelNode_v2", self.handle, *nodes(*after), ctypes.byref(parameters)
        )

    def memset_parameters(self, **changes: int) -> Memset:
        return Memset(
            **{"to": self.memory.value, "value": 1, "element": 1, "width": 16, "height": 1, **changes}
        )

    def memset(self, *after: ctypes.c_void_p, **changes: int) -> ctypes.c_void_p:
        parameters = self.memset_parameters(**changes)
        return self.driver.handle(
            "cuGraphAddMemsetNode", self.handle, *nodes(*after), ctypes.byref(parameters), self.context
        )

    def memcpy_parameters(self, **changes: int) -> Memcpy:
        base = self.memory.value
        both = {"from_type": 2, "to_type": 2, "from_device": base, "to_device": base + 256}
        return Memcpy(**{**both, "width": 16, "height": 1, "depth": 1, **changes})

    def memcpy(self, *after: ctypes.c_void_p, **changes: int) -> ctypes.c_void_p:
        parameters = self.memcpy_parameters(**changes)
        return self.driver.handle(
            "cuGraphAddMemcpyNode", self.handle, *nodes(*after), ctypes.byref(parameters), self.context
        )

    def empty(self, *after: ctypes.c_void_p) -> ctypes.c_void_p:
        return self.driver.handle("cuGraphAddEmptyNode", self.handle, *nodes(*after))

    def host(self, function: Any, *after: ctypes.c_void_p, data: int = 0) -> ctypes.c_void_p:
        self.kept.append(function)
        parameters = Host(ctypes.cast(function, ctypes.c_void_p), data)
        return self.driver.handle("cuGraphAddHostNode", self.handle, *nodes(*after), ctypes.byref(parameters))

    def allocate(self, *after: ctypes.c_void_p, size: int = 1024) -> tuple[ctypes.c_void_p, int]:
        parameters = Allocation(kind=1, location=1, size=size)
        node = self.driver.handle(
            "cuGraphAddMemAllocNode", self.handle, *nodes(*after), ctypes.byref(parameters)
        )
        return node, parameters.address

    def free_result(self, address: int, *after: ctypes.c_void_p) -> int:
        return self.driver.result(
            "cuGraphAddMemFreeNode",
            ctypes.byref(ctypes.c_void_p()),
            self.handle,
            *nodes(*after),
            ctypes.c_uint64(address),
        )

    def add(self, parameters: Node, *after: ctypes.c_void_p) -> ctypes.c_void_p:
        return self.driver.handle(
            "cuGraphAddNode_v2",
            self.handle,
            nodes(*after)[0],
            None,
            nodes(*after)[1],
            ctypes.byref(parameters),
        )

    def add_result(self, parameters: Node) -> int:
        handle = ctypes.c_void_p()
        return self.driver.result(
            "cuGraphAddNode_v2",
            ctypes.byref(handle),
            self.handle,
            None,
            None,
            ctypes.c_size_t(0),
            ctypes.byref(parameters),
        )

    def instantiate(self, flags: int = 0) -> ctypes.c_void_p:
        return self.driver.handle("cuGraphInstantiateWithFlags", self.handle, ctypes.c_ulonglong(flags))

    def instantiate_result(self, flags: int = 0) -> int:
        handle = ctypes.c_void_p()
        return self.driver.result(
            "cuGraphInstantiateWithFlags", ctypes.byref(handle), self.handle, ctypes.c_ulonglong(flags)
        )

    def launch(self, executable: ctypes.c_void_p) -> int:
        result = self.driver.result("cuGraphLaunch", executable, None)
        self.driver("cuCtxSynchronize")
        return result

    def run(self) -> None:
        assert self.launch(self.instantiate()) == 0

    def number(self, offset: int = 0) -> int:
        return int.from_bytes(self.driver.read(ctypes.c_uint64(self.memory.value + offset), 4), "little")
