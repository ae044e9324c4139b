"""Memsets, copies, streams and events in the raw capture of a region, and the operations that it refuses."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchguard.capture import Capture, CaptureError, pack
from tests.conftest import ROOT
from tests.integration.apis import Api, both_apis
from tests.integration.raw_capture import NOTHING, RawCapture, read_raw_captures
from tests.integration.support import PROGRAMS, Compiler, Observe

LEGACY, PER_THREAD, CREATED = 1, 2, 3
NON_BLOCKING = 1


@dataclass(frozen=True)
class Recorded:
    regions: list[RawCapture]
    values: dict[str, int]
    """The program's output: "name number" on each line."""

    @property
    def region(self) -> RawCapture:
        (only,) = self.regions
        return only


Record = Callable[..., Recorded]


@pytest.fixture
def record(observe: Observe, compile_c: Compiler, api: Api, tmp_path: Path) -> Record:
    """Run a program whose regions are recorded."""

    def run(name: str, *flags: str) -> Recorded:
        output = "".join((f"{api.name}/{name}", *flags))
        program = compile_c(output, PROGRAMS / f"{name}.c", *api.sources, flags=flags, links=api.links())
        folder = tmp_path / "raw_captures"
        folder.mkdir()
        observed = observe(
            [program], environment={"NEUTRINO_CAPTURE": str(folder), "NEUTRINO_REGION": "program"}
        )
        assert observed.status == 0, observed.stderr
        lines = [line.split() for line in observed.stdout.splitlines()]
        return Recorded(read_raw_captures(folder), {name: int(number) for name, number in lines})

    return run


def test_every_memset_is_recorded_and_nothing_outside_the_region(record: Record) -> None:
    recorded = record("region_sets")
    memory = recorded.values["memory"]
    fields = ("stream", "address", "pitch", "width", "height", "value", "element_bytes")
    assert [tuple(operation[name] for name in fields) for operation in recorded.region.operations] == [
        (0, memory, 0, 10, 1, 1, 1),
        (0, memory + 16, 0, 11, 1, 0x102, 2),
        (0, memory + 32, 0, 12, 1, 0x10203, 4),
        (0, memory, 128, 20, 4, 2, 1),
        (0, memory, 256, 21, 3, 0x202, 2),
        (0, memory, 512, 22, 2, 0x20203, 4),
        (1, memory, 0, 30, 1, 3, 1),
        (1, memory, 0, 31, 1, 0x302, 2),
        (1, memory, 0, 32, 1, 0x30203, 4),
        (1, memory, 128, 40, 5, 4, 1),
        (1, memory, 256, 41, 4, 0x402, 2),
        (1, memory, 0, 42, 1, 0x40203, 4),  # one row has no pitch
    ]
    assert recorded.region.refusals == []


@both_apis
def test_upload_holds_the_host_data(record: Record) -> None:
    """Rows packed; a synchronous one is a point at which the host waited."""
    recorded = record("region_uploads")
    memory, pinned = recorded.values["memory"], bytes(i % 256 for i in range(4096))
    plane = b"".join(pinned[3 + row * 256 :][:5] for row in (1, 2, 3))
    volume = b"".join(pinned[(z * 8 + y) * 16 :][:4] for z in (1, 2) for y in (0, 1))
    to_plane, to_volume = memory + 8 + 2 * 512, memory + 2 * 4 * 64
    operations = recorded.region.operations
    assert [(o["kind"], o["stream"]) for o in operations] == [
        ("upload", 0), ("join", 0), ("upload", 1), ("upload", 0), ("join", 0), ("upload", 1),
        ("upload", 0), ("join", 0), ("upload", 0), ("join", 0), ("upload", 1),
        ("upload", 0), ("join", 0), ("upload", 1),
    ]  # fmt: skip
    uploads = [o for o in operations if o["kind"] == "upload"]
    assert [(o["to"], o["width"], o["height"], o["depth"], o["content"]) for o in uploads] == [
        (memory, 64, 1, 1, bytes(range(100, 164))),
        (memory + 64, 32, 1, 1, pinned[:32]),
        (memory + 128, 16, 1, 1, pinned[:16]),
        (memory + 256, 16, 1, 1, pinned[1:17]),
        (to_plane, 5, 3, 1, plane),
        (to_plane, 5, 3, 1, plane),
        (to_plane, 5, 3, 1, plane),
        (to_volume, 4, 2, 2, volume),
        (to_volume, 4, 2, 2, volume),
    ]
    assert [(o["to_pitch"], o["to_slice"]) for o in uploads[-2:]] == [(64, 256)] * 2
    assert {(o["source"], o["source_pitch"], o["source_slice"]) for o in uploads} == {(0, 0, 0)}
    assert recorded.region.refusals == []


