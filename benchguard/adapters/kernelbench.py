"""KernelBench's problems: a file with Model, get_inputs and get_init_inputs (https://github.com/ScalingIntelligence).

The submission is a class ModelNew, built as ModelNew(*get_init_inputs()) and called as its forward(*get_inputs()).

Weights are constant, as in KernelBench. It sets torch's seed to 42 before it builds Model and again before
it builds ModelNew, so that both draw the same weights, and never draws others. We do the same: Model is built here, in
the judge, and ModelNew in the quarantine, under that seed. So weights are not inputs; they are a part of what was
recorded, and what a submission computes from them when it is built (a transposed copy, say) costs it nothing, as it
does not in KernelBench. The tensors of get_inputs are fresh for every set. A ModelNew that draws its parameters in
another order has other weights, and its outputs are wrong: with weights=given Model's parameters and buffers are
written into those of the same names of ModelNew, as constants of the problem.

The reference runs in float64 where the model can, and an output is right by KernelBench's own tolerances, 1e-4 for
float32 and 1e-2 for halves, but relative to what is expected, not to what came out.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..problem import distributions as variants
from ..problem.arrays import Array, is_torch, to_numpy, to_torch
from ..problem.errors import ProblemError, blaming
from ..problem.seeding import seeded
from ..problem.spec import Argument, Buffer, CaseSpec, Tolerance
from ..problem.suite import Suite
from ..problem.tolerances import tolerance_of
from .host import device_for, running_on, torch_module
from .modules import TaskModules
from .options import known, one_of
from .values import argument_of, described

OPTIONS = {"device": "auto", "precision": "float32", "weights": "seed", "distributions": "own"}
"""Where the reference runs; what floats of inputs and weights are cast to; seed or given (above); see gpumode."""

SEED = 42
ENTRY = "ModelNew"
TOLERANCES = {
    "float32": Tolerance(1e-4, 1e-4),
    "float16": Tolerance(1e-2, 1e-2),
    "bfloat16": Tolerance(1e-2, 1e-2),
}


def load(spec: str, options: Mapping[str, str]) -> Suite:
    settings = known(options, OPTIONS, "kernelbench")
    precision = one_of(settings, "precision", tuple(TOLERANCES))
    weights = one_of(settings, "weights", ("seed", "given"))
    names = tuple(each.strip() for each in settings["distributions"].split(","))
    if len(set(names)) < len(names) or not set(names) <= set(variants.NAMES):
        raise UsageError(
            f"distributions cannot be {settings['distributions']!r}; give some of {', '.join(variants.NAMES)}"
        )
    path = Path(spec)
    if not path.is_file():
        raise UsageError(f"no such problem: {spec}; give the path of KernelBench's Python file")
    case = KernelBenchCase(
        opened(path.resolve(), device_for(settings["device"]), precision), weights == "given", names
    )
    return Suite(path.stem, (case,), "module", ENTRY, case.problem.init)


@dataclass(frozen=True)
class KernelBenchProblem:
    path: Path
    modules: TaskModules
    device: str
    precision: str
    get_inputs: Callable[[], Any]
    init: tuple[Any, ...]
    model: Any
    """Construct Model(*init) with KernelBench's seed."""

    def call(self, doing: str, function: Callable[..., Any], *values: Any) -> Any:
        with self.modules.active(), running_on(self.device), blaming(self.path, doing):
            return function(*values)

    def cast(self, value: Any) -> Any:
        """Move a tensor to the device, and convert floats to the chosen precision."""
        if not is_torch(value):
            return value
        dtype = getattr(torch_module(), self.precision) if value.is_floating_point() else value.dtype
        return value.to(device=self.device, dtype=dtype)


