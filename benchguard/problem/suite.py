"""The judge's interface to test cases, for all formats of problems (benchguard's, GPU MODE's, KernelBench's)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from .spec import CaseSpec, Tolerance
from .tree import Node

Array: TypeAlias = Any
"""numpy.ndarray (ml_dtypes for bfloat16 and float8) or torch.Tensor, on any device."""


class TestCase(Protocol):
    """One case. Methods raise ProblemError for the author's mistakes."""

    @property
    def name(self) -> str:
        """The specification's name, which is known before the specification, because that may run the reference."""
        ...

    @property
    def input_bytes(self) -> int:
        """Bytes of the inputs, by which a case is small or large. Does not run the reference."""
        ...

    @property
    def spec(self) -> CaseSpec: ...

    @property
    def outline(self) -> CaseSpec | None:
        """The specification as far as shapes tell, with "input" for the roles of inputs. None if only a run of the
        reference on data can tell, which may take minutes."""
        ...

    @property
    def tolerances(self) -> Mapping[str, Tolerance]:
        """Tolerances of the checked buffers."""
        ...

    @property
    def distributions(self) -> tuple[str, ...]:
        """Distributions for inputs, at least one; the first is the problem's own."""
        ...

    @property
    def own_verdict(self) -> bool:
        """Whether only `verify` decides, without comparison by elements."""
        ...

    @property
    def has_own_check(self) -> bool:
        """Whether `verify` or `verify_returned` may reject outputs; otherwise the judge does not call them."""
        ...

    def inputs(self, seed: int, distribution: str) -> dict[str, Array]:
        """The inputs, in the spec's shapes and dtypes. Values other than constants depend on the seed."""
        ...

    def expected(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """The expected outputs, in float64 if the problem allows, otherwise in any dtype. Does not change `inputs`."""
        ...

    def verify(
        self, inputs: Mapping[str, Array], expected: Mapping[str, Array], actual: Mapping[str, Array]
    ) -> str | None:
        """Why the problem's own test rejects the outputs, besides the tolerances or instead of them (`own_verdict`)."""
        ...


class ReturningCase(TestCase, Protocol):
    """A case whose submissions return results in memory, shapes and dtypes of their own choice (`spec.returns`)."""

    def verify_returned(
        self, inputs: Mapping[str, Array], tree: Node, actual: Mapping[str, Array]
    ) -> str | None:
        """Why the problem's own test rejects a returned value, whose tensors are `actual`."""
        ...


@dataclass(frozen=True)
class Suite:
    """An open problem. `convention` and `entry` are the defaults for calling a submission (quarantine/contract.py)."""

    name: str
    cases: tuple[TestCase, ...]
    convention: str = "arguments"
    entry: str = "solution"
    init: tuple[Any, ...] = ()
    """For a submission that is a class: the constructor's arguments by place, those by keyword, and the precision of
    its parameters, as JSON values."""

    tensors: bool = False
    """Whether the suite's own harness gives torch's tensors, so that submissions in Python get them."""

    files: Mapping[str, Path] = field(default_factory=dict)
    """Files of the problem, by name, that a submission may read or import."""

    ranking: str = ""
    """How the suite makes one score of the benchmarks' times: last, mean, geom; empty: it does not."""

    left_out: str = ""
    """Which cases of the suite are not among these, and why or how to get them, as a clause; empty: none."""

    perhaps_smallest: tuple[TestCase, ...] = ()
    """The cases that are not larger than another by their arguments, if the suite can tell; empty: it cannot."""

    @property
    def smallest(self) -> TestCase:
        """The case with the smallest inputs. To measure them may take long: the inputs may have to be drawn."""
        among = self.perhaps_smallest or self.cases
        return among[0] if len(among) == 1 else min(among, key=lambda case: case.input_bytes)
