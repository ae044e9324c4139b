"""The command of a Python process of ours, which imports nothing from the working directory."""

from __future__ import annotations

import sys
from pathlib import Path

_FOLDER = Path(__file__).resolve().parents[2]
_START = (
    "import sys; folder = sys.argv.pop(1); sys.path[:] = [folder, *filter(None, sys.path)]; import benchguard; "
    "sys.path.remove(folder); sys.path.append(folder); "
)


def own_python(program: str) -> list[str]:
    """The command that runs the Python code `program`. Append arguments: they become sys.argv[1:].

    `python -c` and `python -m` import from the working directory first. A submission may lie there, whose select.py
    would run with the rights of its judge.
    """
    return [sys.executable, "-c", _START + program, str(_FOLDER)]