@both_apis
def test_device_copies_are_recorded(record: Record) -> None:
    """The host does not wait for one, not even in its synchronous form."""
    recorded = record("region_copies")
    source, to = recorded.values["from"], recorded.values["to"]
    operations = recorded.region.operations
    assert {o["kind"] for o in operations} == {"copy"}
    assert [(o["stream"], o["to"], o["source"], o["width"]) for o in operations] == [
        (0, to, source, 100),
        (1, to, source + 1, 101),
        (0, to, source + 2, 102),
        (1, to, source + 3, 103),
        (0, to, source + 3 + 256, 5),
        (1, to + 64, source + 16 * 8, 4),
    ]
    assert [(o["height"], o["depth"]) for o in operations] == [(1, 1)] * 4 + [(3, 1), (2, 2)]
    assert [(o["to_pitch"], o["source_pitch"]) for o in operations[4:]] == [(512, 256), (64, 16)]
    assert (operations[5]["to_slice"], operations[5]["source_slice"]) == (256, 128)
    assert recorded.region.refusals == []


def test_operation_outside_captured_memory_is_refused(record: Record) -> None:
    """Once a call and reason, with the number of operations before it."""
    recorded, _, _ = record("region_reads").regions
    assert recorded.refusals == [
        (1, "cuMemcpyDtoD_v2", "copies to managed memory, which a capture cannot contain"),
        (1, "cuMemcpyDtoD_v2", "copies from managed memory, which a capture cannot contain"),
        (1, "cuMemsetD32_v2", "sets managed memory, which a capture cannot contain"),
        (1, "cuMemcpyAsync", "copies host memory in stream order, which is not recorded"),
        (1, "cuMemcpyDtoA_v2", "uses an array, which a capture cannot contain"),
        (1, "cuMemcpy2D_v2", "uses an array, which a capture cannot contain"),
    ]
    assert recorded.steps == [("set", 0)]


def test_copy_to_the_host_is_recorded_with_the_bytes_that_the_host_got(record: Record) -> None:
    """In every form, also where the host does not wait: the shim waits for the bytes, and records no wait."""
    recorded = record("region_reads")
    _, region, _ = recorded.regions
    memory = recorded.values["memory"]
    whole = bytes(i % 251 for i in range(4096))
    plane = b"".join(whole[3 + 64 * row :][:5] for row in (1, 2, 3))
    volume = b"".join(whole[16 * (8 * z + y) :][:4] for z in (0, 1) for y in (0, 1))
    reads = [o for o in region.operations if o["kind"] == "read"]
    assert [(o["call"], o["stream"], o["source"] - memory, o["content"]) for o in reads] == [
        ("cuMemcpyDtoH_v2", 0, 1, whole[1:101]),
        ("cuMemcpyDtoHAsync_v2", 1, 2, whole[2:103]),
        ("cuMemcpyDtoHAsync_v2", 1, 3, whole[3:105]),
        ("cuMemcpyAsync", 0, 4, whole[4:107]),
        ("cuMemcpy2D_v2", 0, 3 + 64, plane),
        ("cuMemcpy3DAsync_v2", 1, 0, volume),
    ]
    assert [(o["width"], o["height"], o["depth"]) for o in reads[4:]] == [(5, 3, 1), (4, 2, 2)]
    assert [(o["source_pitch"], o["source_slice"]) for o in reads[4:]] == [(64, 192), (16, 128)]
    assert [step[0] for step in region.steps] == [
        "set", "read", "join", "read", "read", "read", "read", "join", "read", "set",
    ]  # fmt: skip
    assert region.refusals == []


