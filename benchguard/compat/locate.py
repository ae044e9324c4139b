"""Find the file of a function without importing it, because a submission must not run in this process."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import UsageError


def file_of(qualname: str) -> tuple[Path, str]:
    """The file of package.module.function on sys.path, and the function's name. Raises UsageError."""
    *modules, name = qualname.split(".")
    if not modules or not all(each.isidentifier() for each in (*modules, name)):
        raise UsageError(f"{qualname!r} is not the name of a function in a module; give MODULE.FUNCTION")
    for folder in sys.path:
        place = Path(folder or ".").joinpath(*modules)
        for path in (place.with_suffix(".py"), place / "__init__.py"):
            if path.is_file():
                return path.resolve(), name
    raise UsageError(f"module {'.'.join(modules)} is not on sys.path; add its folder")


def generator_spec(generator: Callable[..., Any] | str) -> str:
    """PATH:FUNCTION of a test generator. Raises UsageError.

    The judge process imports the generator's file, so the generator must be a top-level function of a file.
    """
    if isinstance(generator, str):
        return generator
    name = getattr(generator, "__qualname__", "")
    try:
        path = inspect.getsourcefile(inspect.unwrap(generator))
    except TypeError:
        path = None
    if path is None or not Path(path).is_file() or not name.isidentifier():
        raise UsageError(
            f"the test generator {name or generator!r} is not a top-level function of a file; move it to a file"
        )
    return f"{Path(path).resolve()}:{name}"
