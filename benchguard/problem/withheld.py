"""Keep a judge from importing the submission that it judges."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

from ..errors import UsageError

INITIAL = "__init__.py"


class Withheld:
    """Finds the modules that Python's own finder finds, without those in `submissions`.

    A submission named `statistics.py` may lie in a folder that a library or the problem put on sys.path.
    """

    def __init__(self, submissions: Iterable[str]) -> None:
        self._places = tuple(Path(each).resolve() for each in submissions)
        self._folders: dict[Path, bool] = {}

    def holds(self, path: str | Path) -> bool:
        """Whether `path` is a submission or lies in one."""
        place = Path(path).resolve()
        return any(place.is_relative_to(each) for each in self._places)

    def _holds_module(self, path: str) -> bool:
        """The same for a module's file, whose folder is resolved once: torch has 1200 of them in 200."""
        file = Path(path)
        if file.name in ("", "..") or file.is_symlink():
            return self.holds(file)
        if file.parent not in self._folders:
            self._folders[file.parent] = self.holds(file.parent)
        return self._folders[file.parent] or any(
            each.name == file.name and self.holds(file) for each in self._places
        )

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or not self._leads_to(spec):
            return spec
        for entry in sys.path if path is None else path:
            other = PathFinder.find_spec(name, [entry], target)
            if other is not None and not self._leads_to(other):
                return other
        raise ModuleNotFoundError(refusal_of(name), name=name)

    def check(self, problem: str) -> None:
        """Raises UsageError for a submission that Python could import by name, or that contains the problem."""
        for place in self._places:
            is_module = place.suffix == ".py" or (place / INITIAL).is_file()
            for entry in map(Path, filter(None, sys.path)):
                if is_module and place.parent == entry.resolve():
                    raise UsageError(
                        f"the submission {place} lies in {entry}, from which the judge imports modules; "
                        "move it to another folder"
                    )
            if Path(problem.partition(":")[0]).resolve().is_relative_to(place):
                raise UsageError(
                    f"the submission {place} contains the problem {problem}; give the submission a folder of its own"
                )

    def _leads_to(self, spec: ModuleSpec) -> bool:
        places = [*(spec.submodule_search_locations or ()), *([spec.origin] if spec.has_location else [])]
        return any(self._holds_module(each) for each in places if each)


def refusal_of(name: str) -> str:
    return f"the judge does not import submissions, and {name!r} is one; remove this import from the problem"


def withhold(submissions: Iterable[str], problem: str) -> None:
    """Make imports of this process pass over `submissions`. Raises UsageError, as Withheld.check().

    The problem's own file is trusted, as a submission too: a KernelBench problem is graded by its own Model so.
    """
    own = Path(problem.partition(":")[0]).resolve()
    finder = Withheld(each for each in submissions if not (own.is_file() and Path(each).resolve() == own))
    finder.check(problem)
    python = next(
        (place for place, each in enumerate(sys.meta_path) if each is PathFinder), len(sys.meta_path)
    )
    sys.meta_path.insert(python, finder)


def leave_submissions(problem: str) -> str:
    """Go to the problem's folder if the current one belongs to a withheld submission. Returns the problem's full path.

    Libraries read settings from the current folder: numba takes its cache's folder from there, and unpickles its files.
    """
    if not is_withheld(Path.cwd()):
        return problem
    path, colon, name = (problem, "", "") if Path(problem).exists() else problem.rpartition(":")
    place = Path(path).resolve()
    os.chdir(place if place.is_dir() else place.parent)
    return f"{place}{colon}{name}"


def is_withheld(path: Path) -> bool:
    """Whether `path` belongs to a submission that this process judges."""
    return any(each.holds(path) for each in sys.meta_path if isinstance(each, Withheld))
