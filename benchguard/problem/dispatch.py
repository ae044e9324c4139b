"""torch's modes that see operators and calls, without the import of torch's compiler."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any


def dispatch_mode() -> Any:
    """The class of these modes.

    With the first operator, a mode of torch 2.13 imports the compiler to hide itself from it. This takes 3 to 5 s.
    If the compiler is there when a mode is defined, the mode is hidden.
    """
    base = importlib.import_module("torch.utils._python_dispatch").TorchDispatchMode

    class Mode(base):  # type: ignore[misc, valid-type]
        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return "torch._dynamo" in sys.modules

    return Mode


def function_mode(handle: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]) -> Any:
    """A torch function mode that passes all calls through `handle`."""

    def call(
        mode: object, function: Any, types: object, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        del mode, types
        return handle(function, args, kwargs or {})

    base = importlib.import_module("torch.overrides").TorchFunctionMode
    return type("Mode", (base,), {"__torch_function__": call})()
