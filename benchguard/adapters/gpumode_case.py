"""A case of a GPU MODE task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..ipc.text import one_line
from ..problem import distributions as variants
from ..problem.arrays import NUMPY_DTYPES, Array, is_torch, to_numpy, to_torch
from ..problem.errors import ProblemError, blaming
from ..problem.seeding import generator, seeded
from ..problem.spec import Argument, Buffer, CaseSpec, Role, Tolerance
from .host import running_on, torch_module
from .modules import TaskModules
from .values import argument_of, described, same_memory, tolerance_of


@dataclass(frozen=True)
class Task:
    """The imported reference.py. `device` is torch's name of the device on which it runs."""

    path: Path
    modules: TaskModules
    device: str
    generate: Callable[..., Any]
    reference: Callable[..., Any]
    check: Callable[..., Any]

    def call(self, function: Callable[..., Any], *values: Any, **named: Any) -> Any:
        """Call a function of the task. Its exceptions become ProblemError."""
        name = getattr(function, "__name__", "it")
        with self.modules.active(), running_on(self.device), blaming(self.path, name):
            return function(*values, **named)


@dataclass(frozen=True)
class Template:
    """The structure of `data` and of `output`.

    `names` has an argument for each value of `data`, in order; `bare`: data is a single value instead of a tuple.
    `results` are the values that the reference returns, in order; `single`: it returns one value instead of a tuple.
    """

    arguments: tuple[Argument, ...]
    names: tuple[str, ...]
    bare: bool
    results: tuple[str, ...]
    single: bool
    descriptions: tuple[str, ...]

    @property
    def convention(self) -> str:
        if self.bare:
            return "input"
        return "tuple_of_inputs" if len(self.names) < len(self.arguments) else "tuple"


