"""LeetGPU's challenges: a file challenge.py with a class Challenge (https://github.com/AlphaGPU/leetgpu-challenges).

The submission is a function solve(...) with the parameters of get_solve_signature: a function of the host in CUDA C++,
or one in Python that takes torch's tensors. It writes to the parameters with the direction "out" or "inout".

The performance test is the only case by default: functional tests are mostly written out, so a submission can know
their results. Functional tests whose inputs and results depend on the seed are cases too with cases=all. An input that
does not depend on the seed is a constant of its case. An output or in-place buffer that a test fills may begin with the
same content in all draws.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from ..errors import UsageError
from ..problem import distributions as variants
from ..problem.arrays import Array, dtype_of, is_torch, shape_of, strides_of, to_numpy, to_torch
from ..problem.c_types import FLOATS, from_ctypes
from ..problem.errors import ProblemError, blaming
from ..problem.seeding import seeded
from ..problem.spec import Argument, Buffer, CaseSpec, Role, Scalar, Tolerance
from ..problem.suite import Suite
from ..problem.without_data import outlined
from . import leetgpu_base
from .calling import LEETGPU_ENTRY, LEETGPU_FILES
from .counts import with_counts_of
from .host import device_for, filling_memory, running_on, torch_module
from .modules import TaskModules
from .one_test import one_test, origins
from .options import known, one_of
from .reference import WideCase
from .values import described, drawing_notes, seed_notes

OPTIONS = {"device": "auto", "cases": "performance", "distributions": variants.OWN}
"""Where the reference runs; performance, or all: also the functional tests that depend on the seed; see gpumode."""

PERFORMANCE = "performance"
FILLINGS = (0x5A, 0xA5)
"""Bytes of uninitialised memory in two draws: an output that shows both is uninitialised."""
DRAWS_COMPARED = 5
"""A result of a few numbers may be equal by chance in some draws."""
QUICK_BYTES = 1 << 16
"""Larger functional tests are not compared on a CPU, where their reference may take long."""
ROLES: dict[str, Role] = {"in": "input", "out": "output", "inout": "inout"}


def load(spec: str, options: Mapping[str, str]) -> Suite:
    settings = known(options, OPTIONS, "leetgpu")
    everything = one_of(settings, "cases", ("performance", "all")) == "all"
    names = variants.named(settings["distributions"])
    path = Path(spec)
    path = path / "challenge.py" if path.is_dir() else path
    if not path.is_file():
        raise UsageError(f"no such challenge: {spec}; give the path of a challenge.py, or its folder")
    challenge = opened(path.resolve(), device_for(settings["device"]))
    cases = [LeetGpuCase(challenge, PERFORMANCE, lambda _: challenge.instance.generate_performance_test())]
    left_out = "functional tests need --adapter-option cases=all"
    if everything:
        functional = functional_cases(challenge)
        fixed = [case for case in functional if case.has_fixed_shapes]
        judged = [case for case in fixed if case.is_seeded and case.has_seeded_results]
        cases += judged
        left_out = "; ".join(
            f"left out, because {reason}: {', '.join(case.name for case in others)}"
            for reason, others in (
                ("each draw has the same inputs or results", [case for case in fixed if case not in judged]),
                ("shapes or numbers depend on the seed", [case for case in functional if case not in fixed]),
            )
            if others
        )
    for case in cases:
        case.distributions = names
    return Suite(
        challenge.name,
        tuple(cases),
        "arguments",
        LEETGPU_ENTRY,
        tensors=True,
        files=LEETGPU_FILES,
        left_out=left_out,
    )


@dataclass(frozen=True)
class LeetGpuChallenge:
    """`signature` has the ctypes type and the direction of each parameter, by name."""

    path: Path
    modules: TaskModules
    device: str
    instance: Any
    signature: Mapping[str, tuple[Any, str]]
    tolerance: Tolerance

    @property
    def name(self) -> str:
        return str(getattr(self.instance, "name", self.path.parent.name))

    def call(self, doing: str, function: Callable[..., Any], *values: Any) -> Any:
        with self.modules.active(), running_on(self.device), blaming(self.path, doing):
            return function(*values)


class LeetGpuCase(WideCase):
    """A suite.TestCase. Its specification needs two draws, to find the inputs that depend on the seed.

    `generate` makes the test. Its argument is the name of a draw that all cases have, or "" for a draw of this case.
    """

    distributions: tuple[str, ...] = (variants.OWN,)
    computes_in_tf32 = True

    def __init__(self, challenge: LeetGpuChallenge, name: str, generate: Callable[[str], Any]) -> None:
        self.challenge, self.name, self._generate = challenge, name, generate
        self.where = f"{challenge.path}: case {name}"

    @cached_property
    def spec(self) -> CaseSpec:
        arguments = self._arguments
        params = {each.name: f"{each.value:g}" for each in arguments if isinstance(each, Scalar)}
        read = [
            each
            for each in arguments
            if isinstance(each, Buffer) and each.is_read and each.name not in self._filled
        ]
        notes = (
            *seed_notes(read, [each.name for each in read if each.role == "constant"]),
            *drawing_notes(self.challenge.instance.reference_impl),
        )
        return CaseSpec(
            self.name, arguments, params, ignores_returned=True, unseeded=self._filled, notes=notes
        )

    @cached_property
    def outline(self) -> CaseSpec:
        values = outlined(lambda: self._test(None, "outline"), lambda: self._first)
        return CaseSpec(self.name, tuple(self._argument(name, value) for name, value in values.items()))

    @property
    def input_bytes(self) -> int:
        return sum(each.bytes for each in self.outline.read)

    @cached_property
    def _arguments(self) -> tuple[Argument, ...]:
        return tuple(
            self._with_role(self._argument(name, value), value) for name, value in self._first.items()
        )

    @cached_property
    def _drawn(self) -> tuple[str, ...]:
        """Buffers that the call reads and that depend on the seed. Outputs of the signature are not among them."""
        return tuple(
            name
            for name, value in self._first.items()
            if is_torch(value)
            and self.challenge.signature[name][1] != "out"
            and not _equal(value, self._other[name])
        )

    @property
    def _filled(self) -> tuple[str, ...]:
        """Outputs and in-place buffers whose first content the test itself gives."""
        buffers = [each for each in self._arguments if isinstance(each, Buffer)]
        return tuple(each.name for each in buffers if each.role == "inout" and each.name not in self._drawn)

    @cached_property
    def tolerances(self) -> Mapping[str, Tolerance]:
        """The challenge's, but arrays of integers must be equal. A single integer may be a sum: submissions add in
        float32, and the challenges for which that is too inexact have the tolerance 0."""
        return {
            each.name: self.challenge.tolerance
            if each.dtype in FLOATS or math.prod(each.shape) == 1
            else Tolerance()
            for each in self.spec.checked
        }

    @property
    def has_fixed_shapes(self) -> bool:
        return described([*self._first.values()]) == described([*self._other.values()])

    @property
    def is_seeded(self) -> bool:
        return bool(self._drawn)

    @property
    def has_seeded_results(self) -> bool:
        """False for tests of edge cases: of inputs times zeros, say. True for large tests on a CPU (QUICK_BYTES)."""
        if self.challenge.device == "cpu" and self.input_bytes > QUICK_BYTES:
            return True
        try:
            return not all(map(self._has_first_results, range(DRAWS_COMPARED)))
        except ProblemError:
            return True  # reported when this case is graded

    def _has_first_results(self, draw: int) -> bool:
        inputs = self.inputs(1 + draw, "own") if draw else {name: self._other[name] for name in self._drawn}
        first = self.results({}, wide=False)
        return all(_equal(value, first[name]) for name, value in self.results(inputs, wide=False).items())

    def inputs(self, seed: int, distribution: str) -> dict[str, Array]:
        values = self._draw(seed, 0)
        first = self._first
        before, now = described([*first.values()]), described([*values.values()])
        if before != now:
            raise ProblemError(
                f"{self.where}: the test has {', '.join(before)} for one seed and {', '.join(now)} for another; "
                "shapes, dtypes and numbers may not depend on it"
            )
        if distribution != variants.OWN:
            for name in self._drawn:
                values[name] = variants.transformed(to_numpy(values[name]), distribution, seed, name)
        return {
            each.name: first[each.name] if each.role == "constant" else values[each.name]
            for each in self.spec.read
        }

    def results(self, inputs: Mapping[str, Array], wide: bool) -> dict[str, Array]:
        torch, device = torch_module(), self.challenge.device
        values = dict(self._first)
        for name, value in values.items():
            if is_torch(value):
                values[name] = to_torch(inputs.get(name, value), device)
                if wide and value.is_floating_point():
                    values[name] = values[name].to(torch.float64)
        self.challenge.call("reference_impl", lambda: self.challenge.instance.reference_impl(**values))
        return {each.name: values[each.name] for each in self.spec.checked}

    @cached_property
    def _first(self) -> dict[str, Any]:
        with filling_memory(FILLINGS[0]):
            return self._test(None, "first")

    def _test(self, secret: int | None, draw: str = "") -> dict[str, Any]:
        """The test's arguments, in the order of the signature."""
        challenge, torch = self.challenge, torch_module()

        def generate() -> Any:
            test = self._generate(draw)
            if not isinstance(test, Mapping):
                return None
            return {name: leetgpu_base.made(each, torch, challenge.device) for name, each in test.items()}

        with seeded(secret):
            test = challenge.call(f"the {self.name} test", generate)
        if test is None or test.keys() != challenge.signature.keys():
            names = ", ".join(challenge.signature)
            raise ProblemError(f"{self.where}: the test is not a dictionary of {names}; return one")
        return {name: test[name] for name in challenge.signature}

    def _draw(self, secret: int, filling: int, draw: str = "") -> dict[str, Any]:
        with filling_memory(filling):
            values = self._test(secret, draw)
        first = self._first
        with seeded(secret):
            return with_counts_of(first, values)

    @cached_property
    def _other(self) -> dict[str, Any]:
        return self._draw(1, FILLINGS[1], "other")

    def _is_uninitialised(self, name: str) -> bool:
        """Whether the test leaves an output's memory as torch.empty gives it. Other outputs begin with the test's."""
        draws = zip((self._first, self._other), FILLINGS, strict=True)
        return all(_is_filled(draw[name], byte) for draw, byte in draws)

    @cached_property
    def _not_zero(self) -> frozenset[str]:
        """Outputs that are not zeros for the first draw, by more than the tolerance."""
        values = {name: each.clone() if is_torch(each) else each for name, each in self._first.items()}
        self.challenge.call("reference_impl", lambda: self.challenge.instance.reference_impl(**values))
        outputs = {name: values[name] for name, each in self.challenge.signature.items() if each[1] == "out"}
        return frozenset(
            name
            for name, value in outputs.items()
            if is_torch(value)
            and bool(
                (value.abs() > (self.challenge.tolerance.atol if value.is_floating_point() else 0)).any()
            )
        )

    def _argument(self, name: str, value: Any) -> Argument:
        """The argument, with the role that the signature gives."""
        ctype, direction = self.challenge.signature[name]
        kind = from_ctypes(ctype)
        if kind is None or direction not in ROLES:
            raise ProblemError(
                f"{self.where}: {name} has the type {ctype!r}, {direction!r}, which is not supported"
            )
        type_, is_pointer = kind
        if not is_pointer:
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise ProblemError(f"{self.where}: {name} is a {type(value).__name__}; give a number")
            return Scalar(name, type_.name, value)
        if not is_torch(value):
            raise ProblemError(f"{self.where}: {name} is a {type(value).__name__}; give a tensor")
        role = ROLES[direction]
        strides = None if role == "output" else strides_of(value)
        try:
            return Buffer(name, dtype_of(value), shape_of(value), role, strides)
        except TypeError as error:
            raise ProblemError(f"{self.where}: {name} is {error}") from error

    def _with_role(self, argument: Argument, value: Any) -> Argument:
        """The argument, with the role that two draws and the reference's outputs show."""
        if not isinstance(argument, Buffer):
            return argument
        name = argument.name
        if argument.role == "input" and _equal(value, self._other[name]):
            return msgspec.structs.replace(argument, role="constant")
        # Public submissions add to outputs that the test makes with torch.empty, so these begin with zeros. They are
        # noise where zeros are right: a submission that writes nothing must be wrong.
        if argument.role == "output" and (not self._is_uninitialised(name) or name in self._not_zero):
            return msgspec.structs.replace(argument, role="inout", strides=strides_of(value))
        return argument


