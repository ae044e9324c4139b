"""Generate docs/scale.md from measured stage times: python docs/make_scale.py [--stages STAGES] [--print]

STAGES is the output of tests/bench/scale/measure.py; without it docs/scale.json, whose page is docs/scale.md. The
simulation is of events (simpy): grades take a slot, then cores and the GPU, stage by stage. A replay stops the
submissions on its GPU (ADR 32). It has a fixed seed.
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import simpy

ROOT = Path(__file__).resolve().parents[1]
STAGES = ("start", "compile", "quarantine", "references", "replay")
GPUS_OF_MACHINE = 8
ROUNDS = 8
"""Grades of each slot in a simulation."""

SMALLEST_S = 1e-6
PRICES = (1.0, 2.0, 4.0)


class Measured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The output of tests/bench/scale/measure.py. Seconds."""

    schema: str
    date: str
    device: str
    cores: int
    load: float
    answer_bytes: int
    dispatch_s: float
    ray_task_s: float
    grades: tuple[dict[str, float], ...]
    ray_machine: str = ""

    def median(self, stage: str) -> float:
        return statistics.median(row[stage] for row in self.grades)

    @property
    def dispatcher_s(self) -> float:
        """CPU time of the dispatcher for each grade."""
        return self.dispatch_s + self.ray_task_s


@dataclass(frozen=True)
class Fleet:
    """A simulated fleet.

    Attributes:
        in_flight: grades at once for each GPU. One of them replays.
        cores: CPU cores for each GPU.
        first: grades at once in the first stage of a cascade, for each GPU; 0: without a cascade.
        wrong: share of submissions that the first stage decides.
    """

    gpus: int
    in_flight: int = 1
    cores: int = 8
    first: int = 0
    wrong: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """`busy` is the share of time that all GPUs replay, all cores work, and the dispatcher works."""

    per_second: float
    busy: dict[str, float]

    def cost(self, gpus: int, price: float) -> float:
        """Price of a thousand grades, at a price for a GPU hour."""
        return 1000 / self.per_second / 3600 * gpus * price


class _Use:
    """Seconds of use of each resource, up to now."""

    def __init__(self, environment: Any) -> None:
        self._environment = environment
        self._active, self._since, self._total = Counter[str](), dict[str, float](), dict[str, float]()

    def change(self, name: str, by: int) -> None:
        now = self._environment.now
        more = self._active[name] * (now - self._since.get(name, 0.0))
        self._total[name] = self._total.get(name, 0.0) + more
        self._since[name] = now
        self._active[name] += by

    def totals(self) -> dict[str, float]:
        for name in ("GPU", "cores", "dispatcher"):
            self.change(name, 0)
        return dict(self._total)


class _Gpu:
    """One replay at a time, during which the submissions on this GPU are stopped."""

    def __init__(self, environment: Any) -> None:
        self._environment = environment
        self._turn = simpy.Resource(environment, 1)
        self._changed = environment.event()
        self._replays = False

    def _change(self, replays: bool) -> None:
        self._replays = replays
        changed, self._changed = self._changed, self._environment.event()
        changed.succeed()

    def replay(self, work: Iterator[Any]) -> Iterator[Any]:
        with self._turn.request() as turn:
            yield turn
            self._change(True)
            yield from work
            self._change(False)

    def run(self, seconds: float, cores: Any, used: _Use) -> Iterator[Any]:
        """Run a submission, which has a core while it is not stopped."""
        while seconds > SMALLEST_S:  # less may not move the clock, which is a float
            while self._replays:
                yield self._changed
            with cores.request() as turn:
                yield turn
                if self._replays:
                    continue
                began = self._environment.now
                used.change("cores", 1)
                yield self._environment.timeout(seconds) | self._changed
                used.change("cores", -1)
                seconds -= self._environment.now - began


