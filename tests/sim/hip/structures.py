"""Structures of hip_runtime_api.h (5.2)."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from .conftest import Dim3

HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class KernelNode(ctypes.Structure):
    _fields_ = (
        ("block", Dim3),
        ("extra", ctypes.POINTER(ctypes.c_void_p)),
        ("function", ctypes.c_void_p),
        ("grid", Dim3),
        ("parameters", ctypes.POINTER(ctypes.c_void_p)),
        ("shared", ctypes.c_uint),
    )
    kept: Sequence[Any] = ()
    """Structures that parameters point to."""


class MemsetNode(ctypes.Structure):
    _fields_ = (
        ("to", ctypes.c_void_p),
        ("element", ctypes.c_uint),
        ("height", ctypes.c_size_t),
        ("pitch", ctypes.c_size_t),
        ("value", ctypes.c_uint),
        ("width", ctypes.c_size_t),
    )


class HostNode(ctypes.Structure):
    _fields_ = (("function", ctypes.c_void_p), ("data", ctypes.c_void_p))


class Triple(ctypes.Structure):
    """hipPos, hipExtent"""

    _fields_ = (("x", ctypes.c_size_t), ("y", ctypes.c_size_t), ("z", ctypes.c_size_t))


class Pitched(ctypes.Structure):
    _fields_ = (
        ("address", ctypes.c_void_p),
        ("pitch", ctypes.c_size_t),
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
    )


class Volume(ctypes.Structure):
    """hipMemcpy3DParms"""

    _fields_ = (
        ("from_array", ctypes.c_void_p),
        ("from_at", Triple),
        ("from_", Pitched),
        ("to_array", ctypes.c_void_p),
        ("to_at", Triple),
        ("to", Pitched),
        ("extent", Triple),
        ("kind", ctypes.c_int),
    )


class Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class Access(ctypes.Structure):
    _fields_ = (("location", Location), ("flags", ctypes.c_int))


class PoolProperties(ctypes.Structure):
    _fields_ = (
        ("allocation", ctypes.c_int),
        ("handles", ctypes.c_int),
        ("location", Location),
        ("security", ctypes.c_void_p),
        ("reserved", ctypes.c_ubyte * 64),
    )


class Properties(ctypes.Structure):
    """hipMemAllocationProp, whose members 5.2 has in this order."""

    _fields_ = (
        ("compression", ctypes.c_ubyte),
        ("location", Location),
        ("handle", ctypes.c_int),
        ("type", ctypes.c_int),
        ("usage", ctypes.c_ushort),
        ("metadata", ctypes.c_void_p),
    )


ON_DEVICE = Location(1, 0)
PINNED = 1
READ_WRITE = 3
