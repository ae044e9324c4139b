"""Compare two submissions: grade both, then time them in turn on the same secret inputs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import msgspec

from ..capture import Capture, CaptureError
from ..errors import BenchguardError, UsageError
from ..ipc.folders import temporary_folder
from ..ipc.json_text import json_document
from ..judge.contract import Ask, AskSecrets, Opened
from ..judge.process import JudgeProcess
from ..judge.room import available_bytes
from ..problem.spec import CaseSpec
from ..quarantine.start import check_unreadable
from ..replay.relay import Relay
from ..replay.target import gpus_of, target_of
from .beside import GradeBeside
from .compared_case import ComparedCase, compared_case
from .comparison import Call, overall
from .grade import check_inputs, for_driver, grade_beside
from .judged_turn import JudgedTurn, Timed
from .opening import POOL_BYTES
from .options import BLOCKS, BLOCKS_MIN, COMPARE_SAMPLES, SIM_BLOCKS, GradeOptions
from .outcome import RESTORED
from .progress import GradeProgress, Report
from .result import STATUS, GradedCase, GradeResult, Verdict
from .turns import ORDER, Failure, take_turns
from .vendor import api_of

SCHEMA: Literal["neutrino-bench/compare/1"] = "neutrino-bench/compare/1"

SHARE_OF_MEMORY = 16
"""Three judges keep up to four times the inputs and outputs of all cases. A quarter is for other work."""


FINAL: frozenset[Verdict] = frozenset({"pass", "violation"})
"""Verdicts that another submission cannot cause by load, if it is graded at the same time. It takes the processors, the
memory or the disk from the other side's compiler, call and replays, and could win by that side's failure. A call that
does not check its allocations gives wrong outputs without the GPU's memory, or launches other work. Violations are
final, because no process of the other side goes on while a replay is timed."""


class CompareResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The result of a comparison.

    `call` is B against A. It is None if A or B does not pass; `verdict` and `reason` are then those of the side that
    failed, in its grade or in a block.
    """

    schema: Literal["neutrino-bench/compare/1"]
    call: Call | None
    verdict: Verdict
    reason: str
    cases: tuple[ComparedCase, ...]
    a: GradeResult
    b: GradeResult
    wall_s: float

    @property
    def status(self) -> int:
        """The exit status of `neutrino-bench compare` without --fail-on."""
        return STATUS[self.verdict]

    def to_json(self, indent: int = 1) -> str:
        return json_document(self, indent)


def compare(
    problem: str | os.PathLike[str],
    a: str | os.PathLike[str],
    b: str | os.PathLike[str],
    options: GradeOptions = GradeOptions(),  # noqa: B008 - frozen
    *,
    blocks: int | None = None,
    progress: Report | None = None,
    **changes: Any,
) -> CompareResult:
    """Find out which of two submissions to a problem is faster.

        benchguard.compare("problem.py", "before.cu", "after.cu").call

    Both are graded, on a GPU at the same time if memory suffices. If both pass, their captures are replayed in blocks
    A B B A on the same secret inputs, each replay in a new process, until the result is clear. Each timed output is
    checked, as in a grade.

    Args:
        problem: PATH or PATH:NAME of the problem, as in grade().
        a: path of the first submission.
        b: path of the second submission.
        options: how to grade and replay. `samples` (None: 50; on the CPU driver 20) is per replay, `timeout` per
            grade and per replay.
        blocks: most ABBA blocks, at least 3. None: 20, on the CPU driver 6.
        progress: called with each phase of each case; of the second grade only that it is waited for.
        changes: fields of GradeOptions by name, in place of those in `options`.

    Returns:
        `call`: "FASTER", "SLOWER", "SAME" or "UNSURE", for B against A; None, with a reason, if one of the two does
        not pass its grade or a replay. `cases` has the ratio of the times (B / A) with its 95 % interval.

    Raises:
        The exceptions of grade().
    """
    options = replace(options, **changes).limited(str(problem))
    _check(options, blocks)
    check_inputs(options, problem, a, b)
    began = time.monotonic()
    with ExitStack() as stack:
        folder = options.keep or stack.enter_context(temporary_folder("neutrino-compare-"))
        target = target_of(api_of(options, a, b), options.driver)
        sim = target.driver.is_sim
        blocks = blocks or (SIM_BLOCKS if sim else BLOCKS)
        how = for_driver(options, target.driver)
        how = replace(how, samples=how.samples or COMPARE_SAMPLES, placements=1)
        judge = stack.enter_context(JudgeProcess(timeout=options.seconds))
        judge.ask(_ask(str(problem), how, blocks, (str(a), str(b)), smallest=sim and not options.cases))
        opened, _ = judge.answer(Opened)
        at_once = bool(gpus_of(target.driver, options.device)) and _are_small(opened.cases, how)
        own = [replace(how, keep=folder / label) for label in "ab"]
        graded = _grades(str(problem), (str(a), str(b)), own, progress, judge if at_once else None)
        if graded[-1].verdict != "pass":
            return _not_compared(graded, began)
        captures = [_captures(folder / label, each) for label, each in zip("ab", graded, strict=True)]
        sandbox = options.require_sandbox or "any"
        relay = stack.enter_context(Relay(target, options.device, sandbox))
        compared: list[ComparedCase] = []
        for index, spec in enumerate(opened.cases):
            sides = captures[0][index], captures[1][index]
            report = _report_of(progress, spec.name, blocks)
            turn = JudgedTurn(index, spec, sides, judge, how, relay, asked=at_once and index == 0)
            turns = take_turns(turn, blocks, report, (sides[0].unrestored, sides[1].unrestored))
            if isinstance(turns, Failure):
                return _failed(graded, turns, spec.name, compared, began)
            compared.append(compared_case(spec.name, turns, (sides[0].sha256, sides[1].sha256)))
    call = overall([case.call for case in compared])
    return CompareResult(
        SCHEMA, call, "pass", "", tuple(compared), graded[0], graded[1], time.monotonic() - began
    )


