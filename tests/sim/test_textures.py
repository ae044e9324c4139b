"""Texture objects: creation, and what kernels read through them."""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Sequence
from typing import Any

import pytest

from tests.support.textures import (
    ARRAY,
    AS_INTEGER,
    BORDER,
    BYTES,
    CLAMP,
    CUBEMAP,
    F16,
    F32,
    LAYERED,
    LINEAR,
    LINEAR_MEMORY,
    MIPMAPPED,
    MIRROR,
    NORMALIZED,
    PITCH,
    POINT,
    S8,
    S16,
    SEAMLESS,
    SRGB,
    SURFACE,
    U8,
    U16,
    U32,
    WRAP,
    Descriptor3D,
    LinearMemory,
    PitchMemory,
    Place,
    Resource,
    Sampler,
    View,
    array_resource,
    fill_array,
    kernel,
    make_array,
    make_surface,
    make_texture,
    reading_kernel,
)  # fmt: skip

from .conftest import Driver, DriverError

INVALID_VALUE, INVALID_HANDLE, ILLEGAL_ADDRESS = 1, 400, 700
Coordinates = Sequence[tuple[float | int, ...]]
FORMATS = {U8: "B", U16: "H", U32: "I", S8: "b", S16: "h", F16: "e", F32: "f"}


def run(
    driver: Driver, text: str, object_: ctypes.c_uint64, places: Coordinates, result: str = "f"
) -> list[Any]:
    """Launch a kernel with a thread per place; returns four words per thread, each of the type `result`."""
    words = [tuple(place) + (0,) * (4 - len(place)) for place in places]
    packed = b"".join(struct.pack("f" if isinstance(w, float) else "i", w) for place in words for w in place)
    at, values = driver.allocate(len(packed)), driver.allocate(len(packed))
    driver.write(at, packed)
    driver("cuMemsetD8_v2", values, 0xEE, ctypes.c_size_t(len(packed)))
    function = driver.function(text, "kernel")
    assert driver.launch(function, [object_, at, values, ctypes.c_uint(len(words))], block=len(words)) == 0
    flat = struct.unpack(f"{4 * len(words)}{result}", driver.read(values, len(packed)))
    return [flat[4 * i : 4 * i + 4] for i in range(len(words))]


def texture(
    driver: Driver,
    extent: tuple[int, int, int],
    values: Sequence[float | int],
    sampler: Sampler,
    format_: int = F32,
    channels: int = 1,
    flags: int = 0,
) -> ctypes.c_uint64:
    array = make_array(driver, extent, format_, channels, flags)
    element = BYTES[format_] * channels
    fill_array(driver, array, extent, element, struct.pack(f"{len(values)}{FORMATS[format_]}", *values))
    return make_texture(driver, array_resource(array), sampler)


def first(results: list[Any]) -> list[float]:
    return [each[0] for each in results]


ROW = [10.0, 20.0, 30.0, 40.0]


@pytest.mark.parametrize(
    ("addressing", "flags", "expected"),
    [
        (CLAMP, 0, [10, 10, 20, 40, 40, 40]),
        (WRAP, 0, [10, 10, 20, 40, 40, 40]),  # without normalized coordinates: clamp
        (MIRROR, 0, [10, 10, 20, 40, 40, 40]),
        (BORDER, 0, [7, 10, 20, 40, 7, 7]),
        (CLAMP, NORMALIZED, [10, 10, 20, 40, 40, 40]),
        (WRAP, NORMALIZED, [40, 10, 20, 40, 10, 20]),
        (MIRROR, NORMALIZED, [10, 10, 20, 40, 40, 30]),
        (BORDER, NORMALIZED, [7, 10, 20, 40, 7, 7]),
    ],
)
def test_addressing_mode_selects_element(
    driver: Driver, addressing: int, flags: int, expected: list[float]
) -> None:
    sampler = Sampler(addressing, flags=flags, border=(7.0, 0.0, 0.0, 0.0))
    object_ = texture(driver, (4, 0, 0), ROW, sampler)
    scale = 4 if flags & NORMALIZED else 1
    places = [(x / scale,) for x in (-0.5, 0.0, 1.5, 3.999, 4.0, 5.5)]
    assert first(run(driver, reading_kernel("tex", "1d"), object_, places)) == expected


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (0.5, 10.0), (1.0, 15.0), (1.25, 17.5), (0.0, 10.0), (4.0, 40.0),
        (1.0 + 1 / 1024, 15.0), (1.0 + 3 / 1024, 15.0 + 10 / 256),  # weights have 8 fraction bits
    ],
)  # fmt: skip
def test_linear_filter_weighs_neighbours_in_256ths(driver: Driver, x: float, expected: float) -> None:
    object_ = texture(driver, (4, 0, 0), ROW, Sampler(filter=LINEAR))
    assert first(run(driver, reading_kernel("tex", "1d"), object_, [(x,)])) == [expected]


