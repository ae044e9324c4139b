"""Holds the outputs of timed samples against an untimed run, for a replay without a judge.

A sample on the recorded inputs must give the recorded outcome, bit for bit. Other inputs have no recorded outcome, so
an untimed run on the same inputs gives the expected bytes; it comes after the samples, so that the first sample on an
input set is the first run on it. Before the samples, untimed runs on the recorded inputs are held against the recorded
outcome and against each other: some on recorded outputs, and one on outputs that are filled with a pattern as in a
sample. A region that does not give the same bits twice cannot be checked in this way. Sums by atomics may differ in one
run of ten only, so there are up to RUNS of them; later runs would be no proof, as a kernel could see the pattern.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .contract import Engine, EngineError
from .protocol import CANNOT, NO_SET, OutputCheck, OutputPart

Digests = tuple[bytes, ...]
"""One for each output."""

CopyFromDevice = Callable[[int, memoryview], None]

TEXT_MAX = 1024
RUNS, SECONDS = 32, 0.5
"""Untimed runs on recorded outputs before the samples: at least 2, then until these took so long."""
NO_OUTPUTS = "the capture names no outputs and no state; name them in benchguard.region, or with --output"


@dataclass
class _Group:
    """The samples on one input set that had the same outputs."""

    first: int
    count: int


class OutputChecker:
    """Checks the outputs `parts` of each sample. Methods raise EngineError."""

    def __init__(self, engine: Engine, parts: Sequence[OutputPart], seconds: float = SECONDS) -> None:
        self._engine, self._parts, self._seconds = engine, parts, seconds
        self._memory = memoryview(bytearray(max((part.bytes for part in parts), default=0)))
        self._recorded: Digests = ()
        self._seen: dict[int, dict[Digests, _Group]] = {}
        self._samples = 0
        self._unknown = "" if parts else NO_OUTPUTS
        self._wrong = ""

    def run_recorded(self) -> None:
        """Hold the region against the recorded outcome, before any output is filled."""
        recorded = []
        for part in self._parts:
            into = self._memory[: part.bytes]
            if not self._engine.recorded(part.address, into):
                self._unknown = f"the capture has no content of output {part.name!r} after the region"
                return
            recorded.append(_digest(into))
        self._recorded = tuple(recorded)
        if self._unknown:
            return
        until = time.monotonic() + self._seconds
        first = self._run(NO_SET)
        for number in range(1, RUNS):
            if number > 1 and time.monotonic() > until:
                break
            another = self._run(NO_SET)
            if another != first:
                self._unknown = self._unsteady(first, another)
                return
        if first != self._recorded:
            name = self._differing(first, self._recorded)
            self._wrong = f"output {name!r} of an untimed run on the recorded inputs is not the recorded one"

    def run_filled(self) -> None:
        """Refuse an output that depends on its former content, once outputs are filled. Raises EngineError."""
        if self._unknown or self._wrong:
            return
        filled = self._run(NO_SET)
        if filled != self._recorded:
            raise EngineError(
                CANNOT,
                f"output {self._differing(filled, self._recorded)!r} is not the recorded one if it begins with a "
                "pattern: the region reads it, or does not write all of it; record it again with this buffer in "
                "`state=` instead of `outputs=` of benchguard.region",
            )

    def put(self, input_set: int, copy: CopyFromDevice) -> None:
        """Take the outputs of the sample that ended last."""
        if not self._unknown and not self._wrong:
            groups = self._seen.setdefault(input_set, {})
            group = groups.setdefault(self._digests(copy), _Group(self._samples, 0))
            group.count += 1
        self._samples += 1

    def end(self) -> OutputCheck:
        """Compare the outputs of all samples with those of untimed runs."""
        wrong, digests = 0, {}
        for input_set, groups in self._seen.items():
            expected = self._recorded if input_set == NO_SET else self._run(input_set)
            if input_set != NO_SET:
                digests[input_set] = hashlib.sha256(b"".join(expected)).hexdigest()
            others = {given: group for given, group in groups.items() if given != expected}
            if not others or self._unknown:
                continue
            again = self._run(input_set)
            if again != expected:
                self._unknown = self._unsteady(again, expected)
                continue
            wrong += sum(group.count for group in others.values())
            given, group = min(others.items(), key=lambda item: item[1].first)
            name = self._differing(given, expected)
            than = "the recorded one" if input_set == NO_SET else "that of an untimed run on the same inputs"
            self._wrong = self._wrong or f"output {name!r} of sample {group.first} is not {than}"
        if self._unknown:
            return OutputCheck(self._samples, 0, "", self._unknown[:TEXT_MAX])
        return OutputCheck(
            self._samples, wrong, self._wrong[:TEXT_MAX], digests={} if self._wrong else digests
        )

    def _run(self, input_set: int) -> Digests:
        self._engine.once(input_set)
        return self._digests(self._engine.read)

    def _digests(self, copy: CopyFromDevice) -> Digests:
        digests = []
        for part in self._parts:
            into = self._memory[: part.bytes]
            copy(part.address, into)
            digests.append(_digest(into))
        return tuple(digests)

    def _differing(self, left: Digests, right: Digests) -> str:
        return next(part.name for part, a, b in zip(self._parts, left, right, strict=True) if a != b)

    def _unsteady(self, left: Digests, right: Digests) -> str:
        return (
            f"two untimed runs on the same inputs differ in output {self._differing(left, right)!r}: the region does "
            "not give the same bits twice (atomics, races)"
        )


def _digest(data: memoryview) -> bytes:
    return hashlib.sha256(data).digest()
