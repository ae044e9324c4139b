"""Test cases with their code: what the judge asks, whoever wrote the problem (ours, GPU MODE's, KernelBench's)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from .spec import CaseSpec, Tolerance

Array: TypeAlias = Any
"""numpy.ndarray (ml_dtypes for bfloat16 and float8) or torch.Tensor, on any device."""


class TestCase(Protocol):
    """One case. Raises ProblemError for what its author wrote wrong."""

    @property
    def name(self) -> str:
        """Its specification's: known before that is, which may take a run of the reference."""
        ...

    @property
    def spec(self) -> CaseSpec: ...

    @property
    def tolerances(self) -> Mapping[str, Tolerance]:
        """By checked buffer."""
        ...

    @property
    def distributions(self) -> tuple[str, ...]:
        """That inputs may be drawn from, at least one; the first is the problem's own."""
        ...

    @property
    def own_verdict(self) -> bool:
        """Whether `verify` alone decides: the problem does not compare element by element."""
        ...

    def inputs(self, seed: int, distribution: str) -> dict[str, Array]:
        """The buffers that are read, of the spec's shapes and dtypes; another seed, other values. Constants do not
        depend on it."""
        ...

    def expected(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """The checked buffers, in float64 where the problem allows, else in any dtype; `inputs` are left as they
        are."""
        ...

    def verify(
        self, inputs: Mapping[str, Array], expected: Mapping[str, Array], actual: Mapping[str, Array]
    ) -> str | None:
        """The problem's own test, beside the tolerances or instead of them (`own_verdict`): why it is wrong."""
        ...


@dataclass(frozen=True)
class Suite:
    """A problem, opened. `convention` and `entry` are how a submission to it is called unless it is told otherwise
    (quarantine/contract.py)."""

    name: str
    cases: tuple[TestCase, ...]
    convention: str = "arguments"
    entry: str = "solution"
    init: tuple[Any, ...] = ()
    """What a submission that is a class is built with: what JSON can hold."""
