"""The results of a batch as a Parquet table, a row for each line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import BenchguardError, UsageError
from .batch_results import BatchLine, BatchResults

_ROWS = 1024


def _medians(line: BatchLine) -> list[float | None]:
    cases = line.result.cases if line.result else ()
    return [case.time_us.median if case.time_us else None for case in cases]


_COLUMNS: dict[str, tuple[str, Callable[[BatchLine], Any]]] = {
    "job": ("string", lambda line: line.job),
    "id": ("string", lambda line: line.id),
    "problem": ("string", lambda line: line.problem),
    "submission": ("string", lambda line: line.submission),
    "verdict": ("string", lambda line: line.verdict),
    "reason": ("string", lambda line: line.result.reason if line.result else ""),
    "trust": ("string", lambda line: line.result.trust if line.result else None),
    "device": (
        "string",
        lambda line: line.result.device.name if line.result and line.result.device else None,
    ),
    "score_s": ("float64", lambda line: line.result.score_s if line.result else None),
    "cases": ("int64", lambda line: len(line.result.cases) if line.result else 0),
    "median_us": ("list", _medians),
    "wall_s": ("float64", lambda line: line.result.wall_s if line.result else None),
    "attempts": ("int64", lambda line: line.attempts),
    "place": ("string", lambda line: line.place),
    "stage": ("string", lambda line: line.stage),
}
"""Kind and value of each column. `median_us` has the median of each case."""


def import_pyarrow() -> Any:
    """The package pyarrow. Raises UsageError if it is not installed."""
    try:
        import pyarrow  # noqa: PLC0415 - an extra
        import pyarrow.parquet  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(
            "--parquet needs the package pyarrow; install it with `pip install 'neutrino-bench[parquet]'`"
        ) from error
    return pyarrow


def write_parquet(results: BatchResults, path: Path) -> None:
    """Write the results with a verdict. An older file stays until the new one is whole.

    Raises UsageError without pyarrow, and BenchguardError if the file cannot be written.
    """
    pyarrow = import_pyarrow()
    kinds = {
        "string": pyarrow.string(),
        "int64": pyarrow.int64(),
        "float64": pyarrow.float64(),
        "list": pyarrow.list_(pyarrow.float64()),
    }
    schema = pyarrow.schema([(name, kinds[kind]) for name, (kind, _) in _COLUMNS.items()])
    part = path.with_name(f"{path.name}.part")
    try:
        with pyarrow.parquet.ParquetWriter(part, schema, compression="zstd") as writer:
            rows: list[dict[str, Any]] = []
            for line in results.lines():
                rows.append({name: value(line) for name, (_, value) in _COLUMNS.items()})
                if len(rows) == _ROWS:
                    writer.write_table(pyarrow.Table.from_pylist(rows, schema))
                    rows.clear()
            writer.write_table(pyarrow.Table.from_pylist(rows, schema))
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise BenchguardError(
            f"cannot write {path}: {error.strerror or error}; the results are in {results.path}, make room and "
            "start the batch again"
        ) from error
