"""Reads through textures and accesses of surfaces whose results are compared between drivers and with a reference.

Run as a module on one driver: python -m tests.support.texture_cases DRIVER OUT.json
"""

from __future__ import annotations

import ctypes
import itertools
import json
import math
import random
import struct
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.corpus.driver import Driver, DriverError
from tests.support.textures import (
    ARRAY,
    AS_INTEGER,
    BORDER,
    BYTES,
    CLAMP,
    COORDINATES,
    CUBEMAP,
    F16,
    F32,
    GATHER,
    LAYERED,
    LINEAR,
    LINEAR_MEMORY,
    MIPMAPPED,
    MIRROR,
    NORMALIZED,
    PITCH,
    POINT,
    RESULT,
    S8,
    S16,
    S32,
    SRGB,
    SURFACE,
    U8,
    U16,
    U32,
    WRAP,
    Call,
    Descriptor3D,
    LinearMemory,
    PitchMemory,
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
    reading_kernel,
)  # fmt: skip

FORMATS = {U8: "B", U16: "H", U32: "I", S8: "b", S16: "h", S32: "i", F16: "e", F32: "f"}
NAMES = {U8: "u8", U16: "u16", U32: "u32", S8: "s8", S16: "s16", S32: "s32", F16: "f16", F32: "f32"}
ADDRESSING = {WRAP: "wrap", CLAMP: "clamp", MIRROR: "mirror", BORDER: "border"}
EXTENTS = {
    "1d": (7, 0, 0), "2d": (5, 4, 0), "3d": (4, 3, 5), "a1d": (6, 0, 3), "a2d": (3, 4, 3), "cube": (4, 4, 6),
    "acube": (2, 2, 12),
}  # fmt: skip
FLAGS = {"a1d": LAYERED, "a2d": LAYERED, "cube": CUBEMAP, "acube": CUBEMAP | LAYERED}
BORDER_COLOUR = (0.25, -2.0, 3.0, 0.5)
NEAREST = Sampler()
STEP = 1 / 256
"""One step of a linear filter's weight."""


@dataclass(frozen=True)
class Case:
    """Reads of one texture, or accesses of one surface."""

    name: str
    geometry: str
    format: int = F32
    channels: int = 1
    sampler: Sampler = NEAREST
    instruction: str = "tex"
    kind: int = ARRAY
    flags: int = 0
    """Further flags of the array."""

    @property
    def extent(self) -> tuple[int, int, int]:
        return EXTENTS[self.geometry]

    @property
    def is_filtered(self) -> bool:
        """Whether results are sums, whose rounding the documentation leaves open."""
        return LINEAR in (self.sampler.filter, self.sampler.level_filter) and "tld4" not in self.instruction

    @property
    def reads_integers(self) -> bool:
        return self.format in (U32, S32) or (
            self.format not in (F16, F32) and bool(self.sampler.flags & AS_INTEGER)
        )


def sampler_cases() -> Iterator[Case]:
    """Every geometry, addressing mode and filter, with and without normalized coordinates."""
    for geometry, mode, filter_, flags in itertools.product(
        EXTENTS, ADDRESSING, (POINT, LINEAR), (0, NORMALIZED)
    ):
        if "cube" in geometry and not flags:
            continue
        sampler = Sampler(mode, filter_, flags, border=BORDER_COLOUR)
        name = f"{geometry} {ADDRESSING[mode]} {'linear' if filter_ else 'point'}{' normalized' if flags else ''}"
        yield Case(name, geometry, sampler=sampler)


def format_cases() -> Iterator[Case]:
    """Every format and number of channels, as integers and as normalized numbers; linear where that is allowed."""
    for format_, channels, flags, filter_ in itertools.product(
        FORMATS, (1, 2, 4), (0, AS_INTEGER), (POINT, LINEAR)
    ):
        sampler = Sampler(BORDER, filter_, flags, border=BORDER_COLOUR)
        case = Case("", "2d", format_, channels, sampler)
        if case.reads_integers and filter_ == LINEAR:
            continue
        read = "integers" if flags else "normalized"
        name = f"{NAMES[format_]}x{channels} {read} {'linear' if filter_ else 'point'}"
        yield Case(name, "2d", format_, channels, sampler)
    yield Case("u8x4 srgb", "2d", U8, 4, Sampler(flags=SRGB))
    yield Case("u8x4 srgb linear", "2d", U8, 4, Sampler(flags=SRGB, filter=LINEAR))


