"""Replay a capture that may come from an adversary, where there is no problem and so no judge.

A strict replay takes the samples of a grade: outputs are filled with a pattern before each sample, the outputs of each
sample are checked, and some of the given input sets are used once. Checks have the states of a grade's checks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..capture import Capture
from ..judge.ceilings import rates_of
from ..replay.buffers import Source
from ..replay.collect import Progress
from ..replay.evidence import Evidence, without_proof
from ..replay.options import ReplayOptions
from ..replay.protocol import OutputCheck
from ..replay.replay import replay as replay_capture
from ..replay.result import ReplayResult, SampleRow
from ..replay.statistics import summarise
from .outcome import Findings, evidence_of, failure_of, unknown_globals
from .time_tests import TimeTests
from .timing import carried_doubt, carried_reason, first_use_of, is_one_use_only, reported, untested

ONE_USE_NEEDED = (
    "so a sample may return an earlier result: give 10 or more input sets (the last ones are used once)"
)


def replay(
    capture: str | os.PathLike[str] | Capture,
    options: ReplayOptions = ReplayOptions(),  # noqa: B008 - frozen
    *,
    inputs: Mapping[str | int, Source] | None = None,
    outputs: Sequence[str | tuple[int, int]] | None = None,
    progress: Callable[[Progress], None] | None = None,
    **changes: Any,
) -> ReplayResult:
    """benchguard.replay: benchguard.replay.replay.replay(), and with `strict` the checks of its time."""
    options = replace(options, **changes)
    result = replay_capture(capture, options, inputs=inputs, outputs=outputs, progress=progress)
    return judged(result, options) if options.strict and result.table else result


def judged(result: ReplayResult, options: ReplayOptions) -> ReplayResult:
    """The result with its evidence, and the verdict and the time that follow from it."""
    first_use = first_use_of(result.table)
    carried, doubt = carried_reason(result.table, first_use), carried_doubt(result.table, first_use)
    unrestored = unknown_globals(result)
    timing = evidence_of(Findings(result, None, rates_of(None, None, None, ""), carried, unrestored, doubt))
    unsafe = unsafe_reason(result)
    evidence = (*map(evidence_of_outputs, filter(None, (result.checked,))), *timing)
    table = safe_table(result)
    rows, notes = reported(table, unsafe), result.notes
    if is_one_use_only(table, unsafe):
        why = untested(table) or unsafe or "samples on repeated inputs are faster"
        notes = (*notes, f"timed on the {len(rows)} one-use inputs only: {why}")
    result = replace(
        result, evidence=evidence, time_us=summarise([row.device_us for row in rows]), notes=notes
    )
    failed = next((each for each in timing if each.state == "failed"), None)
    if result.verdict != "pass":
        return result
    if failed is not None:
        outcome = failure_of(failed, result)
        return replace(result, verdict=outcome.verdict, reason=outcome.reason)
    if may_keep_results(result):
        return replace(result, verdict="unproven", reason=f"{unrestored}, {ONE_USE_NEEDED}")
    if options.require_evidence and (unknown := without_proof(evidence)):
        return replace(result, verdict="unproven", reason=unknown)
    return result


def unsafe_reason(result: ReplayResult) -> str:
    """Why only one-use samples may count; empty if all may."""
    return unknown_globals(result) or carried_doubt(result.table, first_use_of(result.table))


def may_keep_results(result: ReplayResult) -> bool:
    """Whether the code can keep results, and no sample on one-use inputs has a time without them.

    AMD's code is not searched, so nothing is known of it: the check says so, and the verdict stays.
    """
    is_searched = result.settings.api == "cuda"
    return is_searched and bool(unknown_globals(result)) and not any(row.one_use for row in result.table)


def safe_table(result: ReplayResult) -> tuple[SampleRow, ...]:
    """The samples of a strict replay with the times that count. The times in its `table` are claims of the events."""
    return TimeTests(result, unsafe_reason(result)).table


def evidence_of_outputs(checked: OutputCheck) -> Evidence:
    if checked.unknown:
        return Evidence("outputs", "could not tell", checked.unknown)
    return Evidence("outputs", "failed" if checked.first else "held", checked.first)
