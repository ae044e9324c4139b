"""Small suites for the judge, and the programs that give them to its process: nothing here is a real problem's code."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import benchguard.judge.filling as judge_filling
import benchguard.judge.narrowing as judge_narrowing
import benchguard.judge.session as judge_session
from benchguard.problem.spec import Buffer, CaseSpec, Scalar, Tolerance
from benchguard.problem.suite import Suite
from tests.conftest import ROOT

START = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from tests.unit.judge.problems import load; "
    "from benchguard.judge.worker import main; main(int(sys.argv[1]), int(sys.argv[2]), load)"
)
WORKER = [sys.executable, "-c", START, str(ROOT)]
"""The judge with `load` below instead of the adapters."""


@dataclass
class Scale:
    """y = w * x, n elements; an output of integers beside it."""

    n: int = 1000
    spec: CaseSpec = None  # type: ignore[assignment]
    tolerances: Mapping[str, Tolerance] = None  # type: ignore[assignment]
    distributions: tuple[str, ...] = ("normal", "large", "ties")
    own_verdict: bool = False
    has_own_check: bool = True
    what: str = ""

    @property
    def name(self) -> str:
        return self.spec.name

    def __post_init__(self) -> None:
        self.spec = CaseSpec(
            f"n={self.n}",
            (
                Buffer("x", "float32", (self.n,)),
                Buffer("w", "float32", (self.n,), "constant"),
                Buffer("y", "float32", (self.n,), "output"),
                Buffer("signs", "int32", (self.n,), "output"),
                Scalar("n", "size_t", self.n),
            ),
        )
        relative = 1e-2 if self.what in {"loose", "exacting"} else 1e-5
        self.tolerances = {"y": Tolerance(1e-6, relative), "signs": Tolerance(0.0, 0.0)}

    def inputs(self, seed: int, distribution: str) -> dict[str, Any]:
        if self.what == "hang":
            time.sleep(600)
        if self.what == "fails later" and any(each.name == "stream" for each in threading.enumerate()):
            raise RuntimeError("no more sets")
        random = np.random.default_rng(0 if self.what == "seedless" else seed)
        x = random.standard_normal(self.n, np.float32)
        if distribution == "large":
            x *= 1000
        elif distribution == "ties":
            x = np.round(x)
        w = np.linspace(1, 2, self.n, dtype=np.float32)
        if self.what == "new constant":
            w = w + np.float32(random.random())
        return {"x": x.astype(np.float64) if self.what == "dtype" else x, "w": w}

    def expected(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        if self.what == "raise":
            raise ValueError("the answer\nis unknown")
        if self.what == "exit":
            sys.exit(3)
        if self.what == "die":
            print("last words", flush=True)
            os._exit(7)
        if self.what == "crash":
            os.abort()
        if self.what == "print":
            print("noise " * 100_000)
        y = inputs["w"].astype(np.float64) * inputs["x"]
        signs = np.sign(inputs["x"])
        if self.what == "nan":
            y = y * np.nan
        elif self.what == "half":
            signs = signs / 2
        elif self.what == "same":
            y, signs = np.ones(self.n), np.ones(self.n, np.int32)
        elif self.what == "shape":
            y = y[:-1]
        return {"y": y, "signs": signs}

    def verify(
        self, inputs: Mapping[str, Any], expected: Mapping[str, Any], actual: Mapping[str, Any]
    ) -> str | None:
        if self.what == "verify raises":
            raise KeyError("no")
        if self.what == "strict" and not (actual["signs"] == np.sign(inputs["x"])).all():
            return "signs are not those of x"
        if self.what == "exacting" and not np.allclose(actual["y"], expected["y"], rtol=1e-4):
            return "y is not exact"
        if self.what in {"near", "near, wide"} and not np.allclose(actual["y"], expected["y"], rtol=1e-2):
            raise KeyError("scaled outputs")
        return None


class Wide(Scale):
    """Its reference is off in float32, so that the tolerances are four times as wide."""

    def baseline(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        y = inputs["w"] * inputs["x"]
        return {"y": y + np.sign(y) * np.float32(2e-6) + y * np.float32(2e-5)}


class Steps:
    """Steps of 0.01 in which numbers lie: rounding in float32 decides about 1 of 30,000."""

    name, own_verdict, has_own_check, distributions = "steps", False, False, ("uniform",)
    count, exact = 100_000, 50
    spec = CaseSpec(
        name,
        (
            Buffer("x", "float32", (count,)),
            Buffer("y", "float32", (count,), "output"),
            Buffer("steps", "int32", (count,), "output"),
        ),
    )
    tolerances: Mapping[str, Tolerance] = {"y": Tolerance(1e-5, 1e-5), "steps": Tolerance()}

    def inputs(self, seed: int, _distribution: str) -> dict[str, Any]:
        """The first numbers are quarters, which lie on the edge of a step."""
        x = np.random.default_rng(seed).uniform(0, 10, self.count).astype(np.float32)
        x[: self.exact] = np.round(x[: self.exact] * 4) / 4
        return {"x": x}

    def expected(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        x = inputs["x"].astype(np.float64)
        steps = np.floor(x * 100)
        return {"y": steps, "steps": steps.astype(np.int32)}

    def verify(self, *_: object) -> None:
        return None


class Bins(Steps):
    """Counts of numbers in bins of 0.01. A number that float32 puts into the next bin changes two of them."""

    name, bins = "bins", 1000
    spec = CaseSpec(
        name, (Buffer("x", "float32", (Steps.count,)), Buffer("counts", "int32", (bins,), "output"))
    )
    tolerances: Mapping[str, Tolerance] = {"counts": Tolerance()}

    def expected(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        return {"counts": self.counted(inputs["x"].astype(np.float64) * 100)}

    def native(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        return {"counts": self.counted(inputs["x"] * np.float32(100))}

    def counted(self, numbers: np.ndarray) -> np.ndarray:
        bins = np.minimum(numbers.astype(np.int64), self.bins - 1)
        return np.bincount(bins, minlength=self.bins).astype(np.int32)


def load(problem: str, adapter: str, options: Mapping[str, str]) -> Suite:
    """`problem` says what is odd about it."""
    if adapter == "import":
        raise SyntaxError("no problem", (problem, 5, 1, "text"))
    if "memory" in options:  # this is the judge's process
        for module in (judge_filling, judge_narrowing, judge_session):
            module.__dict__["available_bytes"] = lambda: int(options["memory"])
    if "batch" in options:
        judge_session.__dict__["BATCH_BYTES"] = int(options["batch"])
    if problem == "fails later":  # sets are made in this process, streamed ones in a thread
        judge_session.__dict__["can_fork"] = lambda: False
    if problem == "steps":
        return Suite(problem, (Steps(),))
    if problem == "bins":
        return Suite(problem, (Bins(),))
    own = problem in {"strict", "near", "near, wide"}
    kind = Wide if problem == "near, wide" else Scale
    sizes = [int(each) for each in options.get("n", "1000").split(",")]
    asked = "without check" not in options
    cases = tuple(kind(n, what=problem, own_verdict=own, has_own_check=asked) for n in sizes)
    return Suite("scale", cases, left_out="large tests need --adapter-option cases=all")