def other_cases() -> Iterator[Case]:
    for channel, geometry in itertools.product("rgba", ("2d", "a2d", "cube", "acube")):
        sampler = Sampler(flags=NORMALIZED if "cube" in geometry else 0)
        flags = GATHER if geometry == "2d" else 0  # other arrays do not have the flag
        yield Case(f"gather {channel} {geometry}", geometry, F32, 4, sampler, f"tld4.{channel}", flags=flags)
    for filter_, level_filter in itertools.product((POINT, LINEAR), repeat=2):
        sampler = Sampler(WRAP, filter_, NORMALIZED, level_filter, bias=0.25, levels=(0.5, 2.5))
        name = (
            f"{'linear' if filter_ else 'point'} in, {'linear' if level_filter else 'point'} between levels"
        )
        yield Case(f"levels, {name}", "2d", sampler=sampler, instruction="tex.level", kind=MIPMAPPED)
        yield Case(f"gradients, {name}", "2d", sampler=sampler, instruction="tex.grad", kind=MIPMAPPED)
        yield Case(f"base, {name}", "2d", sampler=sampler, kind=MIPMAPPED)
    for format_, channels in ((F32, 1), (U8, 4), (S16, 2), (U32, 1)):
        name = f"{NAMES[format_]}x{channels}"
        yield Case(
            f"fetch {name}", "1d", format_, channels, Sampler(flags=AS_INTEGER), "fetch", LINEAR_MEMORY
        )
    yield Case("fetch normalized", "1d", U8, 1, Sampler(), "fetch", LINEAR_MEMORY)
    for filter_, mode in itertools.product((POINT, LINEAR), (CLAMP, BORDER)):
        name = f"pitch {'linear' if filter_ else 'point'} {ADDRESSING[mode]}"
        yield Case(name, "2d", sampler=Sampler(mode, filter_, border=BORDER_COLOUR), kind=PITCH)
    for geometry, boundary in itertools.product(("1d", "2d", "3d", "a1d", "a2d"), ("clamp", "zero")):
        yield Case(
            f"suld {geometry} {boundary}", geometry, U16, 2, instruction=f"suld.{boundary}", flags=SURFACE
        )
        yield Case(
            f"sust {geometry} {boundary}", geometry, U16, 2, instruction=f"sust.{boundary}", flags=SURFACE
        )
    for format_ in (U8, S8, U16, S16, F16, F32, S32):
        yield Case(f"sust.p {NAMES[format_]}", "2d", format_, 4, instruction="sust.p", flags=SURFACE)


CASES = (*sampler_cases(), *format_cases(), *other_cases())


def elements(case: Case, count: int) -> list[Any]:
    """Channels with a wide range of values, always the same for a case."""
    generator = random.Random(zlib.crc32(case.name.encode()))
    if case.format in (F16, F32):
        return [generator.choice((-1, 1)) * generator.uniform(0.01, 100.0) for _ in range(count)]
    bits = 8 * BYTES[case.format]
    low = -(2 ** (bits - 1)) if case.format in (S8, S16, S32) else 0
    return [generator.randrange(low, low + 2**bits) for _ in range(count)]


def data_of(case: Case, extent: tuple[int, int, int]) -> bytes:
    count = extent[0] * max(1, extent[1]) * max(1, extent[2]) * case.channels
    return struct.pack(f"{count}{FORMATS[case.format]}", *elements(case, count))


ODD = (math.inf, -math.inf, math.nan, 1e30, -1e30, 2.0**31, -(2.0**31))


def positions(extent: int, normalized: bool) -> list[float]:
    """Positions along a dimension: centres, edges, outside, and the middles between two weights."""
    edges = [i / 2 for i in range(-3 * extent, 5 * extent)]
    steps = [0.5 + i / 1024 for i in range(0, 1026, 27)]
    around = [extent + delta for delta in (-1e-3, -1e-6, 1e-6, 1e-3)]
    values = [*edges, *steps, *around]
    return [value / extent if normalized else value for value in values]


def places_of(case: Case) -> list[tuple[float | int, ...]]:
    """x, y, z and the last word: the layer, the level or a derivative."""
    if case.instruction.startswith(("su", "fetch")):
        axes = [range(-2, size + 3) for size in (max(1, each) for each in case.extent)]
        scale = 4 if case.instruction.startswith(("suld", "sust.c", "sust.z")) else 1
        last = [0] if case.geometry not in FLAGS else [0, 1, 2, 3, -1]
        z = axes[2] if case.geometry == "3d" else [0]
        return [(x * scale, y, each, word) for x in axes[0] for y in axes[1] for each in z for word in last]
    generator = random.Random(case.geometry)
    normalized = bool(case.sampler.flags & NORMALIZED)
    if "cube" in case.geometry:
        directions = [tuple(generator.uniform(-1, 1) for _ in range(3)) for _ in range(200)]
        directions += [
            tuple(map(float, each)) for each in itertools.product((-1, 0, 1), repeat=3) if any(each)
        ]
        return [(*each, generator.randrange(-1, 4)) for each in directions]
    axes_ = [positions(max(1, size), normalized) for size in case.extent]
    axes_ = [[*axis, *ODD] for axis in axes_]
    count = max(map(len, axes_)) * 2
    result: list[tuple[float | int, ...]] = []
    for i in range(count):
        x, y, z = (axis[i % len(axis)] if i < len(axis) else generator.choice(axis) for axis in axes_)
        if case.geometry.startswith("a"):
            last: float | int = generator.randrange(-2, 6)
        elif case.instruction == "tex.grad":
            last = generator.choice((0.0, 0.01, 0.1, 0.25, 0.5, 0.7, 2.0))
        else:
            last = generator.uniform(-1.0, 4.0)
        result.append((x, y, z, last))
    return result


