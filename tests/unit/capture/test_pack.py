"""A raw capture becomes a capture, or one clear error."""

from __future__ import annotations

import hashlib
import os
import random
from pathlib import Path

import pytest

from benchguard.capture import Capture, CaptureError, pack
from benchguard.capture.layout import (
    ARENA,
    BLOB_MAX,
    ELEMENT,
    PAGE,
    RAW_CAPTURE,
    AllocationFlag,
    ImageFormat,
    Kind,
    ModuleKind,
    RefusalFlag,
    StreamKind,
    Vendor,
)
from benchguard.capture.model import (
    NO_CONTENT,
    Content,
    Device,
    Edge,
    EventRecord,
    EventWait,
    Global,
    Image,
    Kernel,
    Launch,
    MemcpyDtoH,
    MemcpyHtoD,
    Memset,
    Meta,
    Module,
    Operation,
    Parameter,
    Refusal,
    Relocation,
    Run,
    Stream,
    Synchronize,
)
from tests.support.raw_captures import RawCaptureWriter

BOTH = AllocationFlag.BEFORE | AllocationFlag.AFTER
IMAGE = b".version 8.0\n" * 100 + b"\0"
CALLS = ["cuInit", "cuMemAlloc_v2", "cuMemMap", "hipMalloc", "hipMemMap"]
DEVICE = Device(Vendor.CUDA, 13000, 9, 0, 16, 1 << 20, 1 << 33, ARENA, 1 << 40, "00112233" * 4, "a GPU")


SET = Memset(0, ARENA, 0, 4, 1, 0, 1)


def new_raw_capture() -> RawCaptureWriter:
    raw_capture = RawCaptureWriter()
    raw_capture.add(Kind.DEVICE, DEVICE)
    return raw_capture


def whole() -> RawCaptureWriter:
    """One of everything, with elements that a raw capture has twice, and memory that changes in every way."""
    raw_capture = new_raw_capture()
    raw_capture.add(Kind.META, Meta("program", "./a.out"))
    for _ in range(2):
        raw_capture.add(Kind.IMAGE, Image("00" * 32, ImageFormat.PTX, "/lib/x.so", NO_CONTENT), IMAGE)
    raw_capture.add(Kind.MODULE, Module(0, ModuleKind.LIBRARY))
    raw_capture.add(Kind.MODULE, Module(1, ModuleKind.MODULE))
    raw_capture.add(Kind.KERNEL, Kernel(1, 12, 8, 0, 0, 1024, "count", (Parameter(0, 8), Parameter(8, 4))))
    raw_capture.add(Kind.GLOBAL, Global(0, 0x7000, 4, "counter", NO_CONTENT), b"\1\0\0\0")
    raw_capture.add(Kind.GLOBAL, Global(1, 0x8000, 4, "counter", NO_CONTENT), b"\2\0\0\0")
    raw_capture.add(Kind.STREAM, Stream(5, StreamKind.CREATED, 1, -1))
    raw_capture.allocation(ARENA, 8 * PAGE, AllocationFlag.BEFORE, 1)
    raw_capture.run(Kind.BEFORE, ARENA, pages("a", "", "b", "c", "d", "e", "", "f"))
    raw_capture.add(Kind.OPERATION, MemcpyHtoD(0, ARENA, 0, 0, 5, 1, 1, NO_CONTENT), b"hello")
    launch = Launch(0, 0, (1, 1, 1), (32, 1, 1), 0, bytes(12))
    raw_capture.add(Kind.OPERATION, launch)
    raw_capture.add(Kind.RELOCATION, Relocation(1, 0, 1, 0))
    raw_capture.allocation(ARENA, 8 * PAGE, AllocationFlag.AFTER, 1)
    raw_capture.run(Kind.AFTER, ARENA + PAGE, pages("x"))
    raw_capture.run(Kind.AFTER, ARENA + 3 * PAGE, pages("y", "z", ""))
    raw_capture.element(Kind.GLOBAL, changed_global())
    raw_capture.end()
    return raw_capture


