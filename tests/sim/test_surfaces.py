"""Surface objects: creation, and what kernels load, store and reduce through them."""

from __future__ import annotations

import ctypes
import struct

import pytest

from tests.support.textures import (
    COORDINATES,
    CUBEMAP,
    F16,
    F32,
    LAYERED,
    LINEAR_MEMORY,
    RESULT,
    S8,
    S32,
    SURFACE,
    U8,
    U16,
    U32,
    LinearMemory,
    Place,
    Resource,
    Sampler,
    array_resource,
    fill_array,
    kernel,
    make_array,
    make_surface,
    make_texture,
    read_array,
)  # fmt: skip

from .conftest import Driver, DriverError
from .test_textures import run

INVALID_VALUE, INVALID_HANDLE, ILLEGAL_ADDRESS, ILLEGAL_INSTRUCTION, MISALIGNED = 1, 400, 700, 715, 716
ROW = (4, 0, 0)


def surface(
    driver: Driver, extent: tuple[int, int, int], format_: int, channels: int = 1, flags: int = 0
) -> tuple[ctypes.c_void_p, ctypes.c_uint64]:
    array = make_array(driver, extent, format_, channels, SURFACE | flags)
    return array, make_surface(driver, array_resource(array))


def load(geometry: str, form: str, vector: str = "{%v0}") -> str:
    return kernel(f"suld.b.{geometry}.{form} {vector}, [%rd1, {COORDINATES[geometry]}]; {RESULT}")


def result(driver: Driver, text: str, object_: ctypes.c_uint64, *place: int) -> int:
    """The result of the driver after a launch of one thread."""
    memory = driver.allocate(64)
    driver.write(memory, struct.pack("4i", *place, *[0] * (4 - len(place))))
    values = ctypes.c_uint64(memory.value + 16)
    assert driver.launch(driver.function(text, "kernel"), [object_, memory, values, ctypes.c_uint(1)]) == 0
    return driver.result("cuCtxSynchronize")


def test_loads_have_byte_offsets_in_x(driver: Driver) -> None:
    array, object_ = surface(driver, (4, 2, 0), U32)
    fill_array(driver, array, (4, 2, 0), 4, struct.pack("8I", *range(1, 9)))
    assert run(driver, load("2d", "b32.trap"), object_, [(4, 0), (12, 1)], "I") == [
        (2, 0, 0, 0),
        (8, 0, 0, 0),
    ]
    pair = load("2d", "v2.b32.trap", "{%v0, %v1}")
    assert run(driver, pair, object_, [(8, 1)], "I") == [(7, 8, 0, 0)]
    small = kernel(f"suld.b.2d.b8.trap {{%h0}}, [%rd1, {COORDINATES['2d']}]; cvt.u32.u16 %v0, %h0; {RESULT}")
    assert run(driver, small, object_, [(4, 1), (5, 1)], "I") == [(6, 0, 0, 0), (0, 0, 0, 0)]


@pytest.mark.parametrize(
    ("geometry", "extent", "flags", "place", "element"),
    [
        ("1d", (4, 0, 0), 0, (8, 0, 0, 0), 2),
        ("2d", (4, 3, 0), 0, (4, 2, 0, 0), 9),
        ("3d", (2, 3, 4), 0, (4, 1, 3, 0), 21),
        ("a1d", (4, 0, 3), LAYERED, (12, 0, 0, 2), 11),
        ("a2d", (2, 2, 3), LAYERED, (0, 1, 0, 2), 10),
        ("a2d", (2, 2, 6), CUBEMAP, (4, 1, 0, 5), 23),
    ],
)
def test_geometry_selects_element(
    driver: Driver,
    geometry: str,
    extent: tuple[int, int, int],
    flags: int,
    place: tuple[int, int, int, int],
    element: int,
) -> None:
    array, object_ = surface(driver, extent, S32, 1, flags)
    count = extent[0] * max(1, extent[1]) * max(1, extent[2])
    fill_array(driver, array, extent, 4, struct.pack(f"{count}i", *range(count)))
    assert run(driver, load(geometry, "b32.trap"), object_, [place], "i") == [(element, 0, 0, 0)]
    text = kernel(f"mov.b32 %v0, 77; sust.b.{geometry}.b32.trap [%rd1, {COORDINATES[geometry]}], {{%v0}};")
    run(driver, text, object_, [place])
    stored = struct.unpack(f"{count}i", read_array(driver, array, extent, 4))
    assert stored == tuple(77 if i == element else i for i in range(count))


