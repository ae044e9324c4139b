"""Arrays, texture and surface objects of the driver API, and PTX that reads and writes through them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

U8, U16, U32, S8, S16, S32, F16, F32 = 0x01, 0x02, 0x03, 0x08, 0x09, 0x0A, 0x10, 0x20
"""CUarray_format."""
BYTES = {U8: 1, U16: 2, U32: 4, S8: 1, S16: 2, S32: 4, F16: 2, F32: 4}
LAYERED, SURFACE, CUBEMAP, GATHER = 1, 2, 4, 8
"""Flags of arrays."""
WRAP, CLAMP, MIRROR, BORDER = range(4)
POINT, LINEAR = range(2)
AS_INTEGER, NORMALIZED, SRGB, SEAMLESS = 1, 2, 0x10, 0x40
"""Flags of textures."""
ARRAY, MIPMAPPED, LINEAR_MEMORY, PITCH = range(4)
"""Kinds of resources."""

Call = Callable[..., Any]
"""Calls a function of the driver; raises an exception if it fails."""


class Descriptor3D(ctypes.Structure):
    _fields_ = (
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("depth", ctypes.c_size_t),
        ("format", ctypes.c_int),
        ("channels", ctypes.c_uint),
        ("flags", ctypes.c_uint),
    )


SIDE = {
    "x": ctypes.c_size_t,
    "y": ctypes.c_size_t,
    "z": ctypes.c_size_t,
    "lod": ctypes.c_size_t,
    "type": ctypes.c_int,
    "host": ctypes.c_void_p,
    "device": ctypes.c_uint64,
    "array": ctypes.c_void_p,
    "reserved": ctypes.c_void_p,
    "pitch": ctypes.c_size_t,
    "height": ctypes.c_size_t,
}
"""Fields of each side of a copy."""


class Copy3D(ctypes.Structure):
    """CUDA_MEMCPY3D."""

    _fields_ = (
        *((f"from_{name}", kind) for name, kind in SIDE.items()),
        *((f"to_{name}", kind) for name, kind in SIDE.items()),
        *((name, ctypes.c_size_t) for name in ("width", "height", "depth")),
    )


class LinearMemory(ctypes.Structure):
    _fields_ = (
        ("pointer", ctypes.c_uint64),
        ("format", ctypes.c_int),
        ("channels", ctypes.c_uint),
        ("size", ctypes.c_size_t),
    )


class PitchMemory(ctypes.Structure):
    _fields_ = (
        ("pointer", ctypes.c_uint64),
        ("format", ctypes.c_int),
        ("channels", ctypes.c_uint),
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("pitch", ctypes.c_size_t),
    )


class Place(ctypes.Union):
    _fields_ = (
        ("array", ctypes.c_void_p),
        ("linear", LinearMemory),
        ("pitch", PitchMemory),
        ("reserved", ctypes.c_int * 32),
    )


class Resource(ctypes.Structure):
    """CUDA_RESOURCE_DESC."""

    _fields_ = (("kind", ctypes.c_int), ("place", Place), ("flags", ctypes.c_uint))


class Texture(ctypes.Structure):
    """CUDA_TEXTURE_DESC."""

    _fields_ = (
        ("addressing", ctypes.c_int * 3),
        ("filter", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("anisotropy", ctypes.c_uint),
        ("level_filter", ctypes.c_int),
        ("bias", ctypes.c_float),
        ("lowest_level", ctypes.c_float),
        ("highest_level", ctypes.c_float),
        ("border", ctypes.c_float * 4),
        ("reserved", ctypes.c_int * 12),
    )


class View(ctypes.Structure):
    """CUDA_RESOURCE_VIEW_DESC."""

    _fields_ = (
        ("format", ctypes.c_int),
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("depth", ctypes.c_size_t),
        ("first_level", ctypes.c_uint),
        ("last_level", ctypes.c_uint),
        ("first_layer", ctypes.c_uint),
        ("last_layer", ctypes.c_uint),
        ("reserved", ctypes.c_uint * 16),
    )


@dataclass(frozen=True)
class Sampler:
    """How a texture reads: the fields of CUDA_TEXTURE_DESC that tests set."""

    addressing: int = CLAMP
    filter: int = POINT
    flags: int = 0
    level_filter: int = POINT
    bias: float = 0.0
    levels: tuple[float, float] = (0.0, 0.0)
    anisotropy: int = 0
    border: Sequence[float] = field(default=(0.0, 0.0, 0.0, 0.0))

    def description(self) -> Texture:
        return Texture(
            (ctypes.c_int * 3)(*[self.addressing] * 3),
            self.filter,
            self.flags,
            self.anisotropy,
            self.level_filter,
            self.bias,
            *self.levels,
            (ctypes.c_float * 4)(*self.border),
        )


def array_resource(array: ctypes.c_void_p, kind: int = ARRAY) -> Resource:
    return Resource(kind, Place(array=array))


def make_array(
    call: Call, extent: tuple[int, int, int], format_: int, channels: int = 1, flags: int = 0
) -> ctypes.c_void_p:
    array, descriptor = ctypes.c_void_p(), Descriptor3D(*extent, format_, channels, flags)
    call("cuArray3DCreate_v2", ctypes.byref(array), ctypes.byref(descriptor))
    return array


def fill_array(
    call: Call, array: ctypes.c_void_p, extent: tuple[int, int, int], element: int, data: bytes
) -> None:
    """Copy dense host data of elements of `element` bytes to the whole array."""
    width, height, depth = extent[0] * element, max(1, extent[1]), max(1, extent[2])
    assert len(data) == width * height * depth
    copy = Copy3D(
        from_type=1, from_host=ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p), from_pitch=width,
        from_height=height, to_type=3, to_array=array, width=width, height=height, depth=depth,
    )  # fmt: skip
    call("cuMemcpy3D_v2", ctypes.byref(copy))


def read_array(call: Call, array: ctypes.c_void_p, extent: tuple[int, int, int], element: int) -> bytes:
    width, height, depth = extent[0] * element, max(1, extent[1]), max(1, extent[2])
    data = ctypes.create_string_buffer(width * height * depth)
    copy = Copy3D(
        from_type=3, from_array=array, to_type=1, to_host=ctypes.addressof(data), to_pitch=width, to_height=height,
        width=width, height=height, depth=depth,
    )  # fmt: skip
    call("cuMemcpy3D_v2", ctypes.byref(copy))
    return data.raw


def make_texture(
    call: Call, resource: Resource, sampler: Sampler, view: View | None = None
) -> ctypes.c_uint64:
    handle, description = ctypes.c_uint64(), sampler.description()
    call(
        "cuTexObjectCreate",
        ctypes.byref(handle),
        ctypes.byref(resource),
        ctypes.byref(description),
        None if view is None else ctypes.byref(view),
    )
    return handle


def make_surface(call: Call, resource: Resource) -> ctypes.c_uint64:
    handle = ctypes.c_uint64()
    call("cuSurfObjectCreate", ctypes.byref(handle), ctypes.byref(resource))
    return handle


COORDINATES = {
    "1d": "{%c0}",
    "2d": "{%c0, %c1}",
    "3d": "{%c0, %c1, %c2, %c2}",
    "a1d": "{%layer, %c0}",
    "a2d": "{%layer, %c0, %c1, %c1}",
    "cube": "{%c0, %c1, %c2, %c2}",
    "acube": "{%layer, %c0, %c1, %c2}",
}
"""Operands of each geometry."""

KERNEL = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry kernel(.param .u64 object, .param .u64 places, .param .u64 values, .param .u32 count)
{{
    .reg .pred %p<4>;
    .reg .b16 %h<4>;
    .reg .b32 %r<8>, %v<4>, %c<4>, %layer;
    .reg .b64 %rd<8>, %w<2>;
    ld.param.u64 %rd1, [object];
    ld.param.u64 %rd2, [places];
    ld.param.u64 %rd3, [values];
    ld.param.u32 %r1, [count];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 ret;
    mul.wide.u32 %rd4, %r5, 16;
    add.s64 %rd2, %rd2, %rd4;
    add.s64 %rd3, %rd3, %rd4;
    ld.global.v4.b32 {{%c0, %c1, %c2, %c3}}, [%rd2];
    mov.b32 %layer, %c3;
    mov.b32 %v0, 0;
    mov.b32 %v1, 0;
    mov.b32 %v2, 0;
    mov.b32 %v3, 0;
    {instruction}
    ret;
}}
"""
"""Each thread has a place: four words, the coordinates x, y, z and the layer or level. The values are four words
a thread."""

RESULT = "st.global.v4.b32 [%rd3], {%v0, %v1, %v2, %v3};"


def reading_kernel(
    instruction: str, geometry: str, type_: str = "f32", place: str = "f32", rest: str = ""
) -> str:
    """PTX of a texture read, such as reading_kernel("tex", "2d")."""
    return KERNEL.format(
        instruction=f"{instruction}.{geometry}.v4.{type_}.{place} {{%v0, %v1, %v2, %v3}}, "
        f"[%rd1, {COORDINATES[geometry]}]{rest}; {RESULT}"
    )


def kernel(instructions: str) -> str:
    """PTX with these instructions; %rd1 is the object, %c0 to %c3 are the place."""
    return KERNEL.format(instruction=instructions)