def surface_text(case: Case) -> str:
    """PTX of an access to the surface at each place."""
    geometry, (name, mode) = case.geometry, case.instruction.split(".")
    place = f"[%rd1, {COORDINATES[geometry]}]"
    if name == "suld":
        load = f"suld.b.{geometry}.v2.b16.{mode} {{%h0, %h1}}, {place};"
        return kernel(f"{load} cvt.u32.u16 %v0, %h0; cvt.u32.u16 %v1, %h1; {RESULT}")
    if mode != "p":  # all threads that clamp to one element store the same value
        return kernel(f"mov.b16 %h0, 77; sust.b.{geometry}.v2.b16.{mode} {place}, {{%h0, %h0}};")
    values = "cvt.rn.f32.s32 %v0, %c0; mul.f32 %v0, %v0, 0f3E800000; mov.b32 %v1, %v0;"
    if case.format not in (F16, F32):
        values = "mul.lo.s32 %v0, %c0, 23456; neg.s32 %v1, %v0;"
    store = f"sust.p.{geometry}.v4.b32.zero {place}, {{%v0, %v1, %v2, %v3}};"
    return kernel(f"{values} mov.b32 %v2, %c1; mov.b32 %v3, 0; {store}")


def text_of(case: Case) -> str:
    name, type_ = case.instruction, "u32" if case.reads_integers else "f32"
    if name.startswith("su"):
        return surface_text(case)
    if name == "fetch":
        return reading_kernel("tex", case.geometry, type_, "s32")
    rest = {"tex.level": ", %c3", "tex.grad": ", {%c3, %v0}, {%v0, %c3}"}
    return reading_kernel(name, case.geometry, type_, rest=rest.get(name, ""))


def resource_of(case: Case, call: Call, allocate: Any) -> tuple[Resource, ctypes.c_void_p | None]:
    """The filled memory of a case; the array if it has one."""
    element = BYTES[case.format] * case.channels
    if case.kind == MIPMAPPED:
        handle, descriptor = ctypes.c_void_p(), Descriptor3D(16, 8, 0, case.format, case.channels, 0)
        call("cuMipmappedArrayCreate", ctypes.byref(handle), ctypes.byref(descriptor), 4)
        for number in range(4):
            level, extent = ctypes.c_void_p(), (16 >> number, 8 >> number, 0)
            call("cuMipmappedArrayGetLevel", ctypes.byref(level), handle, number)
            fill_array(call, level, extent, element, data_of(case, extent))
        return array_resource(handle, MIPMAPPED), None
    data = data_of(case, case.extent)
    width, height, _ = case.extent
    if case.kind == LINEAR_MEMORY:
        memory = LinearMemory(allocate(data), case.format, case.channels, len(data))
        return Resource(LINEAR_MEMORY, Place(linear=memory)), None
    if case.kind == PITCH:
        row = width * element
        rows = b"".join(data[i * row : (i + 1) * row].ljust(512, b"\0") for i in range(height))
        pitched = PitchMemory(allocate(rows), case.format, case.channels, width, height, 512)
        return Resource(PITCH, Place(pitch=pitched)), None
    array = make_array(
        call, case.extent, case.format, case.channels, FLAGS.get(case.geometry, 0) | case.flags
    )
    fill_array(call, array, case.extent, element, data)
    return array_resource(array), array


def packed_places(places: Sequence[tuple[float | int, ...]]) -> bytes:
    words = (word for place in places for word in place)
    return b"".join(struct.pack("f" if isinstance(word, float) else "i", word) for word in words)


def run_case(case: Case, driver: Driver) -> bytes:
    """The words that all threads read, or the array that they wrote.

    Raises DriverError if the driver refuses the case.
    """
    places = places_of(case)
    resource, array = resource_of(case, driver, driver.allocate)
    is_surface = case.instruction.startswith("su")
    object_ = make_surface(driver, resource) if is_surface else make_texture(driver, resource, case.sampler)
    given = driver.allocate(packed_places(places))
    values = driver.allocate(bytes(16 * len(places)))
    module = driver.load(text_of(case).encode())
    arguments = [bytes(object_), bytes(given), bytes(values), struct.pack("I", len(places))]
    module.launch("kernel", [(len(places) + 63) // 64], [64], arguments)
    driver.synchronize()
    if case.instruction.startswith("sust"):
        assert array is not None
        return read_array(driver, array, case.extent, BYTES[case.format] * case.channels)
    return driver.read(values, 16 * len(places))


def run_all(path: str) -> dict[str, str]:
    """The hexadecimal result of each case; "error N" if the driver refused it."""
    driver = Driver(path)
    results = {}
    for case in CASES:
        try:
            results[case.name] = run_case(case, driver).hex()
        except DriverError as error:
            results[case.name] = f"error {error.code}: {error}"
    return results


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(json.dumps(run_all(sys.argv[1])))
