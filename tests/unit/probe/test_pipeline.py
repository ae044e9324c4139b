"""The supervisor's side of probes reads hostile bytes: of engines, and of measured processes."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchguard.audit import layout
from benchguard.audit.decode import Probe
from benchguard.audit.layout import ProbeStage, ProbeState, ProbeUnit
from benchguard.audit.probe_area import ANSWERS, TRACE_BYTES, ProbeOptions
from benchguard.audit.session import Session
from benchguard.capture.unpack import CodeError
from benchguard.errors import BenchguardError, UsageError
from benchguard.probe.counted import read_lists
from benchguard.probe.engine import Request
from benchguard.probe.engines.count.build import build as count
from benchguard.probe.pipeline.cache import Cache
from benchguard.probe.pipeline.engine import find_engine
from benchguard.probe.pipeline.info import Map, parse_info
from benchguard.probe.pipeline.maps import read_maps
from benchguard.probe.pipeline.service import ProbeService
from benchguard.probe.pipeline.worker import ptx_of
from benchguard.probe.trace_file import read_trace
from tests.support.code_objects import code_object, compressed, sim_bundle

IMAGES = Path(__file__).parents[1] / "hook" / "images"
INFO = b"add\n2\n3\n0,8\n1,16\n3,4\naddress total_at total\naddress $w%1 weight\n"


def test_info_of_an_engine_is_read() -> None:
    info = parse_info(INFO, "add")
    assert info.maps == (Map(ProbeUnit.THREAD, 8), Map(ProbeUnit.WARP, 16), Map(ProbeUnit.LAUNCH, 4))
    assert (info.parameters, info.addresses) == (2, (("total_at", "total"), ("$w%1", "weight")))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "has 0 lines"),
        (b"other\n0\n0\n", "describes another kernel: other"),
        (b"add\nx\n0\n", "is not a number of parameters"),
        (b"add\n0\n17\n" + b"0,4\n" * 17, "is not a number of maps up to 16"),
        (b"add\n0\n1\n", "lacks a line for each of its 1 maps"),
        (b"add\n0\n1\n0,-1\n", "counted size"),
        (b"add\n0\n1\n4,47\n", "a table of allocations .type 4. has 48 to 67,108,864 bytes"),
        (b"add\n0\n1\n4,100000000\n", "has 48 to 67,108,864 bytes"),
        (b"add\n0\n2\n4,64\n4,64\n", "more than one table of allocations"),
        (b"add\n0\n1\n9,64\n", "is not a number of a map's type"),
        (b"add\n0\n0\naddress a b;drop\n", "is not a line `address SYMBOL VARIABLE`"),
        (b"add\n0\n0\n\xff\n", "is not text"),
        ("add\n²\n0\n".encode(), "is not a number"),
    ],
)
def test_info_outside_the_format_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(BenchguardError, match=said):
        parse_info(data, "add")


def test_trace_holds_the_used_part_of_a_table() -> None:
    """The process names its bytes: more than the engine asked for, or than the trace has, is refused."""
    info = parse_info(b"add\n0\n2\n3,8\n4,4096\n", "add")
    data = memoryview(bytes(256) + b"t" * 48)
    found = read_maps(info, record(ProbeStage.TRACED, table_bytes=48), data)
    assert found is not None and found.text.endswith(b"\0" * 8 + b"t" * 48)
    assert read_maps(info, record(ProbeStage.TRACED, table_bytes=49), data) is None
    roomy = memoryview(bytes(8192))
    assert read_maps(info, record(ProbeStage.TRACED, table_bytes=4096), roomy) is not None
    assert read_maps(info, record(ProbeStage.TRACED, table_bytes=4097), roomy) is None


def counted(capacity: int, counts: list[int], entries: bytes) -> bytes:
    """A counted map as a process hands it over."""
    head = struct.pack(f"<QQ{len(counts)}I", capacity, 256, *counts)
    return head.ljust(256, b"\0") + entries


def test_counted_map_has_the_lists_that_fit_and_their_counts() -> None:
    """The launch has 2 blocks. The process's place of the lists is not used."""
    info = parse_info(b"add\n0\n2\n2,4,counted\n3,4\n", "add")
    data = counted(2, [1, 5], b"aaaa\0\0\0\0bbbbcccc").ljust(512, b"\0") + b"last"
    found = read_maps(info, record(ProbeStage.TRACED, grid=(2, 1, 1)), memoryview(data))
    assert found is not None and found.longest == (5, 0)
    assert found.text.endswith(struct.pack("<II", 1, 5) + b"last")
    lists = read_lists(found.text[-28:-4], 2, 4)
    assert [(each.entries, each.needed) for each in lists] == [([b"aaaa"], 1), ([b"bbbb", b"cccc"], 5)]


