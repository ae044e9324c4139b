"""Time two captures in turn, each on its own memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..capture import Capture
from ..errors import BenchguardError, UsageError
from ..replay.buffers import Source
from ..replay.evidence import Evidence
from ..replay.options import ReplayOptions
from ..replay.result import ReplayResult
from ..replay.subject import Subject, subject_of
from ..replay.target import target_of
from .captures_result import ComparedCapture, ComparedPair
from .compared_case import ComparedCase, compared_case
from .look import look_at, shared_names, shared_ranges
from .options import BLOCKS, COMPARE_SAMPLES, SIM_BLOCKS, SIM_SAMPLES
from .outcome import Outcome, unknown_globals
from .progress import GradeProgress, Report
from .strict_replay import replay, safe_table
from .turns import Failure, Replayed, take_turns

OTHER_OUTPUTS = (
    "the outputs on input set {} are not those of an earlier replay on the same inputs: they depend on what ran before "
    "in the process, or the region does not give the same bits twice"
)


@dataclass
class CaptureTurns:
    """The comparison of two captures. Calling it replays a side once, as a turn.

    `blocks` is the default of their number. `evidence` has the checks of all replays of a side: a check held if it held
    in all. `results` has the last replay. `digests` has the outputs of a side on each input set. Each replay is a new
    process and takes the sets in another order, so a kernel whose answers depend on what its process saw before gives
    others.
    """

    paths: tuple[Path, Path]
    subjects: tuple[Subject, Subject]
    options: ReplayOptions
    inputs: Mapping[str | int, Source] | None
    blocks: int
    evidence: tuple[dict[str, Evidence], dict[str, Evidence]] = field(default_factory=lambda: ({}, {}))
    results: dict[int, ReplayResult] = field(default_factory=dict)
    digests: tuple[dict[int, str], dict[int, str]] = field(default_factory=lambda: ({}, {}))

    @classmethod
    def of(
        cls, paths: tuple[Path, Path], options: ReplayOptions, inputs: Mapping[str | int, Source] | None
    ) -> CaptureTurns:
        """Open both captures, which checks them, and find the driver.

        Raises CaptureError, ShimError; UsageError for captures of different vendors.
        """
        subjects = _subject(paths[0]), _subject(paths[1])
        if subjects[0].api != subjects[1].api:
            words = (f"{path} is of {each.api.upper()}" for path, each in zip(paths, subjects, strict=True))
            raise UsageError(f"{' and '.join(words)}; record both on one device")
        is_sim = target_of(subjects[0].api, options.driver).driver.is_sim
        samples = options.samples or (SIM_SAMPLES if is_sim else COMPARE_SAMPLES)
        options = replace(options, samples=samples)
        if is_sim and options.cold is None and options.rotating_count is None:
            options = replace(options, cold="none")  # as in a grade: the CPU driver has no caches of its own
        return cls(paths, subjects, options, inputs, SIM_BLOCKS if is_sim else BLOCKS)

    @property
    def name(self) -> str:
        names = (f"region {each.region}" if each.region else "region" for each in self.subjects)
        return " / ".join(dict.fromkeys(names))

    def run(self, blocks: int | None, progress: Report | None) -> Failure | tuple[ComparedCase, ComparedPair]:
        """Replay each side once, then take turns. Raises BenchguardError for a file that was replaced meanwhile."""
        most = blocks or self.blocks

        def report(text: str) -> None:
            if progress is not None:
                progress(GradeProgress(text, self.name))

        names = shared_names(*self.subjects)
        looks = []
        for side, path in enumerate(self.paths):
            report(f"replaying {'AB'[side]} once")
            looks.append(look_at(path, names, self.options, self.inputs))
            self._check_file(side, looks[-1])
            if looks[-1].verdict != "pass":
                return Failure(side, Outcome(looks[-1].verdict, looks[-1].reason))
        first, second = looks
        turns = take_turns(
            self,
            most,
            lambda number: report(f"block {number + 1} of {most}"),
            (unknown_globals(first), unknown_globals(second)),
        )
        if isinstance(turns, Failure):
            return turns
        case = compared_case(self.name, turns, (first.capture, second.capture))
        memory = shared_ranges(names, self.subjects, (first, second))
        return case, ComparedPair(self._compared(0, first), self._compared(1, second), memory)

    def __call__(self, side: int) -> Outcome | Replayed:
        # Blocks have the same weight, so each replay takes all samples.
        options = replace(self.options, require_converged=True, verify=False, keep_outputs="none")
        result = replay(self.paths[side], options, inputs=self.inputs)
        self._check_file(side, result)
        self.results[side] = result
        for each in result.evidence:
            if self.evidence[side].setdefault(each.check, each).state == "held":
                self.evidence[side][each.check] = each
        if result.verdict != "pass":
            return Outcome(result.verdict, result.reason)
        for input_set, digest in (result.checked.digests if result.checked else {}).items():
            if self.digests[side].setdefault(input_set, digest) != digest:
                return Outcome("unproven", OTHER_OUTPUTS.format(input_set))
        return Replayed.of(safe_table(result) if options.strict else result.table, result.overhead)

    def _check_file(self, side: int, result: ReplayResult) -> None:
        if result.capture != self.subjects[side].name:
            raise BenchguardError(f"{self.paths[side]} was replaced while it was compared; compare again")

    def _compared(self, side: int, look: ReplayResult) -> ComparedCapture:
        result = self.results[side]
        return ComparedCapture(
            path=result.path,
            sha256=result.capture,
            region=result.region,
            kernels=result.kernels,
            settings=result.settings,
            verified=look.verified,
            notes=result.notes,
            evidence=tuple(self.evidence[side].values()),
            sandbox=result.confinement,
        )


def _subject(path: Path) -> Subject:
    with Capture.open(path) as capture:
        return subject_of(capture)
