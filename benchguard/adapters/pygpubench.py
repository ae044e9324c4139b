"""pygpubench's tests: a function that makes a test case (https://github.com/gpu-mode/pygpubench).

    def generate_test_case(*, seed, **arguments):
        ...
        return (output, *inputs), (expected, rtol, atol)        # or (expected,), or expected: to the bit

The submission is a function kernel(output, *inputs). The order of the tolerances is that of pygpubench's code,
relative before absolute; its documentation has it the other way round. pygpubench lets an element pass if either bound
holds, and takes an expected NaN for "anything"; here, as everywhere in this package, |actual - expected| <= absolute +
relative * |expected|, and an expected NaN wants a NaN.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import UsageError
from ..problem.arrays import Array, is_array
from ..problem.errors import ProblemError, blaming
from ..problem.seeding import generator, seeded
from ..problem.spec import Argument, Buffer, CaseSpec, Tolerance
from ..problem.suite import Suite
from ..problem.tolerances import EXACT
from .calling import PYGPUBENCH_ENTRY
from .host import device_for, running_on
from .modules import TaskModules
from .options import known
from .reference import ToleranceCase
from .values import argument_of, described

OPTIONS = {"device": "auto", "arguments": "{}"}
"""Where the generator runs; its arguments as JSON, {"size": 1024}."""


def load(spec: str, options: Mapping[str, str]) -> Suite:
    settings = known(options, OPTIONS, "pygpubench")
    try:
        arguments = json.loads(settings["arguments"])
    except ValueError as error:
        raise UsageError(
            f'arguments are not valid JSON ({error}); give an object, {{"size": 1024}}'
        ) from error
    if not isinstance(arguments, dict) or "seed" in arguments:
        raise UsageError('arguments have to be a JSON object without seed, which is secret: {"size": 1024}')
    path, name = function_of(spec)
    modules = TaskModules.of(path, _aliases())
    function = getattr(modules.load(path.stem), name, None)
    if not callable(function):
        raise ProblemError(f"{path}: has no function {name}; define it, or name another as PATH:FUNCTION")
    test = PygpubenchTest(path, modules, device_for(settings["device"]), function, arguments)
    return Suite(
        f"{path.stem}.{name}", (PygpubenchCase(test),), "output_first", PYGPUBENCH_ENTRY, tensors=True
    )


def function_of(spec: str) -> tuple[Path, str]:
    """The file of PATH:FUNCTION or MODULE.FUNCTION, and the function. Raises UsageError."""
    place, colon, name = spec.rpartition(":")
    if not colon and Path(spec).is_file():
        raise UsageError(f"{spec} names no function; give that of the test generator, as {spec}:FUNCTION")
    if not colon:
        place, _, name = spec.rpartition(".")
        try:
            module_spec = importlib.util.find_spec(place) if place and name != "py" else None
        except (ImportError, ValueError):
            module_spec = None
        place = module_spec.origin if module_spec is not None and module_spec.origin else ""
    path = Path(place or spec)
    if not name.isidentifier() or not path.is_file() or path.suffix != ".py":
        raise UsageError(f"no such test generator: {spec}; give PATH:FUNCTION, or MODULE.FUNCTION")
    return path.resolve(), name


@dataclass(frozen=True)
class PygpubenchTest:
    path: Path
    modules: TaskModules
    device: str
    function: Callable[..., Any]
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Made:
    values: list[Any]
    """Argument names: the output, then the inputs."""
    expected: Any
    tolerance: Tolerance


class _Inputs(dict[str, Array]):
    """Inputs and expected outputs of a test case, which its generator computes together."""

    expected: Any


class PygpubenchCase(ToleranceCase):
    """A suite.TestCase: the only case that a generator makes from its arguments."""

    distributions: tuple[str, ...] = ("own",)

    def __init__(self, test: PygpubenchTest) -> None:
        self.test = test
        self.where = str(test.path)
        self.name = test.function.__name__[:200]

    @cached_property
    def spec(self) -> CaseSpec:
        output, *inputs = self._first.values
        if not is_array(output):
            raise ProblemError(f"{self.where}: the first value of a test case is the output; give a tensor")
        arguments: list[Argument] = [argument_of("output", output, "output", self.where)]
        arguments += [
            argument_of(f"input{number}", value, "input", self.where) for number, value in enumerate(inputs)
        ]
        params = {name: str(value) for name, value in self.test.arguments.items()}
        return CaseSpec(self.name, tuple(arguments), params, ignores_returned=True)

    @cached_property
    def tolerances(self) -> Mapping[str, Tolerance]:
        return {"output": self._first.tolerance}

    def inputs(self, seed: int, distribution: str) -> dict[str, Array]:
        del distribution
        case = self._make(seed)
        if described(case.values) != described(self._first.values):
            raise ProblemError(
                f"{self.where}: the generator gives {', '.join(described(self._first.values))} for one seed and "
                f"{', '.join(described(case.values))} for another; shapes, dtypes and numbers may not depend on it"
            )
        arrays = _Inputs(
            (argument.name, value)
            for argument, value in zip(self.spec.arguments, case.values, strict=True)
            if isinstance(argument, Buffer) and argument.is_read
        )
        arrays.expected = case.expected
        return arrays

    def expected(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        if not isinstance(inputs, _Inputs):
            raise ProblemError(f"{self.where}: a generator has expected outputs for its own inputs only")
        return {"output": inputs.expected}

    @cached_property
    def _first(self) -> Made:
        return self._make(0)

    def _make(self, secret: int) -> Made:
        test = self.test
        seed = int(generator(secret, "seed").integers(1 << 31))
        doing = f"{test.function.__name__}(seed=...)"
        with test.modules.active(), running_on(test.device), blaming(test.path, doing), seeded(secret):
            case = test.function(seed=seed, **test.arguments)
        if (
            not isinstance(case, tuple)
            or len(case) != 2
            or not isinstance(case[0], (tuple, list))
            or not case[0]
        ):
            raise ProblemError(
                f"{self.where}: {doing} has to return (output, *inputs), (expected, rtol, atol)"
            )
        return Made(list(case[0]), *self._expectation(case[1]))

    def _expectation(self, value: Any) -> tuple[Any, Tolerance]:
        whole = value if isinstance(value, (tuple, list)) else (value,)
        if len(whole) not in (1, 3) or not is_array(whole[0]):
            raise ProblemError(
                f"{self.where}: the expected value must be a tensor or (tensor, rtol, atol); it has {len(whole)} items"
            )
        if len(whole) == 1:
            return whole[0], EXACT
        try:
            return whole[0], Tolerance(atol=float(whole[2]), rtol=float(whole[1]))
        except (TypeError, ValueError):
            raise ProblemError(f"{self.where}: the tolerances {whole[1:]!r} are not numbers") from None


def _aliases() -> dict[str, ModuleType]:
    """Let a test's file import pygpubench for its main part; if that is missing, this package replaces it."""
    missing = importlib.util.find_spec("pygpubench") is None
    return {"pygpubench": importlib.import_module("benchguard")} if missing else {}