def test_more_copies_to_the_host_than_a_capture_keeps_are_refused(record: Record) -> None:
    *_, many = record("region_reads").regions
    reason = (
        "copies {} bytes of device memory to the host, more than a capture keeps (64 KiB in 256 copies); what the "
        "program does next may depend on them"
    )
    kinds = [operation["kind"] for operation in many.operations]
    assert (kinds.count("read"), kinds.count("set")) == (256, 1)
    assert [(call, text) for _, call, text in many.refusals] == [
        ("cuMemcpyDtoH_v2", reason.format(65537)),
        ("cuMemcpyDtoH_v2", reason.format(1)),
    ]


@both_apis
def test_operation_within_captured_memory_is_recorded(record: Record) -> None:
    """Blocks that touch are one; what does nothing is nothing. A graph's node that does nothing is an empty one."""
    recorded = record("region_extents")
    region, _ = recorded.regions
    assert region.refusals == []
    assert [operation["kind"] for operation in region.operations] == [
        "set", "set", "copy", "upload", "join", "set", "graph",
    ]  # fmt: skip
    assert region.operations[5]["value"] == 4
    first, table = recorded.values["first"], recorded.values["table"]
    assert region.ranges == [(first, 2 * 512 + 100, 1), (table + 1, 15, 2), (0, 0, 1)]


@both_apis
def test_operation_beyond_captured_memory_is_refused(record: Record, tmp_path: Path, api: Api) -> None:
    """Instead of the operation, for which a reader would refuse the whole capture."""
    recorded = record("region_extents")
    _, outside = recorded.regions
    memory = "memory outside every allocation, which a capture cannot contain"
    assert outside.refusals == [
        (0, api.call("cuMemsetD8_v2"), f"sets {memory}"),
        (0, api.call("cuMemsetD32Async"), f"sets {memory}"),
        (0, api.call("cuMemsetD2D8_v2"), f"sets {memory}"),
        (0, api.call("cuMemcpyHtoD_v2"), f"copies to {memory}"),
        (0, api.call("cuMemcpyDtoD_v2"), f"copies to {memory}"),
        (0, api.call("cuMemcpyDtoDAsync_v2"), f"copies from {memory}"),
        (0, api.call("cuMemcpy2D_v2"), f"copies from {memory}"),
        (0, api.call("cuMemcpyDtoHAsync_v2"), f"copies from {memory}"),
        (0, api.call("cuGraphLaunch"), f"sets {memory}"),
    ]
    assert [operation["kind"] for operation in outside.operations] == ["empty", "graph"]
    assert recorded.values["named"] == 11111
    assert outside.ranges == []
    for path in (tmp_path / "raw_captures").iterdir():
        assert pack(path, tmp_path / f"{path.stem}.ncap").refusals == () or path.stem.endswith("-2")


@both_apis
def test_final_read_is_allowed(record: Record, tmp_path: Path, api: Api) -> None:
    """With the waits around it, of any form and size; but a large one not where something follows, nor in a graph."""
    recorded = record("region_last_read")
    reason = "copies {} bytes of device memory to the host{}; what the program does next may depend on them"
    more = ", more than a capture keeps (64 KiB in 256 copies)"
    assert [region.refusals for region in recorded.regions] == [
        [(6, api.call("cuMemcpyDtoHAsync_v2"), reason.format(1 << 20, more))],
        [(3, api.call("cuMemcpyDtoH_v2"), reason.format(1 << 20, more))],
        [(1, api.call("cuGraphLaunch"), reason.format(4, " in a graph"))],
    ]
    packed = [
        pack(path, tmp_path / f"{path.stem}.ncap")
        for path in sorted((tmp_path / "raw_captures").iterdir(), key=lambda path: path.stem[-1])
    ]
    assert [len(summary.refusals) for summary in packed] == [0, 1, 1]
    with Capture.open(packed[0].path) as capture:
        assert [each.kind.name for each in capture.operations] == [
            "MEMSET", "SYNCHRONIZE", "EVENT_RECORD", "EVENT_WAIT", "SYNCHRONIZE",
        ]  # fmt: skip
        assert capture.end.operations == 5
    with Capture.open(packed[1].path) as capture:
        assert [each.kind.name for each in capture.operations][:2] == ["MEMSET", "MEMCPY_DTOH"]


