"""A problem of KernelBench: its Model, and its inputs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from ..problem.arrays import is_torch
from ..problem.errors import ProblemError, blaming
from ..problem.seeding import seeded
from ..problem.without_data import outlined, without_data
from .host import running_on, torch_module
from .modules import TaskModules
from .trace import Trace, traced

SEED = 42
SMALL_BYTES = 1 << 28
"""With inputs up to this size, the model is traced on the device, with data. Without data, torch imports its compiler,
which takes about 4 s on a machine with an H200."""

LARGE_BYTES = 1 << 30
"""Inputs from this size are drawn on the device for references. torch draws numbers on a CPU in one thread, and
level1/48 has 2^31 of them in each set."""

PRECISIONS = {
    **{name: name for name in ("float32", "float16", "bfloat16")},
    "fp32": "float32", "fp16": "float16", "bf16": "bfloat16",
}  # fmt: skip
"""The dtypes, by their own names and by KernelBench's."""


@dataclass(frozen=True)
class KernelBenchProblem:
    """`init` and `init_named` are Model's arguments by place and by keyword. Methods raise ProblemError."""

    path: Path
    modules: TaskModules
    device: str
    precision: str
    get_inputs: Callable[[], Any]
    init: tuple[Any, ...]
    init_named: dict[str, Any]
    model: Any

    def call(self, doing: str, function: Callable[..., Any], *values: Any, **named: Any) -> Any:
        with self.modules.active(), running_on(self.device), blaming(self.path, doing):
            return function(*values, **named)

    def cast(self, value: Any) -> Any:
        """Move a tensor to the device, and convert floats to the chosen precision."""
        if not is_torch(value):
            return value
        dtype = getattr(torch_module(), self.precision) if value.is_floating_point() else value.dtype
        return value.to(device=value.device if value.is_meta else self.device, dtype=dtype)

    @cached_property
    def sample(self) -> Any:
        """The result of get_inputs, without the tensors' data where torch can leave it out."""
        with seeded(None):
            return outlined(lambda: self.call("get_inputs", self.get_inputs))

    def draw(self, on_device: bool = False) -> Any:
        """The result of get_inputs. Large tensors are drawn on the device for references, if the code runs there; with
        `on_device`, small ones, too."""
        if self.device != "cpu" and (on_device or self.drawn_bytes >= LARGE_BYTES):
            with suppress(ProblemError), torch_module().device(self.device):
                return self.call("get_inputs", self.get_inputs)
        return self.call("get_inputs", self.get_inputs)

    @cached_property
    def drawn_bytes(self) -> int:
        values = self.sample.values() if isinstance(self.sample, dict) else listed(self.sample)
        return sum(each.numel() * each.element_size() for each in values if is_torch(each))

    def forward(self, values: Mapping[str, Any], keywords: bool, wide: bool) -> Any:
        """Call a copy of the model, because a call may change its state. `wide`: in float64."""
        return self._called(self._copy(wide), values, keywords, wide)

    def trace(self, values: Mapping[str, Any], keywords: bool) -> Trace:
        """Watch a call of the model. The result's tensors have no data."""
        if self._lack_data(values) and not self._is_quick:
            model = self._copy(wide=False)
            with suppress(ProblemError), without_data():  # fails if the model looks at values
                given = {name: self._placed(value) for name, value in values.items()}
                return traced(model, lambda: self._called(model, given, keywords, wide=False))
        model = self._copy(wide=False)
        real = self._real(values) if self._lack_data(values) else values
        trace = traced(model, lambda: self._called(model, real, keywords, wide=False))
        return replace(trace, result=_emptied(trace.result))

    @property
    def _is_quick(self) -> bool:
        """Whether a call with data takes less time than the import of torch's compiler."""
        return self.device != "cpu" and self.drawn_bytes <= SMALL_BYTES

    def _placed(self, value: Any) -> Any:
        """A tensor without data on the problem's device."""
        is_elsewhere = is_torch(value) and value.is_meta
        return torch_module().empty_like(value, device=self.device) if is_elsewhere else value

    def _copy(self, wide: bool) -> Any:
        model = copy.deepcopy(self.model)
        return model.double() if wide else model

    def _called(self, model: Any, values: Mapping[str, Any], keywords: bool, wide: bool) -> Any:
        if wide:
            values = {
                name: each.double() if is_torch(each) and each.is_floating_point() else each
                for name, each in values.items()
            }
        if keywords:
            return self.call("forward", model, **values)
        return self.call("forward", model, *values.values())

    def _real(self, values: Mapping[str, Any]) -> dict[str, Any]:
        with seeded(None):
            given = self.draw(on_device=True)
        drawn = given.values() if isinstance(given, dict) else listed(given)
        return {name: self.cast(each) for name, each in zip(values, drawn, strict=True)}

    @staticmethod
    def _lack_data(values: Mapping[str, Any]) -> bool:
        kind = import_module("torch._subclasses.fake_tensor").FakeTensor
        return any(isinstance(each, kind) or (is_torch(each) and each.is_meta) for each in values.values())


_NEEDED = {
    "Model": "class Model(torch.nn.Module), the reference",
    "get_inputs": "get_inputs(), which returns the list of forward's arguments",
    "get_init_inputs": "get_init_inputs(), which returns the list of Model's arguments, as []",
}
"""Names that a problem has, and how to define each."""


def opened(path: Path, device: str, precision: str) -> KernelBenchProblem:
    """Import the file and build its Model, as KernelBench does. Raises ProblemError."""
    import_module("torch._subclasses.fake_tensor")  # it inspects what running_on replaces
    modules = TaskModules.of(path)
    module = modules.load(path.stem)
    for name, task in _NEEDED.items():
        if not callable(getattr(module, name, None)):
            raise ProblemError(f"{path}: has no {name}; define {task}")

    def build() -> tuple[tuple[Any, ...], dict[str, Any], Any]:
        torch = torch_module()
        torch.manual_seed(SEED)
        init, named = arguments_of(module.get_init_inputs())
        torch.manual_seed(SEED)
        return init, named, module.Model(*init, **named)

    with modules.active(), running_on(device), blaming(path, "Model"), seeded(None):
        init, named, model = build()
    if not callable(getattr(model, "state_dict", None)):
        raise ProblemError(f"{path}: Model is a {type(model).__name__}; make it a torch.nn.Module")
    for each in (*init, *named.values()):
        if not _is_plain(each):
            raise ProblemError(
                f"{path}: get_init_inputs gives a {type(each).__name__}; give numbers, text and lists of them"
            )
    model = model.to(device=device, dtype=getattr(torch_module(), precision))
    return KernelBenchProblem(path, modules, device, precision, module.get_inputs, init, named, model)


def arguments_of(given: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments by place and by keyword, from a list, a dictionary, or a pair of both."""
    if isinstance(given, dict):
        return (), dict(given)
    values = listed(given)
    if len(values) == 2 and isinstance(values[0], (list, tuple)) and isinstance(values[1], dict):
        return tuple(values[0]), dict(values[1])
    return tuple(values), {}


def _emptied(result: Any) -> Any:
    """The result, whose tensors have no data: it would stay on the device."""
    empty = [each.to("meta") if is_torch(each) else each for each in listed(result)]
    return empty if isinstance(result, (tuple, list)) else empty[0]


def listed(given: Any) -> list[Any]:
    return list(given) if isinstance(given, (tuple, list)) else [given]


def _is_plain(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (bool, int, float, str))
