"""The engine's interface for the timing loop. binding.py implements it in C; tests implement it without a device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from .protocol import Device, Difference, Options, Overhead, Prepared, Sample


class EngineError(Exception):
    """The engine's line for people, and its enum nb_replay_status."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Sampler(Protocol):
    """The part of an engine that samples need. engine/replay.h says what each method does. They raise EngineError."""

    def prepare(self, driver: str, options: Options) -> tuple[Device, Prepared]: ...

    def input(self, number: int, address: int, data: memoryview) -> None: ...

    def zeros(self, number: int, address: int, size: int) -> None: ...

    def output(self, address: int, size: int) -> None: ...

    def read(self, address: int, into: memoryview) -> None: ...

    def measure(self, number: int) -> Sample: ...

    def measure_empty(self, number: int) -> Sample: ...

    def warm(self, warm: bool) -> None: ...

    def follow(self, follows: bool) -> None: ...

    def waited(self) -> float:
        """Seconds for which the engine's thread waited for a processor so far (host_wait.py)."""
        ...


class Engine(Sampler, Protocol):
    """All of an engine. All but `refusal`, `note` and `close` raise EngineError."""

    def refusal(self, index: int) -> str | None: ...

    def note(self, index: int) -> str | None: ...

    def find_in_place(self) -> int | None: ...

    def once(self, number: int) -> None: ...

    def recorded(self, address: int, into: memoryview) -> bool: ...

    def verify(self, room: int) -> tuple[int, Sequence[Difference]]: ...

    def check_reads(self, number: int) -> None: ...

    def measure_overhead(self) -> Overhead: ...

    def close(self) -> None: ...