def test_linear_filter_blends_border_and_wraps(driver: Driver) -> None:
    """A line is filtered as an image of one row, so that half of each sum is the border above it."""
    border = texture(driver, (4, 0, 0), ROW, Sampler(BORDER, LINEAR, border=(2.0, 0.0, 0.0, 0.0)))
    assert first(run(driver, reading_kernel("tex", "1d"), border, [(0.0,), (4.0,)])) == [4.0, 11.5]
    wrap = texture(driver, (4, 0, 0), ROW, Sampler(WRAP, LINEAR, NORMALIZED))
    assert first(run(driver, reading_kernel("tex", "1d"), wrap, [(0.0,), (1.0,), (-1.0,)])) == [25.0] * 3


def test_bilinear_and_trilinear_filters_average_corners(driver: Driver) -> None:
    plane = texture(driver, (2, 2, 0), [0.0, 1.0, 2.0, 3.0], Sampler(filter=LINEAR))
    assert first(run(driver, reading_kernel("tex", "2d"), plane, [(1.0, 1.0), (1.0, 0.5)])) == [1.5, 0.5]
    cube = texture(driver, (2, 2, 2), [float(i) for i in range(8)], Sampler(filter=LINEAR))
    assert first(run(driver, reading_kernel("tex", "3d"), cube, [(1.0, 1.0, 1.0), (0.5, 0.5, 1.25)])) == [
        3.5,
        3.0,
    ]


@pytest.mark.parametrize("place", [math.nan, math.inf, -math.inf, 3e38, -3e38])
@pytest.mark.parametrize("addressing", [CLAMP, WRAP, MIRROR, BORDER])
@pytest.mark.parametrize("filter_", [POINT, LINEAR])
def test_coordinate_without_a_position_reads_the_texture(
    driver: Driver, place: float, addressing: int, filter_: int
) -> None:
    sampler = Sampler(addressing, filter_, NORMALIZED, border=(7.0, 0.0, 0.0, 0.0))
    object_ = texture(driver, (4, 0, 0), ROW, sampler)
    ((value, *_),) = run(driver, reading_kernel("tex", "1d"), object_, [(place,)])
    assert 7.0 <= value <= 40.0


@pytest.mark.parametrize(
    ("format_", "values", "flags", "type_", "result", "expected"),
    [
        (U8, [0, 255, 51, 128], 0, "f32", "f", [0.0, 1.0, 0.2, 128 / 255]),
        (S8, [-128, 127, -127, 64], 0, "f32", "f", [-1.0, 1.0, -1.0, 64 / 127]),
        (U16, [0, 65535, 13107, 1], 0, "f32", "f", [0.0, 1.0, 0.2, 1 / 65535]),
        (S16, [-32768, 32767, 0, 1], 0, "f32", "f", [-1.0, 1.0, 0.0, 1 / 32767]),
        (U8, [0, 255, 51, 128], AS_INTEGER, "u32", "I", [0, 255, 51, 128]),
        (S8, [-128, 127, -1, 64], AS_INTEGER, "s32", "i", [-128, 127, -1, 64]),
        (S16, [-32768, 32767, -1, 1], AS_INTEGER, "s32", "i", [-32768, 32767, -1, 1]),
        (U32, [0, 2**32 - 1, 5, 6], 0, "u32", "I", [0, 2**32 - 1, 5, 6]),
        (F16, [0.5, -2.0, 65504.0, 6e-8], 0, "f32", "f", [0.5, -2.0, 65504.0, 2.0**-24]),
        (F32, [0.1, -0.0, 1e-45, 3e38], 0, "f32", "f", [0.1, -0.0, 1e-45, 3e38]),
    ],
)  # fmt: skip
def test_element_is_converted_to_its_read_type(
    driver: Driver, format_: int, values: list[Any], flags: int, type_: str, result: str, expected: list[Any]
) -> None:
    object_ = texture(driver, (1, 0, 0), values, Sampler(flags=flags), format_, 4)
    (actual,) = run(driver, reading_kernel("tex", "1d", type_), object_, [(0.5,)], result)
    assert struct.pack(f"4{result}", *actual) == struct.pack(f"4{result}", *expected)


