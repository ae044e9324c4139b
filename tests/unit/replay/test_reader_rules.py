"""Every rule of a capture (docs/formats.md): a file that breaks just that one is refused by both readers, with a
line that says which. The files' hashes are right; whoever makes a hostile capture can compute them too."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchguard.capture import Capture, CaptureError
from benchguard.capture.layout import (
    BLOB_MAX,
    EDGE,
    META,
    NOTHING,
    PAGE,
    RAW_CAPTURE_MAGIC,
    REFUSAL,
    RUN,
    Compression,
    Kind,
    OperationKind,
)
from tests.support.altered import Altered, Blob, Section, compressed, noise
from tests.support.captures import ARENA, CAPTURES, COUNTER, GRANULE
from tests.unit.replay.support import Compiler, Reader, compile_reader

DAMAGED = "cannot be decompressed; the capture is damaged: record it again"
LARGE = 0xFFFF_FFFF
MANY_READS = "more copies to the host than 256, or than 64 KiB"
LARGEST = (1 << 64) - 1


@pytest.fixture(scope="module")
def read(compile_c: Compiler) -> Reader:
    return compile_reader(compile_c)


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("captures")
    return {name: make(folder / f"{name}.ncap") for name, make in CAPTURES.items()}


def read_in_python(path: Path) -> str:
    """Empty, or why not. Blobs are looked at when they are read, and here all of them are."""
    try:
        with Capture.open(path) as capture:
            capture.check_blobs()
    except CaptureError as error:
        assert "\n" not in str(error)
        return str(error)
    return ""


@pytest.mark.parametrize("name", CAPTURES)
def test_valid_capture_is_accepted(name: str, captures: dict[str, Path], read: Reader) -> None:
    assert (read(captures[name]).status, read_in_python(captures[name])) == (0, "")


@pytest.mark.parametrize("name", CAPTURES)
def test_reassembled_capture_is_accepted(
    name: str, captures: dict[str, Path], tmp_path: Path, read: Reader
) -> None:
    """The control of what follows: without a change nothing is refused."""
    again = Altered(captures[name]).write(tmp_path / "again.ncap")
    assert read(again) == read(captures[name])
    assert read_in_python(again) == ""


@dataclass(frozen=True)
class Case:
    capture: str
    alter: Callable[[Altered], object]
    said: str
    """By the engine's reader."""


def on(kind: Kind, index: int, field: str, *values: int | bytes) -> Callable[[Altered], object]:
    return lambda altered: altered.set(kind, index, field, *values)


def header(**fields: int | bytes) -> Callable[[Altered], object]:
    return lambda altered: altered.header.update(fields)


def blob(index: int, **fields: int | bytes) -> Callable[[Altered], object]:
    return lambda altered: altered.blobs[index].__dict__.update(fields)


def section(kind: Kind, **fields: int) -> Callable[[Altered], object]:
    return lambda altered: altered.section(kind).__dict__.update(fields)


def without(kind: Kind) -> Callable[[Altered], object]:
    return lambda altered: altered.sections.remove(altered.section(kind))


def frame(make: Callable[[bytes], bytes]) -> Callable[[Altered], object]:
    """The first blob, which then is 64 KiB of zeros, as `make` stores it."""

    def alter(altered: Altered) -> None:
        altered.blobs.append(Blob(bytes(1 << 16), make(bytes(1 << 16)), Compression.ZSTD))

    return alter


def appended(kind: Kind, raw: bytes) -> Callable[[Altered], object]:
    return lambda altered: altered.append(kind, raw)


def operation(index: int, kind: OperationKind, **fields: int) -> Callable[[Altered], object]:
    """Replaced by one of another kind with nothing set but these."""

    def alter(altered: Altered) -> None:
        raw = bytearray(altered.table(Kind.OPERATION))
        raw[index * 104 : index * 104 + 104] = struct.pack("<IIII88x", kind, 0, 0, 0)
        altered.replace_table(Kind.OPERATION, bytes(raw))
        for name, value in fields.items():
            altered.set(Kind.OPERATION, index, name.replace("__", "."), value)

    return alter


