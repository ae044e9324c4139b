"""python -m benchguard.codegen."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard.codegen.__main__ import main

from .conftest import GOLDEN

INCLUDE = ["--include", str(GOLDEN / "include")]
SEMANTICS = ["--semantics", str(GOLDEN / "semantics.toml")]


def test_shim_writes_every_file_of_the_architecture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["shim", "--all-header-functions", *INCLUDE, *SEMANTICS, "--out", str(tmp_path)]) == 0
    page = (Path(__file__).parents[3] / "docs" / "architecture.md").read_text()
    for file in tmp_path.iterdir():
        assert f"| `{file.name}` |" in page
    assert len(list(tmp_path.iterdir())) == 8
    assert "11 exports (9 recorded, 2 pass, 0 untyped)" in capsys.readouterr().out


def test_table_shows_kind_group_hook_and_source_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", *INCLUDE, *SEMANTICS]) == 0
    rows = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines()}
    assert rows["cuLaunchKernel_ptsz"] == ["recorded", "launch", "nb_replace_launch"]
    assert rows["cuMemAlloc_v2"] == ["recorded", "memory", "-", "(written", "cuMemAlloc)"]
    assert rows["cuInit"] == ["pass", "-", "nb_through_init"]


def test_bad_input_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = tmp_path / "libcuda.so.1"
    assert main(["shim", "--driver", str(missing), *INCLUDE, *SEMANTICS, "--out", str(tmp_path)]) == 1
    message = capsys.readouterr().err
    assert message.startswith(f"codegen: {missing}: No such file or directory")
    assert message.count("\n") == 1


def test_the_shim_needs_to_know_its_exports(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["shim", "--out", "x"])
    assert "--driver --all-header-functions" in capsys.readouterr().err