def test_border_colour_has_the_precision_of_the_format(driver: Driver) -> None:
    """As an H200 returned them: numbers are rounded to the format, integers keep their low bits."""
    colour = (0.25, -2.0, 3.0, 0.5)
    small = texture(driver, (1, 0, 0), [0] * 4, Sampler(BORDER, border=colour), S8, 4)
    (colours,) = run(driver, reading_kernel("tex", "1d"), small, [(2.0,)])
    assert colours == (pytest.approx(32 / 127), -1.0, 1.0, pytest.approx(63 / 127))
    whole = texture(driver, (1, 0, 0), [0] * 4, Sampler(BORDER, flags=AS_INTEGER, border=colour), S8, 4)
    assert run(driver, reading_kernel("tex", "1d", "s32"), whole, [(2.0,)], "i") == [(0, 0, 0, 0)]


def test_missing_channels_are_zero(driver: Driver) -> None:
    two = texture(driver, (1, 0, 0), [5.0, 6.0], Sampler(), F32, 2)
    assert run(driver, reading_kernel("tex", "1d"), two, [(0.5,)]) == [(5.0, 6.0, 0.0, 0.0)]
    one = texture(driver, (1, 0, 0), [9], Sampler(flags=AS_INTEGER), U8)
    assert run(driver, reading_kernel("tex", "1d", "u32"), one, [(0.5,)], "I") == [(9, 0, 0, 0)]


def test_srgb_flag_makes_colours_linear(driver: Driver) -> None:
    object_ = texture(driver, (1, 0, 0), [0, 255, 128, 128], Sampler(flags=SRGB), U8, 4)
    ((red, green, blue, alpha),) = run(driver, reading_kernel("tex", "1d"), object_, [(0.5,)])
    assert (red, green) == (0.0, 1.0)
    assert blue == 221 / 1024  # 8 significant bits of 0.21586
    assert alpha == pytest.approx(128 / 255, rel=1e-6)


def test_layer_index_is_clamped(driver: Driver) -> None:
    values = [float(10 * layer + x) for layer in range(3) for x in range(2)]
    rows = texture(driver, (2, 0, 3), values, Sampler(), flags=LAYERED)
    places = [(1.5, 0.0, 0.0, layer) for layer in (0, 2, 3, -1)]
    assert first(run(driver, reading_kernel("tex", "a1d"), rows, places)) == [1.0, 21.0, 21.0, 21.0]
    planes = texture(driver, (2, 1, 3), values, Sampler(filter=LINEAR), flags=LAYERED)
    assert first(run(driver, reading_kernel("tex", "a2d"), planes, [(1.0, 0.5, 0.0, 1)])) == [10.5]


FACES = [
    (1.0, 0.0, 0.0),
    (-1.0, 0.0, 0.0),
    (0.0, 1.0, 0.0),
    (0.0, -1.0, 0.0),
    (0.0, 0.0, 1.0),
    (0.0, 0.0, -1.0),
]