def _check(options: GradeOptions, blocks: int | None) -> None:
    """Raises UsageError for options that a comparison cannot honour."""
    if options.inline:
        raise UsageError("inline times cannot be compared; leave `inline` out, or grade both submissions")
    if options.until is not None:
        raise UsageError("a comparison takes a fixed number of samples; give `samples` instead of `until`")
    if options.placements not in {None, 1}:
        raise UsageError("a comparison replays each side in many processes; leave `placements` out")
    if blocks is not None and blocks < BLOCKS_MIN:
        raise UsageError(f"blocks is {blocks}; give at least {BLOCKS_MIN}")
    if options.keep is not None:
        check_unreadable(options.keep)


def _grades(
    problem: str,
    paths: tuple[str, str],
    options: Sequence[GradeOptions],
    progress: Report | None,
    judge: JudgeProcess | None,
) -> list[GradeResult]:
    """The grades of A and B; of A alone if it does not pass.

    With `judge` both run at once, and it makes the secret inputs of the first case while B's grade ends. A side whose
    failure the load of the other one may have caused is then graded again, alone.
    """

    def alone(side: int) -> GradeResult:
        return grade_beside(problem, paths[side], paths, options[side], progress)

    if judge is None:
        graded = [alone(0)]
        if graded[0].verdict == "pass":
            graded.append(alone(1))
        return graded
    second: GradeResult | None = None
    with GradeBeside(problem, paths[1], paths, options[1]) as beside:
        first = alone(0)
        if first.verdict == "pass":
            judge.ask(AskSecrets(0))
            if progress is not None:
                progress(GradeProgress("grading B"))
            second = beside.result()
    if first.verdict not in FINAL:
        first = alone(0)
        if first.verdict == "pass":
            judge.ask(AskSecrets(0))
    if first.verdict != "pass":
        return [first]
    if second is None or second.verdict not in FINAL:
        second = alone(1)
    return [first, second]


def _are_small(cases: Sequence[CaseSpec], options: GradeOptions) -> bool:
    """Whether memory has room for two grades at once, and for the comparison's secret inputs beside them."""
    sets = options.sets + options.one_use
    return (
        sets * sum(each.bytes for spec in cases for each in spec.buffers)
        <= available_bytes() // SHARE_OF_MEMORY
    )


def _not_compared(graded: list[GradeResult], began: float) -> CompareResult:
    failed = graded[-1]
    reason = (
        f"{'AB'[len(graded) - 1]} ({failed.submission.path}) did not pass: {failed.verdict}: {failed.reason}"
    )
    return CompareResult(
        SCHEMA, None, failed.verdict, reason, (), graded[0], failed, time.monotonic() - began
    )


def _failed(
    graded: list[GradeResult], failure: Failure, case: str, compared: list[ComparedCase], began: float
) -> CompareResult:
    """The result after a side passed its grade, but not the replays of the comparison."""
    first, second = graded
    outcome = failure.outcome
    path = graded[failure.side].submission.path
    reason = f"{'AB'[failure.side]} ({path}) did not pass: {outcome.verdict}: case {case}: {outcome.reason}"
    took = time.monotonic() - began
    return CompareResult(SCHEMA, None, outcome.verdict, reason, tuple(compared), first, second, took)


def _report_of(progress: Report | None, case: str, blocks: int) -> Callable[[int], None]:
    def report(number: int) -> None:
        if progress is not None:
            progress(GradeProgress(f"block {number + 1} of {blocks}", case))

    return report


def _captures(folder: Path, result: GradeResult) -> list[Timed]:
    """The capture of each case that was graded, found by its SHA-256."""
    by_name = {}
    for path in folder.glob("*.ncap"):
        try:
            with Capture.open(path) as capture:
                by_name[capture.name] = path
        except CaptureError:
            continue
    missing = [case.name for case in result.cases if case.capture not in by_name]
    if missing:
        raise BenchguardError(f"the capture of case {missing[0]} disappeared from {folder}; compare again")
    return [
        Timed(by_name[case.capture], case.capture, case.returned, _unrestored(case)) for case in result.cases
    ]


def _unrestored(case: GradedCase) -> str:
    """Why the grade could not tell whether all memory is restored; empty if it could."""
    return next((each.text for each in case.evidence if each.check == RESTORED), "")


def _ask(
    problem: str, options: GradeOptions, blocks: int, submissions: tuple[str, ...], smallest: bool
) -> Ask:
    return Ask(
        problem=problem,
        adapter=options.adapter,
        cases=options.cases,
        sets_max=options.sets,
        one_use=options.one_use,
        pool_bytes=POOL_BYTES,
        device=options.reference_device,
        adapter_options=options.adapter_options,
        rounds=len(ORDER) * blocks,
        submissions=submissions,
        smallest=smallest,
    )
