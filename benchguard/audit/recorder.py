"""Record one session: drain its rings, interpret the records, write the log."""

from __future__ import annotations

import datetime
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from ..errors import BenchguardError
from ..ipc.json_text import json_line
from ..ipc.processes import living_descendants
from ..shim.interposer import Interposer
from . import entries
from .choice import ALL_CALLS, CallChoice
from .cordon import Cordon
from .drain import IDLE_SECONDS, Chunk, Drain, Item
from .interpret import Interpreter
from .known import Totals
from .log import FORMAT, LogWriter
from .probe_area import ProbeListener
from .session import Session

WAIT_SECONDS = 0.25
"""Longest wait for news: a pump that is to finish looks no later."""
PASS_BYTES = 1 << 20
"""Trace records that are interpreted at once: objects and lines made of them take 10 times their memory."""


@dataclass(frozen=True, kw_only=True)
class Recording:
    """The result of a session."""

    totals: Totals
    images_dropped: int
    rings_exhausted: int
    calls_lost: int
    outlived: tuple[int, ...]
    log_error: str | None
    images_error: BenchguardError | None
    unobserved: tuple[str, ...] = ()
    """Child processes that ran without the shim's environment: process number and command."""
    truncated: bool = False
    """Whether the limit of the log's size left out lines."""

    @property
    def complete(self) -> bool:
        """Whether no record was lost. Only complete runs are judged."""
        lost = self.totals.dropped or self.images_dropped or self.rings_exhausted or self.calls_lost
        lost = lost or self.totals.unread_bytes or self.truncated
        return not (lost or self.totals.corrupt_rings or self.outlived or self.log_error)


class Recorder:
    """Records a session from start() to end(), in two threads of its own."""

    def __init__(
        self,
        session: Session,
        interposer: Interposer,
        log: LogWriter,
        keep_images: Path | None = None,
        idle_seconds: float = IDLE_SECONDS,
        probes: ProbeListener | None = None,
        choice: CallChoice = ALL_CALLS,
    ) -> None:
        """`idle_seconds`: longest pause between two looks at rings that have nothing new."""
        self.started_ns = time.monotonic_ns()
        self._session, self._interposer, self._log = session, interposer, log
        self._drain = Drain(session, idle_seconds)
        self._choice = choice
        self._interpreter = Interpreter(
            session, interposer.surface, self.started_ns, keep_images, probes, choice
        )
        self._pump = _Pump(self._drain, self._interpreter, log)

    def command_processes(self) -> tuple[int, ...]:
        """The living processes of the command: the descendants of this process, except the demangler.

        They are listed first: the demangler may be started meanwhile, and is then known.
        """
        living = living_descendants()
        helper = self._interpreter.helper
        return tuple(pid for pid in living if pid != helper)

    @property
    def totals(self) -> Totals:
        return self._interpreter.totals

    def start(self, command: Sequence[str], version: str, served: Mapping[str, int] | None = None) -> None:
        """Write the log's first line and begin to drain. `served`: the program's numbers, as a service knows them."""
        self._log.write(self._session_line(command, version, served))
        self._log.flush()
        self._drain.start()
        self._pump.start()

    def end(
        self,
        status: int | None,
        *,
        outlived: tuple[int, ...] = (),
        unobserved: Mapping[int, str] | None = None,
        deadline: float | None = None,
    ) -> Recording:
        """Read the rest, write the log's last line, and close log and session.

        `status` is the command's, or None if the supervisor is not its parent. Records that are not read by
        `deadline` of the monotonic clock stay unread.
        """
        self._drain.stop()
        self._pump.finish(deadline)
        counters = self._session.counters()
        recording = Recording(
            totals=self.totals,
            images_dropped=counters.images_dropped,
            rings_exhausted=counters.rings_exhausted,
            calls_lost=counters.calls_lost,
            outlived=outlived,
            log_error=self._log.error,
            images_error=self._interpreter.images.error,
            unobserved=tuple(f"{pid} {command}" for pid, command in (unobserved or {}).items()),
            truncated=self._log.truncated,
        )
        self._log.write_last(_end_line(recording, status, time.monotonic_ns() - self.started_ns))
        self._log.close()
        self._session.close()
        return replace(recording, log_error=self._log.error)

    def _session_line(self, command: Sequence[str], version: str, served: Mapping[str, int] | None) -> bytes:
        interposer, cordon = self._interposer, self._session.cordon
        overhead_ns = self._session.gpu_overhead_ns
        return json_line(
            entries.SessionEntry(
                format=FORMAT,
                version=version,
                started=datetime.datetime.now(datetime.timezone.utc).isoformat(),
                command=[_text(word) for word in command],
                driver={
                    "path": _text(str(interposer.driver)),
                    **msgspec.structs.asdict(interposer.surface.driver),
                },
                shim={**interposer.facts, "path": _text(str(interposer.shim))},
                session_ns=self.started_ns,
                api=interposer.surface.api,
                policy=_policy_facts(cordon) if cordon is not None else None,
                gpu_time=self._session.gpu_time or msgspec.UNSET,
                gpu_overhead_ns=msgspec.UNSET if overhead_ns is None else overhead_ns,
                only_calls=[_text(pattern) for pattern in self._choice.patterns] or msgspec.UNSET,
                no_lookups=not self._choice.has_lookups or msgspec.UNSET,
                served=dict(served) if served is not None else None,
            )
        )


