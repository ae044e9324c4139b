"""AMD's code objects and bundles, as inspect reads them: real ones of clang's, and hostile ones."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import msgspec
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from benchguard.capture import bundle, code_object
from benchguard.capture.code_object import CodeObject, code_objects
from benchguard.capture.unpack import CodeError

DATA = Path(__file__).parents[2] / "data" / "hip"
PREFIX = "hipv4-amdgcn-amd-amdhsa--"
TARGETS = {
    "gfx90a.hsaco": ["amdgcn-amd-amdhsa--gfx90a:xnack-"],
    "gfx1100.hsaco": ["amdgcn-amd-amdhsa--gfx1100"],
    "bundle.hipfb": [f"{PREFIX}gfx1100", f"{PREFIX}gfx90a:xnack+", f"{PREFIX}gfx90a:xnack-"],
    "compressed.hipfb": [f"{PREFIX}gfx1100", f"{PREFIX}gfx90a:xnack-"],
}
PARAMETERS = {
    "saxpy": ((0, 4), (8, 8), (16, 8), (24, 4)),
    "mixed": ((0, 1), (2, 2), (8, 16), (24, 8), (32, 8)),
    "empty": (),
    "sized": ((0, 8),),
    "_Z7spilledIfEvPT_i": ((0, 8), (8, 4)),
}


def compressed(raw: bytes, version: int, method: int, raw_bytes: int | None = None) -> bytes:
    data = zstandard.compress(raw) if method == 1 else zlib.compress(raw)
    size = len(raw) if raw_bytes is None else raw_bytes
    form = {1: "<I", 2: "<II", 3: "<QQ"}[version]
    total = 8 + struct.calcsize(form) + 8 + len(data)
    sizes = (size,) if version == 1 else (total, size)
    return b"CCOB" + struct.pack("<HH", version, method) + struct.pack(form, *sizes) + bytes(8) + data


def only(image: bytes) -> CodeObject:
    (result,) = code_objects(image)
    return result


@pytest.mark.parametrize("name", TARGETS)
def test_code_of_clang_is_read(name: str) -> None:
    result = code_objects((DATA / name).read_bytes())
    assert [each.target for each in result] == TARGETS[name]
    for each in result:
        assert each.problem == ""
        assert {kernel.name: kernel.parameters for kernel in each.kernels} == PARAMETERS
        assert set(each.globals) - {"__hip_cuid_"} == {"counter", "weights", "table"}
        by_name = {kernel.name: kernel for kernel in each.kernels}
        assert by_name["sized"].shared_bytes == 256
        assert by_name["_Z7spilledIfEvPT_i"].local_bytes == 144
        assert by_name["saxpy"].segment_bytes == 28
        assert by_name["saxpy"].wavefront == (32 if "gfx1100" in each.target else 64)


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("method", [0, 1])
def test_bundles_of_every_version_and_method_are_read(version: int, method: int) -> None:
    raw = (DATA / "bundle.hipfb").read_bytes()
    assert code_objects(compressed(raw, version, method)) == code_objects(raw)


@pytest.mark.parametrize(
    ("image", "problem"),
    [
        (b"CCOB", "the compressed bundle is cut short"),
        (b"CCOB" + bytes(40), "the compressed bundle is cut short or has the unknown version 0"),
        (compressed(b"x", 2, 1), "does not hold an offload bundle"),
        (compressed(b"x", 2, 1, 2), "the zstd frame holds 1 bytes instead of 2"),
        (compressed(b"xy", 2, 0, 1), "does not hold an offload bundle"),
        (compressed(b"x", 2, 0, 2), "decompresses to 1 bytes instead of the declared 2"),
        (compressed(b"x", 3, 0, 1 << 40), f"unpacks to {1 << 40} bytes; at most {1 << 30} are read"),
        (compressed(b"x", 2, 1)[:-1], "the compressed bundle declares an impossible size"),
        (b"CCOB" + struct.pack("<HHIIQ", 2, 9, 24, 1, 0), "the compressed bundle is packed by an unknown method (9)"),
        (b"CCOB" + struct.pack("<HHIIQ", 2, 1, 24, 1, 0), "the compressed bundle does not decompress: "),
        (bundle.MAGIC, "the offload bundle has an impossible number of entries"),
        (bundle.MAGIC + b"\xff" * 8, "the offload bundle has an impossible number of entries"),
        (bundle.MAGIC + struct.pack("<Q", 1), "the offload bundle is cut short"),
        (bundle.MAGIC + struct.pack("<QQQQ", 1, 0, 1 << 63, 0), "an entry of the offload bundle lies outside it"),
        (bundle.MAGIC + struct.pack("<QQQQ", 1, 0, 0, 1 << 63), "an entry of the offload bundle lies outside it"),
        (bundle.MAGIC + struct.pack("<QQQQQQQ", 2, 0, 60, 0, 0, 60, 0), "entries of the offload bundle overlap"),
    ],
)  # fmt: skip
def test_damaged_bundle_is_refused(image: bytes, problem: str) -> None:
    with pytest.raises(CodeError) as excinfo:
        code_objects(image)
    assert problem in str(excinfo.value)


def test_frame_declaring_more_bytes_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its claim would be allocated before a byte of it is read."""
    frame = bytearray(zstandard.compress(bytes(300)))
    assert frame[4] >> 6 == 1  # the size has two bytes
    liar = bytes(frame[:4]) + bytes([0xE0]) + struct.pack("<Q", 1 << 50) + bytes(frame[7:])
    monkeypatch.setattr(zstandard, "ZstdDecompressor", None)
    with pytest.raises(CodeError, match="the zstd frame holds"):
        code_objects(b"CCOB" + struct.pack("<HHIIQ", 2, 1, 24 + len(liar), 300, 0) + liar)


