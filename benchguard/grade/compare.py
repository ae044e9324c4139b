"""Compare two submissions: grade both, then time them in turn on the same secret inputs."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import msgspec

from ..capture import Capture, CaptureError
from ..errors import BenchguardError, UsageError
from ..ipc.json_text import json_document
from ..judge.contract import Ask, AskSecrets, Opened, Secrets
from ..judge.process import JudgeProcess
from ..replay.buffers import Buffers, SharedInputs
from ..replay.options import ReplayOptions
from ..replay.replay import replay_buffers
from .comparison import Block, Call, Comparison, compare_blocks, overall
from .grade import check_inputs, grade
from .opening import POOL_BYTES
from .options import BLOCKS, BLOCKS_MIN, COMPARE_SAMPLES, GradeOptions
from .progress import GradeProgress, Report
from .result import GradedCase, GradeResult

SCHEMA: Literal["neutrino-bench/compare/1"] = "neutrino-bench/compare/1"


class ComparedCase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One test case. `ratio` is time of B / time of A; `blocks` has medians of A, B, B, A in microseconds."""

    name: str
    call: Call
    ratio: float
    ratio95: tuple[float, float]
    floor: float
    median_a_us: float
    median_b_us: float
    blocks: tuple[tuple[float, float, float, float], ...]


class CompareResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The result of a comparison. `call` is B against A; None, with a reason, if A or B does not pass."""

    schema: Literal["neutrino-bench/compare/1"]
    call: Call | None
    reason: str
    cases: tuple[ComparedCase, ...]
    a: GradeResult
    b: GradeResult
    wall_s: float

    def to_json(self, indent: int = 1) -> str:
        return json_document(self, indent)


def compare(
    problem: str | os.PathLike[str],
    a: str | os.PathLike[str],
    b: str | os.PathLike[str],
    options: GradeOptions = GradeOptions(),  # noqa: B008 - frozen
    *,
    blocks: int = BLOCKS,
    progress: Report | None = None,
    **changes: Any,
) -> CompareResult:
    """Find out which of two submissions to a problem is faster.

        benchguard.compare("problem.py", "before.cu", "after.cu").call

    Both are graded. If both pass, their captures are replayed in blocks A B B A on the same secret inputs, each replay
    in a new process.

    Args:
        problem: PATH or PATH:NAME of the problem, as in grade().
        a: path of the first submission.
        b: path of the second submission.
        options: how to grade and replay. `samples` (None: 100) is per replay, `timeout` per grade and per replay.
        blocks: number of ABBA blocks, at least 3.
        progress: called with each phase of each case.
        changes: fields of GradeOptions by name, in place of those in `options`.

    Returns:
        `call`: "FASTER", "SLOWER", "SAME" or "UNSURE", for B against A; None, with a reason, if one of the two does
        not pass. `cases` has the ratio of the times (B / A) with its 95 % interval.

    Raises:
        The exceptions of grade(); BenchguardError also if a replay fails.
    """
    options = replace(options, **changes)
    if options.inline:
        raise UsageError("inline times cannot be compared; leave `inline` out, or grade both submissions")
    if options.until is not None:
        raise UsageError("a comparison takes a fixed number of samples; give `samples` instead of `until`")
    if blocks < BLOCKS_MIN:
        raise UsageError(f"blocks is {blocks}; give at least {BLOCKS_MIN}")
    check_inputs(options, problem, a, b)
    began = time.monotonic()
    with ExitStack() as stack:
        folder = options.keep or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="neutrino-compare-"))
        )
        graded = []
        for label, path in (("a", a), ("b", b)):
            own = replace(options, keep=folder / label, samples=options.samples or COMPARE_SAMPLES)
            graded.append(grade(problem, path, own, progress=progress))
            if graded[-1].verdict != "pass":
                break
        if len(graded) < 2 or graded[-1].verdict != "pass":
            return _not_compared(graded, began)
        first, second = graded
        captures = [_captures(folder / label, result) for label, result in (("a", first), ("b", second))]
        compared = tuple(
            _compared_case(case, medians)
            for case, medians in _blocks(
                str(problem), options, first.cases, captures, (str(a), str(b)), blocks, progress, stack
            )
        )
    call = overall([case.call for case in compared])
    return CompareResult(SCHEMA, call, "", compared, first, second, time.monotonic() - began)


def _not_compared(graded: list[GradeResult], began: float) -> CompareResult:
    failed = graded[-1]
    which = "A" if len(graded) == 1 else "B"
    reason = f"{which} ({failed.submission.path}) did not pass: {failed.verdict}: {failed.reason}"
    return CompareResult(SCHEMA, None, reason, (), graded[0], failed, time.monotonic() - began)


def _captures(folder: Path, result: GradeResult) -> list[Path]:
    """The capture of each case that was graded, found by its name."""
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
    return [by_name[case.capture] for case in result.cases]


def _blocks(
    problem: str,
    options: GradeOptions,
    cases: tuple[GradedCase, ...],
    captures: list[list[Path]],
    submissions: tuple[str, ...],
    blocks: int,
    progress: Report | None,
    stack: ExitStack,
) -> Iterator[tuple[GradedCase, list[Block]]]:
    judge = stack.enter_context(JudgeProcess(timeout=options.timeout))
    judge.ask(_ask(problem, options, submissions))
    judge.answer(Opened)
    for index, case in enumerate(cases):
        judge.ask(AskSecrets(index))
        secrets, ends = judge.answer(Secrets)
        for each in ends:
            stack.callback(os.close, each)
        # No one-use sets: outputs are not judged here, and every set has the same weight.
        pool = SharedInputs(ends[0], secrets.sets, 0, secrets.inputs.stride, secrets.inputs.places)
        taken = []
        for number in range(blocks):
            times = []
            for which in (0, 1, 1, 0):
                if progress is not None:
                    progress(GradeProgress(f"block {number + 1} of {blocks}", case.name))
                times.append(_median(captures[which][index], pool, options))
            taken.append(Block(*times))
        yield case, taken


def _ask(problem: str, options: GradeOptions, submissions: tuple[str, ...]) -> Ask:
    return Ask(
        problem=problem,
        adapter=options.adapter,
        cases=options.cases,
        sets_max=options.sets,
        one_use=0,
        pool_bytes=POOL_BYTES,
        device=options.reference_device,
        adapter_options=options.adapter_options,
        submissions=submissions,
    )


def _median(path: Path, pool: SharedInputs, options: GradeOptions) -> float:
    how = ReplayOptions(
        strict=True,
        cold=options.cold,
        flush_cache=options.flush_cache,
        samples=options.samples or COMPARE_SAMPLES,
        require_converged=True,  # blocks have the same weight, so each replay takes all samples
        timeout=options.timeout,
        driver=options.driver,
        device=options.device,
        keep_outputs="none",
    )
    result = replay_buffers(path, how, Buffers(pool, outputs=[]))
    if result.time_us is None or result.verdict != "pass":
        raise BenchguardError(
            f"a replay of {path.name} ended with {result.verdict}: {result.reason}; compare again"
        )
    return result.time_us.median


def _compared_case(case: GradedCase, blocks: list[Block]) -> ComparedCase:
    found: Comparison = compare_blocks(blocks)
    return ComparedCase(
        name=case.name,
        call=found.call,
        ratio=found.ratio,
        ratio95=(found.low, found.high),
        floor=found.floor,
        median_a_us=_middle([time for block in blocks for time in (block.a1, block.a2)]),
        median_b_us=_middle([time for block in blocks for time in (block.b1, block.b2)]),
        blocks=tuple((block.a1, block.b1, block.b2, block.a2) for block in blocks),
    )


def _middle(values: list[float]) -> float:
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