def changed_global() -> bytes:
    """The second global again, as the region left it."""
    raw_capture = RawCaptureWriter()
    raw_capture.add(Kind.GLOBAL, Global(1, 0x8000, 4, "counter", NO_CONTENT, Content(80, 4)))
    payload = bytearray(raw_capture.raw[RAW_CAPTURE.size + ELEMENT.size :])
    return bytes(payload[:80]).ljust(80, b"\0") + b"\3\0\0\0"


def pages(*letters: str) -> bytes:
    return b"".join(letter.encode() * PAGE if letter else bytes(PAGE) for letter in letters)


def packed(raw_capture: RawCaptureWriter, folder: Path) -> Capture:
    pack(raw_capture.write(folder / "x.nrec"), folder / "x.ncap", CALLS)
    return Capture.open(folder / "x.ncap")


def test_packed_elements_match_the_raw_capture(tmp_path: Path) -> None:
    with packed(whole(), tmp_path) as capture:
        assert capture.device == DEVICE
        assert [image.sha256 for image in capture.images] == [hashlib.sha256(IMAGE).hexdigest()]
        assert capture.image(0) == IMAGE
        assert [module.image for module in capture.modules] == [0, 0]
        assert capture.kernels[0].name == "count"
        assert [(each.address, each.flags, each.call) for each in capture.allocations] == [
            (ARENA, BOTH, "cuMemAlloc_v2")
        ]
        upload, launch = capture.operations
        assert isinstance(upload, MemcpyHtoD) and capture.content(upload.content) == b"hello"
        assert isinstance(launch, Launch) and launch.parameters == bytes(12)
        assert capture.relocations[0].global_index == 1
        assert capture.streams[0].priority == -1
        assert {"program", "tool", "host_kernel", "packed"} <= set(capture.meta)
        assert capture.check_blobs()