OUTSIDE = [(-4, 0), (16, 0), (0, -1), (0, 2), (2**31 - 4, 2**31 - 1), (-(2**31), -(2**31))]


def test_boundary_mode_zero_drops_accesses_outside(driver: Driver) -> None:
    array, object_ = surface(driver, (4, 2, 0), U32)
    data = struct.pack("8I", *range(1, 9))
    fill_array(driver, array, (4, 2, 0), 4, data)
    assert run(driver, load("2d", "b32.zero"), object_, OUTSIDE, "I") == [(0, 0, 0, 0)] * len(OUTSIDE)
    run(driver, kernel("mov.b32 %v0, 9; sust.b.2d.b32.zero [%rd1, {%c0, %c1}], {%v0};"), object_, OUTSIDE)
    assert read_array(driver, array, (4, 2, 0), 4) == data


def test_boundary_mode_clamp_accesses_the_edge(driver: Driver) -> None:
    array, object_ = surface(driver, (4, 2, 0), U32)
    fill_array(driver, array, (4, 2, 0), 4, struct.pack("8I", *range(1, 9)))
    actual = [each[0] for each in run(driver, load("2d", "b32.clamp"), object_, OUTSIDE, "I")]
    assert actual == [1, 4, 1, 5, 8, 1]
    wide = load("2d", "v2.b32.clamp", "{%v0, %v1}")
    assert run(driver, wide, object_, [(100, 0)], "I") == [(3, 4, 0, 0)]


@pytest.mark.parametrize("place", OUTSIDE)
@pytest.mark.parametrize(
    "text",
    [
        load("2d", "b32.trap"),
        kernel("sust.b.2d.b32.trap [%rd1, {%c0, %c1}], {%c0};"),
        kernel("sured.b.add.2d.u32.trap [%rd1, {%c0, %c1}], %c0;"),
        kernel("sust.p.2d.b32.trap [%rd1, {%c0, %c1}], {%c0};"),
    ],
)
def test_boundary_mode_trap_faults_outside(driver: Driver, text: str, place: tuple[int, int]) -> None:
    _, object_ = surface(driver, (4, 2, 0), U32)
    assert result(driver, text, object_, *place) == ILLEGAL_ADDRESS


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        (load("1d", "b32.trap"), 2, MISALIGNED),
        (load("1d", "v2.b32.trap", "{%v0, %v1}"), 4, MISALIGNED),
        (load("1d", "v2.b32.trap", "{%v0, %v1}"), 8, 0),
        (load("1d", "v4.b32.zero", "{%v0, %v1, %v2, %v3}"), 16, 0),
        (kernel("sured.b.add.1d.u32.trap [%rd1, {%c0}], %c0;"), 4, 0),
    ],
)
def test_surface_access_must_be_aligned(driver: Driver, text: str, place: int, expected: int) -> None:
    _, object_ = surface(driver, ROW, U32)
    assert result(driver, text, object_, place) == expected


@pytest.mark.parametrize(
    ("format_", "channels", "words", "stored"),
    [
        (U8, 4, [1, 255, 256, 2**31], bytes([1, 255, 255, 255])),
        (S8, 2, [-129, 127, 0, 0], struct.pack("2b", -128, 127)),
        (U16, 1, [70000, 0, 0, 0], struct.pack("H", 65535)),
        (S32, 2, [-5, 6, 0, 0], struct.pack("2i", -5, 6)),
        (F16, 2, [0.5, 1e6, 0, 0], struct.pack("e", 0.5) + b"\x00\x7c"),
        (F32, 4, [0.1, -1.0, 3e38, 0.0], struct.pack("4f", 0.1, -1.0, 3e38, 0.0)),
        (0xC2, 4, [0.0, 1.0, 2.0, -1.0], bytes([0, 255, 255, 0])),  # UNORM_INT8X4
        (0xC7, 2, [-2.0, 0.5, 0, 0], struct.pack("2b", -127, 64)),  # SNORM_INT8X2
    ],
)
def test_formatted_store_converts_words(
    driver: Driver, format_: int, channels: int, words: list[float], stored: bytes
) -> None:
    array, object_ = surface(driver, (2, 0, 0), format_, channels)
    fill_array(driver, array, (2, 0, 0), len(stored), bytes(2 * len(stored)))
    moves = "".join(
        f"mov.b32 %v{i}, 0x{int.from_bytes(struct.pack('f' if isinstance(w, float) else 'q', w)[:4], 'little'):x};"
        for i, w in enumerate(words)
    )
    run(driver, kernel(moves + "sust.p.1d.v4.b32.trap [%rd1, {1}], {%v0, %v1, %v2, %v3};"), object_, [(0,)])
    element = len(stored)
    assert read_array(driver, array, (2, 0, 0), element) == bytes(element) + stored


