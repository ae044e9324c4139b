"""A case with its secrets, and a submission timed inline on the CPU driver."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np

from benchguard.inline.contract import InlineCase
from benchguard.inline.result import InlineResult
from benchguard.inline.supervise import Inline
from benchguard.problem.spec import Buffer, CaseSpec, DType, Layout, Tolerance, layout_of
from tests.conftest import NATIVE, ROOT

DRIVER = os.environ.get("NEUTRINO_TEST_DRIVER") or str(NATIVE / "sim" / "libcuda.so.1")
TIGHT = Tolerance(1e-6, 1e-6)


@dataclass(frozen=True)
class Timed:
    """`results` by case; how the process ended and what it printed."""

    results: tuple[InlineResult | str, ...]
    status: int
    output: str
    errors: str

    @property
    def result(self) -> InlineResult:
        (result,) = self.results
        assert isinstance(result, InlineResult), f"{result}\n{self.errors}"
        return result


@dataclass(frozen=True)
class Given:
    """A case: `sets` are (inputs, expected) by name, arrays as they are to lie in memory."""

    spec: CaseSpec
    sets: Sequence[tuple[Mapping[str, np.ndarray], Mapping[str, np.ndarray]]]
    tolerances: Mapping[str, Tolerance] = field(default_factory=dict)
    dtypes: Mapping[str, DType] = field(default_factory=dict)

    def order(self) -> InlineCase:
        inputs = layout_of(self.spec.read)
        expected = self._expected_layout()
        return InlineCase(
            inputs=_memory(inputs, [each[0] for each in self.sets]),
            expected=_memory(expected, [each[1] for each in self.sets]),
            inputs_layout=inputs,
            expected_layout=expected,
            sets=len(self.sets),
            tolerances={each.name: self.tolerances.get(each.name, TIGHT) for each in self.spec.checked},
            expected_dtypes=dict(self.dtypes),
        )

    def _expected_layout(self) -> Layout:
        return layout_of(
            tuple(
                Buffer(each.name, self.dtypes.get(each.name, each.dtype), each.shape, each.role, each.strides)
                for each in self.spec.checked
            )
        )


def _memory(layout: Layout, sets: Sequence[Mapping[str, np.ndarray]]) -> int:
    descriptor = os.memfd_create("neutrino-test")
    os.ftruncate(descriptor, max(1, layout.stride * len(sets)))
    for number, arrays in enumerate(sets):
        for name, (offset, size) in layout.places.items():
            data = arrays[name].tobytes()
            assert len(data) == size, name
            os.pwrite(descriptor, data, number * layout.stride + offset)
    return descriptor


def doubled(n: int = 5000, sets: int = 6, seed: int = 1) -> Given:
    """y = 2 x in float32."""
    random = np.random.default_rng(seed)
    spec = CaseSpec("doubled", (Buffer("x", "float32", (n,)), Buffer("y", "float32", (n,), "output")))
    result = []
    for _ in range(sets):
        x = random.standard_normal(n).astype(np.float32)
        result.append(({"x": x}, {"y": 2 * x.astype(np.float64)}))
    return Given(spec, result, {}, {"y": "float64"})


HONEST = """
def bind(cuda, number, case, places):
    n = case.buffers[0].elements
    return lambda: cuda.twice(places["y"], places["x"], n)
"""


def timed(
    folder: Path,
    submission: str,
    *given: Given,
    samples: int = 5,
    environment: Mapping[str, str] | None = None,
) -> Timed:
    """Run `submission`, a program for child.py, on each case."""
    program = folder / "submission.py"
    program.write_text(textwrap.dedent(submission))
    with Inline([each.order() for each in given], samples) as inline:
        plan = msgspec.json.encode({"order": inline.order, "cases": [each.spec for each in given]})
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        result = subprocess.run(
            [sys.executable, "-m", "tests.unit.inline.child", DRIVER, str(program)],
            input=plan,
            capture_output=True,
            check=False,
            timeout=120,
            cwd=ROOT,
            pass_fds=inline.descriptors,
            env={**os.environ, "PYTHONPATH": path, **(environment or {})},
        )
        results = inline.results()
        for each in {fd for case in inline.order.cases for fd in (case.inputs, case.expected)}:
            os.close(each)
    return Timed(results, result.returncode, result.stdout.decode(), result.stderr.decode())
