"""Base classes of cases whose outputs are compared with expected outputs, element by element."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from ..problem.arrays import Array
from ..problem.errors import ProblemError
from ..problem.spec import CaseSpec
from ..problem.tree import Node
from .tf32 import tf32_operators


class ToleranceCase(ABC):
    """A suite.TestCase without a test of its own: the tolerances decide."""

    own_verdict = has_own_check = False

    @property
    @abstractmethod
    def spec(self) -> CaseSpec: ...

    @property
    def outline(self) -> CaseSpec:
        return self.spec

    @property
    def input_bytes(self) -> int:
        return sum(each.bytes for each in self.spec.read)

    def verify(
        self, inputs: Mapping[str, Array], expected: Mapping[str, Array], actual: Mapping[str, Array]
    ) -> str | None:
        del inputs, expected, actual
        return None

    def verify_returned(
        self, inputs: Mapping[str, Array], tree: Node, actual: Mapping[str, Array]
    ) -> str | None:
        del inputs, tree, actual
        return None


class WideCase(ToleranceCase):
    """A case whose reference runs in float64 where it can.

    A reference that asserts float32, or that creates float32 tensors itself, fails in float64. It then runs in the
    submission's precision, for all input sets.
    """

    computes_in_tf32: ClassVar[bool] = False
    """Whether the suite's own harness runs the reference on a GPU with torch's defaults, which allow TF32."""

    _runs_wide = True  # until it fails
    _rounds = True  # until a run has no operator that computes in TF32

    @abstractmethod
    def results(self, inputs: Mapping[str, Array], wide: bool) -> dict[str, Array]:
        """The reference's outputs: in float64, or in the submission's precision. Raises ProblemError."""

    def expected(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        if self._runs_wide:
            try:
                return self.results(inputs, wide=True)
            except ProblemError:
                self._runs_wide = False
        return self.results(inputs, wide=False)

    def baseline(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """The reference's outputs in the submission's precision; empty if `expected` gives these.

        Operands are rounded until a run of the reference has none to round, because that makes each operator slower.
        """
        if not self.computes_in_tf32 or not self._rounds:
            return self.results(inputs, wide=False) if self._runs_wide else {}
        with tf32_operators() as mode:
            results = self.results(inputs, wide=False)
        self._rounds = mode.rounded > 0
        return results if self._runs_wide or self._rounds else {}