def large_read(altered: Altered) -> None:
    """One byte more than 64 KiB, as one row."""
    size, index = (64 << 10) - 7, len(altered.blobs)
    altered.blobs.append(Blob(bytes(size)))
    altered.append(Kind.ALLOCATION, struct.pack("<QQIIQQ", ARENA + 8 * GRANULE, 1 << 20, 3, 0, 0, 0))
    altered.set(LAUNCH, 1, "as.read.source", ARENA + 8 * GRANULE)
    altered.set(LAUNCH, 1, "as.read.width", size)
    altered.set(LAUNCH, 1, "as.read.height", 1)
    altered.set(LAUNCH, 1, "as.read.content", index, size)


def many(*alters: Callable[[Altered], object]) -> Callable[[Altered], object]:
    return lambda altered: [alter(altered) for alter in alters]


def shrunk(kind: Kind, field: str, by: int) -> Callable[[Altered], object]:
    return lambda altered: altered.set(kind, 0, field, altered.get(kind, 0, field) - by)


def another(
    name: int | None, address: int = COUNTER, size: int = 4, module: int = 0
) -> Callable[[Altered], object]:
    """A second global without content. `name`: offset of a name of 2 bytes in the data; None: the first one's."""

    def alter(altered: Altered) -> None:
        whole = bytes(altered.table(Kind.GLOBAL))
        place = whole[24:40] if name is None else struct.pack("<QQ", name, 2)
        altered.replace_table(
            Kind.GLOBAL, whole + struct.pack("<IIQQ", module, 0, address, size) + place + bytes(32)
        )

    return alter


def run(address: int, size: int, first: int = 0, content: int = 0) -> bytes:
    return RUN.struct.pack(address, size, first, content)


def edge(source: int, target: int) -> bytes:
    return EDGE.struct.pack(source, target, 0, 0, 0, 0, 0)


