"""The quarantine's environment has only allowed variables."""

from __future__ import annotations

from pathlib import Path

from benchguard.quarantine.sandbox.environment import FOLDERS, check, make_folders, quarantine_environment
from benchguard.toolchain.paths import SIM

DRIVER = Path("/usr/lib/libcuda.so.1")


def test_environment_contains_only_allowed_variables(tmp_path: Path) -> None:
    ours = {
        "LANG": "C",
        "PATH": "/bin",
        "API_TOKEN": "x",
        "LD_PRELOAD": "y",
        "PYTHONPATH": "z",
        "HOME": "/root",
    }
    result = quarantine_environment(ours, tmp_path, DRIVER)
    assert result["LANG"] == "C" and result["PATH"].endswith(":/bin")
    assert not {"API_TOKEN", "LD_PRELOAD", "PYTHONPATH"} & set(result)
    assert result["HOME"] == str(tmp_path / "home")
    assert check(result) == "on"
    assert check({**result, "API_TOKEN": "x"}) == "unexpected variables: API_TOKEN"


def test_caches_in_scratch_folder(tmp_path: Path) -> None:
    make_folders(tmp_path)
    result = quarantine_environment({}, tmp_path, DRIVER)
    for name in FOLDERS:
        assert Path(result[name]).is_dir() and Path(result[name]).is_relative_to(tmp_path)
    assert (tmp_path / "captures").stat().st_mode & 0o777 == 0o700


def test_cpu_driver_runtime_found_first(tmp_path: Path) -> None:
    ours = {"LD_LIBRARY_PATH": "/usr/local/cuda/lib64"}
    assert quarantine_environment(ours, tmp_path, DRIVER)["LD_LIBRARY_PATH"] == "/usr/local/cuda/lib64"
    result = quarantine_environment(ours, tmp_path, SIM)["LD_LIBRARY_PATH"]
    assert result == f"{SIM.parent}:/usr/local/cuda/lib64"
