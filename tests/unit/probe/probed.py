"""Captures of one kernel, replayed with the probe `bounds` on the CPU driver."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import benchguard
from benchguard.capture import Capture
from benchguard.capture.layout import ARENA
from benchguard.capture.model import Kernel, Launch, Parameter, Range
from benchguard.grade.cordon_capture import Plan, make
from benchguard.probe.bounds.check import map_bytes
from benchguard.probe.bounds.report import Violation, counts, violations
from tests.support.captures import GRANULE, Builder, Memory
from tests.support.kernels import PTX_HEAD

DATA, OTHER = ARENA, ARENA + GRANULE
BYTES = 1000
"""The allocation at DATA: not a multiple of 256, so that there is padding behind it."""


@dataclass(frozen=True)
class Probed:
    plan: Plan
    violations: tuple[Violation, ...]
    counts: dict[int, int]
    data: bytes

    @property
    def lines(self) -> list[int]:
        return sorted({self.plan.sites[each.site].line for each in self.violations})


def kernel_of(body: str, module: str = "", registers: str = "") -> str:
    """PTX of a kernel `k`, whose parameter is in %rd1, and in %rd2 as a global address."""
    return (
        f"{PTX_HEAD}{module}\n.visible .entry k(.param .u64 data)\n{{\n.reg .pred %p<9>; .reg .b16 %h<9>; "
        f".reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<9>;{registers}\n"
        f"ld.param.u64 %rd1, [data];\ncvta.to.global.u64 %rd2, %rd1;\n{body}\nret;\n}}\n"
    )


def line_of(text: str, code: str) -> int:
    """The line of the only instruction with `code`."""
    (line,) = (number for number, each in enumerate(text.splitlines(), 1) if code in each)
    return line


def capture_of(
    text: str, path: Path, *, threads: int = 1, blocks: int = 1, shared: int = 0, data: bytes = bytes(BYTES)
) -> Path:
    with Builder(path) as builder:
        builder.device()
        layout = (Parameter(0, 8),)
        builder.add(Kernel(builder.module(text), 8, 12, 0, 0, 1024, "k", layout))
        builder.stream()
        builder.memory(Memory(DATA, data, data))
        builder.memory(Memory(OTHER, bytes(64), bytes(64)))
        builder.add(Range(DATA, len(data), 2, "y", "uint8", (len(data),)))
        builder.operation(Launch(0, 0, (blocks, 1, 1), (threads, 1, 1), shared, struct.pack("<Q", DATA)))
        builder.end()
    return path


def probe(text: str, folder: Path, **launch: object) -> Probed:
    """Replay a kernel with its checks, and read what they found."""
    with Capture.open(capture_of(text, folder / "plain.ncap", **launch)) as capture:  # type: ignore[arg-type]
        plan = make(capture, folder / "probed.ncap", is_sim=True)
    assert not plan.trouble, plan.trouble
    result = benchguard.replay(
        folder / "probed.ncap",
        driver="sim",
        samples=1,
        warm_up_samples=0,
        cold="none",
        outputs=[(plan.map, map_bytes(len(plan.sites))), (DATA, BYTES)],
    )
    assert result.verdict == "pass", result.reason
    raw, data = result.outputs.values()
    assert isinstance(raw, bytes) and isinstance(data, bytes)
    return Probed(plan, tuple(violations(raw)), counts(raw), data)
