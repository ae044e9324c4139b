"""KernelBench's problems: a file with Model, get_inputs and get_init_inputs (https://github.com/ScalingIntelligence).

The submission is a class ModelNew, built as ModelNew(*get_init_inputs()) and called as its forward(*get_inputs()). A
dictionary is passed by keywords, and get_init_inputs may return a pair of a list and a dictionary.

Weights are constant, as in KernelBench. It sets torch's seed to 42 before it builds Model and again before
it builds ModelNew, so that both draw the same weights, and never draws others. We do the same: Model is built here, in
the judge, and ModelNew in the quarantine, under that seed, on the CPU, and then moved to the GPU and to the precision.
So weights are not inputs; they are a part of the capture, and what a submission computes from them when it is built (a
transposed copy, say) costs it nothing, as it does not in KernelBench. The tensors of get_inputs are fresh for every
set. A ModelNew that draws its parameters in another order has other weights, and its outputs are wrong: with
weights=given Model's parameters and buffers are written into those of the same names of ModelNew, as constants of the
problem.

The reference runs in float64 where the model can. An output is right by KernelBench's own tolerances, 1e-4 for float32
and 1e-2 for halves, relative to the expected value; or within twice the error of Model itself in the submission's
precision, if that is more (judge/slack.py). KernelBench runs Model on a GPU and leaves torch's defaults as they are, so
that error includes TF32 in convolutions and recurrent layers of float32 (tf32.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..problem import distributions as variants
from ..problem.arrays import Array, is_torch, to_numpy, to_torch
from ..problem.errors import ProblemError
from ..problem.names import unfit
from ..problem.returned import result_name
from ..problem.seeding import seeded
from ..problem.spec import Buffer, CaseSpec, Form, Returned, Tolerance
from ..problem.suite import Suite
from ..problem.tolerances import tolerance_of
from ..problem.tree import Items, Leaf
from .calling import KERNELBENCH_ENTRY
from .host import device_for
from .kernelbench_model import LARGE_BYTES, PRECISIONS, KernelBenchProblem, listed, opened
from .options import known, one_of
from .reference import WideCase
from .trace import Trace
from .values import argument_of, described, seed_notes

OPTIONS = {"device": "auto", "precision": "float32", "weights": "seed", "distributions": "own"}
"""Where the reference runs; what floats of inputs and weights are cast to; seed or given (above); see gpumode."""

TOLERANCES = {
    "float32": Tolerance(1e-4, 1e-4),
    "float16": Tolerance(1e-2, 1e-2),
    "bfloat16": Tolerance(1e-2, 1e-2),
}
NAMES_SHOWN = 4

DRAWN_TWICE = 64 << 20
"""Bytes of inputs that are drawn twice on a CPU. On a GPU, LARGE_BYTES are."""


def load(spec: str, options: Mapping[str, str]) -> Suite:
    settings = known(options, OPTIONS, "kernelbench")
    precision = PRECISIONS[one_of(settings, "precision", tuple(PRECISIONS))]
    weights = one_of(settings, "weights", ("seed", "given"))
    names = variants.named(settings["distributions"])
    path = Path(spec)
    if not path.is_file():
        raise UsageError(f"no such problem: {spec}; give the path of KernelBench's Python file")
    problem = opened(path.resolve(), device_for(settings["device"]), precision)
    case = KernelBenchCase(problem, weights == "given", names)
    convention = "module_keywords" if case.keywords else "module"
    return Suite(
        path.stem,
        (case,),
        convention,
        KERNELBENCH_ENTRY,
        (problem.init, problem.init_named, precision),
        tensors=True,
    )


class KernelBenchCase(WideCase):
    """A suite.TestCase: the only case of a file."""

    name = "forward"
    computes_in_tf32 = True

    def __init__(
        self, problem: KernelBenchProblem, weights_given: bool, distributions: tuple[str, ...]
    ) -> None:
        self.problem, self.weights_given, self.distributions = problem, weights_given, distributions
        self.where = str(problem.path)

    @cached_property
    def spec(self) -> CaseSpec:
        problem, trace = self.problem, self._trace
        given = [argument_of(name, value, "input", self.where) for name, value in self._values.items()]
        state = [argument_of(name, each, "constant", self.where) for name, each in self._state.items()]
        outputs: list[Buffer] = []
        for number, each in enumerate(listed(trace.result)):
            if not is_torch(each):
                raise ProblemError(f"{self.where}: forward returned a {type(each).__name__}; return tensors")
            made = argument_of(result_name(number), problem.cast(each), "output", self.where)
            assert isinstance(made, Buffer)
            outputs.append(made)
        init = {f"init{n}": str(each) for n, each in enumerate(problem.init)}
        named = {name: str(each) for name, each in problem.init_named.items()}
        return CaseSpec(
            self.name,
            (*given, *state, *outputs),
            init | named,
            returns=Returned(
                Items("tuple", tuple(Leaf(each.name) for each in outputs)),
                tuple(Form(each.name, each.dtype, each.shape) for each in outputs),
            ),
            exact=True,
            unseeded=self._unseeded,
            notes=(
                *self._notes,
                *seed_notes([each for each in given if isinstance(each, Buffer)], self._unseeded),
            ),
        )

    @cached_property
    def keywords(self) -> bool:
        """Whether get_inputs returns a dictionary, whose tensors forward takes by keywords."""
        return isinstance(self.problem.sample, dict)

    @cached_property
    def tolerances(self) -> Mapping[str, Tolerance]:
        return {
            each.name: TOLERANCES.get(each.dtype) or tolerance_of(None, each.name, each.dtype)
            for each in self.spec.checked
        }

    def inputs(self, seed: int, distribution: str) -> dict[str, Array]:
        values = self._drawn(seed)
        if described([*values.values()]) != described([*self._values.values()]):
            raise ProblemError(
                f"{self.where}: get_inputs gives {', '.join(described([*self._values.values()]))} once and "
                f"{', '.join(described([*values.values()]))} then; shapes, dtypes and numbers may not be random"
            )
        arrays = {}
        for argument, value in zip(self.spec.arguments, values.values(), strict=False):
            if isinstance(argument, Buffer):
                arrays[argument.name] = value
                if distribution != variants.OWN and argument.name not in self._unseeded:
                    numbers = to_numpy(value)
                    arrays[argument.name] = variants.transformed(numbers, distribution, seed, argument.name)
        return arrays | self._state

    def results(self, inputs: Mapping[str, Array], wide: bool) -> dict[str, Array]:
        device = self.problem.device
        values = {
            name: to_torch(inputs[name], device) if name in inputs else value
            for name, value in self._values.items()
        }
        results = listed(self.problem.forward(values, self.keywords, wide))
        return {each.name: result for each, result in zip(self.spec.checked, results, strict=True)}

    def _drawn(self, secret: int | None, on_device: bool = False) -> dict[str, Any]:
        with seeded(secret):
            given = self.problem.draw(on_device)
        return self._named(given)

    def _named(self, given: Any) -> dict[str, Any]:
        """Values of get_inputs by the names of their arguments."""
        if isinstance(given, dict):
            for name in given:
                if unfit(str(name)):
                    raise ProblemError(f"{self.where}: the input {name!r} {unfit(str(name))}; rename it")
        named = given if isinstance(given, dict) else {f"input{n}": v for n, v in enumerate(listed(given))}
        return {name: self.problem.cast(each) for name, each in named.items()}

    @cached_property
    def _values(self) -> dict[str, Any]:
        """The inputs' shapes and dtypes, and their numbers."""
        return self._named(self.problem.sample)

    @cached_property
    def _unseeded(self) -> tuple[str, ...]:
        """Inputs that get_inputs draws equal twice: ones, a mask. Empty if to draw them again would take seconds."""
        if self.problem.drawn_bytes > (DRAWN_TWICE if self.problem.device == "cpu" else LARGE_BYTES):
            return ()
        one, other = (self._drawn(seed, on_device=True) for seed in (None, 1))
        return tuple(name for name, each in one.items() if is_torch(each) and each.equal(other[name]))

    @cached_property
    def _trace(self) -> Trace:
        trace = self.problem.trace(self._values, self.keywords)
        if trace.random:
            raise ProblemError(
                f"{self.where}: forward is random ({', '.join(trace.random)}), so right submissions differ and "
                "none can be graded; give dropout the probability 0, or draw the numbers in get_inputs"
            )
        if trace.kept:
            raise ProblemError(
                f"{self.where}: forward keeps state between calls ({', '.join(trace.kept)}), so its result depends on "
                "the calls before and none can be graded alone; make the state an input and an output"
            )
        return trace

    @property
    def _notes(self) -> tuple[str, ...]:
        updated = self._trace.updated
        if not updated:
            return ()
        more = f" and {len(updated) - NAMES_SHOWN} more" if len(updated) > NAMES_SHOWN else ""
        return (
            f"forward updates {', '.join(updated[:NAMES_SHOWN])}{more} of Model, which its result does not depend on",
        )

    @cached_property
    def _state(self) -> dict[str, Any]:
        """Weights by the runner's names for them; empty unless weights=given."""
        if not self.weights_given:
            return {}
        state = self.problem.model.state_dict()
        found = {re.sub(r"\W", "_", name): each.detach() for name, each in state.items() if each.numel()}
        if len(found) < sum(bool(each.numel()) for each in state.values()):
            raise ProblemError(f"{self.where}: two parameters of Model differ only in dots and underscores")
        return found