def test_cube_direction_selects_face_and_texel(driver: Driver) -> None:
    values = [float(100 * face + 10 * y + x) for face in range(12) for y in range(2) for x in range(2)]
    cube = texture(driver, (2, 2, 6), values[:24], Sampler(flags=NORMALIZED), flags=CUBEMAP)
    tex = reading_kernel("tex", "cube")
    assert [value // 100 for value in first(run(driver, tex, cube, FACES))] == [0, 1, 2, 3, 4, 5]
    # Face 0 looks along x: s is -z, t is -y (Programming Guide, "Cubemap Textures").
    assert first(run(driver, tex, cube, [(1.0, -0.5, -0.5), (2.0, 1.0, 1.0)])) == [11.0, 0.0]
    assert first(run(driver, tex, cube, [(0.5, 0.9, -0.5), (-0.5, 0.2, -2.0)])) == [201.0, 501.0]
    layers = texture(driver, (2, 2, 12), values, Sampler(flags=NORMALIZED), flags=CUBEMAP | LAYERED)
    places = [(*FACES[4], 1), (*FACES[4], 9)]
    assert [v // 100 for v in first(run(driver, reading_kernel("tex", "acube"), layers, places))] == [10, 10]


def test_gather_returns_footprint_counter_clockwise(driver: Driver) -> None:
    values = [float(4 * i + c) for i in range(4) for c in range(4)]
    object_ = texture(driver, (2, 2, 0), values, Sampler(), F32, 4)
    for channel, name in enumerate("rgba"):
        text = reading_kernel(f"tld4.{name}", "2d")
        expected = tuple(float(4 * i + channel) for i in (2, 3, 1, 0))
        assert run(driver, text, object_, [(1.0, 1.0)]) == [expected]


def test_integer_coordinates_read_zero_outside(driver: Driver) -> None:
    data = struct.pack("8i", *range(1, 9))
    memory = driver.allocate(len(data))
    driver.write(memory, data)
    resource = Resource(LINEAR_MEMORY, Place(linear=LinearMemory(memory, U32, 1, 32)))
    object_ = make_texture(driver, resource, Sampler(flags=AS_INTEGER))
    text = reading_kernel("tex", "1d", "s32", "s32")
    assert first(run(driver, text, object_, [(0,), (7,), (8,), (-1,)], "i")) == [1, 8, 0, 0]
    driver("cuMemFree_v2", memory)


def test_pitched_memory_is_filtered(driver: Driver) -> None:
    memory = driver.allocate(512)
    driver.write(memory, struct.pack("16f", *[float(i) for i in range(16)]))
    resource = Resource(PITCH, Place(pitch=PitchMemory(memory, F32, 1, 3, 2, 32)))
    object_ = make_texture(driver, resource, Sampler(filter=LINEAR))
    assert first(run(driver, reading_kernel("tex", "2d"), object_, [(1.0, 1.0), (9.0, 9.0)])) == [4.5, 10.0]


def mipmapped(driver: Driver, sampler: Sampler, view: View | None = None) -> ctypes.c_uint64:
    """A texture of 4 x 4 elements whose level n holds the value n."""
    handle, descriptor = ctypes.c_void_p(), Descriptor3D(4, 4, 0, F32, 1, 0)
    driver("cuMipmappedArrayCreate", ctypes.byref(handle), ctypes.byref(descriptor), 3)
    for number in range(3):
        level = driver.handle("cuMipmappedArrayGetLevel", handle, number)
        size = 4 >> number
        fill_array(driver, level, (size, size, 0), 4, struct.pack("f", float(number)) * size * size)
    return make_texture(driver, array_resource(handle, MIPMAPPED), sampler, view)


LEVEL = reading_kernel("tex.level", "2d", rest=", %c3")


def test_level_is_rounded_clamped_and_blended(driver: Driver) -> None:
    places = [(0.5, 0.5, 0.0, level) for level in (-1.0, 0.4, 0.6, 1.0, 1.25, 9.0)]
    nearest = mipmapped(driver, Sampler(flags=NORMALIZED, levels=(0.0, 5.0)))
    assert first(run(driver, LEVEL, nearest, places)) == [0.0, 0.0, 1.0, 1.0, 1.0, 2.0]
    blended = mipmapped(driver, Sampler(flags=NORMALIZED, level_filter=LINEAR, levels=(0.5, 1.5)))
    assert first(run(driver, LEVEL, blended, places)) == [0.5, 0.5, 154 / 256, 1.0, 1.25, 1.5]
    biased = mipmapped(driver, Sampler(flags=NORMALIZED, bias=1.0, levels=(0.0, 5.0)))
    assert first(run(driver, LEVEL, biased, [(0.5, 0.5, 0.0, 0.0)])) == [1.0]
    assert first(run(driver, reading_kernel("tex", "2d"), biased, [(0.5, 0.5)])) == [0.0]


def test_gradient_selects_level(driver: Driver) -> None:
    object_ = mipmapped(driver, Sampler(flags=NORMALIZED, levels=(0.0, 5.0)))
    text = reading_kernel("tex.grad", "2d", rest=", {%c2, %v0}, {%v0, %c3}")
    places = [(0.5, 0.5, dx, dy) for dx, dy in ((0.25, 0.1), (0.1, 0.5), (1.0, 0.0), (0.0, 0.0))]
    assert first(run(driver, text, object_, places)) == [0.0, 1.0, 2.0, 0.0]


def test_view_selects_levels_layers_and_format(driver: Driver) -> None:
    sampler = Sampler(flags=NORMALIZED, levels=(0.0, 9.0))
    object_ = mipmapped(driver, sampler, View(width=4, height=4, first_level=1, last_level=1))
    assert first(run(driver, LEVEL, object_, [(0.5, 0.5, 0.0, 0.0), (0.5, 0.5, 0.0, 9.0)])) == [1.0, 1.0]
    array = make_array(driver, (2, 0, 3), U32, 1, LAYERED)
    fill_array(driver, array, (2, 0, 3), 4, struct.pack("6f", *ROW, 50.0, 60.0))
    view = View(format=0x16, width=2, depth=3, first_layer=1, last_layer=2)
    object_ = make_texture(driver, array_resource(array), Sampler(), view)
    places = [(0.5, 0.0, 0.0, 0), (0.5, 0.0, 0.0, 2)]
    assert first(run(driver, reading_kernel("tex", "a1d"), object_, places)) == [30.0, 50.0]


QUERIES = kernel(
    "txq.width.b32 %v0, [%rd1]; txq.level.height.b32 %v1, [%rd1], %c0; txq.num_mipmap_levels.b32 %v2, [%rd1]; "
    "txq.channel_data_type.b32 %v3, [%rd1]; st.global.v4.b32 [%rd3], {%v0, %v1, %v2, %v3};"
)
TESTS = kernel(
    "istypep.texref %p1, %rd1; selp.b32 %v0, 1, 0, %p1; istypep.surfref %p1, %rd1; selp.b32 %v1, 1, 0, %p1; "
    "istypep.texref %p1, %rd2; selp.b32 %v2, 1, 0, %p1; st.global.v4.b32 [%rd3], {%v0, %v1, %v2, %v3};"
)
RESIDENT = kernel(
    "tex.2d.v4.f32.f32 {%v0, %v1, %v2, %v3}|%p1, [%rd1, {%c0, %c1}]; selp.b32 %v3, 1, 0, %p1; "
    "st.global.v4.b32 [%rd3], {%v0, %v1, %v2, %v3};"
)


def test_queries_describe_the_texture(driver: Driver) -> None:
    object_ = mipmapped(driver, Sampler(flags=NORMALIZED))
    assert run(driver, QUERIES, object_, [(1,), (9,)], "I") == [(4, 2, 3, 0x10DE), (4, 1, 3, 0x10DE)]
    assert run(driver, TESTS, object_, [(0,)], "I") == [(1, 0, 0, 0)]
    assert run(driver, RESIDENT, object_, [(0.5, 0.5)], "I") == [(0, 0, 0, 1)]


def test_descriptions_are_returned(driver: Driver) -> None:
    array = make_array(driver, (4, 0, 0), F32)
    sampler = Sampler(MIRROR, LINEAR, NORMALIZED, border=(1.0, 2.0, 3.0, 4.0))
    view = View(width=4)
    object_ = make_texture(driver, array_resource(array), sampler, view)
    for name, expected in (
        ("cuTexObjectGetResourceDesc", array_resource(array)),
        ("cuTexObjectGetTextureDesc", sampler.description()),
        ("cuTexObjectGetResourceViewDesc", view),
    ):
        actual = type(expected)()
        driver(name, ctypes.byref(actual), object_)
        assert bytes(actual) == bytes(expected)
        assert driver.result(name, ctypes.byref(actual), ctypes.c_uint64(1)) == INVALID_HANDLE
    plain = make_texture(driver, array_resource(array), sampler)
    assert driver.result("cuTexObjectGetResourceViewDesc", ctypes.byref(View()), plain) == INVALID_VALUE


@pytest.mark.parametrize(
    ("format_", "sampler", "expected"),
    [
        (U8, Sampler(filter=LINEAR, flags=AS_INTEGER), INVALID_VALUE),  # integers are not filtered
        (F32, Sampler(addressing=4), INVALID_VALUE),
        (F32, Sampler(filter=2), INVALID_VALUE),
        (F32, Sampler(flags=0x100), INVALID_VALUE),
        (F32, Sampler(flags=SEAMLESS), INVALID_VALUE),  # not a cubemap
        (F32, Sampler(), 0),
    ],
)
def test_sampler_is_checked(driver: Driver, format_: int, sampler: Sampler, expected: int) -> None:
    resource, description = array_resource(make_array(driver, (4, 0, 0), format_)), sampler.description()
    handle = ctypes.c_uint64()
    arguments = ctypes.byref(handle), ctypes.byref(resource), ctypes.byref(description), None
    assert driver.result("cuTexObjectCreate", *arguments) == expected


def test_missing_filters_are_refused(driver: Driver, capfd: pytest.CaptureFixture[str]) -> None:
    cube = make_array(driver, (4, 4, 6), F32, 1, CUBEMAP)
    with pytest.raises(DriverError, match="801"):
        make_texture(driver, array_resource(cube), Sampler(CLAMP, LINEAR, SEAMLESS | NORMALIZED))
    with pytest.raises(DriverError, match="801"):
        mipmapped(driver, Sampler(flags=NORMALIZED, anisotropy=2))
    words = make_array(driver, (4, 0, 0), U32, 2)
    with pytest.raises(DriverError, match="801"):
        make_texture(driver, array_resource(words), Sampler(), View(format=0x19, width=16))
    assert capfd.readouterr().err == (
        "CPU driver: seamless filtering of cubemaps is not supported\n"
        "CPU driver: anisotropic filtering is not supported\n"
        "CPU driver: block-compressed textures are not supported\n"
    )


def linear(pointer: int, size: int = 64, format_: int = F32, channels: int = 1) -> Resource:
    return Resource(LINEAR_MEMORY, Place(linear=LinearMemory(pointer, format_, channels, size)))


def pitched(pointer: int, width: int, height: int, pitch: int) -> Resource:
    return Resource(PITCH, Place(pitch=PitchMemory(pointer, F32, 1, width, height, pitch)))


def test_resource_is_checked(driver: Driver) -> None:
    memory = driver.allocate(4096).value
    array = make_array(driver, (4, 0, 0), F32)
    good = [linear(memory), linear(memory + 512), pitched(memory, 8, 2, 32), array_resource(array)]
    bad = [
        linear(memory + 4), linear(0), linear(512), linear(memory, 3), linear(memory, 2**31), linear(memory, 64, 0x77),
        linear(memory, 64, F32, 3), linear(memory, 2**63), pitched(memory, 8, 2, 36), pitched(memory, 9, 2, 32),
        pitched(memory, 0, 2, 32), pitched(memory, 2**40, 2, 32), pitched(memory, 8, 65001, 32),
        pitched(memory, 2**62, 1, 0), array_resource(ctypes.c_void_p(memory)), array_resource(ctypes.c_void_p()),
        array_resource(array, MIPMAPPED), Resource(9), Resource(ARRAY, Place(array=array), 1),
    ]  # fmt: skip
    for resource in good:
        make_texture(driver, resource, Sampler())
    for resource in bad:
        with pytest.raises(DriverError, match=f"returned {INVALID_VALUE}"):
            make_texture(driver, resource, Sampler())
    for view in (View(width=5), View(width=4, last_level=1), View(width=4, first_layer=1, last_layer=1),
                 View(format=0x18, width=4), View(format=0xFF, width=4), View(format=2**31 - 1, width=4)):  # fmt: skip
        with pytest.raises(DriverError, match=f"returned {INVALID_VALUE}"):
            make_texture(driver, array_resource(array), Sampler(), view)


def faults(driver: Driver, object_: ctypes.c_uint64, memory: ctypes.c_uint64 | None = None) -> int:
    """The driver's result after a kernel that reads the texture."""
    memory = memory or driver.allocate(64)
    driver.write(memory, bytes(64))
    function = driver.function(reading_kernel("tex", "1d"), "kernel")
    assert driver.launch(function, [object_, memory, memory, ctypes.c_uint(1)]) == 0
    return driver.result("cuCtxSynchronize")


@pytest.mark.parametrize("handle", [0, 1, 8, 2**64 - 1, 0x200000000000, 0x7E00000000000000])
def test_forged_handle_in_a_kernel_faults(driver: Driver, handle: int) -> None:
    assert faults(driver, ctypes.c_uint64(handle)) == ILLEGAL_ADDRESS


def test_destroyed_texture_in_a_kernel_faults(driver: Driver) -> None:
    object_ = texture(driver, (4, 0, 0), ROW, Sampler())
    driver("cuTexObjectDestroy", object_)
    assert driver.result("cuTexObjectDestroy", object_) == INVALID_HANDLE
    assert faults(driver, object_) == ILLEGAL_ADDRESS


def test_texture_of_destroyed_array_in_a_kernel_faults(driver: Driver) -> None:
    array = make_array(driver, (4, 0, 0), F32)
    object_ = make_texture(driver, array_resource(array), Sampler())
    driver("cuArrayDestroy", array)
    assert faults(driver, object_) == ILLEGAL_ADDRESS


def test_texture_of_freed_memory_in_a_kernel_faults(driver: Driver) -> None:
    memory, other = driver.allocate(4096), driver.allocate(64)
    object_ = make_texture(driver, linear(memory.value), Sampler())
    driver("cuMemFree_v2", memory)
    assert faults(driver, object_, other) == ILLEGAL_ADDRESS


def test_surface_handle_is_no_texture(driver: Driver) -> None:
    array = make_array(driver, (4, 0, 0), F32, 1, SURFACE)
    assert faults(driver, make_surface(driver, array_resource(array))) == ILLEGAL_ADDRESS


def test_destroying_a_texture_waits_for_kernels_that_use_it(driver: Driver) -> None:
    object_ = texture(driver, (4, 0, 0), ROW, Sampler())
    count = 20000
    memory, values = driver.allocate(16 * count), driver.allocate(16 * count)
    function = driver.function(reading_kernel("tex", "1d"), "kernel")
    arguments = [object_, memory, values, ctypes.c_uint(count)]
    for _ in range(4):
        assert driver.launch(function, arguments, (count + 255) // 256, 256) == 0
    driver("cuTexObjectDestroy", object_)
    driver("cuCtxSynchronize")
    assert struct.unpack("4f", driver.read(values, 16))[0] == 10.0


@pytest.mark.parametrize(
    "instruction",
    [
        "tex.2dms.v4.f32.s32 {%v0, %v1, %v2, %v3}, [%rd1, {%c3, %c0, %c1, %c1}];",
        "tex.1d.v4.f32.f32 {%v0, %v1, %v2, %v3}, [%rd1, {%c0, %c1}];",
        "tex.2d.v4.f32.f32 {%v0, %v1, %v2}, [%rd1, {%c0, %c1}];",
        "tex.2d.v4.f32.f32 {%v0, %v1, %v2, %v3}, [%rd1, %rd2, {%c0, %c1}];",
        "tex.2d.v4.f32.f32 {%v0, %v1, %v2, %v3}, [%rd1, {%c0, %c1}], {%c0, %c1};",
        "tex.2d.v4.f64.f32 {%v0, %v1, %v2, %v3}, [%rd1, {%c0, %c1}];",
        "tex.2d.v4.f32.f32 {%v0, %v1, %v2, %v3}, [%rd1+8, {%c0, %c1}];",
        "tld4.r.3d.v4.f32.f32 {%v0, %v1, %v2, %v3}, [%rd1, {%c0, %c1, %c2, %c2}];",
        "ld.global.v4.b32 {%v0, %v1, %v2, %v3}|%p1, [%rd1];",
        "ld.global.b32 %v0, [%rd1, {%c0}];",
    ],
)
def test_unsupported_form_is_refused(driver: Driver, instruction: str) -> None:
    """A form that PTX has fails the launch, any other form fails the load."""
    module = ctypes.c_void_p()
    loaded = driver.result("cuModuleLoadData", ctypes.byref(module), kernel(instruction).encode())
    if loaded == 0:
        assert driver.launch(driver.handle("cuModuleGetFunction", module, b"kernel"), []) == 801
    else:
        assert loaded == 218


def test_texture_reference_is_refused_by_name(driver: Driver) -> None:
    log = ctypes.create_string_buffer(1000)
    options, values = (ctypes.c_int * 2)(5, 6), (ctypes.c_void_p * 2)(ctypes.addressof(log), 1000)
    text = ".version 8.0\n.target sm_75\n.address_size 64\n.global .texref pictures;\n"
    module = ctypes.c_void_p()
    assert driver.result("cuModuleLoadDataEx", ctypes.byref(module), text.encode(), 2, options, values) == 218
    assert b".texref is not supported; use texture objects" in log.value