@pytest.mark.parametrize(
    ("form", "format_", "before", "value", "after"),
    [
        ("b.add.1d.u32", U32, 5, 3, 5 + 32 * 3),
        ("b.min.1d.s32", S32, 5, -3, 2**32 - 3),
        ("b.max.1d.u32", U32, 5, -3, 2**32 - 3),
        ("b.and.1d.b32", U32, 7, 5, 5),
        ("p.add.1d.b32", U32, 1, 1, 33),
        ("p.min.1d.b32", S32, 1, -1, 2**32 - 1),
        ("p.min.1d.b32", U32, 1, -1, 1),
    ],
)
def test_reduction_is_atomic(
    driver: Driver, form: str, format_: int, before: int, value: int, after: int
) -> None:
    array, object_ = surface(driver, ROW, format_)
    fill_array(driver, array, ROW, 4, struct.pack("4I", 0, before, 0, 0))
    x = 1 if form.startswith("p") else 4
    run(driver, kernel(f"sured.{form}.trap [%rd1, {{{x}}}], {value};"), object_, [(0,)] * 32)
    assert struct.unpack("4I", read_array(driver, array, ROW, 4)) == (0, after, 0, 0)


def test_formatted_reduction_needs_an_integer_channel(driver: Driver) -> None:
    _, object_ = surface(driver, ROW, U8, 4)
    text = kernel("sured.p.add.1d.b32.trap [%rd1, {%c0}], 1;")
    assert result(driver, text, object_, 0) == ILLEGAL_INSTRUCTION


def test_stored_elements_are_read_through_a_texture(driver: Driver) -> None:
    array, object_ = surface(driver, ROW, F32)
    run(driver, kernel("sust.b.1d.b32.trap [%rd1, {8}], {0f3FC00000};"), object_, [(0,)])
    view = make_texture(driver, array_resource(array), Sampler())
    text = kernel(f"tex.1d.v4.f32.f32 {{%v0, %v1, %v2, %v3}}, [%rd1, {{0f40200000}}]; {RESULT}")
    assert run(driver, text, view, [(0,)])[0][0] == 1.5


def test_queries_describe_the_surface(driver: Driver) -> None:
    _, object_ = surface(driver, (4, 2, 3), U8, 4, LAYERED)
    text = kernel(
        "suq.width.b32 %v0, [%rd1]; suq.height.b32 %v1, [%rd1]; suq.array_size.b32 %v2, [%rd1]; "
        f"suq.channel_order.b32 %v3, [%rd1]; {RESULT}"
    )
    assert run(driver, text, object_, [(0,)], "I") == [(4, 2, 3, 0x10B5)]


def test_surface_resource_is_checked(driver: Driver) -> None:
    plain = array_resource(make_array(driver, ROW, F32))
    memory = Resource(LINEAR_MEMORY, Place(linear=LinearMemory(driver.allocate(512), F32, 1, 64)))
    for resource in (plain, memory, array_resource(ctypes.c_void_p(64)), Resource(7)):
        with pytest.raises(DriverError, match=f"returned {INVALID_VALUE}"):
            make_surface(driver, resource)
    array, object_ = surface(driver, ROW, F32)
    actual = Resource()
    driver("cuSurfObjectGetResourceDesc", ctypes.byref(actual), object_)
    assert bytes(actual) == bytes(array_resource(array))
    driver("cuSurfObjectDestroy", object_)
    assert driver.result("cuSurfObjectDestroy", object_) == INVALID_HANDLE


@pytest.mark.parametrize("forge", ["zero", "texture", "destroyed", "array destroyed"])
def test_invalid_handle_in_a_kernel_faults(driver: Driver, forge: str) -> None:
    array, object_ = surface(driver, ROW, F32)
    if forge == "zero":
        object_ = ctypes.c_uint64(0)
    elif forge == "texture":
        object_ = make_texture(driver, array_resource(array), Sampler())
    elif forge == "destroyed":
        driver("cuSurfObjectDestroy", object_)
    else:
        driver("cuArrayDestroy", array)
    assert result(driver, kernel("sust.b.1d.b32.zero [%rd1, {0}], {%c0};"), object_, 0) == ILLEGAL_ADDRESS
