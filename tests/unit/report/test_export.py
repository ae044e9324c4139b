"""Tables of a log as CSV and Parquet."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchguard.audit.log import LogError
from benchguard.errors import UsageError
from benchguard.report.columns import TABLES
from benchguard.report.export import BATCH_ROWS, CsvWriter, ParquetWriter, export
from tests.conftest import ROOT
from tests.support import logs

HOSTILE = '=1+1,"\n\x1b[2J\u202e'


def written(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def log_of(tmp_path: Path, *lines: Any) -> Path:
    return logs.write_log(tmp_path / "log", [logs.session(), *lines, logs.end()])


def test_csv_has_a_row_for_each_line(tmp_path: Path) -> None:
    log = log_of(
        tmp_path,
        logs.image(),
        logs.kernel(),
        logs.launch(10, demangled="saxpy()"),
        logs.call(20, "cuInit", {"Flags": 0}),
        logs.launch_time(30, number=4),
    )
    counts, problem = export(log, [(CsvWriter, tmp_path / "csv")])
    assert (counts, problem) == (
        {"launches": 1, "calls": 1, "kernels": 1, "images": 1, "launch_times": 1},
        "",
    )
    [launch] = written(tmp_path / "csv" / "launches.csv")
    assert (launch["name"], launch["demangled"], launch["grid_x"], launch["graph"]) == (
        "saxpy",
        "saxpy()",
        "8",
        "",
    )
    [time] = written(tmp_path / "csv" / "launch_times.csv")
    assert (time["number"], time["gpu_ns"], time["graph"], time["early"]) == ("4", "2500", "", "False")
    [call] = written(tmp_path / "csv" / "calls.csv")
    assert (call["call"], call["arguments"], call["result"]) == ("cuInit", '{"Flags":0}', "0")


def test_repeated_call_and_floats_have_their_columns(tmp_path: Path) -> None:
    line = msgspec.structs.replace(logs.call(10, "cuEventQuery"), repeats=40, floats={"pMilliseconds": 1.5})
    export(log_of(tmp_path, line), [(CsvWriter, tmp_path / "csv")])
    [row] = written(tmp_path / "csv" / "calls.csv")
    assert (row["repeats"], row["floats"]) == ("40", '{"pMilliseconds":1.5}')


def test_csv_of_hostile_text_can_be_printed(tmp_path: Path) -> None:
    export(log_of(tmp_path, logs.launch(10, HOSTILE)), [(CsvWriter, tmp_path / "csv")])
    raw = (tmp_path / "csv" / "launches.csv").read_text()
    assert all(each.isprintable() or each == "\n" for each in raw) and raw.count("\n") == 2
    assert written(tmp_path / "csv" / "launches.csv")[0]["name"] == '\\x3d1+1,"\\n\\x1b[2J\\u202e'


def test_more_rows_than_a_batch_are_all_written(tmp_path: Path) -> None:
    count = BATCH_ROWS + 3
    counts, _ = export(
        log_of(tmp_path, *(logs.call(at, "cuInit") for at in range(count))), [(CsvWriter, tmp_path / "csv")]
    )
    assert counts["calls"] == count == len(written(tmp_path / "csv" / "calls.csv"))


def test_parquet_has_types_and_original_text(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra `parquet` is not installed")
    export(
        log_of(tmp_path, logs.launch(10, HOSTILE, stream=(1 << 64) - 1)), [(ParquetWriter, tmp_path / "p")]
    )
    table = parquet.read_table(tmp_path / "p" / "launches.parquet")
    [row] = table.to_pylist()
    assert (row["name"], row["stream"], row["cooperative"], row["graph"]) == (
        HOSTILE,
        (1 << 64) - 1,
        False,
        None,
    )
    assert {path.stem for path in (tmp_path / "p").iterdir()} == {table.name for table in TABLES}


def test_number_that_no_driver_writes_becomes_null(tmp_path: Path) -> None:
    export(log_of(tmp_path, logs.launch(10, shared_bytes=(1 << 64) - 1)), [(CsvWriter, tmp_path / "csv")])
    assert written(tmp_path / "csv" / "launches.csv")[0]["shared_bytes"] == ""


def test_cut_log_gives_the_rows_before(tmp_path: Path) -> None:
    log = log_of(tmp_path, logs.launch(10), logs.launch(20))
    log.write_bytes(log.read_bytes()[:-40])
    counts, problem = export(log, [(CsvWriter, tmp_path / "csv")])
    assert counts["launches"] == 2 and "cut short" in problem


def test_file_that_is_not_a_log_makes_no_table(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("text\n")
    with pytest.raises(LogError):
        export(tmp_path / "log", [(CsvWriter, tmp_path / "csv")])
    assert not (tmp_path / "csv").exists()


def test_missing_pyarrow_is_one_line_and_makes_no_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"neutrino-bench\[parquet\]"):
        export(log_of(tmp_path), [(ParquetWriter, tmp_path / "p")])
    assert not (tmp_path / "p").exists()


def test_formats_page_lists_every_column() -> None:
    page = (ROOT / "docs" / "formats.md").read_text()
    section = page.split("## Tables of a log")[1]
    for table in TABLES:
        assert f"`{table.name}`" in section
        assert [name for name in table.columns if f"`{name}`" not in section] == []