FILE = {
    "magic": Case("saxpy", header(magic=1), "not a capture"),
    "raw capture": Case("saxpy", header(magic=RAW_CAPTURE_MAGIC), "a raw capture that was not packed"),
    "version": Case("saxpy", header(version=2), "version 2 of the format; this program reads 1"),
    "longer": Case("saxpy", header(file_bytes=LARGEST), "bytes long, but"),
    "blobs": Case("saxpy", header(blob_count=(1 << 24) + 1), "too many"),
    "sections": Case("saxpy", header(section_count=65), "too many"),
    "blob table behind": Case("saxpy", header(blob_offset=LARGEST - 7), "blob table is not in the file"),
    "blob table in the header": Case("saxpy", header(blob_offset=72), "blob table is not in the file"),
    "blob table askew": Case("saxpy", header(blob_offset=81), "blob table is not in the file"),
    "blob table too long": Case("saxpy", header(blob_count=1 << 20), "blob table is not in the file"),
    "section table behind": Case("saxpy", header(section_offset=1 << 63), "section table is not in the file"),
    "section table too long": Case("saxpy", header(section_count=64), "section table is not in the file"),
    "name": Case("saxpy", header(sha256=b"\1" * 32), "SHA-256"),
}
BLOBS = {
    "behind": Case("saxpy", blob(0, offset=LARGEST), "blob 0 is not in the file"),
    "in the header": Case("saxpy", blob(0, offset=8), "blob 0 is not in the file"),
    "passes the end": Case("saxpy", blob(0, stored_bytes=1 << 20, raw_bytes=1 << 20), "is not in the file"),
    "empty": Case("saxpy", lambda a: a.blobs.append(Blob(b"")), "is empty"),
    "too large": Case(
        "saxpy", lambda a: a.blobs.append(Blob(bytes(BLOB_MAX + 1))), "larger than a blob may be"
    ),
    "compression": Case("saxpy", blob(0, compression=2), "by an unknown method"),
    "stored larger": Case("saxpy", blob(0, raw_bytes=1), "an impossible number of bytes"),
    "stored smaller": Case(
        "saxpy", lambda a: a.blobs.append(Blob(bytes(9), stored_bytes=8)), "an impossible number of bytes"
    ),
    "hash": Case("saxpy", blob(0, sha256=bytes(32)), "blob 0 does not match its SHA-256"),
    "hash of compressed": Case(
        "saxpy",
        lambda a: a.blobs.append(Blob(bytes(99), compressed(bytes(99)), 1, sha256=bytes(32))),
        "does not match its SHA-256",
    ),
    "no frame": Case("saxpy", frame(lambda _: b"no frame"), "not one zstd frame"),
    "a magic number": Case("saxpy", frame(lambda _: b"\x28\xb5\x2f\xfd"), "not one zstd frame"),
    "cut frame": Case("saxpy", frame(lambda raw: compressed(raw)[:-5]), "not one zstd frame"),
    "two frames": Case(
        "saxpy", frame(lambda raw: compressed(raw[:32768]) + compressed(raw[32768:])), "not one zstd frame"
    ),
    "a skipped frame": Case(
        "saxpy", frame(lambda raw: compressed(raw) + b"\x50\x2a\x4d\x18\4\0\0\0abcd"), "not one zstd frame"
    ),
    "bytes behind": Case("saxpy", frame(lambda raw: compressed(raw) + b"\0"), "not one zstd frame"),
    "no checksum": Case("saxpy", frame(lambda raw: compressed(raw, checksum=False)), "not one zstd frame"),
    "no size": Case("saxpy", frame(lambda raw: compressed(raw, content_size=False)), "another size"),
    "larger frame": Case("saxpy", frame(lambda raw: compressed(raw + b"\0")), "another size"),
    "smaller frame": Case("saxpy", frame(lambda raw: compressed(raw[1:])), "another size"),
    "wrong checksum": Case("saxpy", frame(lambda raw: compressed(raw)[:-1] + b"!"), DAMAGED),
    "corrupt frame": Case(
        "saxpy",
        lambda a: a.blobs.append(Blob(b"abc" * 900, compressed(b"abc" * 900)[:9] + b"\xff" * 16, 1)),
        "blob",
    ),
}
SECTIONS = {
    "twice": Case("saxpy", lambda a: a.sections.append(a.sections[1]), "two sections of kind"),
    "unknown, twice": Case(
        "saxpy", lambda a: a.sections.extend([Section(99, 1, 0, 0, 0)] * 2), "two sections"
    ),
    "elements": Case("saxpy", section(Kind.DEVICE, element_bytes=79), "section device: elements of another"),
    "count": Case("saxpy", section(Kind.STREAM, count=2), "section stream: a content has another size"),
    "huge count": Case("saxpy", section(Kind.BEFORE, count=1 << 61), "section before: more bytes than"),
    "too large": Case("saxpy", section(Kind.DATA, count=(256 << 20) + 1), "section data: more bytes than"),
    "blobs": Case("saxpy", section(Kind.DEVICE, blob_count=2), "section device: a wrong number of blobs"),
    "first blob": Case("saxpy", section(Kind.DEVICE, first_blob=LARGE), "after the last blob"),
    "other blob": Case("saxpy", section(Kind.DEVICE, first_blob=0), "another size than its blobs"),
    "no device": Case("saxpy", without(Kind.DEVICE), "0 elements of kind device instead of one"),
    "two devices": Case("saxpy", lambda a: a.duplicate(Kind.DEVICE), "2 elements of kind device"),
    "no end": Case("saxpy", without(Kind.END), "0 elements of kind end instead of one"),
    "no data": Case("saxpy", without(Kind.DATA), "device 0: a text"),
}
ELEMENTS = {
    "vendor": Case("saxpy", on(Kind.DEVICE, 0, "vendor", 3), "device 0: an unknown vendor"),
    "arena": Case("saxpy", on(Kind.DEVICE, 0, "arena_bytes", LARGEST), "device 0: an arena"),
    "text askew": Case("saxpy", on(Kind.DEVICE, 0, "name", 4, 8), "device 0: a text"),
    "text behind": Case("saxpy", on(Kind.DEVICE, 0, "name", 1 << 20, 8), "device 0: a text"),
    "text that wraps": Case("saxpy", on(Kind.DEVICE, 0, "name", LARGEST - 7, 16), "device 0: a text"),
    "text too long": Case(
        "saxpy",
        many(
            lambda a: a.append(Kind.DATA, bytes(20000)),
            on(Kind.DEVICE, 0, "name", 0, 16385),
        ),
        "device 0: a text",
    ),
    "meta": Case("saxpy", appended(Kind.META, META.struct.pack(0, 8, 1, 8)), "meta 2: a text"),
    "stream kind": Case("saxpy", on(Kind.STREAM, 0, "kind", 4), "stream 0: an unknown kind"),
    "image format": Case("saxpy", on(Kind.IMAGE, 0, "format", 4), "image 0: an unknown format"),
    "image empty": Case("saxpy", on(Kind.IMAGE, 0, "content", 0, 0), "image 0: no content"),
    "image size": Case("saxpy", shrunk(Kind.IMAGE, "content", -1), "image 0: a content"),
    "image hash": Case("saxpy", on(Kind.IMAGE, 0, "sha256", bytes(32)), "image 0: its bytes"),
    "image origin": Case("saxpy", on(Kind.IMAGE, 0, "origin", 8, LARGEST), "image 0: a text"),
    "module image": Case("saxpy", on(Kind.MODULE, 0, "image", 1), "module 0: no such image"),
    "module kind": Case("saxpy", on(Kind.MODULE, 0, "kind", 0), "module 0: an unknown kind"),
    "module options": Case("saxpy", on(Kind.MODULE, 0, "options", 0, 15), "module 0: an array"),
    "kernel module": Case("saxpy", on(Kind.KERNEL, 0, "module", NOTHING), "kernel 0: no such module"),
    "kernel name": Case("saxpy", on(Kind.KERNEL, 0, "name", 0, 0), "kernel 0: an empty name"),
    "kernel name with NUL": Case(
        "saxpy",
        lambda a: (
            a.append(Kind.DATA, bytes(-len(a.table(Kind.DATA)) % 8) + b"sax\0y"),
            a.set(Kind.KERNEL, 0, "name", len(a.table(Kind.DATA)) - 5, 5),
        ),
        "kernel 0: an empty name, or a NUL",
    ),
    "kernel layout": Case("saxpy", on(Kind.KERNEL, 0, "layout", 0, 4), "kernel 0: an array"),
    "kernel layout too long": Case(
        "saxpy",
        many(lambda a: a.append(Kind.DATA, bytes(40000)), on(Kind.KERNEL, 0, "layout", 0, 8 * 4097)),
        "kernel 0: an array",
    ),
    "kernel settings": Case("saxpy", on(Kind.KERNEL, 0, "attributes", 8, 1 << 40), "kernel 0: an array"),
    "parameter passes": Case("saxpy", on(Kind.KERNEL, 0, "parameter_bytes", 27), "kernel 0: a parameter"),
    "parameters": Case(
        "saxpy", on(Kind.KERNEL, 0, "parameter_bytes", 65537), "kernel 0: more than 65536 bytes"
    ),
    "global module": Case("global", on(Kind.GLOBAL, 0, "module", 1), "global 0: no such module"),
    "global name": Case("global", on(Kind.GLOBAL, 0, "name", 0, 0), "global 0: an empty name"),
    "global empty": Case("global", on(Kind.GLOBAL, 0, "bytes", 0), "global 0: an invalid address"),
    "global nowhere": Case("global", on(Kind.GLOBAL, 0, "address", 0), "global 0: an invalid address"),
    "global wraps": Case(
        "global", on(Kind.GLOBAL, 0, "address", LARGEST - 2), "global 0: an invalid address"
    ),
    "global content": Case("global", on(Kind.GLOBAL, 0, "bytes", 8), "global 0: a content"),
    "global blob": Case("global", on(Kind.GLOBAL, 0, "after", LARGEST, 4), "global 0: a content"),
    "allocation flags": Case("saxpy", on(Kind.ALLOCATION, 0, "flags", 16), "allocation 0: unknown flags"),
    "allocation wraps": Case(
        "saxpy", on(Kind.ALLOCATION, 1, "bytes", LARGEST), "allocation 1: an invalid address"
    ),
    "allocation empty": Case("saxpy", on(Kind.ALLOCATION, 1, "bytes", 0), "allocation 1: an invalid address"),
    "allocation call": Case("saxpy", on(Kind.ALLOCATION, 1, "call", 1, 1), "allocation 1: a text"),
    "refusal operation": Case("refused", on(Kind.REFUSAL, 0, "operation", 2), "refusal 0: no such operation"),
    "refusal flags": Case("refused", on(Kind.REFUSAL, 0, "flags", 4), "refusal 0: unknown flags"),
    "refusal reason": Case("refused", on(Kind.REFUSAL, 0, "reason", 0, 1 << 63), "refusal 0: a text"),
    "range role": Case("saxpy", on(Kind.RANGE, 1, "role", 0), "range 1: an unknown role"),
    "range shape": Case("saxpy", on(Kind.RANGE, 1, "shape", 0, 7), "range 1: an array"),
    "range outside": Case(
        "saxpy", on(Kind.RANGE, 0, "bytes", 4097), "range 0: it is outside every allocation"
    ),
    "range below": Case(
        "saxpy", on(Kind.RANGE, 0, "address", ARENA - 1), "range 0: it is outside every allocation"
    ),
    "range type": Case("saxpy", on(Kind.RANGE, 0, "type", 3, 3), "range 0: a text"),
}
MEMORY = {
    "askew": Case("saxpy", on(Kind.BEFORE, 0, "address", ARENA + 1), "before 0: it does not begin at a page"),
    "empty": Case("saxpy", on(Kind.BEFORE, 0, "bytes", 0), "before 0: it does not begin at a page"),
    "too large": Case(
        "saxpy", on(Kind.BEFORE, 0, "bytes", BLOB_MAX + 1), "before 0: it does not begin at a page"
    ),
    "same place": Case(
        "saxpy", on(Kind.BEFORE, 1, "address", ARENA), "before 1: it overlaps the previous run"
    ),
    "overlap": Case(
        "saxpy",
        many(
            on(Kind.ALLOCATION, 0, "bytes", 4 * PAGE),
            lambda a: a.replace_table(Kind.AFTER, run(ARENA, 2 * PAGE) + run(ARENA + PAGE, PAGE)),
        ),
        "after 1: it overlaps the previous run",
    ),
    "unsorted": Case(
        "saxpy",
        lambda a: a.replace_table(Kind.AFTER, run(ARENA + GRANULE, PAGE) + run(ARENA, PAGE)),
        "after 1: it overlaps the previous run",
    ),
    "outside": Case("saxpy", on(Kind.AFTER, 0, "address", ARENA + PAGE), "after 0: it is outside"),
    "half outside": Case(
        "saxpy", lambda a: a.replace_table(Kind.AFTER, run(ARENA, 2 * PAGE)), "after 0: it is outside"
    ),
    "before without content": Case(
        "saxpy", lambda a: a.replace_table(Kind.BEFORE, run(ARENA, PAGE)), "before 0: a content"
    ),
    "content of another size": Case("saxpy", shrunk(Kind.AFTER, "bytes", 8), "after 0: a content"),
    "no such blob": Case(
        "saxpy",
        lambda a: a.replace_table(Kind.AFTER, run(ARENA, PAGE, 1 << 40, PAGE)),
        "after 0: a content ends after",
    ),
}
LAUNCH = Kind.OPERATION
OPERATIONS = {
    "kind": Case(
        "saxpy", lambda a: a.replace_table(LAUNCH, b"\x0b" + a.table(LAUNCH)[1:]), "0: an unknown kind"
    ),
    "flags": Case("saxpy", on(LAUNCH, 0, "flags", 8), "operation 0: unknown flags"),
    "priorities": Case("saxpy", on(LAUNCH, 0, "flags", 4), "operation 0: with node priorities"),
    "step in a graph": Case(
        "graph", operation(2, OperationKind.SYNCHRONIZE, graph=1, stream=NOTHING), "2: a step"
    ),
    "node in no graph": Case("saxpy", operation(0, OperationKind.EMPTY), "operation 0: a node outside"),
    "graph": Case("graph", on(LAUNCH, 2, "graph", 6), "operation 2: no such graph"),
    "node on a stream": Case("graph", on(LAUNCH, 0, "stream", 0), "operation 0: a node on a stream"),
    "stream": Case("saxpy", on(LAUNCH, 0, "stream", 1), "operation 0: no such stream"),
    "step on all streams": Case("saxpy", on(LAUNCH, 0, "stream", NOTHING), "operation 0: no such stream"),
    "switched off": Case("saxpy", on(LAUNCH, 0, "flags", 2), "operation 0: disabled"),
    "cooperative": Case("copies", on(LAUNCH, 0, "flags", 1), "operation 0: cooperative"),
    "kernel": Case("saxpy", on(LAUNCH, 0, "as.launch.kernel", 1), "operation 0: no such kernel"),
    "grid": Case("saxpy", on(LAUNCH, 0, "as.launch.grid", 1, 0, 1), "operation 0: an invalid grid"),
    "high grid": Case("saxpy", on(LAUNCH, 0, "as.launch.grid", 1, 1, 65536), "operation 0: an invalid grid"),
    "block": Case("saxpy", on(LAUNCH, 0, "as.launch.block", 1025, 1, 1), "operation 0: an invalid grid"),
    "block's product": Case(
        "saxpy", on(LAUNCH, 0, "as.launch.block", 1024, 1024, 4), "operation 0: an invalid grid"
    ),
    "shared": Case("saxpy", on(LAUNCH, 0, "as.launch.shared_bytes", (1 << 20) + 1), "0: more than 1 MiB"),
    "parameters": Case("saxpy", on(LAUNCH, 0, "as.launch.parameters", 0, 8), "operation 0: fewer bytes"),
    "65,537 bytes of parameters": Case(
        "saxpy",
        many(lambda a: a.append(Kind.DATA, bytes(70000)), on(LAUNCH, 0, "as.launch.parameters", 0, 65537)),
        "operation 0: fewer bytes of parameters than its kernel has, or more",
    ),
    "parameters behind": Case(
        "saxpy", on(LAUNCH, 0, "as.launch.parameters", LARGEST - 7, 28), "0: parameters outside"
    ),
    "attributes": Case("saxpy", on(LAUNCH, 0, "as.launch.attributes", 0, 71), "operation 0: attributes"),
    "65 attributes": Case(
        "saxpy",
        many(lambda a: a.append(Kind.DATA, bytes(9999)), on(LAUNCH, 0, "as.launch.attributes", 0, 65 * 72)),
        "operation 0: attributes",
    ),
    "set elements": Case("copies", on(LAUNCH, 0, "as.set.element_bytes", 3), "operation 0: elements"),
    "set value": Case("copies", on(LAUNCH, 0, "as.set.value", 256), "operation 0: a value"),
    "set no rows": Case("copies", on(LAUNCH, 0, "as.set.height", 0), "operation 0: no rows"),
    "set pitch": Case("copies", on(LAUNCH, 3, "as.set.pitch", 2047), "operation 3: rows overlap"),
    "set outside": Case(
        "copies", on(LAUNCH, 3, "as.set.pitch", 2049), "operation 3: it reads or writes memory outside"
    ),
    "set that wraps": Case("copies", on(LAUNCH, 3, "as.set.width", 1 << 62), "operation 3: rows overlap"),
    "set of all memory": Case(
        "copies", on(LAUNCH, 0, "as.set.width", LARGEST), "operation 0: it reads or writes memory outside"
    ),
    "set of many rows": Case(
        "copies",
        many(on(LAUNCH, 0, "as.set.pitch", LARGEST), on(LAUNCH, 0, "as.set.height", LARGEST)),
        "operation 0: it reads or writes memory outside",
    ),
    "copy source": Case(
        "copies", on(LAUNCH, 2, "as.copy.source", 0), "operation 2: it reads or writes memory outside"
    ),
    "copy destination": Case(
        "copies", on(LAUNCH, 2, "as.copy.destination", ARENA + 8), "2: it reads or writes"
    ),
    "copy slices": Case("copies", on(LAUNCH, 2, "as.copy.depth", 2), "operation 2: slices overlap"),
    "copy no slices": Case("copies", on(LAUNCH, 2, "as.copy.depth", 0), "operation 2: no rows"),
    "upload content": Case("copies", on(LAUNCH, 1, "as.copy.content", 0, 4095), "1: a content"),
    "upload blobs": Case("copies", on(LAUNCH, 1, "as.copy.content", LARGE, 4096), "operation 1: a content"),
    "read content": Case(
        "reads", on(LAUNCH, 1, "as.read.content", 0, 7), "operation 1: a content of another"
    ),
    "read blobs": Case("reads", on(LAUNCH, 1, "as.read.content", LARGE, 8), "operation 1: a content"),
    "read source": Case("reads", on(LAUNCH, 1, "as.read.source", ARENA - 4), "1: it reads or writes memory"),
    "read rows": Case("reads", on(LAUNCH, 1, "as.read.source_pitch", 3), "operation 1: rows overlap"),
    "read call": Case("reads", on(LAUNCH, 1, "as.read.call", LARGE, 4), "operation 1: a text"),
    "read in a graph": Case("reads", on(LAUNCH, 1, "graph", 1), "1: a step of the region in a graph"),
    "read count": Case("reads", lambda a: [a.duplicate(LAUNCH, 1) for _ in range(255)], MANY_READS),
    "read bytes": Case("reads", large_read, MANY_READS),
    "event": Case("streams", on(LAUNCH, 1, "as.event.event", 5), "operation 1: no such event"),
    "wait": Case("streams", on(LAUNCH, 2, "as.event.event", 1), "operation 2: waits for an event"),
    "launched graph": Case("graph", on(LAUNCH, 3, "as.graph.graph", 2), "operation 3: launches a graph"),
    "launched region": Case("graph", on(LAUNCH, 3, "as.graph.graph", 0), "operation 3: launches a graph"),
    "far graph": Case("graph", on(LAUNCH, 3, "as.graph.graph", LARGE), "operation 3: launches a graph"),
    "edge end": Case("graph", on(Kind.EDGE, 0, "to", 5), "edge 0: no such operation"),
    "edge to itself": Case("graph", on(Kind.EDGE, 0, "to", 0), "edge 0: its ends"),
    "edge of steps": Case("graph", appended(Kind.EDGE, edge(3, 4)), "edge 2: its ends"),
    "edge between graphs": Case("graph", on(LAUNCH, 2, "graph", 2), "edge 1: its ends"),
    "circle": Case("graph", appended(Kind.EDGE, edge(1, 0)), "a graph has a cycle"),
    "longer circle": Case("graph", appended(Kind.EDGE, edge(1, 2) + edge(2, 0)), "a graph has a cycle"),
    "relocation operation": Case(
        "global", on(Kind.RELOCATION, 0, "operation", 2), "relocation 0: no such op"
    ),
    "relocation global": Case("global", on(Kind.RELOCATION, 0, "global", 1), "relocation 0: no such global"),
    "relocation offset": Case("global", on(Kind.RELOCATION, 0, "offset", 5), "relocation 0: its operation"),
    "relocation wraps": Case("global", on(Kind.RELOCATION, 0, "offset", LARGE - 6), "relocation 0: its op"),
    "relocation delta": Case("global", on(Kind.RELOCATION, 0, "delta", 5), "relocation 0: an offset beyond"),
}
VARIABLES = {
    "symbol twice": Case(
        "global", another(name=None, address=0x7000), "a module has two globals of one name"
    ),
    "two variables in one place": Case("global", another(name=0), "two globals share memory"),
    "a variable across another": Case(
        "global", another(name=0, address=COUNTER - 8, size=9), "two globals share memory"
    ),
    "a variable in an allocation": Case(
        "global", another(name=0, address=ARENA), "a global and an allocation share memory"
    ),
    "a variable before an allocation's begin": Case(
        "global", another(name=0, address=ARENA - 1, size=2), "a global and an allocation share memory"
    ),
}
CASES = {
    f"{group}: {name}": case
    for group, cases in {
        "file": FILE,
        "blob": BLOBS,
        "section": SECTIONS,
        "element": ELEMENTS,
        "memory": MEMORY,
        "operation": OPERATIONS,
        "global": VARIABLES,
    }.items()
    for name, case in cases.items()
}


