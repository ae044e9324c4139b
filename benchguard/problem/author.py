"""Call the methods of a Problem's author. Exceptions become messages that name the method and its line."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..ipc.text import one_line
from .arrays import Array, copied, dtype_of, is_array, to_numpy, to_torch
from .errors import ProblemError, blaming
from .lost_numbers import watched
from .on_cpu import on_cpu
from .problem import Problem, TestCaseDict
from .seeding import CheckSeeds, seeded
from .spec import DType
from .turns import others_turn


@dataclass(frozen=True)
class Author:
    """An author's problem.

    `path` is its file, `device` torch's name of the device for references, and `dtype` the argument for problems in the
    seed form. `sample`: use only the case of generate_sample.
    """

    problem: Problem
    path: Path
    device: str = "cpu"
    dtype: DType = "float32"
    sample: bool = False
    check_seeds: CheckSeeds = field(default_factory=CheckSeeds)

    def test_cases(self) -> list[TestCaseDict]:
        maker = self.problem.generate_sample if self.sample else self.problem.generate_test_cases
        with blaming(self.path, maker.__name__), seeded(None), self._in_torch():
            return self._cases_of(maker)

    def create(self, number: int, secret: int | None) -> list[Any]:
        """The result of create_inputs. Test cases are made again, because Tensara's take their seed then."""
        maker = self.problem.generate_sample if self.sample else self.problem.generate_test_cases
        with blaming(self.path, "create_inputs"), seeded(secret), self._in_torch():
            inputs = self._cases_of(maker)[number]["create_inputs"]()
        return listed(inputs)

    def draw(self, test_case: TestCaseDict, seed: int, distribution: str) -> list[Any] | None:
        with blaming(self.path, "draw"), seeded(seed), self._in_torch():
            inputs = self.problem.draw(test_case, seed, distribution)
        return None if inputs is None else listed(inputs)

    def extras(self, test_case: TestCaseDict) -> list[Any]:
        """The result of get_extra_params."""
        with blaming(self.path, "get_extra_params"), self._in_torch():
            return list(self.problem.get_extra_params(test_case))

    def reference(self, inputs: Sequence[Any], inplace: Sequence[int], *, wide: bool) -> list[Array]:
        """The outputs of the reference, which gets copies of the inputs, with floats in float64 if `wide`.

        If it returns None, the outputs are the inputs at the places `inplace`.
        """
        in_torch = self.problem.uses_torch()
        arguments = [
            copied(to_torch(each, self.device) if in_torch else to_numpy(each), wide=wide)
            if is_array(each)
            else each
            for each in inputs
        ]
        doing = "reference_solution"
        doing += " on float64 (reference_dtype = 'native' gives it what kernels get)" if wide else ""
        with blaming(self.path, doing), np.errstate(all="ignore"), self._in_torch():
            result = self.problem.reference_solution(*arguments)
        results = [arguments[place] for place in inplace] if result is None else listed(result)
        if not results:
            raise ProblemError(f"{self.path}: reference_solution returned nothing; return the output")
        return [self._output(each, place) for place, each in enumerate(results)]

    def verify(self, expected: Sequence[Array], actual: Sequence[Array]) -> str | None:
        """The reason why verify_result rejects the outputs; None if it accepts them."""
        takes = len(inspect.signature(self.problem.verify_result).parameters)
        dtype = [self.problem.library_dtype(self.dtype)] if takes > 2 else []

        def check(outputs: Sequence[Array]) -> str | None:
            with others_turn():
                arrays = self._theirs(expected), self._theirs(outputs)
            with self._in_torch():
                right, details = self.problem.verify_result(*arrays, *dtype)
            return None if bool(right) else f"verify_result: {one_line(str(details)) or 'no reason given'}"

        with blaming(self.path, "verify_result"):
            return self.check_seeds.ask(check, lambda: actual, lambda: expected)

    def on_device(self, arrays: Sequence[Array]) -> list[Array]:
        """The arrays for several calls of verify(): on the device for references, if that is a GPU."""
        if self.device == "cpu" or not self.problem.uses_torch():
            return list(arrays)
        with blaming(self.path, "the copy of outputs to the GPU"):
            return [to_torch(each, self.device) for each in arrays]

    def _theirs(self, arrays: Sequence[Array]) -> Any:
        """A single output, or a tuple of several, as arrays of the problem's library."""
        in_torch = self.problem.uses_torch()
        converted = tuple(
            to_torch(each, self.device) if in_torch else watched(to_numpy(each)) for each in arrays
        )
        return converted[0] if len(converted) == 1 else converted

    @contextmanager
    def _in_torch(self) -> Iterator[None]:
        """Turn off gradients, and compute on the device for references."""
        if not self.problem.uses_torch():
            yield
            return
        with sys.modules["torch"].no_grad(), on_cpu() if self.device == "cpu" else nullcontext():
            yield

    def _cases_of(self, maker: Any) -> list[TestCaseDict]:
        """The list of test cases. Methods of the seed form take a dtype. Raises ProblemError for other results."""
        needed = [
            p for p in inspect.signature(maker).parameters.values() if p.kind == p.POSITIONAL_OR_KEYWORD
        ]
        cases = maker(*([self.problem.library_dtype(self.dtype)] if needed else []))
        cases = [cases] if isinstance(cases, Mapping) else cases
        if not isinstance(cases, (list, tuple)) or not cases:
            raise ProblemError(
                f"{self.path}: {maker.__name__} gave no test case; return a list of at least one"
            )
        for each in cases:
            if not isinstance(each, Mapping) or not callable(each.get("create_inputs")) or "name" not in each:
                raise ProblemError(
                    f"{self.path}: {maker.__name__} gave {one_line(str(each), 80)}; a test case is "
                    "{'name': ..., 'create_inputs': a callable, ...}"
                )
        return [dict(each) for each in cases]

    def _output(self, result: Any, place: int) -> Array:
        if isinstance(result, (int, float)):
            return np.asarray(result)
        if not is_array(result):
            raise ProblemError(
                f"{self.path}: output {place} of reference_solution is a {type(result).__name__}; return arrays"
            )
        try:
            dtype_of(result)
        except TypeError as error:
            raise ProblemError(f"{self.path}: output {place} of reference_solution is {error}") from None
        return result


def listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value]