def test_unchanged_memory_is_left_out_of_after(tmp_path: Path) -> None:
    with packed(whole(), tmp_path) as capture:
        runs = [
            ((run.address - ARENA) // PAGE, run.bytes // PAGE, run.content.bytes) for run in capture.after
        ]
        assert runs == [(1, 1, PAGE), (3, 2, 2 * PAGE), (5, 1, 0)]
        assert [(run.address - ARENA) // PAGE for run in capture.before] == [0, 2, 7]
        after = capture.memory(ARENA, 8 * PAGE, after=True)
        assert after == pages("a", "x", "b", "y", "z", "", "", "f")


def test_page_stands_for_a_run_of_equal_pages(tmp_path: Path) -> None:
    """The windows of a capture begin at multiples of a blob, wherever the runs begin."""
    raw_capture = new_raw_capture()
    raw_capture.allocation(ARENA, 3 * BLOB_MAX, BOTH, 1)
    raw_capture.run(Kind.BEFORE, ARENA, pages("a"))
    raw_capture.run(Kind.BEFORE, ARENA + PAGE, pages("p"), size=BLOB_MAX)
    raw_capture.run(Kind.BEFORE, ARENA + PAGE + BLOB_MAX, pages("p"), size=PAGE * 3)
    raw_capture.run(Kind.AFTER, ARENA + 2 * PAGE, b"", size=PAGE * 5)
    raw_capture.run(Kind.AFTER, ARENA + BLOB_MAX, pages("q"), size=PAGE * 2)
    raw_capture.end()
    count = BLOB_MAX // PAGE
    before = pages("a", *["p"] * (count + 3), *[""] * (2 * count - 4))
    changed = pages("a", "p", *[""] * 5, *["p"] * (count - 7), "q", "q", "p", "p", *[""] * (2 * count - 4))
    with packed(raw_capture, tmp_path) as capture:
        assert capture.memory(ARENA, 3 * BLOB_MAX) == before
        assert capture.memory(ARENA, 3 * BLOB_MAX, after=True) == changed
        assert sum(run.bytes for run in capture.after) == 7 * PAGE


def test_global_recorded_twice_is_merged(tmp_path: Path) -> None:
    with packed(whole(), tmp_path) as capture:
        assert [each.module for each in capture.globals] == [0, 1]
        assert capture.globals[0].after == NO_CONTENT
        assert capture.memory(0x8000, 4) == b"\2\0\0\0"
        assert capture.memory(0x8000, 4, after=True) == b"\3\0\0\0"


def test_large_memory_is_split_into_blobs(tmp_path: Path) -> None:
    """A stretch that ends within a page; equal pieces are stored once."""
    memory = random.Random(1).randbytes(PAGE) * (BLOB_MAX // PAGE * 3) + b"end"
    raw_capture = new_raw_capture()
    raw_capture.allocation(ARENA, len(memory), BOTH, 1)
    raw_capture.run(Kind.BEFORE, ARENA, memory)
    raw_capture.end()
    with packed(raw_capture, tmp_path) as capture:
        assert [run.bytes for run in capture.before] == [BLOB_MAX] * 3 + [3]
        assert capture.memory(ARENA, len(memory)) == memory
        assert capture.file_bytes < 2 * BLOB_MAX


def test_windows_of_one_page_share_a_blob(tmp_path: Path) -> None:
    """The recorder fills unused memory with a page, and a call may have many GiB of it."""
    raw_capture = new_raw_capture()
    raw_capture.allocation(ARENA, 8 * BLOB_MAX, BOTH, 1)
    for at in range(0, 8 * BLOB_MAX, BLOB_MAX):
        raw_capture.run(Kind.BEFORE, ARENA + at, pages("p"), size=BLOB_MAX)
        raw_capture.run(Kind.AFTER, ARENA + at, pages("q") if at else b"", size=BLOB_MAX)
    raw_capture.end()
    count = BLOB_MAX // PAGE
    with packed(raw_capture, tmp_path) as capture:
        assert len({run.content.first for run in capture.before}) == 1
        assert len({run.content.first for run in capture.after[1:]}) == 1
        assert capture.memory(ARENA, 8 * BLOB_MAX) == pages("p") * (8 * count)
        assert capture.memory(ARENA, 8 * BLOB_MAX, after=True) == bytes(BLOB_MAX) + pages("q") * (7 * count)


def test_freed_memory_has_no_after(tmp_path: Path) -> None:
    raw_capture = new_raw_capture()
    raw_capture.allocation(ARENA, PAGE, AllocationFlag.BEFORE, 1)
    raw_capture.run(Kind.BEFORE, ARENA, pages("a"))
    raw_capture.end()
    with packed(raw_capture, tmp_path) as capture:
        assert len(capture.after) == 0


@pytest.mark.parametrize(("mapped", "plain"), [("cuMemMap", "cuMemAlloc_v2"), ("hipMemMap", "hipMalloc")])
def test_adjacent_mappings_become_one_allocation(tmp_path: Path, mapped: str, plain: str) -> None:
    """As a tensor sees them that lies across two; not where one of them is gone at the end, nor other allocations."""
    raw_capture, mapping, other = new_raw_capture(), CALLS.index(mapped), CALLS.index(plain)
    for number in range(3):
        raw_capture.allocation(ARENA + number * PAGE, PAGE, BOTH, slot=mapping)
    raw_capture.allocation(ARENA + 3 * PAGE, PAGE, AllocationFlag.BEFORE, slot=mapping)
    raw_capture.allocation(ARENA + 4 * PAGE, PAGE, BOTH, slot=other)
    raw_capture.allocation(ARENA + 5 * PAGE, PAGE, BOTH, slot=other)
    raw_capture.end()
    with packed(raw_capture, tmp_path) as capture:
        items = [(each.address - ARENA, each.bytes, each.call) for each in capture.allocations]
    assert items == [
        (0, 3 * PAGE, mapped),
        (3 * PAGE, PAGE, mapped),
        (4 * PAGE, PAGE, plain),
        (5 * PAGE, PAGE, plain),
    ]


def test_faulted_region_is_marked_unreplayable(tmp_path: Path) -> None:
    raw_capture = new_raw_capture()
    raw_capture.allocation(ARENA, PAGE, BOTH, 1)
    raw_capture.run(Kind.BEFORE, ARENA, pages("a"))
    raw_capture.end(status=700)
    with packed(raw_capture, tmp_path) as capture:
        assert "700" in capture.refusals[0].reason
        assert len(capture.after) == 0 and capture.end.status == 700


@pytest.mark.parametrize("flags", [RefusalFlag(0), RefusalFlag.READ])
@pytest.mark.parametrize(
    ("after", "harmless"),
    [
        ((), True),
        ((Synchronize(0), EventRecord(0, 0), EventWait(0, 0)), True),
        ((Synchronize(0), SET), False),
        ((SET, Synchronize(0)), False),
    ],
)
def test_final_read_is_not_a_refusal(
    after: tuple[Operation, ...], harmless: bool, flags: RefusalFlag, tmp_path: Path
) -> None:
    """One of a read: the others stay wherever they stand."""
    raw_capture = new_raw_capture()
    raw_capture.add(Kind.STREAM, Stream(5, StreamKind.CREATED, 1, -1))
    raw_capture.allocation(ARENA, PAGE, BOTH, 1)
    raw_capture.add(Kind.OPERATION, SET)
    refusal = Refusal(1, "cuMemcpyDtoH_v2", "copies to the host", flags)
    raw_capture.add(Kind.REFUSAL, refusal)
    for operation in after:
        raw_capture.add(Kind.OPERATION, operation)
    raw_capture.end()
    with packed(raw_capture, tmp_path) as capture:
        assert list(capture.refusals) == ([] if harmless and flags else [refusal])


def test_final_copies_to_the_host_are_left_out(tmp_path: Path) -> None:
    """Indexes stay right, and a copy before the last work stays, with its bytes."""
    raw_capture = new_raw_capture()
    raw_capture.add(Kind.STREAM, Stream(5, StreamKind.CREATED, 1, -1))
    raw_capture.allocation(ARENA, PAGE, BOTH, 1)
    read = MemcpyDtoH(0, "", ARENA, 4, 4, 4, 1, 1, NO_CONTENT)
    for operation in (SET, read, SET, read, Synchronize(0), read, EventRecord(0, 0)):
        raw_capture.add(Kind.OPERATION, operation, b"1234" if operation is read else b"")
    raw_capture.add(Kind.REFUSAL, Refusal(6, "cuMemcpyDtoH_v2", "copies to the host", RefusalFlag.READ))
    raw_capture.add(Kind.REFUSAL, Refusal(6, "cuLaunchHostFunc", "runs a function", RefusalFlag(0)))
    raw_capture.end()
    with packed(raw_capture, tmp_path) as capture:
        kinds = [each.kind.name for each in capture.operations]
        assert kinds == ["MEMSET", "MEMCPY_DTOH", "MEMSET", "SYNCHRONIZE", "EVENT_RECORD"]
        kept = capture.operations[1]
        assert isinstance(kept, MemcpyDtoH) and capture.content(kept.content) == b"1234"
        assert capture.end.operations == 5
        assert [(each.operation, each.call) for each in capture.refusals] == [(4, "cuLaunchHostFunc")]


def test_unknown_kinds_are_skipped_and_counted(tmp_path: Path) -> None:
    raw_capture = new_raw_capture()
    raw_capture.element(99, b"from the future")
    raw_capture.end()
    assert pack(raw_capture.write(tmp_path / "x.nrec"), tmp_path / "x.ncap").unknown == 1


def test_truncated_raw_capture_is_refused(tmp_path: Path) -> None:
    raw = bytes(whole().raw)
    path = tmp_path / "x.nrec"
    for size in [*range(0, len(raw), 1009), len(raw) - 1]:
        path.write_bytes(raw[:size])
        with pytest.raises(CaptureError, match=r"the raw capture (stops|is shorter)"):
            pack(path, tmp_path / "x.ncap")
    assert path.exists() and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("element", "said"),
    [
        ((Kind.EDGE, Edge(0, 1)), "edge 0: no such operation"),
        ((Kind.MODULE, Module(3, ModuleKind.MODULE)), "image 3, but there are 0"),
        ((Kind.RELOCATION, Relocation(0, 0, 7, 0)), "global 7, but there are 0"),
        ((Kind.BEFORE, Run(ARENA, PAGE, Content(32, PAGE))), "not in its payload"),
        ((Kind.BEFORE, Run(ARENA, 5, Content(0, 0)), b"four"), "4 bytes of content for 5"),
        ((Kind.BEFORE, Run(ARENA, 2 * BLOB_MAX, Content(0, 0)), bytes(PAGE)), "4096 bytes of content for"),
        ((Kind.AFTER, Run(ARENA, 1 << 40, Content(0, 0))), "0 bytes of content for"),
        ((Kind.BEFORE, Run(ARENA + 1, 4, Content(0, 0)), b"four"), "is not whole pages"),
        ((Kind.BEFORE, Run(ARENA, 4, Content(0, 0)), b"four"), "outside every allocation"),
        ((Kind.DEVICE, DEVICE), "no device"),
        ((Kind.OPERATION, Launch(0, 0, (1, 1, 1), (1, 1, 1), 0, b"")), "operation 0: no such stream"),
    ],
)
def test_hostile_elements_give_a_one_line_error(
    element: tuple[object, ...], said: str, tmp_path: Path
) -> None:
    raw_capture = new_raw_capture()
    raw_capture.add(*element)  # type: ignore[arg-type]
    raw_capture.end()
    path = raw_capture.write(tmp_path / "x.nrec")
    with pytest.raises(CaptureError, match=said) as excinfo:
        pack(path, tmp_path / "x.ncap")
    assert "\n" not in str(excinfo.value) and str(path) in str(excinfo.value)
    assert list(tmp_path.iterdir()) == [path]


def test_overlapping_memory_is_refused(tmp_path: Path) -> None:
    raw_capture = new_raw_capture()
    raw_capture.allocation(ARENA, 4 * PAGE, BOTH, 1)
    raw_capture.run(Kind.BEFORE, ARENA, pages("a", "b"))
    raw_capture.run(Kind.BEFORE, ARENA + PAGE, pages("c"))
    raw_capture.end()
    with pytest.raises(CaptureError, match="recorded twice"):
        packed(raw_capture, tmp_path)


def test_file_that_is_not_a_recording_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="No such file"):
        pack(tmp_path / "x.nrec", tmp_path / "x.ncap")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CaptureError, match="not a file"):
        pack(tmp_path / "pipe", tmp_path / "x.ncap")
    (tmp_path / "text").write_bytes(b"x" * 100)
    with pytest.raises(CaptureError, match="not a raw capture"):
        pack(tmp_path / "text", tmp_path / "x.ncap")


def test_mutated_raw_captures_pack_or_are_refused(tmp_path: Path) -> None:
    raw, generator = bytes(whole().raw), random.Random(7)
    path = tmp_path / "x.nrec"
    refused = 0
    for _ in range(300):
        mutated = bytearray(raw)
        for _ in range(generator.randint(1, 4)):
            mutated[generator.randrange(min(len(raw), 4000))] = generator.randrange(256)
        path.write_bytes(mutated)
        try:
            pack(path, tmp_path / "x.ncap")
        except CaptureError:
            refused += 1
    assert refused > 0
