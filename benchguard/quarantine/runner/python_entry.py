"""Submissions in Python: import the file, and bind its function or its module class to a case."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from ...problem.spec import Argument, Buffer, CaseSpec, Scalar
from ..contract import Order
from .arrays import host_array, host_tensor, tensor_of, torch_in_use
from .data import bind_data
from .entry import Call, Entry, constants, ordered, python_value
from .memory import CaseMemory
from .reporting import SubmissionError

NAMES_SHOWN = 8
NEW_MODEL, MODEL = "ModelNew", "Model"


class PythonEntry:
    """`find` returns the submission's function of a name."""

    def __init__(self, find: Callable[[str], Callable[..., object]], order: Order) -> None:
        self._find, self._function, self._convention = find, find(order.entry), order.convention
        self._built: Callable[..., object] | None = None

    def bind(self, case: CaseSpec, memory: CaseMemory, init: tuple[Any, ...] = (), /) -> Call:
        if self._convention == "data":
            return bind_data(case, memory, self._find, self._function)
        torch = torch_in_use(memory.tensors)

        def value(argument: Argument) -> Any:
            if isinstance(argument, Scalar):
                return python_value(argument)
            if argument.on_host:
                data = memory.on_host(argument.name)
                return host_array(data, argument) if torch is None else host_tensor(torch, data, argument)
            array = memory.arrays[argument.name]
            return array if torch is None else tensor_of(torch, array, argument)

        if torch is not None:
            torch.cuda.empty_cache()  # or memory of earlier cases would be in this case's capture
        arguments = ordered(case, self._convention)
        values = [value(each) for each in arguments]
        function = self._function
        if self._convention == "tuple":
            whole = tuple(values)
            return lambda: function(whole)
        if self._convention in ("module", "module_keywords"):
            state = {each.name: value(each) for each in constants(case)}
            self._built = self._built or build_module(function, init, torch)
            load_state(self._built, state)
            built, quietly = self._built, nullcontext if torch is None else torch.no_grad
            keywords = self._convention == "module_keywords"
            named = {each.name: found for each, found in zip(arguments, values, strict=True) if keywords}
            placed = () if keywords else values

            def forward() -> object:
                with quietly():
                    return built(*placed, **named)

            return forward
        given = [values[at] for at in places_taken(function, arguments)]
        return lambda: function(*given)


def load_python(order: Order) -> Entry:
    """Import the submission. Raises SubmissionError, and all exceptions that the submission raises."""
    module = _import(Path(order.submission), order.beside)
    return PythonEntry(lambda name: _function(module, name, order), order)


def _function(module: ModuleType, name: str, order: Order) -> Callable[..., object]:
    function = getattr(module, name, None)
    if function is None and name == NEW_MODEL:
        function = getattr(module, MODEL, None)  # the problem's own file as a submission
    if function is None:
        raise SubmissionError(_no_entry(order, name))
    if not callable(function):
        raise SubmissionError(f"{name} in {Path(order.submission).name} cannot be called; make it a function")
    return function  # type: ignore[no-any-return]


def _import(path: Path, beside: str) -> ModuleType:
    """Import the file under its own name, unless another module has it.

    sys.path begins with its folder, and the folder of the problem's files. Its folder is left out for a single file
    with the name of a package, such as triton.py, which may import the package.
    """
    sys.dont_write_bytecode = True
    sys.argv = [str(path)]
    free = path.stem.isidentifier() and not _is_installed(path.stem)
    own = [str(path.parent)] if free or len([*path.parent.iterdir()]) > 1 else []
    sys.path[:0] = [*own, beside] if beside else own
    name = path.stem if free else "submission"
    loader = SourceFileLoader(name, str(path))  # independent of the file's suffix
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader.exec_module(module)
    return module


def _is_installed(name: str) -> bool:
    """Whether a module has this name, before sys.path names the submission's folder."""
    return name in sys.modules or name in sys.stdlib_module_names or find_spec(name) is not None


def _no_entry(order: Order, entry: str) -> str:
    path = Path(order.submission)
    module = next(
        (each for each in list(sys.modules.values()) if getattr(each, "__file__", None) == str(path)), None
    )
    names = (
        [
            name
            for name, value in vars(module).items()
            if callable(value)
            and not name.startswith("_")
            and getattr(value, "__module__", None) == module.__name__
        ]
        if module
        else []
    )
    if not names:
        return f"{path.name} defines no function; define `{entry}`"
    listing = ", ".join(names[:NAMES_SHOWN])
    return (
        f"{path.name} has no `{entry}`, only {listing}. "
        f"Rename the function to `{entry}`, or pass `--entry {names[0]}`"
    )


def places_taken(function: Callable[..., object], arguments: Sequence[Argument]) -> Sequence[int]:
    """The places of the arguments that a function is called with: all, the inputs, or their arrays alone."""
    every = range(len(arguments))
    inputs = [each for each in every if not _is_output(arguments[each])]
    arrays = [each for each in inputs if isinstance(arguments[each], Buffer)]
    if _takes(function, len(every)):
        return every
    taken = [each for each in (inputs, arrays) if _takes(function, len(each))]
    # Numbers of the problem must not become values of parameters with defaults, as `block=64`.
    needed = [each for each in taken if not _takes(function, len(each) - 1)]
    return (*needed, *taken, every)[0]


def _takes(function: Callable[..., object], count: int) -> bool:
    """Whether the function accepts `count` positional arguments; True if its signature is unknown."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except Exception:  # no signature, or a hostile __signature__
        return True
    return True


def _is_output(argument: Argument) -> bool:
    return isinstance(argument, Buffer) and argument.role == "output"


SEED = 42
"""KernelBench's seed. Set before each of the two models is built, so that both draw the same weights."""


def build_module(kind: Callable[..., Any], init: Sequence[Any], torch: Any | None) -> Callable[..., object]:
    """Construct the class, and move a torch module to the GPU and to the problem's precision, as KernelBench does.

    `init` has the arguments by place, those by keyword, and the precision; empty: no arguments.
    """
    placed, named, precision = init or ((), {}, "")
    if torch is None:
        if imported := sys.modules.get("torch"):  # it finds no GPU, but may draw the weights
            imported.manual_seed(SEED)
        return _callable(kind(*placed, **named))
    torch.manual_seed(SEED)
    torch.cuda.manual_seed_all(SEED)
    with torch.no_grad():
        built = kind(*placed, **named)
        if isinstance(built, torch.nn.Module):
            built = built.to(device="cuda", dtype=getattr(torch, precision) if precision else None)
    return _callable(built)


def load_state(built: Any, state: Mapping[str, Any]) -> None:
    """Copy the problem's constants to the module's parameters and buffers of the same names, with _ for dots."""
    if not state:
        return
    if not hasattr(built, "state_dict"):
        raise SubmissionError(
            f"the problem sets {', '.join(state)}, but {type(built).__name__} has no state_dict"
        )
    own = {re.sub(r"\W", "_", name): tensor for name, tensor in built.state_dict().items()}
    for name, value in state.items():
        if name not in own or tuple(own[name].shape) != tuple(value.shape):
            raise SubmissionError(
                f"{type(built).__name__} has no state {name} of shape {tuple(value.shape)}; give it one"
            )
        own[name].copy_(value)


def _callable(built: Any) -> Callable[..., object]:
    if not callable(built):
        raise SubmissionError(f"{type(built).__name__} cannot be called; give it a forward() or a __call__()")
    return built  # type: ignore[no-any-return]
