"""A submission called by the runner under the shim, on the CPU driver, without confinement."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from benchguard.audit.log import LogWriter
from benchguard.audit.selection import parse_selection
from benchguard.audit.supervise import Recorded, supervise
from benchguard.capture import Capture, pack
from benchguard.problem.spec import Buffer, CaseSpec, Layout, Scalar, layout_of
from benchguard.quarantine.contract import Batch, Began, Broke, Cases, Confine, Event, Finished, Order
from benchguard.replay.replay import replay
from benchguard.shim.interposer import interposer_for
from tests.conftest import ROOT

PROGRAM = """
import os, sys, msgspec
from benchguard.quarantine.cases import CaseSender
from benchguard.quarantine.contract import Batch, Cases, Order
from benchguard.quarantine.runner import cuda_entry, main
if "WITHOUT_NVCC" in os.environ:
    cuda_entry.find_nvcc = lambda: None
order, cases, batch, inputs, events = sys.argv[1:]
order = msgspec.json.decode(open(order, "rb").read(), type=Order)

class Source:
    def find(self):
        return msgspec.json.decode(open(cases, "rb").read(), type=Cases)

    def throwaway(self, first):
        return msgspec.json.decode(open(batch, "rb").read(), type=Batch), os.open(inputs, os.O_RDONLY)

sender = CaseSender(Source())
sender.start()
order = msgspec.structs.replace(order, channel=os.dup(sender.theirs))
main(order, os.open(events, os.O_WRONLY | os.O_CREAT, 0o600))
"""
SUFFIXES = {"python": "py", "cuda": "cu", "ptx": "ptx"}
Arrays = Mapping[str, "np.ndarray[Any, Any]"]


@dataclass
class Case:
    """A test case, and a throw-away set for each of its two regions."""

    spec: CaseSpec
    sets: Sequence[Arrays]
    layout: Layout = field(init=False)

    def __post_init__(self) -> None:
        self.layout = layout_of(self.spec.read)

    @property
    def bytes(self) -> bytes:
        memory = bytearray(len(self.sets) * self.layout.stride)
        for number, arrays in enumerate(self.sets):
            for name in self.layout.places:
                offset, size = self.layout.place(name, number)
                raw = arrays[name].tobytes()
                assert len(raw) == size
                memory[offset : offset + size] = raw
        return bytes(memory)


@dataclass
class Ran:
    """The runner's events, and its raw captures."""

    status: int
    events: list[Event]
    captures: list[Path]

    @property
    def broke(self) -> Broke:
        (actual,) = (each for each in self.events if isinstance(each, Broke))
        assert self.status == 1
        return actual

    @property
    def phases(self) -> list[tuple[str, int]]:
        return [(each.phase, each.case) for each in self.events if isinstance(each, Began)]

    def assert_finished(self) -> Ran:
        assert [each for each in self.events if isinstance(each, Broke)] == []
        assert self.status == 0
        assert isinstance(self.events[-1], Finished)
        return self

    def replayed(self, number: int, inputs: Arrays, output: str = "y") -> bytes:
        """The output of one capture on other inputs, all of whose launches are in the capture."""
        arguments = {name: array.tobytes() for name, array in inputs.items()}
        result = replay(self.captures[number], inputs=arguments, outputs=[output], driver="sim", samples=2)
        assert result.verdict == "pass", result.reason
        actual = result.outputs[output]
        assert isinstance(actual, bytes)
        return actual


def call(folder: Path, submission: str, case: Case | Sequence[Case], **options: Any) -> Ran:
    """Write `submission` down and have the runner call it; `options` are of the Order,
    `nvcc`: whether one may be found, `beside`: files in its folder, `stem`: its name."""
    environment = {} if options.pop("nvcc", True) else {"WITHOUT_NVCC": "1"}
    cases = [case] if isinstance(case, Case) else list(case)
    language = options.setdefault("language", "python")
    path = folder / "submitted" / f"{options.pop('stem', 'submission')}.{SUFFIXES[language]}"
    scratch, raw_captures = folder / "scratch", folder / "raw_captures"
    for each in (path.parent, scratch, raw_captures):
        shutil.rmtree(each, ignore_errors=True)
        each.mkdir()
    path.write_text(submission)
    for name, text in options.pop("beside", {}).items():
        (path.parent / name).write_text(text)
    offsets, inputs = [], b""
    for each in cases:
        offsets.append(len(inputs))
        inputs += each.bytes
    cases_ = Cases(cases=tuple(each.spec for each in cases), init=options.pop("init", ()))
    batch = Batch(0, tuple(each.layout for each in cases), tuple(offsets))
    order = Order(
        submission=str(path),
        entry=options.pop("entry", "solution"),
        convention=options.pop("convention", "arguments"),
        confine=Confine(str(scratch), ()),
        **options,
    )
    (folder / "order").write_bytes(msgspec.json.encode(order))
    (folder / "cases").write_bytes(msgspec.json.encode(cases_))
    (folder / "batch").write_bytes(msgspec.json.encode(batch))
    (folder / "inputs").write_bytes(inputs)
    (folder / "events").unlink(missing_ok=True)
    return _supervised(folder, raw_captures, environment)


def _supervised(folder: Path, raw_captures: Path, environment: Mapping[str, str]) -> Ran:
    interposer, _, _ = interposer_for("sim")
    words = [
        sys.executable,
        "-c",
        PROGRAM,
        *(str(folder / each) for each in ("order", "cases", "batch", "inputs", "events")),
    ]
    before = dict(os.environ)
    os.environ.update(PYTHONPATH=str(ROOT), **environment)
    try:
        log = LogWriter(folder / "run.audit.jsonl", replace=True)
        recorded = Recorded(raw_captures, parse_selection(None, None, None))
        run = supervise(words, interposer, log, version="test", timeout=240, recorded=recorded)
    finally:
        os.environ.clear()
        os.environ.update(before)
    lines = (folder / "events").read_bytes().splitlines() if (folder / "events").exists() else []
    events = [msgspec.json.decode(line, type=Event) for line in lines]
    calls = [export.name for export in interposer.surface.exports]
    captures = []
    for raw_capture in sorted(
        raw_captures.glob("*.nrec"), key=lambda path: int(path.stem.rpartition("-")[2])
    ):
        if run.status == 0:
            captures.append(pack(raw_capture, folder / f"{len(captures)}.ncap", calls).path)
    return Ran(run.status, events, captures)


def range_list(capture: Path) -> list[tuple[str, str, int, str, tuple[int, ...]]]:
    """Name, role, bytes, type and shape."""
    with Capture.open(capture) as opened:
        return [(r.name, r.role.name, r.bytes, r.type, tuple(r.shape)) for r in opened.ranges]


def saxpy_case(count: int = 1000, **roles: str) -> Case:
    """y = 2 x + z, element by element, exact."""
    random = np.random.default_rng(count)
    sets = [
        {name: random.integers(-99, 99, count).astype(np.float32) for name in ("x", "z")} for _ in range(3)
    ]
    spec = CaseSpec(
        f"n={count}",
        (
            Buffer("x", "float32", (count,)),
            Buffer("z", "float32", (count,), role=roles.get("z", "input")),  # type: ignore[arg-type]
            Buffer("y", "float32", (count,), role="output"),
            Scalar("n", "int", count),
        ),
    )
    return Case(spec, sets)


def saxpy(arrays: Arrays) -> bytes:
    return (2 * arrays["x"] + arrays["z"]).astype(np.float32).tobytes()
