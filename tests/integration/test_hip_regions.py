"""Features of HIP alone in a region: its names for copies, sets and allocations, its symbols, its last error.

Calls that CUDA's driver has too are tested for both (apis.py).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchguard.codegen.errors import CodegenError
from benchguard.codegen.hip import find_hip_headers
from tests.integration.apis import api_of
from tests.integration.raw_capture import RawCapture, read_raw_captures
from tests.integration.support import PROGRAMS, Compiler, Observe
from tests.sim.conftest import STORE
from tests.support.code_objects import sim_bundle
from tests.support.hip_programs import linked_in

ARENA = 0x300000000000
ANY_STREAM = 0xFFFFFFFF
LEGACY, PER_THREAD, CREATED = 1, 2, 3

Build = Callable[..., Path]


@pytest.fixture
def build(compile_c: Compiler, native: Path) -> Build:
    """A HIP program of programs/, linked to the CPU driver's HIP face."""
    folder = api_of("hip", native).folder
    try:
        headers = find_hip_headers()
    except CodegenError as error:
        pytest.skip(str(error))
    flags = ("-D__HIP_PLATFORM_AMD__", f"-I{PROGRAMS}", "-isystem", str(headers.folder))
    links = (f"-L{folder}", "-l:libamdhip64.so.5", f"-Wl,-rpath,{folder}")

    def compiled(name: str, *more: Path) -> Path:
        return compile_c(f"hip/{name}", PROGRAMS / f"{name}.c", *more, flags=flags, links=links)

    return compiled


@dataclass(frozen=True)
class Recorded:
    region: RawCapture
    values: dict[str, int]

    def fields(self, *names: str) -> list[tuple[Any, ...]]:
        """The fields that every operation has."""
        return [
            tuple(operation[name] for name in names)
            for operation in self.region.operations
            if all(name in operation for name in names)
        ]


@pytest.fixture
def record(observe: Observe, build: Build, tmp_path: Path) -> Callable[..., Recorded]:
    """Run a program whose one region is recorded."""

    def run(name: str, *more: Path) -> Recorded:
        folder = tmp_path / "raw_captures"
        folder.mkdir()
        environment = {"NEUTRINO_CAPTURE": str(folder), "NEUTRINO_REGION": "program"}
        observed = observe([build(name, *more)], driver="hip-sim", environment=environment)
        assert observed.status == 0, observed.stderr
        (region,) = read_raw_captures(folder)
        lines = [line.split() for line in observed.stdout.splitlines()]
        return Recorded(region, {name: int(number) for name, number in lines})

    return run


def test_every_device_copy_is_recorded(record: Callable[..., Recorded]) -> None:
    recorded = record("hip_copies")
    to, source = recorded.values["to"], recorded.values["from"]
    assert {operation["kind"] for operation in recorded.region.operations} == {"copy"}
    assert recorded.fields("stream", "to", "source", "width", "height", "depth") == [
        (0, to, source, 100, 1, 1),
        (1, to, source + 1, 101, 1, 1),
        (1, to, source + 2, 102, 1, 1),
        (0, to, source + 3, 103, 1, 1),
        (1, to, source + 4, 104, 1, 1),
        (2, to, source + 5, 105, 1, 1),
        (0, to, source + 6, 16, 3, 1),
        (1, to, source + 7, 17, 3, 1),
        (0, to, source + 256 + 8, 18, 3, 1),
        (1, to, source + 256 + 8, 18, 3, 1),
        (0, to, source + 256 + 8, 18, 3, 1),
        *[(stream, to + 64, source + 16 * 8, 4, 2, 2) for stream in (0, 1, 0, 1)],
    ]
    pitches = recorded.fields("to_pitch", "source_pitch")
    assert pitches[6:] == [(512, 256)] * 5 + [(64, 16)] * 4
    assert recorded.fields("to_slice", "source_slice")[11:] == [(256, 128)] * 4
    assert [stream["kind"] for stream in recorded.region.streams] == [LEGACY, CREATED, PER_THREAD]
    assert recorded.region.refusals == []


def test_host_data_is_uploaded_and_host_waits_are_synchronizations(
    record: Callable[..., Recorded],
) -> None:
    recorded = record("hip_uploads")
    to = recorded.values["to"]
    uploads = recorded.fields("stream", "to", "content")
    assert uploads == [
        (0, to, b"abcde"),
        (0, to + 5, b"fgh"),
        (1, to + 8, b"ij"),
        (1, to + 10, b"kl"),
        (1, to + 12, b"mnop"),
        (0, to + 512, b"abcdklmn"),
    ]
    joins = [o["stream"] for o in recorded.region.operations if o["kind"] == "join"]
    assert joins == [0, 0, 1, 0, 1, ANY_STREAM, 0]
    (read,) = [o for o in recorded.region.operations if o["kind"] == "read"]
    assert (read["call"], read["content"]) == ("hipMemcpy", b"abcdefgh")
    assert recorded.region.refusals == []