def _is_filled(tensor: Any, byte: int) -> bool:
    return bool((to_numpy(tensor.contiguous()).reshape(-1).view("uint8") == byte).all())


def functional_cases(challenge: LeetGpuChallenge) -> list[LeetGpuCase]:
    """A challenge makes all its functional tests at once, so the draws that all cases have are kept, and other draws
    leave out the numbers of the other tests."""
    generate = challenge.instance.generate_functional_test
    kept: dict[str, Any] = {}

    def test(number: int, draw: str) -> Any:
        if not draw:
            return one_test(generate, number, needed[number])
        if draw not in kept:
            kept[draw] = generate()
        return kept[draw][number]

    with seeded(None):
        needed = challenge.call("generate_functional_test", origins, generate)
    return [LeetGpuCase(challenge, f"functional.{each}", partial(test, each)) for each in range(len(needed))]


def opened(path: Path, device: str) -> LeetGpuChallenge:
    """Import the file and make its Challenge. Raises ProblemError."""
    modules = TaskModules.of(path, _aliases())
    kind = getattr(modules.load(path.stem), "Challenge", None)
    if not isinstance(kind, type):
        raise ProblemError(f"{path}: has no class Challenge; define it")
    with modules.active(), running_on(device), blaming(path, "Challenge"):
        instance = kind(device=device) if _takes_device(kind) else kind()
        signature = dict(instance.get_solve_signature())
        _check_directions(path, signature)
        models = [name for name, (kind, _) in signature.items() if _is_module(kind)]
        tolerance = Tolerance(float(instance.atol), float(instance.rtol))
        gpus = int(getattr(instance, "num_gpus", 1))
    if models:
        raise ProblemError(
            f"{path}: {models[0]} is a model of torch, not memory; grade challenges whose parameters are "
            "tensors and numbers"
        )
    if gpus != 1:
        raise ProblemError(f"{path}: the challenge runs on {gpus} GPUs; grade challenges for one GPU")
    return LeetGpuChallenge(path, modules, device, instance, signature, tolerance)


def _takes_device(kind: type) -> bool:
    """Whether the constructor takes a device. An older challenge's does not, and its base class has one."""
    parameters = inspect.signature(kind).parameters
    return "device" in parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values())


def _check_directions(path: Path, signature: Mapping[str, Any]) -> None:
    """Raises ProblemError for a signature of types alone, as the oldest challenges have."""
    for name, each in signature.items():
        if not (isinstance(each, (tuple, list)) and len(each) == 2):
            raise ProblemError(
                f'{path}: get_solve_signature gives no direction for {name}; write (type, "in"), (type, "out") or '
                '(type, "inout"), as newer challenges do'
            )


def _is_module(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, torch_module().nn.Module)


def _aliases() -> dict[str, ModuleType]:
    package = ModuleType("core")
    base = sys.modules[leetgpu_base.__name__]
    package.challenge_base = base  # type: ignore[attr-defined]
    return {"core": package, "core.challenge_base": base}


def _equal(one: Array, other: Array) -> bool:
    first, second = to_numpy(one), to_numpy(other)
    return first.shape == second.shape and bool((first == second).all())
