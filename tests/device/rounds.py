"""Problem Mix of the attacks, with few elements and many rounds: an H200 takes about the time of a case's name."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchguard.problem.problem import TestCaseDict
from tests.attacks.problems import Mix, case, mixed, words

CASES = {"5us": (512, 150), "30us": (520, 1900), "300us": (528, 20000)}
"""Elements and rounds: the reference knows a case by its elements."""

ROUNDS = dict(CASES.values())


class Rounds(Mix):
    def reference_solution(self, x: np.ndarray) -> np.ndarray:
        return mixed(x, ROUNDS[x.size])

    def generate_test_cases(self) -> list[TestCaseDict]:
        return [
            case(name, lambda name=name, n=n: (words(f"rounds {name}", n),), n=n)
            for name, (n, _) in CASES.items()
        ]

    def get_extra_params(self, test_case: TestCaseDict) -> list[Any]:
        return [test_case["n"], ROUNDS[test_case["n"]]]
