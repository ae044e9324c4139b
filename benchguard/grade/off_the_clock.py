"""Replays after the timed one, on the same secret inputs. Their times are not used."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from ..capture import Capture, CaptureError
from ..gpu.turns import Turns
from ..quarantine.reader import LIMITS
from ..replay.buffers import Buffers, SharedInputs
from ..replay.options import ReplayOptions
from ..replay.replay import replay_buffers
from ..replay.result import ReplayResult
from .judged_replay import REPLAY_SECONDS_MIN, SecretInputs
from .options import GradeOptions

ENDED = ("pass", "wrong", "unconverged")
"""Verdicts of a replay that went to its end."""

SAME_SETS = 2
SAME_BYTES_MAX = 1 << 28
"""Input sets on which the outputs of two captures are compared, and the most bytes of these outputs."""


def replay_again(
    capture: Capture,
    outputs: Sequence[str | tuple[int, int]],
    sets: int,
    secret: SecretInputs,
    options: GradeOptions,
    seconds: float,
    turns: Turns,
) -> ReplayResult:
    """One replay of each of the first `sets` input sets, which returns `outputs` of each.

    These must be repeated sets: one-use sets may not be in memory any more. Raises UsageError, CaptureError.
    """
    inputs = SharedInputs(secret.ends[0], sets, 0, secret.sets.inputs.stride, secret.sets.inputs.places)
    how = ReplayOptions(
        strict=True,
        cold="none",
        samples=1,
        warm_up_samples=0,
        keep_outputs="sets",
        timeout=max(REPLAY_SECONDS_MIN, seconds),
        driver=options.driver,
        device=options.device,
        require_sandbox=options.require_sandbox,
    )
    return replay_buffers(capture, how, Buffers(inputs, outputs), None, options.memory_limit, turns=turns)


def give_same_outputs(
    captures: Sequence[Path], secret: SecretInputs, options: GradeOptions, seconds: float, turns: Turns
) -> bool:
    """Whether all captures of a case give the same outputs, so that bytes in which they differ do not matter.

    False, too, if the captures could not be replayed within `seconds`, or one has no memory from before its call.
    Raises UsageError.
    """
    sets, outputs = secret.sets, secret.sets.outputs
    count = min(SAME_SETS, sets.sets - sets.one_use)
    deadline = time.monotonic() + seconds
    if count < 1 or count * outputs.stride > SAME_BYTES_MAX:
        return False
    found = []
    for path in captures:
        left = deadline - time.monotonic()
        if left < REPLAY_SECONDS_MIN:
            return False
        try:
            with Capture.open(path, LIMITS) as capture:
                result = replay_again(capture, list(outputs.places), count, secret, options, left, turns)
        except CaptureError:
            return False
        if result.verdict not in ENDED or not result.outputs:
            return False
        found.append(result.outputs)
    return all(each == found[0] for each in found)
