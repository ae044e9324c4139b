"""Traces of flashinfer-bench as claims, and own grades of the same solutions beside them. The Traces may be hostile.

The schema is that of flashinfer_bench/data/trace.py at commit 40e6ca7. Fields that are not used here are not checked.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ..errors import UsageError
from ..grade.result import GradedCase, GradeResult, Verdict
from ..ipc.json_text import UNREADABLE, json_document, unique
from ..ipc.text import one_line
from .flashinfer_solutions import Solutions
from .flashinfer_trace import STATUS, axes_of, workload_id

Schema = Literal["neutrino-bench/claims/1"]
SCHEMA: Schema = "neutrino-bench/claims/1"

LINE_MAX = 64 << 20
"""Bytes of a Trace. It may hold the output of a build."""

CLAIMS_MAX = 1_000_000
SUFFIXES = frozenset({".py", ".cu", ".ptx", ".hip"})
"""Suffixes of submissions. The name gemini-2.5 has none."""

PASSED = "PASSED"
Name = Annotated[str, Meta(min_length=1, max_length=4096)]


class _Workload(msgspec.Struct):
    axes: dict[Name, Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]]
    uuid: Name


class _Performance(msgspec.Struct):
    latency_ms: Annotated[float, Meta(ge=0)] = 0.0


class _Environment(msgspec.Struct):
    hardware: Name


class _Evaluation(msgspec.Struct):
    status: Name
    environment: _Environment
    timestamp: Name
    performance: _Performance | None = None


class _Trace(msgspec.Struct):
    definition: Name
    workload: _Workload
    solution: str | None = None
    evaluation: _Evaluation | None = None


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The evaluation of a solution, as flashinfer-bench published it. Times are in microseconds.

    Attributes:
        definition: name of the problem.
        workload: id of the test case there.
        axes: the sizes of the test case.
        solution: name of the submission.
        status: flashinfer-bench's status; PASSED for a pass.
        hardware: the device, by the name that was written.
        timestamp: time of the evaluation, as it was written.
        latency_us: the claimed time of a pass. None: it is not a positive number.
        verdict: the verdict of the own grade; None without one.
        own_us: the median of the own grade.
        device: the device of the own grade.
        ratio: own time over claimed time.
        agrees: whether both pass, or both do not. None without an own verdict about the submission.
    """

    definition: str
    workload: str
    axes: dict[str, int]
    solution: str
    status: str
    hardware: str
    timestamp: str
    latency_us: float | None
    verdict: Verdict | None = None
    own_us: float | None = None
    device: str = ""
    ratio: float | None = None
    agrees: bool | None = None


class Claims(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The document neutrino-bench/claims/1. `workloads` counts Traces without an evaluation."""

    schema: Schema
    claims: tuple[Claim, ...]
    workloads: int

    def to_json(self) -> str:
        return json_document(self)


@dataclass(frozen=True)
class _Own:
    result: GradeResult
    case: GradedCase


def read_claims(
    paths: Sequence[Path],
    results: Iterable[tuple[str, GradeResult]] = (),
    solutions: Solutions | None = None,
) -> Claims:
    """The claims of files of Trace JSONL, each with the own grade of the same solution, problem and test case.

    Args:
        paths: the files.
        results: names and results of own grades; see stored_results(). A later grade replaces an earlier one.
        solutions: what submissions solutions are; see read_solutions(). The names of the others' files decide.

    Raises:
        UsageError: a file or a line cannot be read; the message has the place.
    """
    own = _by_case(results, solutions or {})
    claims: list[Claim] = []
    workloads = 0
    for path in paths:
        for place, trace in _traces(path):
            if trace.evaluation is None or trace.solution is None:
                workloads += 1
                continue
            if len(claims) == CLAIMS_MAX:
                raise UsageError(f"{place}: at most {CLAIMS_MAX} Traces are read at a time; give fewer files")
            claims.append(_claim(trace, trace.solution, trace.evaluation, own))
    return Claims(SCHEMA, tuple(claims), workloads)


def is_confirmed(claim: Claim, within: float | None) -> bool:
    """Whether nothing contradicts a claim. `within`: largest accepted ratio of the times; None: any.

    A claimed pass without a positive time has no ratio.
    """
    if claim.agrees is False:
        return False
    if within is None or claim.own_us is None:
        return True
    return claim.ratio is not None and 1 / within <= claim.ratio <= within


def _traces(path: Path) -> Iterator[tuple[str, _Trace]]:
    """Each Trace with its place. Empty lines are allowed."""
    try:
        with path.open("rb") as file:
            number = 0
            while data := file.readline(LINE_MAX + 1):
                number += 1
                place = f"{path}, line {number}"
                if len(data) > LINE_MAX:
                    raise UsageError(f"{place}: a Trace may have {LINE_MAX} bytes")
                if data.strip():
                    yield place, _trace(data, place)
    except OSError as error:
        raise UsageError(f"the Traces {path} cannot be read: {error.strerror}; check the path") from error


def _trace(data: bytes, place: str) -> _Trace:
    try:
        return msgspec.json.decode(unique(data), type=_Trace)
    except UNREADABLE as error:
        raise UsageError(f"{place}: not a Trace of flashinfer-bench: {one_line(str(error), 200)}") from error


_Key = tuple[str, str, str]


def _by_case(results: Iterable[tuple[str, GradeResult]], solutions: Solutions) -> dict[_Key, _Own]:
    """Own cases by problem, name of the solution and test case. A file's suffix is not part of a solution's name."""
    found: dict[_Key, _Own] = {}
    for name, result in results:
        given = {name, Path(name).stem} if Path(name).suffix in SUFFIXES else {name}
        names = {each for each in given if (result.problem, each) not in solutions}
        names |= {
            solution
            for (definition, solution), hashes in solutions.items()
            if definition == result.problem and result.submission.sha256 in hashes
        }
        for case in result.cases:
            for solution in names:
                for workload in (workload_id(result.problem, case), _axes_key(axes_of(case))):
                    found[result.problem, solution, workload] = _Own(result, case)
    return found


def _axes_key(axes: Mapping[str, int]) -> str:
    return repr(sorted(axes.items()))


def _claim(trace: _Trace, solution: str, evaluation: _Evaluation, found: Mapping[_Key, _Own]) -> Claim:
    workload = trace.workload
    keys = ((trace.definition, solution, each) for each in (workload.uuid, _axes_key(workload.axes)))
    own = next((found[key] for key in keys if key in found), None)
    latency = evaluation.performance.latency_ms * 1000 if evaluation.performance is not None else math.nan
    claim = Claim(
        trace.definition,
        workload.uuid,
        workload.axes,
        solution,
        evaluation.status,
        evaluation.environment.hardware,
        evaluation.timestamp,
        latency if math.isfinite(latency) and latency > 0 else None,
    )
    return claim if own is None else _compared(claim, own)


def _compared(claim: Claim, own: _Own) -> Claim:
    case, device = own.case, own.result.device
    passed = case.verdict == "pass"
    own_us = case.time_us.median if passed and case.time_us is not None else None
    is_known = case.verdict in STATUS or case.verdict == "violation"
    return msgspec.structs.replace(
        claim,
        verdict=case.verdict,
        own_us=own_us,
        device=device.name if device is not None else "",
        ratio=own_us / claim.latency_us if own_us and claim.latency_us else None,
        agrees=passed == (claim.status == PASSED) if is_known else None,
    )
