"""Compare captures: replay them in turn. There is no problem, so no judge knows which outputs are right."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from ..errors import UsageError
from ..replay.buffers import Source
from ..replay.options import ReplayOptions
from .capture_turns import CaptureTurns
from .captures_result import SCHEMA, CaptureComparison, ComparedPair
from .compared_case import ComparedCase
from .comparison import overall
from .options import BLOCKS_MIN
from .progress import Report
from .result import Verdict
from .turns import Failure

Place: TypeAlias = "str | os.PathLike[str]"


def compare_captures(
    a: Place | Sequence[Place],
    b: Place | Sequence[Place],
    options: ReplayOptions = ReplayOptions(),  # noqa: B008 - frozen
    *,
    inputs: Mapping[str | int, Source] | None = None,
    blocks: int | None = None,
    labels: tuple[str, str] | None = None,
    progress: Report | None = None,
    **changes: Any,
) -> CaptureComparison:
    """Find out which of two captures is faster.

        benchguard.compare_captures("before.ncap", "after.ncap").call

    Each capture is replayed on its own memory, in blocks A B B A, each replay in a new process. Without `strict`, the
    captures must be those of honest programs. With `strict` they may be an adversary's: each replay is a strict one,
    and the outputs of its samples are compared with those of an untimed run.

    Args:
        a: path of the first capture, or several paths. Each is compared with the path of `b` at its place.
        b: path of the second capture, or as many paths as `a` has.
        options: how to replay. `samples` (None: 100; 20 on the CPU driver) is per replay, `timeout` too. `verify` acts
            on one replay of each capture, which comes before the timed ones.
        inputs: memory to write before each sample of both captures, as in benchguard.replay().
        blocks: most ABBA blocks, at least 3; fewer if the result is clear. None: 20, on the CPU driver 6.
        labels: what A and B are called in the result and its reason. None: their paths.
        progress: called with each phase of each pair.
        changes: fields of ReplayOptions by name, in place of those in `options`.

    Returns:
        `call`: "FASTER", "SLOWER", "SAME" or "UNSURE", for B against A; None, with a reason, if a replay does not
        pass. `pairs` tells whether the memory that both captures name is the same in A and B.

    Raises:
        UsageError: an option or an input is invalid, or the captures are of different vendors.
        CaptureError: a file is missing, damaged, or not a capture.
        ShimError: no driver for the captures was found.
        BenchguardError: a file was replaced while it was compared.
        TypeError: `changes` names no field of ReplayOptions.
    """
    options = replace(options, **changes)
    if options.until is not None:
        raise UsageError("a comparison takes a fixed number of samples; give `samples` instead of `until`")
    if blocks is not None and blocks < BLOCKS_MIN:
        raise UsageError(f"blocks is {blocks}; give at least {BLOCKS_MIN}")
    left, right = _paths(a), _paths(b)
    if len(left) != len(right) or not left:
        raise UsageError(f"A has {len(left)} captures, B has {len(right)}; give as many of each")
    began = time.monotonic()
    compared: list[tuple[ComparedCase, ComparedPair]] = []
    verdict: Verdict = "pass"
    reason = ""
    for each in [CaptureTurns.of(pair, options, inputs) for pair in zip(left, right, strict=True)]:
        found = each.run(blocks, progress)
        if isinstance(found, Failure):
            verdict = found.outcome.verdict
            label = labels[found.side] if labels else each.paths[found.side]
            reason = f"{'AB'[found.side]} ({label}) did not pass: {verdict}: {found.outcome.reason}"
            break
        compared.append(found)
    cases, pairs = [case for case, _ in compared], [pair for _, pair in compared]
    return CaptureComparison(
        schema=SCHEMA,
        call=overall([case.call for case in cases]) if verdict == "pass" else None,
        verdict=verdict,
        reason=reason,
        labels=labels or (str(left[0]), str(right[0])),
        strict=options.strict,
        outputs_checked=verdict == "pass" and all(map(_is_checked, pairs)),
        cases=tuple(cases),
        pairs=tuple(pairs),
        wall_s=time.monotonic() - began,
    )


def _paths(places: Place | Sequence[Place]) -> tuple[Path, ...]:
    return (Path(places),) if isinstance(places, (str, os.PathLike)) else tuple(map(Path, places))


def _is_checked(pair: ComparedPair) -> bool:
    sides = (pair.a, pair.b)
    return all(any(e.check == "outputs" and e.state == "held" for e in each.evidence) for each in sides)
