"""Memory: where it comes from, what is known of an address, copies and fills of every form."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from .conftest import INVALID_VALUE, PER_THREAD, Hip
from .structures import Pitched, Triple, Volume

TO_DEVICE, TO_HOST, ON_DEVICE, ANY = 1, 2, 3, 4
INVALID_DIRECTION, INVALID_PITCH, INVALID_SYMBOL, INVALID_DEVICE, NOT_SUPPORTED = 21, 12, 13, 101, 801
HOST_TYPE, DEVICE_TYPE = 0, 1
COHERENT, NON_COHERENT, MAPPED, NUMA = 0x40000000, 0x80000000, 2, 0x20000000
ROWS, WIDTH, PITCH = 3, 8, 16


class Attributes(ctypes.Structure):
    """hipPointerAttribute_t"""

    _fields_ = (
        ("type", ctypes.c_int),
        ("device", ctypes.c_int),
        ("device_address", ctypes.c_void_p),
        ("host_address", ctypes.c_void_p),
        ("managed", ctypes.c_int),
        ("flags", ctypes.c_uint),
    )


class Rows(ctypes.Structure):
    """hip_Memcpy2D"""

    _fields_ = (
        ("from_x", ctypes.c_size_t),
        ("from_y", ctypes.c_size_t),
        ("from_type", ctypes.c_int),
        ("from_host", ctypes.c_void_p),
        ("from_device", ctypes.c_void_p),
        ("from_array", ctypes.c_void_p),
        ("from_pitch", ctypes.c_size_t),
        ("to_x", ctypes.c_size_t),
        ("to_y", ctypes.c_size_t),
        ("to_type", ctypes.c_int),
        ("to_host", ctypes.c_void_p),
        ("to_device", ctypes.c_void_p),
        ("to_array", ctypes.c_void_p),
        ("to_pitch", ctypes.c_size_t),
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
    )


def attributes(hip: Hip, address: Any) -> Attributes:
    result = Attributes()
    hip("hipPointerGetAttributes", ctypes.byref(result), address)
    return result


def size(value: int) -> ctypes.c_size_t:
    return ctypes.c_size_t(value)


def data(hip: Hip, address: Any, count: int) -> bytes:
    hip("hipDeviceSynchronize")
    buffer = ctypes.create_string_buffer(count)
    hip("hipMemcpyDtoH", buffer, address, size(count))
    return buffer.raw


def test_pointer_queries_accept_any_address_in_an_allocation(hip: Hip) -> None:
    memory = hip.allocate(64)
    result = attributes(hip, ctypes.c_void_p((memory.value or 0) + 8))
    assert (result.type, result.device, result.managed) == (DEVICE_TYPE, 0, 0)
    base, extent = ctypes.c_void_p(), ctypes.c_size_t()
    hip(
        "hipMemGetAddressRange",
        ctypes.byref(base),
        ctypes.byref(extent),
        ctypes.c_void_p((memory.value or 0) + 8),
    )
    assert (base.value, extent.value) == (memory.value, 64)
    assert hip.asked("hipMemPtrGetInfo", memory, ctypes.c_size_t) == 64
    hip("hipFree", memory)
    assert hip.result("hipPointerGetAttributes", ctypes.byref(Attributes()), memory) == INVALID_VALUE


def test_allocation_of_zero_bytes_returns_null(hip: Hip) -> None:
    assert hip.allocate(0).value is None
    assert hip.handle("hipHostMalloc", size(0), 0).value is None
    hip("hipFree", None)
    hip("hipHostFree", None)


def test_host_memory_has_a_device_pointer(hip: Hip) -> None:
    memory = hip.handle("hipHostMalloc", size(64), MAPPED | COHERENT | NUMA)
    result = attributes(hip, memory)
    assert (result.type, result.host_address, result.device_address) == (
        HOST_TYPE,
        memory.value,
        memory.value,
    )
    assert hip.handle("hipHostGetDevicePointer", memory, 0).value == memory.value
    flags = ctypes.c_uint()
    hip("hipHostGetFlags", ctypes.byref(flags), memory)
    assert flags.value & MAPPED
    hip("hipFree", memory)  # takes either
    assert (
        hip.result("hipHostMalloc", ctypes.byref(memory), size(8), COHERENT | NON_COHERENT) == INVALID_VALUE
    )
    assert hip.result("hipHostMalloc", ctypes.byref(memory), size(8), 8) == INVALID_VALUE


def test_registered_memory_is_unregistered(hip: Hip) -> None:
    buffer = ctypes.create_string_buffer(8192)
    hip("hipHostRegister", buffer, size(8192), 0)
    assert attributes(hip, buffer).type == HOST_TYPE
    hip("hipHostUnregister", buffer)
    assert hip.result("hipHostUnregister", buffer) == 713


def test_managed_memory_is_readable_by_the_host(hip: Hip) -> None:
    memory = hip.handle("hipMallocManaged", size(4), 1)
    hip("hipMemsetD8", memory, 7, size(4))
    hip("hipDeviceSynchronize")
    assert ctypes.string_at(memory.value or 0, 4) == b"\7" * 4
    result = attributes(hip, memory)
    assert (result.type, result.managed) == (DEVICE_TYPE, 1)


@pytest.mark.parametrize(
    ("flags", "count", "result"), [(0, 64, 0), (1, 64, 0), (2, 8, 0), (2, 64, 1), (4, 8, 1)]
)
def test_allocation_flags_give_the_expected_result(hip: Hip, flags: int, count: int, result: int) -> None:
    """Fine grained (1), and of a signal (2), which has eight bytes."""
    assert hip.result("hipExtMallocWithFlags", ctypes.byref(ctypes.c_void_p()), size(count), flags) == result


def test_single_pointer_attributes_use_hip_numbers(hip: Hip) -> None:
    memory, pinned, kind = hip.allocate(8), hip.handle("hipHostMalloc", size(8), 0), ctypes.c_uint(77)
    for address, expected in ((memory, DEVICE_TYPE), (pinned, HOST_TYPE)):
        hip("hipPointerGetAttribute", ctypes.byref(kind), 2, address)
        assert kind.value == expected
    attributes, start = (ctypes.c_int * 2)(2, 11), ctypes.c_void_p()
    values = (ctypes.c_void_p * 2)(ctypes.addressof(kind), ctypes.addressof(start))
    hip("hipDrvPointerGetAttributes", 2, attributes, values, memory)
    assert (kind.value, start.value) == (DEVICE_TYPE, memory.value)


@pytest.mark.parametrize("name", ["hipMemcpy", "hipMemcpy_spt", "hipMemcpyAsync", "hipMemcpyWithStream"])
def test_copy_round_trip_keeps_bytes(hip: Hip, name: str) -> None:
    memory, other, there, back = hip.allocate(8), hip.allocate(8), b"01234567", ctypes.create_string_buffer(8)
    last = (None,) if name in ("hipMemcpyAsync", "hipMemcpyWithStream") else ()
    hip(name, memory, there, size(8), TO_DEVICE, *last)
    hip(name, other, memory, size(8), ON_DEVICE, *last)
    hip(name, back, other, size(8), ANY, *last)
    hip("hipDeviceSynchronize")
    assert back.raw == there
    assert hip.result(name, memory, there, size(8), 9, *last) == INVALID_DIRECTION


def test_driver_copy_round_trip_keeps_bytes(hip: Hip) -> None:
    memory, other = hip.allocate(8), hip.allocate(8)
    hip("hipMemcpyHtoD", memory, b"abcdefgh", size(8))
    hip("hipMemcpyDtoDAsync", other, memory, size(8), PER_THREAD)
    hip("hipStreamSynchronize", PER_THREAD)
    assert data(hip, other, 8) == b"abcdefgh"


def test_peer_copy_to_the_same_device_copies(hip: Hip) -> None:
    memory, other = hip.allocate(8), hip.allocate(8)
    hip("hipMemcpyHtoD", memory, b"abcdefgh", size(8))
    hip("hipMemcpyPeer", other, 0, memory, 0, size(8))
    assert data(hip, other, 8) == b"abcdefgh"
    assert hip.result("hipMemcpyPeer", other, 1, memory, 0, size(8)) == INVALID_DEVICE


def pitched(hip: Hip) -> ctypes.c_void_p:
    memory = hip.allocate(ROWS * PITCH)
    hip("hipMemset", memory, ord("."), size(ROWS * PITCH))
    return memory


LETTERS = b"aaaaaaaabbbbbbbbcccccccc"
PICTURE = b"".join(LETTERS[8 * row : 8 * row + 8] + b"." * 8 for row in range(ROWS))


@pytest.mark.parametrize("name", ["hipMemcpy2D", "hipMemcpy2D_spt", "hipMemcpy2DAsync"])
def test_row_copy_keeps_bytes_between_rows(hip: Hip, name: str) -> None:
    memory = pitched(hip)
    arguments = [memory, size(PITCH), LETTERS, size(WIDTH), size(WIDTH), size(ROWS), TO_DEVICE]
    last = (None,) if name == "hipMemcpy2DAsync" else ()
    hip(name, *arguments, *last)
    assert data(hip, memory, ROWS * PITCH) == PICTURE
    arguments[1] = size(WIDTH - 1)
    assert hip.result(name, *arguments, *last) == INVALID_PITCH


@pytest.mark.parametrize("name", ["hipMemcpyParam2D", "hipDrvMemcpy2DUnaligned", "hipMemcpyParam2DAsync"])
def test_row_copy_by_structure_copies(hip: Hip, name: str) -> None:
    memory, text = pitched(hip), ctypes.create_string_buffer(LETTERS)
    rows = Rows(
        from_type=HOST_TYPE, from_host=ctypes.addressof(text), from_pitch=WIDTH,
        to_type=DEVICE_TYPE, to_device=memory.value, to_pitch=PITCH, width=WIDTH, height=ROWS,
    )  # fmt: skip
    last = (None,) if name.endswith("Async") else ()
    hip(name, ctypes.byref(rows), *last)
    assert data(hip, memory, ROWS * PITCH) == PICTURE
    rows.from_type = 2  # an array
    assert hip.result(name, ctypes.byref(rows), *last) == NOT_SUPPORTED
    assert hip.result(name, None, *last) == INVALID_VALUE


@pytest.mark.parametrize("name", ["hipMemcpy3D", "hipMemcpy3DAsync", "hipMemcpy3D_spt"])
def test_volume_copy_writes_inside_another_volume(hip: Hip, name: str) -> None:
    """Two planes of one row of two bytes, to the second column and row of planes of 4 x 2."""
    memory, text = hip.allocate(16), ctypes.create_string_buffer(b"abcd")
    hip("hipMemset", memory, ord("."), size(16))
    volume = Volume(
        from_=Pitched(ctypes.addressof(text), 2, 2, 1),
        to_at=Triple(1, 1, 0),
        to=Pitched(memory.value, 4, 4, 2),
        extent=Triple(2, 1, 2),
        kind=TO_DEVICE,
    )
    last = (None,) if name.endswith("Async") else ()
    hip(name, ctypes.byref(volume), *last)
    assert data(hip, memory, 16) == b".....ab......cd."
    volume.kind = 9
    assert hip.result(name, ctypes.byref(volume), *last) == INVALID_DIRECTION


FILLS = {
    "hipMemset": (ord("x"), 6, b"xxxxxx.."),
    "hipMemset_spt": (ord("x"), 6, b"xxxxxx.."),
    "hipMemsetAsync": (ord("x"), 6, b"xxxxxx.."),
    "hipMemsetD8": (ord("x"), 6, b"xxxxxx.."),
    "hipMemsetD8Async": (ord("x"), 6, b"xxxxxx.."),
    "hipMemsetD16": (0x7978, 3, b"xyxyxy.."),
    "hipMemsetD16Async": (0x7978, 3, b"xyxyxy.."),
    "hipMemsetD32": (0x62617978, 1, b"xyab...."),
    "hipMemsetD32Async": (0x62617978, 1, b"xyab...."),
}


@pytest.mark.parametrize("name", FILLS)
def test_memset_sets_memory(hip: Hip, name: str) -> None:
    value, count, expected = FILLS[name]
    memory = hip.allocate(8)
    hip("hipMemset", memory, ord("."), size(8))
    hip(name, memory, value, size(count), *((None,) if name.endswith("Async") else ()))
    assert data(hip, memory, 8) == expected


@pytest.mark.parametrize("name", ["hipMemset3D", "hipMemset3DAsync", "hipMemset3D_spt"])
@pytest.mark.parametrize(("rows", "expected"), [(2, b"xx..xx.." * 2), (1, b"xx......" * 2)])
def test_volume_memset_sets_each_row(hip: Hip, name: str, rows: int, expected: bytes) -> None:
    memory = hip.allocate(16)
    hip("hipMemset", memory, ord("."), size(16))
    last = (None,) if name.endswith("Async") else ()
    hip(name, Pitched(memory.value, 4, 4, 2), ord("x"), Triple(2, rows, 2), *last)
    assert data(hip, memory, 16) == expected


def test_pitched_allocation_has_room_for_each_row(hip: Hip) -> None:
    pitch = ctypes.c_size_t()
    hip("hipMallocPitch", ctypes.byref(ctypes.c_void_p()), ctypes.byref(pitch), size(100), size(3))
    assert pitch.value >= 100
    result = Pitched()
    hip("hipMalloc3D", ctypes.byref(result), Triple(100, 2, 2))
    assert (result.pitch, result.width, result.height) == (pitch.value, 100, 2)
    assert (
        hip.asked("hipMemPtrGetInfo", ctypes.c_void_p(result.address), ctypes.c_size_t)
        >= 3 * pitch.value + 100
    )


def test_unknown_symbol_is_refused(hip: Hip) -> None:
    assert (
        hip.result("hipGetSymbolAddress", ctypes.byref(ctypes.c_void_p()), ctypes.c_void_p(64))
        == INVALID_SYMBOL
    )


def test_free_memory_is_reported(hip: Hip) -> None:
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    hip("hipMemGetInfo", ctypes.byref(free), ctypes.byref(total))
    assert 0 < free.value < total.value == 8 << 30


def test_managed_memory_advice_is_stored(hip: Hip) -> None:
    """Devices are numbers, the host is -1; the grain of caches (100, 101) is AMD's own."""
    memory = hip.handle("hipMallocManaged", size(4096), 1)
    hip("hipMemAdvise", memory, size(4096), 3, -1)
    hip("hipMemAdvise", memory, size(4096), 100, 0)
    hip("hipMemPrefetchAsync", memory, size(4096), 0, None)
    hip("hipDeviceSynchronize")
    for attribute, expected in ((1, 0), (2, -1), (4, 0), (100, 0)):
        value = ctypes.c_int(77)
        hip("hipMemRangeGetAttribute", ctypes.byref(value), size(4), attribute, memory, size(4096))
        assert value.value == expected
    preferred, last = ctypes.c_int(), ctypes.c_int()
    values = (ctypes.c_void_p * 2)(ctypes.addressof(preferred), ctypes.addressof(last))
    hip("hipMemRangeGetAttributes", values, (ctypes.c_size_t * 2)(4, 4), (ctypes.c_int * 2)(2, 4), size(2), memory,
        size(4096))  # fmt: skip
    assert (preferred.value, last.value) == (-1, 0)
    assert hip.result("hipMemAdvise", hip.allocate(8), size(8), 1, 0) == INVALID_VALUE