def simulate(measured: Measured, fleet: Fleet, seed: int = 1) -> Outcome:
    """Run ROUNDS grades for each slot. Only the middle three fifths of them count, when all slots are busy."""
    environment, draw = simpy.Environment(), random.Random(seed)
    dispatcher = simpy.Resource(environment, 1)
    used = _Use(environment)
    slots = fleet.first + fleet.in_flight
    count = fleet.gpus * slots * ROUNDS
    left, marks = iter(range(count)), {count // 5, count - count // 5}
    ended = itertools.count(1)
    snapshots: list[tuple[float, dict[str, float]]] = []

    def work(resource: Any, seconds: float, *names: str) -> Iterator[Any]:
        with resource.request() as turn:
            yield turn
            for name in names:
                used.change(name, 1)
            yield environment.timeout(seconds)
            for name in names:
                used.change(name, -1)

    def grade(cores: Any, gpu: _Gpu, row: dict[str, float]) -> Iterator[Any]:
        yield from work(cores, row["start"], "cores")
        yield from work(cores, row["compile"], "cores")
        yield from gpu.run(row["quarantine"], cores, used)
        yield from work(cores, row["references"], "cores")
        yield from gpu.replay(work(cores, row["replay"], "cores", "GPU"))

    def slot(cores: Any, gpu: _Gpu, gates: tuple[Any, Any]) -> Iterator[Any]:
        for _ in left:
            yield from work(dispatcher, measured.dispatcher_s, "dispatcher")
            if fleet.first:  # needs no GPU
                with gates[0].request() as turn:
                    yield turn
                    yield from work(cores, sum(draw.choice(measured.grades).values()), "cores")
            if not fleet.first or draw.random() >= fleet.wrong:
                with gates[1].request() as turn:
                    yield turn
                    yield from grade(cores, gpu, draw.choice(measured.grades))
            if next(ended) in marks:
                snapshots.append((environment.now, used.totals()))

    for first in range(0, fleet.gpus, GPUS_OF_MACHINE):
        gpus = min(GPUS_OF_MACHINE, fleet.gpus - first)
        cores = simpy.Resource(environment, gpus * fleet.cores)
        for _ in range(gpus):
            gpu = _Gpu(environment)
            gates = tuple(
                simpy.Resource(environment, max(1, each)) for each in (fleet.first, fleet.in_flight)
            )
            for _ in range(slots):
                environment.process(slot(cores, gpu, gates))
    environment.run()
    (begin, before), (end, after) = snapshots
    size = {"GPU": fleet.gpus, "cores": fleet.gpus * fleet.cores, "dispatcher": 1}
    busy = {name: (after[name] - before[name]) / size[name] / (end - begin) for name in size}
    return Outcome((max(marks) - min(marks)) / (end - begin), busy)


def page(measured: Measured) -> str:
    """The text of the page."""
    total = sum(measured.median(stage) for stage in STAGES)
    limit = 1 / measured.dispatcher_s
    one = simulate(measured, Fleet(1000))
    rows = [
        "| stage | median, s | needs |\n| --- | --- | --- |\n",
        *(f"| {stage} | {measured.median(stage):.2f} | {NEEDS[stage]} |\n" for stage in STAGES),
        f"| together | {total:.2f} | |\n",
    ]
    return (
        HEAD.format(m=measured, grades=len(measured.grades))
        + "".join(rows)
        + DISPATCHER.format(
            m=measured,
            dispatch=measured.dispatch_s * 1e3,
            ray=measured.ray_task_s * 1e3,
            where=f" (on {measured.ray_machine})" if measured.ray_machine else "",
            limit=limit,
        )
        + "".join(_throughput(measured))
        + SATURATION.format(
            limit=limit,
            serial=limit * total,
            megabytes=one.per_second * measured.answer_bytes / 1e6,
            per_second=one.per_second,
        )
        + "".join(_cores(measured))
        + CASCADE
        + "".join(_cascade(measured))
        + COST
        + "".join(_cost(measured))
        + TAIL
    )


def _throughput(measured: Measured) -> Iterator[str]:
    for gpus in (1, 8, 64, 256, 1000):
        outcomes = [simulate(measured, Fleet(gpus, in_flight)) for in_flight in (1, 2, 3)]
        figures = " | ".join(f"{each.per_second:.3g}" for each in outcomes)
        busy = outcomes[-1].busy
        yield f"| {gpus} | {figures} | {busy['GPU']:.0%} | {busy['dispatcher']:.1%} |\n"


def _cores(measured: Measured) -> Iterator[str]:
    for cores in (1, 2, 4, 8):
        outcomes = [simulate(measured, Fleet(64, in_flight, cores)) for in_flight in (1, 3)]
        busy = outcomes[-1].busy
        figures = " | ".join(f"{each.per_second:.3g}" for each in outcomes)
        yield f"| {cores} | {figures} | {busy['cores']:.0%} | {busy['GPU']:.0%} |\n"


def _cascade(measured: Measured) -> Iterator[str]:
    for first, wrong in ((0, 0.0), (7, 0.25), (7, 0.5), (7, 0.75)):
        outcome = simulate(measured, Fleet(64, 1, 8, first, wrong))
        name = f"{wrong:.0%}" if first else "without a cascade"
        yield f"| {name} | {outcome.per_second:.3g} | {outcome.busy['GPU']:.0%} | {outcome.busy['cores']:.0%} |\n"


def _cost(measured: Measured) -> Iterator[str]:
    for in_flight in (1, 3):
        outcome = simulate(measured, Fleet(1000, in_flight))
        figures = " | ".join(f"{outcome.cost(1000, price):.2f}" for price in PRICES)
        yield f"| {in_flight} | {1000 / outcome.per_second * 1000 / 3600:.2f} | {figures} |\n"


NEEDS = {
    "start": "a core: processes, imports, reading the captures",
    "compile": "a core",
    "quarantine": "a core, and the GPU beside others; stopped while another grade replays there",
    "references": "a core; hidden behind the quarantine if it is 0",
    "replay": "a core, and the GPU alone",
}

HEAD = """\
# A plan for a thousand GPUs

This page is a plan on paper. No fleet of this size has been run. The figures are simulated from stage times that were
measured once, by a discrete-event simulation in `docs/make_scale.py`; a test compares the page with the script.

The stage times are of {grades} grades of a small problem on {m.device} ({m.cores} cores, load {m.load}, {m.date}).
**Times on a GPU differ**: measure them there, and print the page for them:

```
python tests/bench/scale/measure.py -o stages.json      # on a machine like those of the fleet
python docs/make_scale.py --stages stages.json --print
```

"""

DISPATCHER = """
The dispatcher, which gives out the jobs, is one process. It needs {dispatch:.2f} ms of CPU time for each
job of its own, and {ray:.2f} ms in Ray{where}, so it can give out at most {limit:.0f} jobs a second. An answer has
{m.answer_bytes} bytes.

## Throughput

Machines have 8 GPUs and 8 cores for each GPU. The Ray engine has one grade in flight for each GPU, which waits while
the submission is compiled and captured. `--parallel` of the local engine has more. Replays do not overlap, and a replay
stops the other submissions on its GPU, so only their start, their compilation and the work between replays overlap.

| GPUs | grades a second, 1 in flight | 2 in flight | 3 in flight | GPUs replay (3) | dispatcher works (3) |
| --- | --- | --- | --- | --- | --- |
"""

SATURATION = """
## Where it saturates

- **The GPUs** first: each replays one grade at a time, and its submissions are captured between replays.
- **The dispatcher** at {limit:.0f} grades a second: {serial:.0f} GPUs with one grade in flight. Beyond that, run
  several batches, each with a part of the submissions: jobs do not depend on one another.
- **The network** does not: at {per_second:.0f} grades a second, answers are {megabytes:.1f} MB a second.
- **The cores**, if a machine has few. 64 GPUs:

| cores for each GPU | grades a second, 1 in flight | 3 in flight | cores work (3) | GPUs replay (3) |
| --- | --- | --- | --- | --- |
"""

CASCADE = """
## A cascade

With `--cascade` the CPU driver grades first, and decides about wrong outputs. 64 GPUs with 8 cores for each, as the Ray
engine uses them: one grade in flight on the GPU, 7 on the CPU driver. The stage times above serve for both:

| submissions that are wrong | grades a second | GPUs replay | cores work |
| --- | --- | --- | --- |
"""

COST = """
## Cost

A thousand grades on 1000 GPUs, for a price of a GPU hour (any currency):

| in flight | GPU hours | at 1 | at 2 | at 4 |
| --- | --- | --- | --- | --- |
"""

TAIL = """
## Limits of the simulation

It leaves out machines that fail, other users of the cluster, problems with large inputs, and submissions that hang
until their time limit. A hanging submission holds its slot for the whole limit: with 1 % of them and a limit of 300 s,
they take 3 s of each grade on average. Set `--timeout` low.
"""


def read(path: Path) -> Measured:
    return msgspec.json.decode(path.read_bytes(), type=Measured)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stages", type=Path, default=ROOT / "docs" / "scale.json")
    parser.add_argument("--print", action="store_true", dest="prints")
    arguments = parser.parse_args()
    text = page(read(arguments.stages))
    if arguments.prints:
        print(text, end="")
    else:
        (ROOT / "docs" / "scale.md").write_text(text)