def test_damaged_entry_leaves_other_entries_readable(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bundle may hold code that is not an ELF file for AMD GPUs (SPIR-V)."""
    entries = [("a", b"\x03\x02\x23\x07"), ("b", (DATA / "gfx90a.hsaco").read_bytes())]
    monkeypatch.setattr(code_object, "codes_of", lambda _: entries)
    first, second = code_objects(b"")
    assert first.problem.startswith("the code object is damaged: ") and second.problem == ""


def metadata_replaced(metadata: bytes) -> bytes:
    """gfx90a.hsaco with another note, which lies at its end."""
    image = bytearray((DATA / "gfx90a.hsaco").read_bytes())
    note = struct.pack("<III", 7, len(metadata), 32) + b"AMDGPU\0\0" + metadata
    for index in range(struct.unpack_from("<H", image, 56)[0]):
        at = struct.unpack_from("<Q", image, 32)[0] + 56 * index
        if struct.unpack_from("<I", image, at)[0] == 4:
            struct.pack_into("<Q", image, at + 8, len(image))
            struct.pack_into("<Q", image, at + 32, len(note))
    return bytes(image) + note


@pytest.mark.parametrize(
    ("metadata", "problem"),
    [
        (b"", "its metadata cannot be read: "),
        (b"\x81" * 100_000, "its metadata cannot be read: "),
        (b"\xdd\xff\xff\xff\xff", "its metadata cannot be read: "),
        (msgspec.msgpack.encode({}), "its metadata cannot be read: Object missing required field `amdhsa.kernels`"),
        (msgspec.msgpack.encode({"amdhsa.kernels": [{}]}), "its metadata cannot be read: Object missing required"),
        (b"\xc0" * (code_object.METADATA_MAX + 1), f"more than {code_object.METADATA_MAX} are not read"),
    ],
    ids=["none", "nested", "long", "empty", "no name", "large"],
)  # fmt: skip
def test_damaged_metadata_is_reported(metadata: bytes, problem: str) -> None:
    assert problem in only(metadata_replaced(metadata)).problem


def test_minimal_metadata_is_read() -> None:
    kernel = {".name": "k", ".kernarg_segment_size": 8}
    result = only(metadata_replaced(msgspec.msgpack.encode({"amdhsa.kernels": [kernel]})))
    assert [each.name for each in result.kernels] == ["k"] and result.target == ""


REAL = {name: (DATA / name).read_bytes() for name in [*TARGETS, "variables.hsaco"]}


VALUES = [b"\0", b"\xff", b"\xff" * 8, b"\x7f", b"\1", bytes(8)]
CHANGES = st.lists(
    st.tuples(st.integers(0, 1 << 20), st.sampled_from([64, 700, 5000, 50_000]), st.sampled_from(VALUES)),
    max_size=8,
)


@settings(max_examples=300)
@given(name=st.sampled_from(sorted(REAL)), share=st.sampled_from([1, 1, 2, 40]), changes=CHANGES)
def test_mutated_images_are_read_or_refused(
    name: str, share: int, changes: list[tuple[int, int, bytes]]
) -> None:
    """Damaged images raise CodeError or are read."""
    image = bytearray(REAL[name][: len(REAL[name]) // share])
    for place, within, value in changes:
        at = place % min(len(image), within)
        image[at : at + len(value)] = value
    try:
        for each in code_objects(bytes(image)):
            assert not (each.problem and (each.kernels or each.globals))
            assert all(len(name) < code_object.NAME_MAX for name in each.globals)
    except CodeError as error:
        assert str(error)