class GpuModeCase:
    """A suite.TestCase. Its inputs are drawn once with the file's seed, to find their structure."""

    own_verdict = True

    def __init__(
        self, task: Task, name: str, arguments: Mapping[str, Any], distributions: tuple[str, ...]
    ) -> None:
        self.task, self.name, self.arguments, self.distributions = task, name, dict(arguments), distributions
        self.where = f"{task.path}: case {name}"

    @cached_property
    def spec(self) -> CaseSpec:
        params = {name: str(value) for name, value in self.arguments.items()}
        return CaseSpec(self.name, self._template.arguments, params)

    @cached_property
    def tolerances(self) -> Mapping[str, Tolerance]:
        """The dtypes' defaults. They decide nothing, because check_implementation does."""
        return {each.name: tolerance_of(None, each.name, each.dtype) for each in self.spec.checked}

    @property
    def convention(self) -> str:
        return self._template.convention

    def inputs(self, seed: int, distribution: str) -> dict[str, Array]:
        template = self._template
        values, _ = self._draw(seed)
        if tuple(described(values)) != template.descriptions:
            raise ProblemError(
                f"{self.where}: generate_input gives {', '.join(template.descriptions)} for one seed and "
                f"{', '.join(described(values))} for another; shapes, dtypes and numbers may not depend on it"
            )
        read = {each.name for each in self.spec.read}
        arrays = {name: value for name, value in zip(template.names, values, strict=True) if name in read}
        if distribution != variants.OWN:
            for name, value in arrays.items():
                arrays[name] = variants.transformed(to_numpy(value), distribution, seed, name)
        return arrays

    def expected(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        data = self._values(inputs)
        returned = self.task.call(self.task.reference, self._data(data))
        if returned is None:
            return {name: data[self._template.names.index(name)] for name in self._template.results}
        results = _listed(returned)
        if len(results) != len(self._template.results):
            raise ProblemError(
                f"{self.where}: ref_kernel returned {len(self._template.results)} values for one seed and "
                f"{len(results)} for another"
            )
        return dict(zip(self._template.results, results, strict=True))

    def verify(
        self, inputs: Mapping[str, Array], expected: Mapping[str, Array], actual: Mapping[str, Array]
    ) -> str | None:
        del expected  # check_implementation computes its own
        outputs = [to_torch(actual[name], self.task.device) for name in self._template.results]
        output = outputs[0] if self._template.single else tuple(outputs)
        return _reason(self.task.call(self.task.check, self._data(self._values(inputs)), output))

    def _draw(self, secret: int | None) -> tuple[list[Any], bool]:
        """The values of data, and whether data is a single value."""
        arguments = dict(self.arguments)
        if secret is not None and "seed" in arguments:
            arguments["seed"] = int(generator(secret, "seed").integers(1 << 31))
        with seeded(secret):
            data = self.task.call(self.task.generate, **arguments)
        return (list(data), False) if isinstance(data, (tuple, list)) else ([data], True)

    def _values(self, inputs: Mapping[str, Array]) -> list[Any]:
        """Values for data: copies of inputs, numbers, and memory for outputs."""
        arguments = {each.name: each for each in self._template.arguments}
        return [self._value(arguments[name], inputs) for name in self._template.names]

    def _value(self, argument: Argument, inputs: Mapping[str, Array]) -> Any:
        if not isinstance(argument, Buffer):
            return bool(argument.value) if argument.ctype == "bool" else argument.value
        if argument.is_read:
            return to_torch(inputs[argument.name], self.task.device)
        return to_torch(np.zeros(argument.shape, NUMPY_DTYPES[argument.dtype]), self.task.device)

    def _data(self, values: Sequence[Any]) -> Any:
        return values[0] if self._template.bare else tuple(values)

    @cached_property
    def _template(self) -> Template:
        values, bare = self._draw(None)
        for place, value in enumerate(values):  # before the reference fails of what cannot be graded anyway
            argument_of(f"value {place} of data", value, "input", self.where)
        first = self._run(values, bare)
        roles: list[Role] = ["input"] * len(values)
        for place in first.written:
            again = self._run([_other(v) if i == place else v for i, v in enumerate(values)], bare)
            roles[place] = "output" if again.bytes == first.bytes else "inout"
        names = tuple(f"{role}{place}" for place, role in enumerate(roles))
        arguments = [
            argument_of(name, value, role, self.where)
            for name, value, role in zip(names, values, roles, strict=True)
        ]
        self._check(roles, first)
        results = tuple(
            f"returned{number}" if place is None else names[place]
            for number, place in enumerate(first.places)
        )
        arguments += [
            argument_of(name, result, "output", self.where)
            for name, place, result in zip(results, first.places, first.results, strict=True)
            if place is None
        ]
        return Template(tuple(arguments), names, bare, results, first.single, tuple(described(values)))

    def _check(self, roles: Sequence[Role], run: _Run) -> None:
        """The structure of a task. Raises ProblemError if no convention fits."""
        outputs = [place for place, role in enumerate(roles) if role == "output"]
        if not run.results:
            raise ProblemError(
                f"{self.where}: ref_kernel returns nothing and changes nothing; return the output"
            )
        if len(set(map(id, run.results))) < len(run.results):
            raise ProblemError(f"{self.where}: ref_kernel returns one tensor twice; return each output once")
        if outputs and outputs != list(range(outputs[0], len(roles))):
            raise ProblemError(
                f"{self.where}: value {outputs[0]} of data is an output, and inputs come after it; put outputs last"
            )
        if outputs and None in run.places:
            raise ProblemError(
                f"{self.where}: ref_kernel writes some outputs to data and returns others; do one of both"
            )

    def _run(self, values: Sequence[Any], bare: bool) -> _Run:
        """Call the reference on copies of the values."""
        copies = [each.clone() if is_torch(each) else each for each in values]
        returned = self.task.call(self.task.reference, copies[0] if bare else tuple(copies))
        if returned is None:
            places: list[int | None] = [
                place
                for place, (before, after) in enumerate(zip(values, copies, strict=True))
                if is_torch(after) and _bytes(before) != _bytes(after)
            ]
            results = [copies[place] for place in places if place is not None]
            return _Run(results, tuple(places), len(results) == 1, tuple(map(_bytes, results)))
        results = _listed(returned)
        for each in results:
            if not is_torch(each):
                raise ProblemError(
                    f"{self.where}: ref_kernel returned a {type(each).__name__}; return tensors, in no deeper structure"
                )
        places = [
            next((i for i, copy in enumerate(copies) if is_torch(copy) and same_memory(copy, each)), None)
            for each in results
        ]
        single = not isinstance(returned, (tuple, list))
        return _Run(results, tuple(places), single, tuple(map(_bytes, results)))


@dataclass(frozen=True)
class _Run:
    """Results of the reference. `places`: the place in data of each result; None: separate memory."""

    results: list[Any]
    places: tuple[int | None, ...]
    single: bool
    bytes: tuple[bytes, ...]

    @property
    def written(self) -> tuple[int, ...]:
        return tuple(place for place in self.places if place is not None)


def _listed(returned: Any) -> list[Any]:
    return list(returned) if isinstance(returned, (tuple, list)) else [returned]


def _bytes(tensor: Any) -> bytes:
    return to_numpy(tensor).tobytes()


def _other(tensor: Any) -> Any:
    """A tensor of other values, to find out which results depend on it."""
    if tensor.is_floating_point():
        return torch_module().full(tensor.shape, float("nan"), device=tensor.device).to(tensor.dtype)
    return tensor.logical_not() if tensor.dtype == torch_module().bool else tensor ^ 1


def _reason(answer: Any) -> str | None:
    """The reason for rejection in a result of check_implementation: a bool, (bool, text), or text, empty if right."""
    words: object = ""
    good = answer
    if isinstance(answer, tuple) and len(answer) == 2:
        good, words = answer
    elif isinstance(answer, (str, list)):
        good, words = not answer, answer
    if bool(good):
        return None
    text = "\n".join(map(str, words)) if isinstance(words, list) else str(words)
    return f"check_implementation: {one_line(text) or 'no reason given'}"
