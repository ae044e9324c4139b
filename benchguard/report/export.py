"""Write the tables of a log as CSV or Parquet, in bounded memory."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Protocol

from ..audit.typed_log import LogEntries
from ..errors import BenchguardError, UsageError
from ..ipc.text import printable
from .columns import TABLES, Table, fitted

BATCH_ROWS = 16_384
"""Rows of a table that are held until they are written."""

FORMULA = ("=", "+", "-", "@")
"""First characters of formulas in spreadsheets."""


class _Writer(Protocol):
    def write(self, rows: list[list[Any]]) -> None: ...

    def close(self) -> None: ...


class CsvWriter:
    """One table as CSV (RFC 4180): a header line, UTF-8, an empty field for null.

    Characters that a terminal obeys or does not show are written as escape sequences, so that the file can be printed.
    So is a first character that makes a spreadsheet take the text for a formula: programs choose names and paths.
    """

    def __init__(self, table: Table, folder: Path) -> None:
        self._file = (folder / f"{table.name}.csv").open(
            "w", newline="", encoding="utf-8", errors="backslashreplace"
        )
        self._csv = csv.writer(self._file, lineterminator="\n")
        self._csv.writerow(table.columns)

    def write(self, rows: list[list[Any]]) -> None:
        self._csv.writerows([_cell(each) if isinstance(each, str) else each for each in row] for row in rows)

    def close(self) -> None:
        self._file.close()


def _cell(text: str) -> str:
    return f"\\x{ord(text[0]):02x}{printable(text[1:])}" if text.startswith(FORMULA) else printable(text)


class ParquetWriter:
    """One table as Parquet, compressed by zstd, a row group for each batch."""

    def __init__(self, table: Table, folder: Path) -> None:
        pyarrow = _pyarrow()
        kinds = {
            "int64": pyarrow.int64(),
            "uint64": pyarrow.uint64(),
            "bool": pyarrow.bool_(),
            "text": pyarrow.string(),
        }
        self._arrow = pyarrow
        self._schema = pyarrow.schema([(name, kinds[kind]) for name, kind in table.columns.items()])
        self._file = pyarrow.parquet.ParquetWriter(
            folder / f"{table.name}.parquet", self._schema, compression="zstd"
        )

    def write(self, rows: list[list[Any]]) -> None:
        arrays = [
            self._arrow.array(values, field.type)
            for values, field in zip(zip(*rows, strict=True), self._schema, strict=True)
        ]
        self._file.write_table(self._arrow.Table.from_arrays(arrays, schema=self._schema))

    def close(self) -> None:
        self._file.close()


def export(
    log: Path,
    folders: Sequence[tuple[type[CsvWriter] | type[ParquetWriter], Path]],
    lines: Iterable[tuple[dict[str, Any], str]] | None = None,
) -> tuple[dict[str, int], str]:
    """Write every table to each folder, by its kind of writer. `lines`: those of checked_lines, if they are watched.

    Returns the rows of each table, and why the log was read in part (else empty).

    Raises:
        LogError: the file is not an audit log.
        UsageError: pyarrow is missing.
        BenchguardError: a table cannot be written.
    """
    source = LogEntries(log, lines)
    entries = iter(source)
    first = next(entries, None)  # before files are opened: a file that is not a log replaces nothing
    counts = {table.name: 0 for table in TABLES}
    if any(kind is ParquetWriter for kind, _ in folders):
        _pyarrow()
    try:
        with ExitStack() as stack:
            batches: dict[str, list[list[Any]]] = {table.name: [] for table in TABLES}
            writers: dict[str, list[_Writer]] = {table.name: [] for table in TABLES}
            for kind, folder in folders:
                folder.mkdir(parents=True, exist_ok=True)
                for table in TABLES:
                    writers[table.name].append(stack.enter_context(closing(kind(table, folder))))
            for line in itertools.chain((first,), entries):
                for table in TABLES:
                    row = table.row(line) if line is not None else None
                    if row is not None:
                        counts[table.name] += 1
                        batches[table.name].append(fitted(table, row))
                        if len(batches[table.name]) >= BATCH_ROWS:
                            _flush(writers[table.name], batches[table.name])
            for name, batch in batches.items():
                _flush(writers[name], batch)
    except OSError as error:
        place = error.filename or " and ".join(str(folder) for _, folder in folders)
        raise BenchguardError(
            f"cannot write the tables to {place}: {error.strerror}; free some space or name another folder"
        ) from error
    return counts, source.problem


def _flush(writers: Sequence[_Writer], batch: list[list[Any]]) -> None:
    if batch:
        for writer in writers:
            writer.write(batch)
        batch.clear()


def _pyarrow() -> Any:
    try:
        import pyarrow  # noqa: PLC0415 - an extra
        import pyarrow.parquet  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(
            "--parquet needs the package pyarrow; install it with `pip install 'neutrino-bench[parquet]'`"
        ) from error
    return pyarrow
