"""A case run once in a region that a recorder sees, or timed in this process with a cold cache.

python torch_cases.py NAME            warm up, poison the outputs, run once inside benchguard.region()
python torch_cases.py NAME --measure  print {"median_us": ...} of event pairs around it, L2 written and then read before
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import benchguard

SAMPLES = 200
WRITTEN, READ = 256 << 20, 512 << 20
"""Bytes written, then bytes read: several times the 60 MB L2 of an H200. Reading last leaves no dirty lines."""


@dataclass
class Case:
    """`run` queues the work; `outputs` are the buffers that it writes, `state` the buffers that it updates in place."""

    run: Callable[[], Any]
    outputs: dict[str, Any]
    state: dict[str, Any] = field(default_factory=dict)


class Clock(Protocol):
    """The timing functions of a framework."""

    def synchronise(self) -> None: ...
    def poison(self, array: Any) -> None: ...
    def flush(self) -> None: ...
    def stamp(self) -> Any: ...
    def elapsed_us(self, first: Any, last: Any) -> float: ...


class TorchClock:
    def __init__(self) -> None:
        self._written: Any = None

    def synchronise(self) -> None:
        import torch

        torch.cuda.synchronize()

    def poison(self, array: Any) -> None:
        array.fill_(float("nan"))

    def flush(self) -> None:
        import torch

        if self._written is None:
            self._written = torch.empty(WRITTEN // 4, device="cuda")
            self._read = torch.zeros(READ // 4, device="cuda")
            self._sum = torch.empty((), device="cuda")
        self._written.fill_(1.0)
        torch.sum(self._read, dim=0, out=self._sum)

    def stamp(self) -> Any:
        import torch

        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def elapsed_us(self, first: Any, last: Any) -> float:
        return float(first.elapsed_time(last)) * 1e3


class CupyClock:
    def __init__(self) -> None:
        self._written: Any = None

    def synchronise(self) -> None:
        import cupy

        cupy.cuda.Device().synchronize()

    def poison(self, array: Any) -> None:
        array.fill(float("nan"))

    def flush(self) -> None:
        import cupy

        if self._written is None:
            self._written = cupy.empty(WRITTEN // 4, dtype=cupy.float32)
            self._read = cupy.zeros(READ // 4, dtype=cupy.float32)
            self._sum = cupy.empty((), dtype=cupy.float32)
        self._written.fill(1.0)
        self._read.sum(out=self._sum)

    def stamp(self) -> Any:
        import cupy

        event = cupy.cuda.Event()
        event.record()
        return event

    def elapsed_us(self, first: Any, last: Any) -> float:
        import cupy

        return float(cupy.cuda.get_elapsed_time(first, last)) * 1e3


def measure(case: Case, clock: Clock) -> dict[str, float]:
    """Cold-cache medians of event pairs. The flush runs while the work is queued, which hides launch latency."""
    times = []
    for _ in range(SAMPLES):
        clock.flush()
        first = clock.stamp()
        case.run()
        last = clock.stamp()
        clock.synchronise()
        times.append(clock.elapsed_us(first, last))
    quartiles = statistics.quantiles(times, n=20)
    return {"median_us": statistics.median(times), "p5_us": quartiles[0], "p95_us": quartiles[-1]}


def main(cases: dict[str, Callable[[], Case]], clock: Clock) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=list(cases))
    parser.add_argument("--measure", action="store_true")
    options = parser.parse_args()
    case = cases[options.name]()
    for _ in range(3):
        case.run()
    clock.synchronise()
    if options.measure:
        print(json.dumps(measure(case, clock)))
        return
    for array in case.outputs.values():
        clock.poison(array)
    clock.synchronise()
    with benchguard.region(options.name, outputs=case.outputs, state=case.state):
        case.run()
    clock.synchronise()