def test_live_textures_and_surfaces_are_refused(record: Record) -> None:
    """Kernels get them as plain numbers. A failed creation does not count."""
    reason = "texture or surface objects exist; a kernel may read arrays through them, which a capture cannot contain"
    assert [region.refusals for region in record("region_textures").regions] == [
        [],
        [],
        [(0, "", reason)],
        [],
        [(1, "cuTexObjectCreate", reason), (1, "cuSurfObjectCreate", reason)],
        [],
    ]


def contents(path: Path) -> tuple[object, ...] | None:
    """The content of a raw capture that a replay uses; None if the capture is reported as unreplayable."""
    target = path.with_suffix(".ncap")
    try:
        if pack(path, target).refusals:
            return None
    except CaptureError as error:
        assert "did not end" in str(error), error
        return None
    with Capture.open(target) as capture:
        return (
            [operation.kind for operation in capture.operations],
            [module.options for module in capture.modules],
            [(each.name, bool(each.before.bytes), bool(each.after.bytes)) for each in capture.globals],
            [(run.address, run.content) for run in capture.after],
            {kernel.name for kernel in capture.kernels},  # duplicates are harmless
            len(capture.relocations),
        )


def test_failed_allocation_in_the_shim_is_reported(
    observe: Observe, compile_c: Compiler, api: Api, tmp_path: Path
) -> None:
    """Each allocation of the shim in a region fails once: the capture is as it would have been, or says that it is
    not."""
    links = api.links("-rdynamic")
    program = compile_c(f"{api.name}/region_no_memory", PROGRAMS / "region_no_memory.c", links=links)
    folder = tmp_path / "raw_captures"
    folder.mkdir()
    observed = observe([program], environment={"NEUTRINO_CAPTURE": str(folder), "NEUTRINO_REGION": "program"})
    assert observed.status == 0, observed.stderr
    allocations = int(observed.stdout.split()[-1])
    # Two files of one tick of the clock have equal times; their names begin with process ids, which ascend.
    order = {path: (path.stat().st_mtime_ns, int(path.stem.partition("-")[0])) for path in folder.iterdir()}
    raw_captures = sorted(order, key=order.__getitem__)
    assert len(raw_captures) == allocations + 1 > 20
    *starved, whole = map(contents, raw_captures)
    assert whole is not None
    assert starved.count(None) > 10
    assert [each for each in starved if each not in (None, whole)] == []


@both_apis
@pytest.mark.parametrize("name", ["region_globals", "region_last_read", "region_extents"])
def test_replay_of_the_first_region_is_exact(record: Record, tmp_path: Path, name: str, api: Api) -> None:
    """Operations on globals; a read at the end; extents over two allocations."""
    record(name)
    first = min((tmp_path / "raw_captures").iterdir(), key=lambda path: int(path.stem.rpartition("-")[2]))
    pack(first, tmp_path / "x.ncap")
    words = ["-m", "benchguard", "replay", "--driver", api.driver, "--samples", "3", "--verify", "x.ncap"]
    result = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=240,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert "memory equals the captured memory, byte for byte" in result.stdout


