"""An engine without a device and a clock that only an engine moves: the timing loop's whole world in a test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from benchguard.replay import loop
from benchguard.replay.contract import EngineError
from benchguard.replay.convergence import Interval, Rule
from benchguard.replay.protocol import (
    NO_SET,
    Device,
    Difference,
    Event,
    InputPart,
    Limits,
    Options,
    OutputPart,
    Overhead,
    Prepared,
    Request,
    Sample,
)

DEVICE = Device("a test's", 13000, 9, 0, 132, 60 << 20, 1_980_000, 1 << 37, 1 << 36, "")
PREPARED = Prepared(200.0, 5.0, 10.0, 215.0, 1 << 21, 4096, 3, 1, 1, 1)
START = 1000.0
OVERHEAD = Overhead(0.032, 1.25, 2.0)


def request(rule: Rule | None = None, **changes: object) -> Request:
    settings: dict[str, object] = {
        "capture": 3,
        "driver": "libcuda.so.1",
        "options": Options(),
        "limits": Limits(1 << 30, 1 << 30, 1 << 10, 1),
        "rule": rule or Interval(),
        "deadline": START + 120.0,
        "sampling_seconds": 30.0,
        "verify": False,
        "ignore_refusals": False,
    }
    return Request(**{**settings, **changes})  # type: ignore[arg-type]


def sample(device_us: float, clock_mhz: float = 1980.0, input_set: int = NO_SET, flags: int = 0) -> Sample:
    return Sample(device_us, device_us + 5, 100.0, clock_mhz, input_set, flags)


@dataclass
class FakeEngine:
    """`samples` is asked for the n-th sample; each costs `cost` seconds of `now`."""

    samples: Callable[[int], Sample] = field(default=lambda _: sample(100.0))
    cost: float = 0.001
    overhead: Overhead = OVERHEAD
    refusals: Sequence[str] = ()
    notes: Sequence[str] = ()
    differences: Sequence[Difference] = ()
    in_place: int | None = None
    device: Device = DEVICE
    prepared: Prepared = PREPARED
    fails: dict[str, EngineError] = field(default_factory=dict)
    now: float = START
    taken: int = 0
    calls: list[str] = field(default_factory=list)
    sets: list[int] = field(default_factory=list)
    inputs: list[tuple[int, int, bytes]] = field(default_factory=list)
    memory: Callable[[int, int], int] = field(default=lambda address, taken: (address + taken) % 256)

    def _call(self, name: str) -> None:
        self.calls.append(name)
        if name in self.fails:
            raise self.fails[name]

    def refusal(self, index: int) -> str | None:
        return self.refusals[index] if index < len(self.refusals) else None

    def note(self, index: int) -> str | None:
        return self.notes[index] if index < len(self.notes) else None

    def prepare(self, driver: str, options: Options) -> tuple[Device, Prepared]:  # noqa: ARG002
        self._call("prepare")
        return self.device, self.prepared

    def input(self, number: int, address: int, data: memoryview) -> None:
        self._call("input")
        self.inputs.append((number, address, bytes(data)))

    def zeros(self, number: int, address: int, size: int) -> None:
        self._call("zeros")
        self.inputs.append((number, address, bytes(size)))

    def output(self, address: int, size: int) -> None:
        self._call(f"output {address} {size}")

    def find_in_place(self) -> int | None:
        self._call("find_in_place")
        return self.in_place

    def once(self, number: int) -> None:
        self._call(f"once {number}")

    def read(self, address: int, into: memoryview) -> None:
        into[:] = bytes([self.memory(address, self.taken)]) * len(into)

    def recorded(self, address: int, into: memoryview) -> bool:
        """The content without any sample."""
        self._call("recorded")
        into[:] = bytes([self.memory(address, 0)]) * len(into)
        return True

    def waited(self) -> float:
        return 0.0

    def warm(self, warm: bool) -> None:
        self._call(f"warm {warm}")

    def follow(self, follows: bool) -> None:
        self._call(f"follow {follows}")

    def verify(self, room: int) -> tuple[int, Sequence[Difference]]:
        self._call("verify")
        return len(self.differences), self.differences[:room]

    def measure(self, number: int) -> Sample:
        self._call("measure")
        self.sets.append(number)
        self.now += self.cost
        self.taken += 1
        return self.samples(self.taken - 1)

    def check_reads(self, number: int) -> None:
        self._call(f"check_reads {number}")

    def measure_empty(self, number: int) -> Sample:
        self._call("measure_empty")
        self.now += self.cost
        return sample(1.0, input_set=number)

    def measure_overhead(self) -> Overhead:
        self._call("overhead")
        return self.overhead

    def close(self) -> None:
        self._call("close")


def events_of(
    engine: FakeEngine,
    asked: Request,
    inputs: bytes = b"",
    outputs: bytearray | None = None,
    memory: bytearray | None = None,
    siblings: Sequence[FakeEngine] = (),
) -> list[Event]:
    """All that a replay of `asked` on this engine and its siblings sends. Time passes in any of them."""
    events: list[Event] = []
    into = memoryview(outputs if outputs is not None else bytearray())
    slots = memoryview(memory if memory is not None else bytearray())
    buffers = loop.Buffers(memoryview(inputs), into, slots)
    clock = lambda: engine.now + sum(each.now - START for each in siblings)  # noqa: E731
    loop.run(engine, asked, buffers, events.append, clock, siblings)
    return events


__all__ = ["FakeEngine", "InputPart", "OutputPart", "events_of", "request", "sample"]
