"""Tasks of GPU MODE whose submissions define several functions, such as a forward and a backward pass.

reference.py has generate_inputs(**arguments), a function reference_NAME for each function of a submission, and the
tolerances ATOL and RTOL. The task's harness (eval.py) names the submission's functions, PREFIX_NAME, and gives
generate_inputs the arguments that no case has. Each function gets the first inputs, as many as reference_NAME has
parameters. One call of a submission is one call of each function, in order.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from ..problem.errors import ProblemError
from .gpumode_task import takes_seed
from .host import torch_module

GENERATE = "generate_inputs"
REFERENCE = "reference_"


class SeveralFunctions:
    """A gpumode_task.Form."""

    def __init__(self, module: ModuleType, path: Path, harness: Path) -> None:
        self._generate = getattr(module, GENERATE)
        self._references = references_of(module)
        self._bounds = {}
        for name in ("ATOL", "RTOL"):
            if not isinstance(getattr(module, name, None), (int, float)):
                raise ProblemError(f"{path}: has no number {name}; define it")
            self._bounds[name.lower()] = float(getattr(module, name))
        tree = _parsed(harness)
        self.functions = tuple(_function_of(tree, harness, name) for name in self._references)
        self._fixed = _fixed_arguments(tree, list(inspect.signature(self._generate).parameters))
        self.takes_seed = takes_seed(self._generate)

    def generate(self, arguments: Mapping[str, Any]) -> Any:
        inputs = self._generate(**{**self._fixed, **arguments})
        counts = (len(inspect.signature(each).parameters) for each in self._references.values())
        return tuple(tuple(inputs[:count]) for count in counts)

    def reference(self, data: Any) -> Any:
        pairs = zip(self._references.values(), data, strict=True)
        return tuple(function(*arguments) for function, arguments in pairs)

    def check(self, data: Any, output: Any) -> str | None:
        torch = torch_module()
        for name, result, wanted in zip(self.functions, output, self.reference(data), strict=True):
            if (result.shape, result.dtype) != (wanted.shape, wanted.dtype):
                return f"{name} returned {result.dtype} {list(result.shape)}, not {wanted.dtype} {list(wanted.shape)}"
            if not torch.allclose(result, wanted, **self._bounds):
                error = (result.double() - wanted.double()).abs().max().item()
                return f"{name} is wrong by up to {error:.3g}"
        return None


def references_of(module: ModuleType) -> dict[str, Any]:
    """The functions reference_NAME by NAME, in the file's order."""
    functions = [name for name, value in vars(module).items() if callable(value)]
    return {
        name.removeprefix(REFERENCE): getattr(module, name)
        for name in functions
        if name.startswith(REFERENCE)
    }


def _parsed(harness: Path) -> ast.Module:
    try:
        return ast.parse(harness.read_bytes())
    except (OSError, SyntaxError, ValueError) as error:
        raise ProblemError(f"{harness} cannot be read: {error}") from error


def _function_of(tree: ast.Module, harness: Path, name: str) -> str:
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and text.isidentifier() and text.endswith(f"_{name}"):
            return text
    raise ProblemError(f"{harness}: names no function of a submission that ends with _{name}")


def _fixed_arguments(tree: ast.Module, parameters: list[str]) -> dict[str, Any]:
    """Arguments of the harness's call of generate_inputs that are constants, such as a batch size."""
    constants: dict[str, Any] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            value = statement.value.value
            constants |= {each.id: value for each in statement.targets if isinstance(each, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == GENERATE:
            pairs = zip(parameters, node.args, strict=False)
            return {
                name: constants[argument.id]
                for name, argument in pairs
                if isinstance(argument, ast.Name) and argument.id in constants
            }
    return {}
