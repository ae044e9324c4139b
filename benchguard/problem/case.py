"""A test case of a Problem: its specification, its inputs for a seed, and their expected outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from . import distributions
from .arguments import Output, arguments_of
from .arrays import Array, Numbers, cast, dtype_of, is_array, shape_of, to_numpy
from .author import Author
from .c_types import FLOATS
from .errors import ProblemError, blaming
from .near_zero import near_zero_reason
from .outputs import as_declared, outputs_of
from .problem import Problem, TestCaseDict
from .signature import Parameter
from .spec import ELEMENT_BYTES, Argument, Buffer, CaseSpec, Outline, Tolerance
from .tensara import Problem as TensaraProblem
from .tolerances import tolerance_of
from .turns import others_turn
from .without_data import FAILURES, on_meta, outlined, without_data
from .zeroed import with_zeros, zeros_of

MARK_ELEMENTS = 1 << 16
LENGTHS_MAX = 16
"""The largest number of dimensions whose lengths an outline gives."""


@dataclass(frozen=True)
class Template:
    """The inputs that the problem draws from its own, public seed.

    Numbers and constants are used in all sets. Other inputs leave only `marks`, which show whether a secret seed
    changes them. `zeroed` are the outputs that begin each call with zeros.
    """

    arguments: tuple[Argument, ...]
    values: tuple[Any, ...]
    marks: tuple[bytes | None, ...]
    extras: dict[str, Numbers]
    zeroed: tuple[Buffer, ...]


class ProblemCase:
    """A suite.TestCase of a Problem. The author's code runs when its results are first needed."""

    def __init__(
        self, author: Author, parameters: tuple[Parameter, ...], number: int, test_case: TestCaseDict
    ) -> None:
        self.author, self.parameters, self.number, self.test_case = author, parameters, number, test_case
        self.problem = author.problem
        self.name = str(test_case["name"])[:200]
        self.where = f"{author.path}: case {self.name!r}"
        self.has_own_check = type(self.problem).verify_result is not Problem.verify_result
        self._is_wide = self.problem.reference_dtype == "float64"
        self._says_dtype = any(
            "reference_dtype" in vars(each) for each in type(self.problem).__mro__[:-1] if each is not Problem
        )
        own = self.problem.own_verdict
        if own and not self.has_own_check:
            raise ProblemError(
                f"{self.where}: own_verdict is True, and nothing would decide without a verify_result; define "
                "verify_result, or leave own_verdict out"
            )
        self.own_verdict = self.has_own_check and self.problem.tolerances is None if own is None else own

    @property
    def input_bytes(self) -> int:
        draw = partial(self.author.create, self.number, None)
        inputs = outlined(draw) if self.problem.uses_torch() else draw()
        return sum(int(each.nbytes) for each in inputs if is_array(each))

    @cached_property
    def spec(self) -> CaseSpec:
        with blaming(self.author.path, "get_flops or get_bytes"):
            flops = self.problem.get_flops(self.test_case)
            moved = self.problem.get_bytes(self.test_case)
        return CaseSpec(
            self.name,
            self._template.arguments,
            params={
                key: str(value)
                for key, value in self.test_case.items()
                if key != "name" and isinstance(value, (bool, int, float, str, tuple))
            },
            flops=None if flops is None else int(flops),
            moved_bytes=None if moved is None else int(moved),
            ignores_returned=isinstance(self.problem, TensaraProblem),
            unseeded=tuple(each.name for each in self._template.zeroed),
        )

    @cached_property
    def outline(self) -> Outline | None:
        """From a run of the reference without data; its inputs have data if create_inputs needs it."""
        arguments = self._outlined() if self.problem.uses_torch() else self.spec.arguments
        return None if arguments is None else Outline(self.name, arguments, lengths=self._lengths(arguments))

    def _outlined(self) -> tuple[Argument, ...] | None:
        for context, makes_data in ((on_meta, False), (without_data, False), (without_data, True)):
            # An object of its own: a reference that fails without data may run in float64 with data.
            case = ProblemCase(self.author, self.parameters, self.number, self.test_case)
            with suppress(*FAILURES):
                values = self.author.create(self.number, None) if makes_data else None
                with context():
                    return case._arguments(values)
        return None

    def _lengths(self, arguments: Sequence[Argument]) -> dict[str, tuple[int, ...]]:
        """The content of arrays of a few integers among the extra parameters, which may be a shape."""
        extras = self.author.extras(self.test_case)
        return {
            each.name: tuple(map(int, to_numpy(value)))
            for each, value in zip(arguments[len(arguments) - len(extras) :], extras, strict=True)
            if isinstance(each, Buffer)
            and "int" in each.dtype
            and len(each.shape) == 1
            and each.shape[0] <= LENGTHS_MAX
        }

    def _arguments(self, values: Sequence[Any] | None) -> tuple[Argument, ...]:
        """The arguments of the call, whose inputs `values` gives, or create_inputs."""
        values = self.author.create(self.number, None) if values is None else values
        outputs, _ = self._outputs(values)
        extras = self.author.extras(self.test_case)
        return arguments_of(self.problem, self.where, self.parameters, values, outputs, extras)

    @cached_property
    def tolerances(self) -> Mapping[str, Tolerance]:
        with blaming(self.author.path, "get_tolerances"):
            tolerances = self.problem.get_tolerances(self.test_case)
        names = {each.name for each in self.spec.checked}
        if isinstance(tolerances, Mapping):
            unknown = tolerances.keys() - names - ELEMENT_BYTES.keys() - {"atol", "rtol"}
            if unknown:
                raise ProblemError(
                    f"{self.where}: tolerances has {sorted(map(str, unknown))}; give names of dtypes, or of the "
                    f"outputs {sorted(names)}"
                )
        with blaming(self.author.path, "tolerances"):
            return {each.name: tolerance_of(tolerances, each.name, each.dtype) for each in self.spec.checked}

    @cached_property
    def distributions(self) -> tuple[str, ...]:
        names = self.problem.distributions
        if names is None:
            return distributions.NAMES
        draws = type(self.problem).draw is not Problem.draw
        if isinstance(names, str) or not names or not (draws or set(names) <= set(distributions.NAMES)):
            raise ProblemError(
                f"{self.author.path}: distributions = {names!r}; give some of {', '.join(distributions.NAMES)}, or "
                "define draw(test_case, seed, distribution) for others"
            )
        return tuple(names)

    def inputs(self, seed: int, distribution: str) -> dict[str, Array]:
        raw_values = self.author.draw(self.test_case, seed, distribution)
        if raw_values is not None:
            return self._named(self._checked(raw_values, "draw"))
        if distribution not in distributions.NAMES:
            raise ProblemError(
                f"{self.where}: draw returned nothing for the distribution {distribution!r}; return inputs"
            )
        values = self._checked(self.author.create(self.number, seed), "create_inputs")
        varies = False
        for place, mark in enumerate(self._template.marks):
            if mark is None:
                continue
            name, known = self._template.arguments[place].name, _mark_of(values[place]) == mark
            if known:
                values[place] = distributions.fresh(to_numpy(values[place]), seed, name)
            elif distribution != distributions.OWN:
                values[place] = distributions.transformed(to_numpy(values[place]), distribution, seed, name)
            varies = varies or not known or 0 in values[place].shape or _mark_of(values[place]) != mark
        if not varies and any(mark is not None for mark in self._template.marks):
            raise ProblemError(
                f"{self.where}: its inputs do not depend on the seed, and all values of each are equal; draw "
                "them from Problem.get_seed, or define draw(test_case, seed, distribution)"
            )
        return self._named(values)

    def expected(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        checked = self.spec.checked
        results = self._reference(self._given(inputs))
        if len(results) != len(checked):
            raise ProblemError(
                f"{self.where}: reference_solution gave {len(results)} outputs, not the {len(checked)} that are "
                f"checked ({', '.join(each.name for each in checked)}); return all of them"
            )
        return {
            each.name: as_declared(result, each, self.where)
            for each, result in zip(checked, results, strict=True)
        }

    def verify(
        self, inputs: Mapping[str, Array], expected: Mapping[str, Array], actual: Mapping[str, Array]
    ) -> str | None:
        """Compare with the float64 reference by verify_result, and if that rejects the outputs, with the reference in
        the kernel's precision, as Tensara's harness does."""
        if not self.has_own_check:
            return None
        checked = self.spec.checked
        outputs = [actual[each.name] for each in checked]
        with others_turn():
            targets = self.author.on_device([cast(expected[each.name], each.dtype) for each in checked])
            given = self.author.on_device(outputs)
        reason = self._reason(targets, given)
        if reason is not None and self._is_wide and self._reason(self._rounded(inputs), given) is None:
            reason = None
        if reason is None and self._accepts(targets, [zeros_of(each) for each in checked]):
            wide = [expected[each.name] for each in checked]
            return near_zero_reason(checked, wide, outputs, lambda: self._rounded(inputs))
        return reason

    @cached_property
    def default_tolerances(self) -> frozenset[str]:
        """The outputs whose tolerance the problem leaves to the defaults."""
        given = self.problem.get_tolerances(self.test_case)
        by_name = isinstance(given, Mapping) and not given.keys() <= {"atol", "rtol"}
        return frozenset(
            each.name
            for each in self.spec.checked
            if given is None or (by_name and each.name not in given and each.dtype not in given)
        )

    def native(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """The reference's outputs in the kernel's precision; empty if it does not run in it, or in no other."""
        if not self._is_wide:
            return {}
        try:
            results = self._rounded(inputs)
        except ProblemError:
            return {}
        return {each.name: result for each, result in zip(self.spec.checked, results, strict=True)}

    def _rounded(self, inputs: Mapping[str, Array]) -> list[Array]:
        """The reference's results in the kernel's precision."""
        own = self._reference(self._given(inputs), wide=False)
        return [
            cast(as_declared(result, each, self.where), each.dtype)
            for result, each in zip(own, self.spec.checked, strict=True)
        ]

    def _reason(self, expected: Sequence[Array], outputs: Sequence[Array]) -> str | None:
        """Why verify_result rejects outputs. An exception is a reason, too, unless right outputs lead to one: an output
        may be an index beyond its array, or an enormous number of bins. Raises ProblemError."""
        try:
            return self.author.verify(expected, outputs)
        except ProblemError as error:
            self.author.verify(expected, expected)
            return str(error)

    def _accepts(self, expected: Sequence[Array], outputs: Sequence[Array]) -> bool:
        """Whether verify_result accepts outputs."""
        try:
            return self.author.verify(expected, outputs) is None
        except ProblemError:  # a mistake is reported when outputs are compared
            return False

    def _given(self, inputs: Mapping[str, Array]) -> list[Any]:
        """The reference's arguments."""
        return [
            inputs[each.name] if isinstance(each, Buffer) else each.value
            for each in self._template.arguments[: len(self._template.values)]
        ]

    @cached_property
    def _template(self) -> Template:
        values = self.author.create(self.number, None)
        extras = self.author.extras(self.test_case)
        outputs, results = self._outputs(values)
        arguments = arguments_of(self.problem, self.where, self.parameters, values, outputs, extras)
        if self.problem.zero_outputs:
            results = results or self._reference(values)
            arguments = with_zeros(arguments, lambda checked: self._rejects(checked, values, results))
        marks = [
            _mark_of(value) if isinstance(each, Buffer) and each.role != "constant" else None
            for each, value in zip(arguments, values, strict=False)
        ]
        return Template(
            arguments,
            tuple(value if mark is None else None for value, mark in zip(values, marks, strict=True)),
            tuple(marks),
            {
                each.name: to_numpy(value)
                for each, value in zip(arguments[len(arguments) - len(extras) :], extras, strict=True)
                if isinstance(each, Buffer)
            },
            tuple(
                each for each in arguments[len(values) :] if isinstance(each, Buffer) and each.role == "inout"
            ),
        )

    def _rejects(self, checked: Sequence[Buffer], inputs: Sequence[Any], results: Sequence[Array]) -> bool:
        """Whether verify_result rejects outputs that no call has touched: zeros, and the inputs in place."""
        given = {each.name: value for each, value in zip(self.parameters, inputs, strict=False)}
        untouched = [given[each.name] if each.name in given else zeros_of(each) for each in checked]
        try:
            expected = [
                cast(as_declared(result, each, self.where), each.dtype)
                for result, each in zip(results, checked, strict=False)
            ]
        except ProblemError:  # a mistake is reported when outputs are compared
            return True
        return not self._accepts(expected, untouched)

    def _outputs(self, values: Sequence[Any]) -> tuple[list[Output], list[Array]]:
        """Shapes and dtypes of the outputs that are not in place: from get_outputs, or from a run of the reference.

        The second value has the results of that run.
        """
        with blaming(self.author.path, "get_outputs"):
            outputs = self.problem.get_outputs(self.test_case)
        if outputs is not None:
            return outputs_of(outputs, self.where), []
        skipped = len(self.problem.inplace)
        every = self._reference(values)
        results = every[skipped:]
        declared = self.parameters[len(values) : len(values) + len(results)]
        wide = self._is_wide
        if wide and any(
            dtype_of(result) in FLOATS and not each.type.is_float
            for result, each in zip(results, declared, strict=False)
        ):  # C has no name for its dtype, so only a native run tells it
            every, wide = self._reference(values, wide=False), False
            results = every[skipped:]
        return [
            (shape_of(each), None if wide and dtype_of(each) in FLOATS else dtype_of(each))
            for each in results
        ], every

    def _reference(self, inputs: Sequence[Any], *, wide: bool | None = None) -> list[Array]:
        names = [each.name for each in self.parameters]
        inplace = [names.index(name) for name in self.problem.inplace if name in names[: len(inputs)]]
        wide = self._is_wide if wide is None else wide
        try:
            return self.author.reference(inputs, inplace, wide=wide)
        except ProblemError:
            if not wide or self._says_dtype:
                raise
            self._is_wide = False  # as of a reference that creates float32 tensors of its own
            return self.author.reference(inputs, inplace, wide=False)

    def _checked(self, values: list[Any], maker: str) -> list[Any]:
        """Check shapes and dtypes against the specification."""
        actual = [f"{dtype_of(v)}{list(shape_of(v))}" if is_array(v) else "number" for v in values]
        specified = [
            f"{a.dtype}{list(a.shape)}" if isinstance(a, Buffer) else "number"
            for a in self._template.arguments[: len(self._template.values)]
        ]
        if actual != specified:
            raise ProblemError(
                f"{self.where}: {maker} gave {', '.join(specified)} for one seed and {', '.join(actual)} for another; "
                "shapes and dtypes may not depend on it"
            )
        return values

    def _named(self, values: Sequence[Any]) -> dict[str, Array]:
        """Values by name, with zeros for the zeroed outputs. Constants are always the template's."""
        template = self._template
        arrays = {
            each.name: value if mark is not None else own
            for each, value, own, mark in zip(
                template.arguments, values, template.values, template.marks, strict=False
            )
            if isinstance(each, Buffer)
        }
        return arrays | template.extras | {each.name: zeros_of(each) for each in template.zeroed}


def _mark_of(array: Array) -> bytes:
    """Bytes of evenly spread elements. Arrays with different marks differ."""
    flat = to_numpy(array.reshape(-1)[:: max(1, int(np.prod(shape_of(array))) // MARK_ELEMENTS)])
    return flat.tobytes()
