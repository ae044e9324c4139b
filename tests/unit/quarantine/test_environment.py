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
    found = quarantine_environment(ours, tmp_path, DRIVER)
    assert found["LANG"] == "C" and found["PATH"].endswith(":/bin")
    assert not {"API_TOKEN", "LD_PRELOAD", "PYTHONPATH"} & set(found)
    assert found["HOME"] == str(tmp_path / "home")
    assert check(found) == "on"
    assert check({**found, "API_TOKEN": "x"}) == "unexpected variables: API_TOKEN"


def test_caches_in_scratch_folder(tmp_path: Path) -> None:
    make_folders(tmp_path)
    found = quarantine_environment({}, tmp_path, DRIVER)
    for name in FOLDERS:
        assert Path(found[name]).is_dir() and Path(found[name]).is_relative_to(tmp_path)
    assert (tmp_path / "captures").stat().st_mode & 0o777 == 0o700


def test_cpu_driver_runtime_found_first(tmp_path: Path) -> None:
    ours = {"LD_LIBRARY_PATH": "/usr/local/cuda/lib64"}
    assert quarantine_environment(ours, tmp_path, DRIVER)["LD_LIBRARY_PATH"] == "/usr/local/cuda/lib64"
    found = quarantine_environment(ours, tmp_path, SIM)["LD_LIBRARY_PATH"]
    assert found == f"{SIM.parent}:/usr/local/cuda/lib64"