@pytest.mark.parametrize("capacity", [3, 1 << 30, 1 << 62, (1 << 64) - 1])
def test_counted_map_that_exceeds_the_trace_is_refused(capacity: int) -> None:
    info = parse_info(b"add\n0\n1\n2,4,counted\n", "add")
    data = memoryview(counted(capacity, [1, 5], bytes(16)))
    assert read_maps(info, record(ProbeStage.TRACED, grid=(2, 1, 1)), data) is None
    assert read_maps(info, record(ProbeStage.TRACED, grid=(2, 1, 1)), data[:8]) is None


def test_mutated_info_is_read_or_refused() -> None:
    chooser = random.Random(17)
    for _ in range(3000):
        data = bytearray(INFO)
        for _ in range(chooser.randrange(1, 6)):
            data[chooser.randrange(len(data))] = chooser.randrange(256)
        try:
            info = parse_info(bytes(data), "add")
        except BenchguardError as error:
            assert "\n" not in str(error)
        else:
            assert len(info.maps) <= layout.PROBE_MAPS_MAX


@pytest.fixture
def service(tmp_path: Path) -> Iterator[ProbeService]:
    session = Session(ring_count=1, image_bytes=1 << 20, probe=ProbeOptions(1.0, map_bytes=4096))
    engine = find_engine("true", {})
    made = ProbeService(session, engine, tmp_path, vendor="cuda", seconds=5, cache=None)
    yield made
    made.close()
    session.close()


def record(stage: ProbeStage, **fields: object) -> Probe:
    plain: dict[str, object] = {
        "kernel": 1, "at": 0, "bytes": 0, "stream": 0, "stage": stage, "answer": 0, "grid": (1, 1, 1),
        "block": (1, 1, 1), "shared_bytes": 0, "table_bytes": 0, "text": "add",
    }  # fmt: skip
    return Probe(0, 0, 0, 0, **{**plain, **fields})  # type: ignore[arg-type]


def state_of(service: ProbeService, answer: int) -> int:
    session = service._session  # the shared memory, as the process sees it
    (area,) = layout.SESSION_PROBE.unpack_from(session.memory, layout.SESSION_PROBE_AT)
    _, _, answers, *_ = layout.PROBE_AREA.unpack_from(session.memory, area)
    (state,) = layout.PROBE_STATE.unpack_from(session.memory, answers + answer * layout.PROBE_ANSWER_BYTES)
    return int(state)


@pytest.mark.parametrize(("at", "size"), [(1 << 63, 8), (0, 1 << 40), ((1 << 64) - 1, (1 << 64) - 1)])
def test_request_for_memory_outside_the_session_is_refused(service: ProbeService, at: int, size: int) -> None:
    service.take(1, 1, 0, record(ProbeStage.ASKED, at=at, bytes=size))
    service.close()
    assert state_of(service, 0) == ProbeState.REFUSED
    assert service.reason(0) == "the process names a code image outside the session"


def test_repeated_and_invalid_requests_are_ignored(service: ProbeService) -> None:
    """Each would hold a copy of an image, and an engine's time."""
    for _ in range(100):
        service.take(1, 1, 0, record(ProbeStage.ASKED, at=1 << 63))
    for answer in (ANSWERS, 1 << 31):
        service.take(1, 1, 0, record(ProbeStage.ASKED, answer=answer))
    assert service._engines._work_queue.qsize() <= 1


@pytest.mark.parametrize(
    ("at", "size"), [(0, 8), (0, 1 << 40), (TRACE_BYTES, 8), ((1 << 64) - 1, 8), (0, (1 << 64) - 1)]
)
def test_trace_that_no_probed_launch_can_have_is_counted_as_lost(
    service: ProbeService, tmp_path: Path, at: int, size: int
) -> None:
    """There is no probed kernel; most ranges are outside the traces, too."""
    service.take(1, 1, 0, record(ProbeStage.TRACED, at=at, bytes=size))
    assert (service.counts.lost_traces, list((tmp_path / "result").iterdir())) == (1, [])


def test_outcomes_beyond_the_limit_push_the_oldest_out(tmp_path: Path) -> None:
    cache = Cache(tmp_path, bytes_max=3000)
    for number in range(5):
        cache.put(f"key{number}", "", {"probed.bin": bytes(1000)}, "")
    assert cache.get("key4") is not None
    assert cache.get("key0") is None
    assert sum(1 for _ in tmp_path.iterdir()) <= 3


