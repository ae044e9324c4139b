"""Copies between contexts and in batches, and invalid copies."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import pytest

from .conftest import Driver

INVALID_VALUE, INVALID_CONTEXT = 1, 201
STREAM, DURING_CALL, ANY = 1, 2, 3


def size(value: int) -> ctypes.c_size_t:
    return ctypes.c_size_t(value)


class Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class Attributes(ctypes.Structure):
    _fields_ = (
        ("order", ctypes.c_int),
        ("source", Location),
        ("destination", Location),
        ("flags", ctypes.c_uint),
    )


class Copy3D(ctypes.Structure):
    _fields_ = [
        (side + name, kind)
        for side in ("src", "dst")
        for name, kind in (
            ("X", ctypes.c_size_t),
            ("Y", ctypes.c_size_t),
            ("Z", ctypes.c_size_t),
            ("Lod", ctypes.c_size_t),
            ("Type", ctypes.c_int),
            ("Host", ctypes.c_void_p),
            ("Device", ctypes.c_uint64),
            ("Array", ctypes.c_void_p),
            ("Context", ctypes.c_void_p),
            ("Pitch", ctypes.c_size_t),
            ("Height", ctypes.c_size_t),
        )
    ] + [("Width", ctypes.c_size_t), ("Height", ctypes.c_size_t), ("Depth", ctypes.c_size_t)]


class Extent(ctypes.Structure):
    _fields_ = (("width", ctypes.c_size_t), ("height", ctypes.c_size_t), ("depth", ctypes.c_size_t))


class Operand(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("pointer", ctypes.c_uint64),
        ("row", ctypes.c_size_t),
        ("layer", ctypes.c_size_t),
        ("hint", Location),
    )


class Operation(ctypes.Structure):
    _fields_ = (
        ("source", Operand),
        ("destination", Operand),
        ("extent", Extent),
        ("order", ctypes.c_int),
        ("flags", ctypes.c_uint),
    )


def context_of(driver: Driver) -> ctypes.c_void_p:
    return driver.handle("cuCtxGetCurrent")


def test_peer_copy_waits_for_the_other_contexts_work(driver: Driver) -> None:
    here = context_of(driver)
    there = driver.handle("cuCtxCreate_v4", None, 0, 0)
    big = driver.allocate(64 << 20)
    for value in range(8):
        driver("cuMemsetD8Async", big, value, size(64 << 20), None)
    driver("cuCtxSetCurrent", here)
    own = driver.allocate(16)
    driver("cuMemcpyPeer", own, here, ctypes.c_uint64(big.value + (64 << 20) - 16), there, size(16))
    assert driver.read(own, 16) == b"\7" * 16
    for name in ("cuMemcpyPeerAsync", "cuMemcpyPeerAsync_ptsz"):
        driver("cuMemsetD8_v2", own, 0, size(16))
        driver(name, own, here, big, there, size(16), None)
        driver("cuCtxSynchronize")
        assert driver.read(own, 16) == b"\7" * 16
    assert driver.result("cuMemcpyPeer", own, here, big, None, size(16)) == INVALID_CONTEXT
    assert driver.result("cuMemcpyPeer", own, here, big, there, size(17)) == INVALID_VALUE
    driver("cuCtxDestroy_v2", there)
    assert driver.result("cuMemcpyPeer", own, here, own, there, size(16)) == INVALID_CONTEXT


def test_box_copy_between_contexts_round_trips(driver: Driver) -> None:
    here = context_of(driver).value
    memory = driver.allocate(64)
    driver.write(memory, bytes(range(64)))
    buffer = ctypes.create_string_buffer(8)
    copy = Copy3D(srcType=2, srcDevice=memory.value, srcContext=here, srcPitch=4, srcHeight=4)
    copy.srcX, copy.srcY, copy.srcZ, copy.Width, copy.Height, copy.Depth = 1, 2, 1, 2, 2, 2
    copy.dstType, copy.dstHost = 1, ctypes.addressof(buffer)
    driver("cuMemcpy3DPeer", ctypes.byref(copy))
    assert buffer.raw == bytes(16 * z + 4 * y + x for z in (1, 2) for y in (2, 3) for x in (1, 2))
    copy.srcContext = None
    assert driver.result("cuMemcpy3DPeer_ptds", ctypes.byref(copy)) == INVALID_CONTEXT


class Plain3D(ctypes.Structure):
    _fields_ = [
        field if field[0][3:] != "Context" else (field[0][:3] + "Reserved", ctypes.c_void_p)
        for field in Copy3D._fields_
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"srcPitch": 3},  # less than X + Width
        {"srcPitch": 0x80000000},  # above the largest pitch
        {"srcHeight": 3},  # less than Y + Height
        {"srcLod": 1},
        {"srcReserved": 1},
        {"srcType": 0},
        {"dstType": 5},
        {"Depth": 5},  # past the allocation
        {"Depth": 1 << 62},
        {"srcZ": 1 << 60},
        {"Height": 1 << 63, "srcHeight": 0, "srcY": 0},
        {"srcDevice": 0},
        {"dstHost": None},
    ],
)
def test_box_outside_allocation_is_refused(driver: Driver, wrong: dict[str, int | None]) -> None:
    memory = driver.allocate(64)
    buffer = ctypes.create_string_buffer(64)
    copy = Plain3D(srcType=2, srcDevice=memory.value, srcPitch=4, srcHeight=4, srcX=2, srcY=2)
    copy.dstType, copy.dstHost = 1, ctypes.addressof(buffer)
    copy.Width, copy.Height, copy.Depth = 2, 2, 4
    driver("cuMemcpy3D_v2", ctypes.byref(copy))
    for name, value in wrong.items():
        setattr(copy, name, value)
    assert driver.result("cuMemcpy3D_v2", ctypes.byref(copy)) == INVALID_VALUE


def batch(
    driver: Driver, copies: Sequence[tuple[int, int, int]], orders: Sequence[tuple[int, int]], stream: object
) -> tuple[int, int]:
    """Return the result and the index of the failed copy. `orders`: pairs of first copy and access order."""
    to, source = ((ctypes.c_uint64 * len(copies))(*(copy[i] for copy in copies)) for i in (0, 1))
    sizes = (ctypes.c_size_t * len(copies))(*(copy[2] for copy in copies))
    attributes = (Attributes * len(orders))(*(Attributes(order=order) for _, order in orders))
    indexes = (ctypes.c_size_t * len(orders))(*(index for index, _ in orders))
    failed = ctypes.c_size_t(7)
    count, number = size(len(copies)), size(len(orders))
    result = driver.result(
        "cuMemcpyBatchAsync",
        *(to, source, sizes, count, attributes, indexes, number, ctypes.byref(failed), stream),
    )
    return result, ctypes.c_ssize_t(failed.value).value


def test_batch_respects_source_access_order(driver: Driver) -> None:
    stream = driver.handle("cuStreamCreate", 1)
    memory = driver.allocate(64)
    at = memory.value
    early = ctypes.create_string_buffer(b"early---", 8)
    late = ctypes.create_string_buffer(b"early---", 8)

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def change(_: int | None) -> None:
        late.value = b"late---"

    driver("cuLaunchHostFunc", stream, change, None)
    driver.write(ctypes.c_uint64(at + 32), b"on device")
    copies = [
        (at, ctypes.addressof(early), 8),
        (at + 8, ctypes.addressof(late), 8),
        (at + 16, at + 32, 9),
    ]
    assert batch(driver, copies, [(0, DURING_CALL), (1, STREAM)], stream) == (0, -1)
    early.value = b"changed"
    driver("cuStreamSynchronize", stream)
    assert driver.read(memory, 25) == b"early---late---\0on device"


@pytest.mark.parametrize(
    ("bytes_", "orders", "failed"),
    [
        (64, [(0, 0)], 0),  # invalid access order
        (64, [(0, 4)], 0),
        (65, [(0, STREAM)], 1),
        (64, [(1, STREAM)], -1),
        (64, [(0, STREAM), (0, ANY)], -1),
        (64, [(0, STREAM), (2, ANY)], -1),
        (64, [(0, STREAM), (1, ANY), (2, ANY)], -1),
    ],
)
def test_invalid_batch_copies_nothing(
    driver: Driver, bytes_: int, orders: list[tuple[int, int]], failed: int
) -> None:
    stream = driver.handle("cuStreamCreate", 0)
    memory, other = driver.allocate(64), driver.allocate(64)
    driver("cuMemsetD8_v2", memory, 1, size(64))
    driver("cuMemsetD8_v2", other, 2, size(64))
    copies = [(memory.value, other.value, 64), (memory.value, other.value, bytes_)]
    assert batch(driver, copies, orders, stream) == (INVALID_VALUE, failed)
    driver("cuStreamSynchronize", stream)
    assert driver.read(memory, 64) == b"\1" * 64


def test_batch_on_legacy_stream_is_refused(driver: Driver) -> None:
    memory = driver.allocate(16)
    copies = [(memory.value, memory.value + 8, 8)]
    assert batch(driver, copies, [(0, STREAM)], None) == (INVALID_VALUE, -1)
    assert batch(driver, copies, [(0, STREAM)], ctypes.c_void_p(1)) == (INVALID_VALUE, -1)
    assert batch(driver, copies, [(0, STREAM)], ctypes.c_void_p(2)) == (0, -1)


def test_box_batch_copies(driver: Driver) -> None:
    stream = driver.handle("cuStreamCreate", 0)
    memory = driver.allocate(64)
    buffer = ctypes.create_string_buffer(bytes(range(64)), 64)
    boxes = (Operation * 2)()
    for box in boxes:
        box.source = Operand(type=1, pointer=ctypes.addressof(buffer), row=8, layer=4)
        box.extent, box.order = Extent(2, 2, 2), DURING_CALL
    boxes[0].destination = Operand(type=1, pointer=memory.value)
    boxes[1].destination = Operand(type=1, pointer=memory.value + 8)
    failed = ctypes.c_size_t()
    arguments = (ctypes.byref(failed), ctypes.c_ulonglong(0), stream)
    driver("cuMemcpy3DBatchAsync", size(2), boxes, *arguments)
    ctypes.memset(buffer, 0, 64)
    driver("cuStreamSynchronize", stream)
    assert driver.read(memory, 16) == bytes([0, 1, 8, 9, 32, 33, 40, 41]) * 2
    boxes[1].source.row = 1
    assert driver.result("cuMemcpy3DBatchAsync", size(2), boxes, *arguments) == INVALID_VALUE
    assert failed.value == 1
    boxes[1].source.row, boxes[1].extent.depth = 8, 0
    assert driver.result("cuMemcpy3DBatchAsync", size(2), boxes, *arguments) == INVALID_VALUE


def test_copy_with_attributes_is_checked(driver: Driver) -> None:
    if not hasattr(driver.library, "cuMemcpyWithAttributesAsync"):
        pytest.skip("built with a header before CUDA 13.2")
    stream = driver.handle("cuStreamCreate", 0)
    memory = driver.allocate(16)
    source = ctypes.create_string_buffer(b"0123456789abcdef", 16)
    order = Attributes(order=STREAM)
    address = ctypes.c_uint64(ctypes.addressof(source))
    driver("cuMemcpyWithAttributesAsync", memory, address, size(16), ctypes.byref(order), stream)
    driver("cuStreamSynchronize", stream)
    assert driver.read(memory, 16) == source.raw
    arguments = (memory, address, size(16), ctypes.byref(order))
    assert driver.result("cuMemcpyWithAttributesAsync", *arguments, None) == INVALID_VALUE
    assert driver.result("cuMemcpyWithAttributesAsync_ptsz", *arguments, None) == 0
