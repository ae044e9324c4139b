"""How many samples with warm caches a grade takes."""

from __future__ import annotations

import pytest

from benchguard.grade.judged_replay import WARM_SAMPLES, WARM_SAMPLES_MIN, warm_samples_of
from benchguard.judge.contract import Secrets
from benchguard.problem.spec import Layout
from benchguard.replay.convergence import HUGE_BYTES

HALF = HUGE_BYTES // 2


@pytest.mark.parametrize(
    ("samples", "inputs", "outputs", "streamed", "warm"),
    [
        pytest.param(None, HUGE_BYTES, HALF, False, WARM_SAMPLES, id="inputs-stay"),
        pytest.param(None, HALF, HALF, True, WARM_SAMPLES_MIN, id="inputs-are-streamed"),
        pytest.param(None, 0, HUGE_BYTES, False, WARM_SAMPLES_MIN, id="large-outputs"),
        pytest.param(24, 0, HUGE_BYTES, False, 6, id="asked-for"),
        pytest.param(4, 0, 0, False, WARM_SAMPLES_MIN, id="few-asked-for"),
    ],
)
def test_few_warm_samples_where_each_copies_much(
    samples: int | None, inputs: int, outputs: int, streamed: bool, warm: int
) -> None:
    secrets = Secrets(Layout({}, inputs), Layout({}, outputs), 4, 2, 2, ("own",) * 4, "own", streamed)
    assert warm_samples_of(samples, secrets) == warm
