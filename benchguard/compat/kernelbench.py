"""KernelBench's scores: the speed-up over the problem's own Model, and fast_p over a folder of results.

    speedup("level1/1_matmul.py", "model_new.py", compiled=True).to_json()      # into results/1_matmul.json
    fast_p("results", 1.0)

The Model is a submission like the other: captured in a quarantine, and replayed in blocks A B B A beside it.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from ..errors import UsageError
from ..grade.compare import CompareResult, compare
from ..grade.result import RESULT_MAX
from ..ipc.bounded_file import read_bounded
from ..ipc.folders import temporary_folder
from ..ipc.json_text import UNREADABLE, unique

_EAGER = """

ModelNew = Model
"""
_COMPILED = """

class ModelNew(Model):
    def __init__(self, *placed, **named):
        super().__init__(*placed, **named)
        self._compiled = __import__("torch").compile(super().forward)

    def forward(self, *placed, **named):
        return self._compiled(*placed, **named)
"""


class _Row(msgspec.Struct):
    ratio: float


class _Document(msgspec.Struct):
    """The part of a comparison's document that fast_p needs."""

    schema: str
    call: str | None
    reason: str
    cases: tuple[_Row, ...]


@dataclass(frozen=True)
class Speedup:
    """One result of a folder. `speedup` is the time of A, the reference, over that of B; None: A or B did not pass."""

    path: Path
    speedup: float | None
    reason: str


def reference_submission(problem: str | os.PathLike[str], *, compiled: bool = False) -> str:
    """The text of a submission that is the problem's own Model, eager or under torch.compile."""
    try:
        text = Path(problem).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read the problem {problem}: {error}; give KernelBench's Python file"
        ) from error
    return text + (_COMPILED if compiled else _EAGER)


def speedup(
    problem: str | os.PathLike[str],
    submission: str | os.PathLike[str],
    *,
    compiled: bool = False,
    **options: Any,
) -> CompareResult:
    """Compare a submission (B) with the problem's own Model (A), eager or under torch.compile.

    Args:
        problem: path of KernelBench's Python file.
        submission: path of the file with ModelNew.
        compiled: compare with the Model under torch.compile.
        options: arguments of benchguard.compare().

    Raises:
        The exceptions of benchguard.compare().
    """
    with temporary_folder("neutrino-reference-") as folder:
        reference = folder / ("compiled.py" if compiled else "eager.py")
        reference.write_text(reference_submission(problem, compiled=compiled), encoding="utf-8")
        return compare(problem, reference, submission, **{"adapter": "kernelbench", **options})


def speedups(folder: str | os.PathLike[str]) -> list[Speedup]:
    """The speed-up in each comparison of a folder, from *.json in the order of their names. Raises UsageError."""
    paths = sorted(Path(folder).glob("*.json"))
    if not paths:
        raise UsageError(
            f"{folder} has no result; write some with `neutrino-bench compare --json FOLDER/NAME.json`"
        )
    return [_read(path) for path in paths]


def fast_p(found: Sequence[Speedup], threshold: float) -> float:
    """The share of results that pass and are more than `threshold` times as fast as the reference."""
    return sum(each.speedup is not None and each.speedup > threshold for each in found) / len(found)


def _read(path: Path) -> Speedup:
    try:
        document = msgspec.json.decode(unique(read_bounded(path, RESULT_MAX)), type=_Document)
        if document.schema != "neutrino-bench/compare/1":
            raise ValueError(f"its schema is {document.schema!r}")
        ratios = [case.ratio for case in document.cases]
        if not all(sys.float_info.min <= ratio < math.inf for ratio in ratios):  # less has no finite inverse
            raise ValueError("a ratio is not a positive number")
    except (OSError, ValueError, *UNREADABLE) as error:
        raise UsageError(
            f"{path} is not a result of `neutrino-bench compare --json`: {error}; remove it"
        ) from error
    if document.call is None or not ratios:
        return Speedup(path, None, document.reason)
    return Speedup(path, math.exp(-math.fsum(map(math.log, ratios)) / len(ratios)), "")
