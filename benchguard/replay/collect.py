"""Collects the lines of the replay process, and checks their order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..ipc.json_text import UNREADABLE
from ..ipc.lines import LineError
from .convergence import samples_max
from .protocol import (
    Batch,
    Done,
    Event,
    Failed,
    Measured,
    Opened,
    Phase,
    Ready,
    Request,
    Searched,
    TimedSample,
    Verified,
    decode_event,
)
from .statistics import quantile


@dataclass(frozen=True)
class Progress:
    """`median_us` of the samples so far; None before there are any."""

    phase: str
    samples: int
    median_us: float | None


@dataclass
class Collector:
    """`handle` takes each line and returns whether more may follow."""

    request: Request
    progress: Callable[[Progress], None] | None = None
    on_ready: Callable[[Ready], None] | None = None
    on_done: Callable[[Done], None] | None = None
    phase: str = "start"
    searched: Searched | None = None
    opened: Opened | None = None
    ready: Ready | None = None
    verified: Verified | None = None
    measured: Measured | None = None
    done: Done | None = None
    failed: Failed | None = None
    samples: list[TimedSample] = field(default_factory=list)

    @property
    def refused(self) -> bool:
        """The capture cannot be replayed, and `ignore_refusals` is off."""
        return self.opened is not None and bool(self.opened.refusals) and not self.request.ignore_refusals

    def handle(self, text: bytes) -> bool:
        try:
            event = decode_event(text)
        except UNREADABLE as error:
            raise LineError(f"a line is not a valid event: {error}") from None
        self._check_turn(event)
        self._take(event)
        if self.progress is not None and isinstance(event, (Phase, Batch)):
            self.progress(Progress(self.phase, len(self.samples), self._median()))
        return self.done is None and self.failed is None and not self.refused

    def _median(self) -> float | None:
        times = sorted(each.sample.device_us for each in self.samples)
        return quantile(times, 0.5) if times else None

    def _check_turn(self, event: Event) -> None:
        if isinstance(event, (Phase, Failed)):
            return
        is_due: bool
        match event:
            case Searched():
                is_due = self.opened is None and self.searched is None
            case Opened():
                is_due = self.opened is None
            case Ready():
                is_due = self.opened is not None and self.ready is None
            case Verified():
                is_due = self.ready is not None and self.verified is None and self.request.verify
                is_due = is_due and len(event.differences) <= event.count and self.measured is None
            case Measured():
                is_due = self.ready is not None and self.measured is None
                is_due = is_due and (self.verified is not None or not self.request.verify)
            case Batch():
                room = samples_max(self.request.rule) - len(self.samples)
                is_due = self.measured is not None and len(event.samples) <= room
                is_due = is_due and all(each.process < self.request.processes for each in event.samples)
            case Done():
                is_due = bool(self.samples)
        if not is_due:
            raise LineError(f"event {type(event).__name__.lower()!r} is out of turn")

    def _take(self, event: Event) -> None:
        match event:
            case Phase():
                self.phase = event.name
            case Searched():
                self.searched = event
            case Opened():
                self.opened = event
            case Ready():
                self.ready = event
                if self.on_ready is not None:
                    self.on_ready(event)
            case Verified():
                self.verified = event
            case Measured():
                self.measured = event
            case Batch():
                self.samples += event.samples
            case Done():
                self.done = event
                if self.on_done is not None:
                    self.on_done(event)
            case Failed():
                self.failed = event