def test_damaged_outcome_is_no_outcome(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put("key", "why", {"probed.bin": b"x"}, "said")
    assert cache.get("key") is not None
    (tmp_path / "key" / "outcome.json").write_bytes(b'{"problem":"","said":"","files":["../../etc/passwd"]}')
    assert cache.get("key") is None


def test_damaged_outcome_is_replaced(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put("a", "", {"x": b"1"}, "")
    (tmp_path / "a" / "outcome.json").write_text("")
    assert cache.get("a") is None
    cache.put("a", "", {"x": b"2"}, "")
    stored = cache.get("a")
    assert stored is not None and stored.files == {"x": b"2"}


def test_answer_reaches_the_process_whole(service: ProbeService) -> None:
    area = service._area
    assert area.answer(3, b"image", [(8, 0, 0, False), (4, 7, 3, True)], b"a\0b\0", b"pruned")
    memory = service._session.memory
    (at,) = layout.SESSION_PROBE.unpack_from(memory, layout.SESSION_PROBE_AT)
    _, limit, answers, images, *_ = layout.PROBE_AREA.unpack_from(memory, at)
    place = answers + 3 * layout.PROBE_ANSWER_BYTES
    state, count, image_at, image_bytes, text_at, text_bytes, pruned_at, pruned_bytes = struct.unpack_from(
        "<IIQQQQQQ", memory, place
    )
    assert (limit, state, count) == (4096, ProbeState.PROBED, 2)
    assert memory[images + image_at : images + image_at + image_bytes + 1] == b"image\0"
    assert memory[images + text_at : images + text_at + text_bytes] == b"a\0b\0"
    assert memory[images + pruned_at : images + pruned_at + pruned_bytes + 1] == b"pruned\0"
    maps = [layout.PROBE_MAP.unpack_from(memory, place + 56 + 24 * i) for i in (0, 1)]
    assert maps == [(8, 0, 0, 0), (4, 7, 3, 1)]


def test_mutated_trace_is_read_or_refused(tmp_path: Path) -> None:
    body = (
        struct.pack("<8I", 2, 1, 1, 4, 1, 1, 0, 2)
        + struct.pack("<IIQ", 4, 1, 64)
        + struct.pack("<IIQ", 8, 0, 96)
    )
    whole = body + bytes(range(40))
    path = tmp_path / "trace.bin"
    path.write_bytes(whole)
    assert [len(each) for each in read_trace(path).maps] == [32, 8]
    chooser = random.Random(5)
    for _ in range(500):
        data = bytearray(whole[: chooser.randrange(len(whole) + 1)])
        for _ in range(chooser.randrange(4)):
            if data:
                data[chooser.randrange(len(data))] = chooser.choice((0, 1, 63, 64, 200, 255))
        path.write_bytes(data)
        try:
            trace = read_trace(path)
        except UsageError as error:
            assert "\n" not in str(error)
        else:
            assert sum(map(len, trace.maps)) <= len(data)


@pytest.mark.parametrize(
    ("image", "capability", "target"),
    [
        ("lineinfo.cubin", 90, "sm_90"),
        ("lineinfo.fatbin", 90, "sm_90"),
        ("lineinfo.fatbin", 86, "sm_80"),
        ("default.fatbin", 90, "sm_90"),
    ],
)
def test_ptx_that_ptxas_stored_in_machine_code_is_probed(image: str, capability: int, target: str) -> None:
    """Each kernel of the text can be rewritten, and its lines are those of the text that ptxas read."""
    text = ptx_of((IMAGES / image).read_bytes(), capability)
    assert text is not None
    for kernel in ("saxpy", "mixed", "empty"):
        probed = count(Request(kernel, text.decode()))
        assert f".target {target}" in probed.ptx
        assert f".entry {kernel}(" in probed.ptx
    assert text.splitlines()[8].strip() == b".version 9.0"


def test_machine_code_without_ptx_has_none() -> None:
    assert ptx_of((IMAGES / "sm_90.cubin").read_bytes(), 90) is None
    assert ptx_of((IMAGES / "lineinfo.fatbin").read_bytes(), 75) is None  # its code is for newer devices


def test_ptx_in_code_of_the_cpu_driver_as_a_hip_driver_is_probed() -> None:
    ptx = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry empty()\n{\n ret;\n}\n"
    bundle, code = sim_bundle(ptx), code_object(ptx)
    for image in (bundle, compressed(bundle), code):
        text = ptx_of(image, 0)
        assert text is not None and text.decode().strip() == ptx.strip()
    assert ptx_of(bundle.replace(b".ptx\0", b".asm\0"), 0) is None  # as AMD's own
    with pytest.raises(CodeError, match="the code object is damaged"):
        ptx_of(code[:40] + (1 << 60).to_bytes(8, "little") + code[48:], 0)


def test_damaged_machine_code_is_refused() -> None:
    whole = (IMAGES / "lineinfo.cubin").read_bytes()
    damaged = whole[:40] + (1 << 60).to_bytes(8, "little") + whole[48:]
    with pytest.raises(CodeError, match="the cubin is damaged"):
        ptx_of(damaged, 90)
