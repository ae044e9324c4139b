"""Many submissions on many machines (docs/fleet.md).

    async for graded in benchguard.fleet.grade_many("problem.py", ["a.cu", "b.cu"], engine="ray"): ...
    for graded in benchguard.fleet.grade_all("problem.py", {"a": Source(text, "cuda")}): ...

A name's module is imported when the name is first used: a child process of a grade needs few of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .grading import grade_all, grade_many
    from .job import Graded, Source
    from .service import GradeService

_MODULES = {
    "GradeService": "service",
    "Graded": "job",
    "Source": "job",
    "grade_all": "grading",
    "grade_many": "grading",
}

__all__ = ["GradeService", "Graded", "Source", "grade_all", "grade_many"]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULES[name]}", __name__), name)