@pytest.mark.parametrize("flags", [(), ("-DCUDA_API_PER_THREAD_DEFAULT_STREAM",)])
def test_streams_events_and_waits_are_recorded(record: Record, flags: tuple[str, ...]) -> None:
    """The names of the calls tell which default stream they use."""
    recorded = record("region_streams", *flags)
    default, urgent, blocking = recorded.region.streams
    assert default["kind"] == (PER_THREAD if flags else LEGACY)
    assert (urgent["kind"], urgent["flags"], urgent["priority"]) == (
        CREATED,
        NON_BLOCKING,
        recorded.values["highest"],
    )
    assert (blocking["kind"], blocking["flags"], blocking["priority"]) == (CREATED, 0, 0)
    assert len({stream["handle"] for stream in recorded.region.streams}) == 3
    assert recorded.region.steps == [
        ("set", 0),
        ("record", 0, 0),
        ("wait", 1, 0),
        ("set", 1),
        ("record", 1, 1),
        ("wait", 0, 1),
        ("join", 1),
        ("set", 2),
        ("join", 2),
        ("record", 2, 0),
        ("join", NOTHING),
    ]
    assert recorded.region.refusals == []


@both_apis
def test_reused_handle_is_another_stream_or_event(record: Record) -> None:
    recorded = record("region_handles")
    first, second = recorded.regions
    assert first.steps == [
        step for i in range(3) for step in [("set", i), ("record", i, i), ("record", i, i), ("join", i)]
    ]
    assert len({stream["handle"] for stream in first.streams}) == 3
    assert second.steps == [("set", 0)]
    assert [stream["kind"] for stream in second.streams] == [LEGACY]


def test_per_thread_default_streams_are_distinct(record: Record) -> None:
    """One stream a thread, with that thread's operations in its order."""
    recorded = record("region_threads", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM")
    memory, streams = recorded.values["memory"], recorded.region.streams
    assert [stream["kind"] for stream in streams] == [PER_THREAD] * 4
    assert len({stream["handle"] for stream in streams}) == 4
    threads = []
    for stream in range(4):
        steps = [o for o in recorded.region.operations if o["stream"] == stream]
        assert [o.get("value") for o in steps] == [*range(50), None]
        assert steps[-1]["kind"] == "join"
        threads += {o["address"] - memory for o in steps[:-1]}
    assert sorted(threads) == [0, 1, 2, 3]


def test_unreplayable_calls_are_refused(record: Record) -> None:
    """Not what failed, not what is outside the region; the next region starts anew."""
    recorded = record("region_refused")
    refused, clean = recorded.regions
    assert refused.refusals == [
        (
            1,
            "cuLaunchHostFunc",
            "runs a function of the program between operations; a replay runs nothing of the program",
        ),
        (
            2,
            "cuStreamWriteValue32_v2",
            "waits for values in memory, or writes them, in a stream's order, which is not recorded",
        ),
        (2, "cuCtxSetLimit", "changes a limit of the context, which a replay sets once, before it begins"),
    ]
    assert clean.refusals == []
    assert clean.steps == [("set", 0)]


def test_work_in_a_stream_capture_belongs_to_the_graph(record: Record) -> None:
    recorded = record("region_captured")
    assert recorded.region.steps == [("record", 0, 0), ("set", 0)]
    assert recorded.region.refusals == []


def test_work_in_another_context_is_refused(record: Record) -> None:
    recorded = record("region_contexts")
    assert recorded.region.refusals == [
        (2, "cuMemsetD8Async", "uses a stream of another context; a replay has one context")
    ]


@both_apis
def test_region_without_recording_reports_so(observe: Observe, program: Callable[[str], Path]) -> None:
    """Control: without NEUTRINO_CAPTURE region calls return the error "not recording"."""
    observed = observe([program("region_sets")])
    assert observed.status == 1
    assert "this process is only observed; run it with `neutrino-bench record`" in observed.stderr


def test_forked_child_works_while_threads_hold_locks(
    observe: Observe, compile_c: Compiler, api: Api, tmp_path: Path
) -> None:
    """A lock that fork copied as locked would keep the child until its alarm."""
    (tmp_path / "raw_captures").mkdir()
    program = compile_c("region_forks", PROGRAMS / "region_forks.c", links=api.links())
    environment = {"NEUTRINO_CAPTURE": str(tmp_path / "raw_captures"), "NEUTRINO_REGION": "program"}
    observed = observe([program, "60"], environment=environment)
    assert (observed.status, observed.stdout) == (0, "failed 0\n"), observed.stderr
