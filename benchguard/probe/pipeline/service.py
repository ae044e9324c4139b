"""Answers the requests of measured processes for probed kernels, and saves their traces.

All that comes from a measured process is hostile: positions, sizes, names, and the bytes behind them.
"""

from __future__ import annotations

import fnmatch
import hashlib
import shlex
import subprocess
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from ...audit.decode import Probe
from ...audit.layout import ProbeStage, ProbeState
from ...audit.probe_area import ANSWERS, TRACE_BYTES, ProbeArea
from ...audit.session import Session
from ...errors import BenchguardError
from ...ipc.json_text import json_line
from ...ipc.text import one_line
from ..trace_file import TRACES, TraceLine
from .cache import Cache
from .engine import Engine, Job, Outcome, cache_key, probe
from .maps import read_maps

CALLBACK_SECONDS = 60.0


@dataclass
class Counts:
    """Numbers for a run's report. `reasons` counts kernels that are not probed, `skipped` launches without a trace."""

    probed: int = 0
    traces: int = 0
    lost_traces: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class _Known:
    """The outcome for an answer that the supervisor gave."""

    process: tuple[int, int]
    kernel: str
    folder: str
    outcome: Outcome
    key: str
    """The name of the outcome in the cache."""


class ProbeService:
    """An audit.probe_area.ProbeListener that runs an engine."""

    def __init__(
        self,
        session: Session,
        engine: Engine,
        out: Path,
        *,
        vendor: str,
        seconds: float,
        cache: Cache | None,
        kernels: str = "*",
        benchmark: bool = False,
        callback: str | None = None,
    ) -> None:
        """`out` is an existing folder. `kernels`: pattern of the names that are probed. `seconds`: limit of the engine.

        `benchmark`: the engine writes each kernel without probes, too. `callback`: a command that gets each trace's
        path as its last word.
        """
        assert session.probe_area is not None
        self.counts = Counts()
        self._session, self._area = session, session.probe_area
        self._engine, self._out = engine, out
        self._vendor, self._seconds, self._cache, self._kernels = vendor, seconds, cache, kernels
        self._benchmark = benchmark
        self._callback = shlex.split(callback) if callback else []
        self._known: dict[int, _Known] = {}
        self._reasons: dict[int, str] = {}
        self._lock = threading.Lock()
        # One engine at a time: each runs as a user of its own, and two that start together could get the same.
        self._engines = ThreadPoolExecutor(max_workers=1, thread_name_prefix="engine")
        self._callbacks = ThreadPoolExecutor(max_workers=1, thread_name_prefix="callback")
        self._asked_answers: set[int] = set()
        self._late: dict[tuple[str, str, int], Outcome] = {}
        self._entries: dict[str, tuple[int, ...]] = {}
        self._trace_count = 0
        self._trace_bytes = 0
        self.problem = ""
        """Why something could not be written; empty if everything could."""
        try:
            for name in ("kernel", "result"):
                (out / name).mkdir(exist_ok=True)
        except OSError as error:
            raise BenchguardError(f"cannot write to {out}: {error.strerror}; name another --out") from error

    def take(self, process: int, started: int, time_ns: int, record: Probe) -> None:
        """A record of a measured process."""
        if record.stage == ProbeStage.ASKED:
            self._asked((process, started), record)
        elif record.stage == ProbeStage.TRACED:
            self._traced((process, started), time_ns, record)
        elif record.stage == ProbeStage.SKIPPED:
            self.counts.skipped[record.text] += 1
        elif record.stage == ProbeStage.DECIDED and record.at == ProbeState.PROBED:
            self.counts.probed += 1
        elif record.stage == ProbeStage.DECIDED:
            self.counts.reasons[record.text or self.reason(record.answer)] += 1

    def reason(self, answer: int) -> str:
        with self._lock:
            return self._reasons.get(answer, "")

    def close(self) -> None:
        """Wait for the engine that still runs, which has its deadline, and for the callbacks."""
        self._engines.shutdown(wait=True, cancel_futures=True)
        self._callbacks.shutdown(wait=True)

    def _asked(self, process: tuple[int, int], record: Probe) -> None:
        if record.answer >= ANSWERS or record.answer in self._asked_answers:
            return  # no shim asks twice
        self._asked_answers.add(record.answer)
        if fnmatch.fnmatchcase(record.text, self._kernels):
            self._engines.submit(self._answer, process, record)
        else:
            self._refuse(record.answer, f"--kernel {self._kernels} does not match its name")

    def _answer(self, process: tuple[int, int], record: Probe) -> None:
        """In the thread of the engines."""
        try:
            known = self._probed(process, record)
        except Exception as error:  # the process waits for an answer, whatever happened
            self._refuse(record.answer, one_line(f"the supervisor failed: {error}", 300))
            return
        if known is None:
            return
        with self._lock:
            self._known[record.answer] = known
        assert known.outcome.info is not None
        if not _hand_over(self._area, record.answer, known.outcome, self._entries_of(known)):
            self._refuse(record.answer, "the session has no room for the probed image")

    def _probed(self, process: tuple[int, int], record: Probe) -> _Known | None:
        """None: refused."""
        found = self._session.image(record.at, record.bytes)
        if found is None:
            self._refuse(record.answer, "the process names a code image outside the session")
            return None
        image = bytes(found)  # a copy: the process may change its memory
        found.release()
        capability = record.grid[0] if record.grid[0] < 1000 else 0
        job = Job(image, record.text, self._vendor, capability, self._seconds, self._benchmark)
        key = hashlib.sha256(image).hexdigest(), record.text, capability
        outcome = self._late.get(key) or probe(self._engine, job, self._cache)
        if outcome.of_this_run:
            self._late[key] = outcome
        folder = self._keep(record.text, image, outcome)
        if outcome.problem or outcome.info is None:
            self._refuse(record.answer, outcome.problem)
            return None
        return _Known(process, record.text, folder, outcome, cache_key(self._engine, job))

    def _refuse(self, answer: int, reason: str) -> None:
        with self._lock:
            self._reasons[answer] = reason
        self._area.refuse(answer)

    def _keep(self, kernel: str, image: bytes, outcome: Outcome) -> str:
        """Write the engine's files to the folder of the kernel; return its name, below `out`."""
        digest = hashlib.sha256(image).hexdigest()
        name = hashlib.sha256(kernel.encode("utf-8", "surrogateescape")).hexdigest()
        folder = f"kernel/{digest[:16]}_{name[:16]}"
        place = self._out / folder
        files: Mapping[str, bytes] = {
            "original.bin": image,
            **outcome.files,
            "process.log": outcome.said.encode(),
            "problem.txt": outcome.problem.encode(),
        }
        try:
            place.mkdir(exist_ok=True)
            for file, data in files.items():
                if data:
                    (place / file).write_bytes(data)
        except OSError as error:
            self.problem = self.problem or f"cannot write {place}: {error.strerror}"
        return folder

    def _traced(self, process: tuple[int, int], time_ns: int, record: Probe) -> None:
        with self._lock:
            known = self._known.get(record.answer)
        data = self._area.trace(record.at, record.bytes)
        if known is None or known.process[0] != process[0] or data is None:
            self.counts.lost_traces += 1
            return
        assert known.outcome.info is not None
        try:
            maps = read_maps(known.outcome.info, record, data)
        finally:
            data.release()
            self._area.forget_trace(record.at, record.bytes)
        if maps is None:
            self.counts.lost_traces += 1
            return
        self._learn(known, maps.longest)
        text = maps.text
        self._trace_bytes += len(text)
        if self._trace_bytes > TRACE_BYTES:
            self.problem = (
                self.problem or f"the traces have more than {TRACE_BYTES >> 30} GiB; probe fewer launches"
            )
            self.counts.lost_traces += 1
            return
        self._trace_count += 1
        file = f"result/{self._trace_count:06d}.bin"
        line = TraceLine(
            file, known.kernel, known.folder, process[0], time_ns, record.stream, record.grid, record.block,
            record.shared_bytes,
        )  # fmt: skip
        try:
            (self._out / file).write_bytes(text)
            with (self._out / TRACES).open("ab") as index:
                index.write(json_line(line) + b"\n")
        except OSError as error:
            self.problem = self.problem or f"cannot write {self._out / file}: {error.strerror}"
            self.counts.lost_traces += 1
            return
        self.counts.traces += 1
        if self._callback:
            self._callbacks.submit(self._call_back, self._out / file)

    def _entries_of(self, known: _Known) -> Sequence[int]:
        """The entries that each map of the kernel needed in launches of this run or of earlier ones."""
        assert known.outcome.info is not None
        count = len(known.outcome.info.maps)
        with self._lock:
            if known.key not in self._entries:
                stored = self._cache.entries(known.key) if self._cache is not None else ()
                self._entries[known.key] = tuple(stored) if len(stored) == count else (0,) * count
            return self._entries[known.key]

    def _learn(self, known: _Known, longest: Sequence[int]) -> None:
        before = self._entries_of(known)
        after = tuple(map(max, before, longest))
        if after == before:
            return
        with self._lock:
            self._entries[known.key] = after
        if self._cache is not None:
            self._cache.put_entries(known.key, after)

    def _call_back(self, path: Path) -> None:
        words = [*self._callback, str(path)]
        try:
            status = subprocess.run(
                words, stdin=subprocess.DEVNULL, timeout=CALLBACK_SECONDS, check=False
            ).returncode
            why = f"status {status}" if status else ""
        except (OSError, subprocess.TimeoutExpired) as error:
            why = one_line(str(error), 200)
        if why:
            self.problem = self.problem or f"--callback failed for {path}: {why}"


def _hand_over(area: ProbeArea, answer: int, outcome: Outcome, entries: Sequence[int]) -> bool:
    info = outcome.info
    assert info is not None
    text = b"".join(f"{symbol}\0{variable}\0".encode() for symbol, variable in info.addresses)
    maps = [
        (each.bytes, known, int(each.unit), each.is_counted)
        for each, known in zip(info.maps, entries, strict=True)
    ]
    return area.answer(answer, outcome.image, maps, text, outcome.pruned)
