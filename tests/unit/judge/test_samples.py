"""Samples that are checked at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from benchguard.judge.samples import Place, Samples
from benchguard.problem.spec import Buffer, Tolerance

COUNT, SETS = 4096, 6


def test_samples_wrong_at_once_are_looked_at_again_only_for_the_first() -> None:
    """Reference runs take the problem's lock, so that each of them would wait for those of all other samples."""
    expected = np.ones(COUNT)
    output = expected.astype(np.float32)
    output[7] = 2
    asked: list[int] = []
    together = threading.Barrier(SETS)

    def nearby(of_set: int) -> Iterator[Mapping[str, Any]]:
        asked.append(of_set)
        time.sleep(0.05)
        yield {"y": expected}

    with ThreadPoolExecutor(SETS) as pool:
        samples = Samples(
            [Place(Buffer("y", "float32", (COUNT,), "output"), 0, "float32")],
            [output.view(np.uint8)] * SETS,
            [{"y": Tolerance(0.0, 1e-3)}] * SETS,
            [{"y": expected.astype(np.float32)}] * SETS,
            ["own"] * SETS,
            None,
            nearby,
            lambda _: (),
            pool,
            1,
        )

        def check(number: int) -> None:
            together.wait()
            samples.first(number, number, number, lambda: None)()

        list(pool.map(check, range(SETS)))
    assert all(each.mismatch is not None for each in samples.sets)
    assert len(asked) == 1