def _policy_facts(cordon: Cordon) -> dict[str, object]:
    facts = {"rules": list(cordon.rules), "uncovered": list(cordon.uncovered)}
    return {"name": cordon.name, "sha256": cordon.sha256, **facts}


def _text(word: str) -> str:
    """Replace bytes of a command or a path that are not UTF-8, as JSON requires."""
    return word.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


class _Pump(threading.Thread):
    """Interprets the drain's items and writes log lines, until finish() is called."""

    def __init__(self, drain: Drain, interpreter: Interpreter, log: LogWriter) -> None:
        super().__init__(name="interpret", daemon=True)
        self._drain, self._interpreter, self._log = drain, interpreter, log
        self._finish = threading.Event()
        self._deadline: float | None = None
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            while not self._finish.is_set():
                if not self._pass():
                    self._drain.news.wait(WAIT_SECONDS)
                    self._drain.news.clear()
            while self._is_in_time() and self._pass():
                pass
            self._interpreter.skip(self._take(sys.maxsize))
            self._write(self._interpreter.finish())
        except BaseException as failure:  # finish() raises it in its caller's thread
            self.failure = failure

    def finish(self, deadline: float | None) -> None:
        """Interpret the rest until `deadline` of the monotonic clock; later items are counted as unread."""
        self._deadline = deadline
        self._finish.set()
        self._drain.news.set()
        self.join()
        if self.failure is not None:
            raise self.failure

    def _is_in_time(self) -> bool:
        return self._deadline is None or time.monotonic() < self._deadline

    def _take(self, most: int) -> list[Item]:
        """The oldest items, about `most` bytes of them."""
        items: list[Item] = []
        taken = 0
        while taken < most and (item := self._drain.next()) is not None:
            items.append(item)
            taken += len(item.data) if isinstance(item, Chunk) else 0
        return items

    def _pass(self) -> bool:
        items = self._take(PASS_BYTES)
        self._write(self._interpreter.feed(items))
        return bool(items)

    def _write(self, lines: list[bytes]) -> None:
        for line in lines:
            self._log.write(line)
        self._log.flush()


def _end_line(run: Recording, status: int | None, time_ns: int) -> bytes:
    totals = run.totals
    return json_line(
        entries.EndEntry(
            time_ns=time_ns,
            status=status,
            launches=totals.launches,
            graph_launches=totals.graph_launches,
            calls=totals.calls,
            images=totals.images,
            kernels=totals.kernels,
            processes=totals.processes,
            unmapped=totals.unmapped,
            denied=totals.denied,
            dropped=totals.dropped + run.calls_lost,
            images_dropped=run.images_dropped,
            rings_exhausted=run.rings_exhausted,
            corrupt_rings=totals.corrupt_rings,
            outlived=list(run.outlived),
            unobserved=list(run.unobserved),
            complete=run.complete,
            truncated=run.truncated,
            calls_left_out=totals.left_out,
        )
    )
