"""A problem of KernelBench: its Model, and its inputs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from ..problem.arrays import is_torch
from ..problem.errors import ProblemError, blaming
from ..problem.seeding import seeded
from ..problem.without_data import without_data
from .host import running_on, torch_module
from .modules import TaskModules
from .trace import Trace, traced

SEED = 42
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
        return value.to(device=self.device, dtype=dtype)

    @cached_property
    def sample(self) -> Any:
        """The result of get_inputs, without the tensors' data where torch can leave it out."""
        try:
            with seeded(None), without_data():
                return self.call("get_inputs", self.get_inputs)
        except ProblemError:
            with seeded(None):
                return self.call("get_inputs", self.get_inputs)

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
        model = self._copy(wide=False)
        if self._is_fake(values):
            try:
                with without_data():
                    return traced(model, lambda: self._called(model, values, keywords, wide=False))
            except ProblemError:  # it looks at values
                model = self._copy(wide=False)
                values = self._real(values)
        return traced(model, lambda: self._called(model, values, keywords, wide=False))

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
            given = self.call("get_inputs", self.get_inputs)
        drawn = given.values() if isinstance(given, dict) else listed(given)
        return {name: self.cast(each) for name, each in zip(values, drawn, strict=True)}

    @staticmethod
    def _is_fake(values: Mapping[str, Any]) -> bool:
        kind = import_module("torch._subclasses.fake_tensor").FakeTensor
        return any(isinstance(each, kind) for each in values.values())


def opened(path: Path, device: str, precision: str) -> KernelBenchProblem:
    """Import the file and build its Model, as KernelBench does. Raises ProblemError."""
    import_module("torch._subclasses.fake_tensor")  # it inspects what running_on replaces
    modules = TaskModules.of(path)
    module = modules.load(path.stem)
    for name in ("Model", "get_inputs", "get_init_inputs"):
        if not callable(getattr(module, name, None)):
            raise ProblemError(f"{path}: has no {name}; define it")

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


def listed(given: Any) -> list[Any]:
    return list(given) if isinstance(given, (tuple, list)) else [given]


def _is_plain(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (bool, int, float, str))
