"""Grade a batch: every submission gets one line of results, also if the batch is killed and started again."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from ..errors import BenchguardError, UsageError
from ..grade.options import GradeOptions
from .batch_entry import Entry, Keys
from .batch_results import SCHEMA, BatchLine, BatchResults
from .dispatch import Dispatcher
from .grading import Engine, Say, places_of
from .job import Graded, Job

LOST_MAX = 3
"""Jobs without a result, one after the other, after which the batch stops: the machine fails, and not the jobs."""


@dataclass(frozen=True)
class Settings:
    """How to grade a batch; see grade_many()."""

    options: GradeOptions
    engine: Engine = "local"
    address: str | None = None
    cascade: bool = False
    attempts: int = 3
    parallel: int = 1
    one_gpu: bool = False
    archive: str = ""
    say: Say = lambda _: None


@dataclass
class Batch:
    """The work that is left of a batch.

    Attributes:
        entries: all submissions.
        results: where outcomes are stored.
        finished: submissions that had a result before, or whose content had one.
        unbundled: those of them whose result has no bundle.
        waiting: the entries of each job without a result, by its key. Equal contents are graded once.
    """

    entries: Sequence[Entry]
    results: BatchResults
    keys: Keys
    settings: Settings
    finished: int = 0
    unbundled: int = 0
    waiting: dict[str, list[Entry]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for entry in self.entries:
            if entry.key not in self.results.outcomes:
                self.waiting.setdefault(entry.key, []).append(entry)
                continue
            self.finished += 1
            self.unbundled += entry.key not in self.results.bundled
            if (entry.key, entry.id) not in self.results.ids:
                stored = self.results.line_of(entry.key)
                self.results.append(replace(stored, id=entry.id, problem=entry.problem))

    async def run(self) -> AsyncGenerator[BatchLine, None]:
        """Grade the unfinished jobs; yield each line once it is stored.

        Raises UsageError for options that the engine cannot honour, and BenchguardError if machines or the disk fail.
        """
        if not self.waiting:
            return
        order = self.order()
        lost = 0
        async with self._places() as places:
            dispatcher = Dispatcher(places, self.settings.attempts)
            async with aclosing(dispatcher.run(self._jobs(order))) as outcomes:
                async for graded in outcomes:
                    key = order[int(graded.id)]
                    for entry in self.waiting[key]:
                        line = self._line(entry, graded)
                        self.results.append(line)
                        yield line
                    lost = lost + 1 if graded.result is None else 0
                    if lost >= LOST_MAX:
                        raise BenchguardError(
                            f"{lost} submissions in turn have no result, so the batch stops: {graded.trouble}; repair "
                            "the machine, and start the batch again"
                        )

    def order(self) -> list[str]:
        """The keys of the unfinished jobs. Those that were lost before are last: three jobs in turn that exhaust the
        machine on purpose stop the batch, and would stop it again at each start."""
        return sorted(self.waiting, key=self.results.lost.__contains__)

    def verdicts(self) -> Counter[str]:
        """How many of the batch's submissions have each verdict; "none" for those without a result."""
        known = self.results.outcomes
        return Counter(known[each.key][0] if each.key in known else "none" for each in self.entries)

    def _places(self) -> Any:
        settings = self.settings
        problems = sorted({entry.problem for entries in self.waiting.values() for entry in entries})
        return places_of(
            problems,
            settings.options,
            settings.engine,
            settings.address,
            settings.cascade,
            settings.say,
            settings.parallel,
            settings.one_gpu,
            settings.archive,
        )

    def _jobs(self, order: Sequence[str]) -> Iterator[Job]:
        for number, key in enumerate(order):
            entry = self.waiting[key][0]
            job = entry.job(number)
            if self.keys.key(job) != key:
                raise UsageError(f"{entry.id} was changed while the batch ran; start the batch again")
            yield job

    def _line(self, entry: Entry, graded: Graded) -> BatchLine:
        return BatchLine(
            SCHEMA,
            entry.key,
            entry.id,
            entry.problem,
            entry.sha256,
            self.settings.options.changed(),
            graded.result.verdict if graded.result is not None else None,
            graded.trouble,
            graded.attempts,
            graded.place,
            graded.stage,
            graded.result,
            graded.bundle,
        )