class KernelBenchCase:
    """A suite.TestCase: the only case of a file."""

    name = "forward"
    own_verdict = False

    def __init__(
        self, problem: KernelBenchProblem, weights_given: bool, distributions: tuple[str, ...]
    ) -> None:
        self.problem, self.weights_given, self.distributions = problem, weights_given, distributions
        self.where = str(problem.path)

    @cached_property
    def spec(self) -> CaseSpec:
        problem = self.problem
        results = _listed(self._forward([self._copy(each) for each in self._values], wide=False))
        arguments = [
            argument_of(f"input{number}", value, "input", self.where)
            for number, value in enumerate(self._values)
        ]
        state = [argument_of(name, each, "constant", self.where) for name, each in self._state.items()]
        outputs: list[Argument] = []
        for number, each in enumerate(results):
            if not is_torch(each):
                raise ProblemError(f"{self.where}: forward returned a {type(each).__name__}; return tensors")
            outputs.append(argument_of(f"output{number}", problem.cast(each), "output", self.where))
        return CaseSpec(
            self.name,
            (*arguments, *state, *outputs),
            {f"init{n}": str(each) for n, each in enumerate(problem.init)},
        )

    @cached_property
    def tolerances(self) -> Mapping[str, Tolerance]:
        return {
            each.name: TOLERANCES.get(each.dtype) or tolerance_of(None, each.name, each.dtype)
            for each in self.spec.checked
        }

    def inputs(self, seed: int, distribution: str) -> dict[str, Array]:
        values = self._draw(seed)
        if described(values) != described(self._values):
            raise ProblemError(
                f"{self.where}: get_inputs gives {', '.join(described(self._values))} once and "
                f"{', '.join(described(values))} then; shapes, dtypes and numbers may not be random"
            )
        arrays = {}
        for argument, value in zip(self.spec.arguments, values, strict=False):
            if isinstance(argument, Buffer):
                arrays[argument.name] = value
                if distribution != variants.OWN:
                    numbers = to_numpy(value)
                    arrays[argument.name] = variants.transformed(numbers, distribution, seed, argument.name)
        return arrays | self._state

    def expected(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        device = self.problem.device
        values = [
            to_torch(inputs[argument.name], device) if isinstance(argument, Buffer) else value
            for argument, value in zip(self.spec.arguments, self._values, strict=False)
        ]
        results = _listed(self._forward(values, wide=self._wide))
        return {each.name: result for each, result in zip(self.spec.checked, results, strict=True)}

    def verify(
        self, inputs: Mapping[str, Array], expected: Mapping[str, Array], actual: Mapping[str, Array]
    ) -> str | None:
        del inputs, expected, actual
        return None

    def _draw(self, secret: int | None) -> list[Any]:
        with seeded(secret):
            inputs = self.problem.call("get_inputs", self.problem.get_inputs)
        return [self.problem.cast(each) for each in _listed(inputs)]

    @cached_property
    def _values(self) -> list[Any]:
        return self._draw(None)

    @cached_property
    def _state(self) -> dict[str, Any]:
        """Weights by the runner's names for them; empty unless weights=given."""
        if not self.weights_given:
            return {}
        state = self.problem.model.state_dict()
        arrays = {re.sub(r"\W", "_", name): each.detach() for name, each in state.items() if each.numel()}
        if len(arrays) < sum(bool(each.numel()) for each in state.values()):
            raise ProblemError(f"{self.where}: two parameters of Model differ only in dots and underscores")
        return arrays

    @cached_property
    def _wide(self) -> bool:
        """Whether the model runs in float64. A model that creates float32 tensors does not."""
        try:
            self._forward([self._copy(each) for each in self._values], wide=True)
        except ProblemError:
            return False
        return True

    def _forward(self, values: list[Any], wide: bool) -> Any:
        """Call a copy of the model, because a model in training mode changes its buffers."""
        model = copy.deepcopy(self.problem.model)
        if wide:
            model = model.double()
            values = [
                each.double() if is_torch(each) and each.is_floating_point() else each for each in values
            ]
        return self.problem.call("forward", model, *values)

    @staticmethod
    def _copy(value: Any) -> Any:
        return value.clone() if is_torch(value) else value


def opened(path: Path, device: str, precision: str) -> KernelBenchProblem:
    modules = TaskModules.of(path)
    module = modules.load(path.stem)
    for name in ("Model", "get_inputs", "get_init_inputs"):
        if not callable(getattr(module, name, None)):
            raise ProblemError(f"{path}: has no {name}; define it")

    def build() -> tuple[tuple[Any, ...], Any]:
        torch = torch_module()
        torch.manual_seed(SEED)
        init = tuple(_listed(module.get_init_inputs()))
        torch.manual_seed(SEED)
        return init, module.Model(*init)

    with modules.active(), running_on(device), blaming(path, "Model"), seeded(None):
        init, model = build()
    if not callable(getattr(model, "state_dict", None)):
        raise ProblemError(f"{path}: Model is a {type(model).__name__}; make it a torch.nn.Module")
    for each in init:
        if not _is_plain(each):
            raise ProblemError(
                f"{path}: get_init_inputs gives a {type(each).__name__}; give numbers, text and lists of them"
            )
    model = model.to(device=device, dtype=getattr(torch_module(), precision))
    return KernelBenchProblem(path, modules, device, precision, module.get_inputs, init, model)


def _is_plain(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (bool, int, float, str))


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value]