@pytest.mark.parametrize("name", CASES)
def test_capture_breaking_one_rule_is_refused(
    name: str, captures: dict[str, Path], tmp_path: Path, read: Reader
) -> None:
    case = CASES[name]
    altered = Altered(captures[case.capture])
    case.alter(altered)
    path = altered.write(tmp_path / "altered.ncap")
    answer = read(path)
    assert answer.status == 1
    assert case.said in answer.line
    assert read_in_python(path) != ""


ALLOWED = {
    "an unknown kind": Case("saxpy", lambda a: a.sections.append(Section(99, 7, LARGEST, LARGE, LARGE)), ""),
    "a table without elements": Case("saxpy", lambda a: a.replace_table(Kind.EDGE, b""), ""),
    "bytes behind the tables": Case("saxpy", lambda a: setattr(a, "behind", noise(100)), ""),
    "a blob that nothing needs": Case("saxpy", lambda a: a.blobs.append(Blob(noise(5))), ""),
    "a compressed blob": Case("saxpy", frame(compressed), ""),
    "an offset of no bytes": Case("saxpy", on(Kind.MODULE, 0, "options", 5, 0), ""),
    "a first blob of no bytes": Case("global", on(Kind.GLOBAL, 0, "after", LARGEST, 0), ""),
    "memory that became zero": Case("saxpy", lambda a: a.replace_table(Kind.AFTER, run(ARENA, PAGE)), ""),
    "an empty range": Case("saxpy", many(on(Kind.RANGE, 0, "bytes", 0), on(Kind.RANGE, 0, "address", 1)), ""),
    "the highest page": Case(
        "saxpy",
        many(
            on(Kind.ALLOCATION, 1, "address", LARGEST - 4095),
            on(Kind.RANGE, 1, "address", LARGEST - 4095),
            lambda a: a.replace_table(Kind.BEFORE, b""),
            lambda a: a.replace_table(Kind.AFTER, run(LARGEST - 4095, PAGE)),
        ),
        "",
    ),
    "memory of two allocations": Case(
        "saxpy",
        many(on(Kind.ALLOCATION, 0, "bytes", GRANULE), on(Kind.RANGE, 0, "bytes", GRANULE + 4096)),
        "",
    ),
    "a set of nothing": Case(
        "copies",
        many(
            on(LAUNCH, 3, "as.set.width", 0),
            on(LAUNCH, 3, "as.set.pitch", LARGEST),
            on(LAUNCH, 3, "as.set.height", LARGEST),
        ),
        "",
    ),
    "parameters behind the kernel's": Case("saxpy", on(LAUNCH, 0, "as.launch.parameters", 0, 64), ""),
    "an arena to the end": Case("saxpy", on(Kind.DEVICE, 0, "arena_bytes", (1 << 64) - ARENA), ""),
    "priorities of nodes": Case("graph", on(LAUNCH, 3, "flags", 4), ""),
    "edges twice": Case("graph", lambda a: a.duplicate(Kind.EDGE), ""),
    "variables side by side": Case("global", another(name=0, address=COUNTER + 4), ""),
    "a symbol in two modules": Case(
        "global", many(lambda a: a.duplicate(Kind.MODULE), another(name=None, address=0x7000, module=1)), ""
    ),
    "a refused region whose variables overlap": Case(
        "global", many(another(name=0), appended(Kind.REFUSAL, REFUSAL.struct.pack(0, 0, 0, 0, 0, 0))), ""
    ),
    "a global's end": Case("global", on(Kind.RELOCATION, 0, "delta", 4), ""),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_unusual_but_valid_capture_is_accepted(
    name: str, captures: dict[str, Path], tmp_path: Path, read: Reader
) -> None:
    case = ALLOWED[name]
    altered = Altered(captures[case.capture])
    case.alter(altered)
    path = altered.write(tmp_path / "altered.ncap")
    assert (read(path).line, read_in_python(path)) == ("", "")