def test_every_memset_is_recorded(record: Callable[..., Recorded]) -> None:
    """Slices are rows of one set if they lie as rows do, else each is a set."""
    recorded = record("hip_sets")
    memory = recorded.values["memory"]
    assert recorded.fields("stream", "width", "height", "value", "element_bytes") == [
        (0, 100, 1, 0x34, 1),
        (1, 101, 1, 2, 1),
        (2, 102, 1, 3, 1),
        (0, 103, 1, 4, 1),
        (1, 104, 1, 5, 1),
        (0, 105, 1, 0x1006, 2),
        (1, 106, 1, 0x1007, 2),
        (0, 107, 1, 2**32 - 8, 4),
        (1, 108, 1, 9, 4),
        (0, 109, 3, 10, 1),
        (1, 110, 4, 11, 1),
        (0, 16, 12, 12, 1),
        (1, 17, 4, 13, 1),
        (1, 17, 4, 13, 1),
    ]
    assert [o["address"] - memory for o in recorded.region.operations] == [0] * 13 + [8 * 64]
    assert [o["pitch"] for o in recorded.region.operations] == [0] * 9 + [256, 256, 64, 64, 64]
    assert recorded.region.refusals == []


def test_events_and_waits_order_streams(record: Callable[..., Recorded]) -> None:
    recorded = record("hip_order")
    assert recorded.region.steps == [
        ("set", 0),
        ("record", 0, 0),
        ("wait", 1, 0),
        ("set", 1),
        ("record", 1, 1),
        ("join", 1),
        ("set", 0),
        ("join", 0),
        ("set", 2),
        ("join", 2),
        ("set", 1),
        ("join", ANY_STREAM),
    ]
    assert recorded.region.refusals == []


def test_graph_is_recorded_as_launched(record: Callable[..., Recorded]) -> None:
    """A graph from stream capture, a graph built of nodes, and the latter after each of its nodes changed."""
    recorded = record("hip_graph")
    operations = recorded.region.operations
    assert [(o.get("graph", 0), o["kind"], o.get("width", o.get("launched"))) for o in operations] == [
        (1, "set", 70),
        (1, "copy", 71),
        (0, "graph", 1),
        (2, "set", 10),
        (2, "copy", 11),
        (2, "copy", 12),
        (0, "graph", 2),
        (3, "set", 20),
        (3, "copy", 21),
        (3, "copy", 22),
        (0, "graph", 3),
    ]
    assert [edge[:2] for edge in recorded.region.edges] == [(0, 1), (3, 4), (4, 5), (7, 8), (8, 9)]
    assert [stream["kind"] for stream in recorded.region.streams] == [CREATED, LEGACY]
    assert recorded.region.refusals == []


def test_copy_to_a_linked_in_global_is_a_copy_to_its_module(
    record: Callable[..., Recorded], tmp_path: Path
) -> None:
    registered = tmp_path / "registered.c"
    registered.write_text(linked_in(sim_bundle(STORE), ["store"], {"counter": 4}))
    recorded = record("hip_symbols", registered)
    to, counter = recorded.values["to"], recorded.values["counter"]
    kinds = [(o["kind"], o.get("to"), o.get("source"), o.get("content")) for o in recorded.region.operations]
    assert kinds == [
        ("upload", counter, 0, (9).to_bytes(4, "little")),
        ("join", None, None, None),
        ("upload", counter, 0, (10).to_bytes(4, "little")),
        ("join", None, None, None),
        ("launch", None, None, None),
        ("copy", to + 64, counter, None),
        ("copy", to + 128, counter, None),
        ("upload", counter, 0, (11).to_bytes(4, "little")),
        ("graph", None, None, None),
    ]
    (element,) = recorded.region.globals
    assert (element["name"], element["address"]) == ("counter", counter)
    assert recorded.region.kernels == [("store", 0)]
    assert recorded.region.refusals == []


def test_hip_only_operations_are_refused(record: Callable[..., Recorded]) -> None:
    """A stream of some compute units also where it was made before the region."""
    recorded = record("hip_refused")
    assert recorded.region.refusals == [
        (1, "hipMemsetAsync", "uses a stream of some of the device's compute units, which is not recorded"),
        (2, "hipMemset", "sets fine-grained memory, which a capture cannot contain"),
        (2, "hipMemcpyPeer", "copies between contexts or devices; a replay has one of each"),
        (
            2,
            "hipStreamAddCallback",
            "runs a function of the program between operations; a replay runs nothing of the program",
        ),
    ]


def run(command: Sequence[str | Path]) -> str:
    return subprocess.run(
        command, capture_output=True, text=True, timeout=240, check=True, env=dict(os.environ)
    ).stdout


def test_hip_allocation_results_unchanged_by_recording(
    build: Build, observe: Observe, tmp_path: Path
) -> None:
    """Results, hipGetLastError's among them, and where an allocation begins and ends."""
    program = build("hip_memory")
    observed = observe([program], driver="hip-sim", environment={"NEUTRINO_CAPTURE": str(tmp_path)})
    assert observed.stdout == run([program])
    assert "hipMalloc of too much 2 last 2" in observed.stdout


def test_recorded_program_gets_memory_from_the_arena(build: Build, observe: Observe, tmp_path: Path) -> None:
    observed = observe(
        [build("hip_memory"), "addresses"], driver="hip-sim", environment={"NEUTRINO_CAPTURE": str(tmp_path)}
    )
    addresses = [int(line.split()[1]) for line in observed.stdout.splitlines() if line.startswith("address ")]
    assert len(addresses) == 6
    assert all(ARENA <= address < ARENA + (1 << 40) for address in addresses)
