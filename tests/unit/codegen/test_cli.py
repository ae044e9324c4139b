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
    assert len(list(tmp_path.iterdir())) == 9
    assert "11 exports (9 recorded, 2 pass, 0 untyped)" in capsys.readouterr().out


def test_table_shows_kind_group_hook_and_source_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", *INCLUDE, *SEMANTICS]) == 0
    rows = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines()}
    assert rows["cuLaunchKernel_ptsz"] == ["recorded", "launch", "nb_wrap_launch"]
    assert rows["cuMemAlloc_v2"] == ["recorded", "memory", "-", "(written", "cuMemAlloc)"]
    assert rows["cuInit"] == ["pass", "-", "nb_wrap_when_recording_init"]


def test_bad_input_is_reported_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = tmp_path / "libcuda.so.1"
    assert main(["shim", "--driver", str(missing), *INCLUDE, *SEMANTICS, "--out", str(tmp_path)]) == 1
    message = capsys.readouterr().err
    assert message.startswith(f"codegen: {missing}: No such file or directory")
    assert message.count("\n") == 1


def test_shim_command_without_exports_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["shim", "--out", "x"])
    assert "--driver --all-header-functions" in capsys.readouterr().err


HIP = ["--api", "hip", "--include", str(GOLDEN / "hip_include")]
HIP_SEMANTICS = ["--semantics", str(GOLDEN / "hip_semantics.toml")]


def test_hip_table_is_read_from_hip_headers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", *HIP, *HIP_SEMANTICS]) == 0
    rows = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines()}
    assert rows["hipLaunchKernel_spt"] == ["recorded", "launch", "nb_wrap_hip_launch_stub"]
    assert rows["hipGetDevicePropertiesR0600"][-2:] == ["(written", "hipGetDeviceProperties)"]
    assert rows["hipGetErrorName"] == ["pass", "-", "-"]


def test_hip_shim_is_made_from_both_headers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """CUDA's are found as ever; the prototypes that no header has lie beside what includes them."""
    command = ["shim", "--all-header-functions", *HIP, *HIP_SEMANTICS, "--out", str(tmp_path)]
    assert main(command) == 0
    assert "recorded, " in capsys.readouterr().out
    assert (tmp_path / "hip_extra.h").is_file() and len(list(tmp_path.iterdir())) == 11


def test_missing_header_is_reported_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", "--api", "hip", "--include", str(tmp_path)]) == 1
    message = capsys.readouterr().err
    assert message.startswith("codegen: ") and "hip/hip_runtime_api.h" in message
    assert message.count("\n") == 1
