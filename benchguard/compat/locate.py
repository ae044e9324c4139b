"""Which file a name means, without importing it: what is named is a submission."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import UsageError


def file_of(qualname: str) -> tuple[Path, str]:
    """The file of package.module.function by sys.path, and the function. Raises UsageError."""
    *modules, name = qualname.split(".")
    if not modules or not all(each.isidentifier() for each in (*modules, name)):
        raise UsageError(f"{qualname!r} names no function of a module; give MODULE.FUNCTION")
    for folder in sys.path:
        place = Path(folder or ".").joinpath(*modules)
        for path in (place.with_suffix(".py"), place / "__init__.py"):
            if path.is_file():
                return path.resolve(), name
    raise UsageError(
        f"there is no module {'.'.join(modules)} on sys.path; start where it lies, or add its folder"
    )


def generator_spec(generator: Callable[..., Any] | str) -> str:
    """A test generator as the adapter pygpubench names it, PATH:FUNCTION. Raises UsageError.

    It runs in the judge's process, which imports its file anew: one that was made by a function or in a shell is not
    there.
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
            f"the test generator {name or generator!r} is no function at the top of a file; define it in one"
        )
    return f"{Path(path).resolve()}:{name}"
