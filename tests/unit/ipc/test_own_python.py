"""Python processes of ours, started in a folder with modules that a submission left there."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from benchguard.audit.demangle import Demangler
from benchguard.gpu.launch_overhead import launch_overhead
from benchguard.ipc.own_python import own_python
from tests.conftest import ROOT

NAMES = ("benchguard", "cxxfilt", "msgspec", "pathlib", "random", "select", "statistics", "subprocess")
SIM = ROOT / "benchguard" / "native" / "sim" / "libcuda.so.1"


@pytest.fixture
def traps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose modules leave a file when they are imported. It is the working directory."""
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'taken')!r}, 'a').write({name!r})")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "taken"


def test_trap_is_imported_by_a_plain_command(traps: Path) -> None:
    subprocess.run([sys.executable, "-c", "import cxxfilt"], check=True)
    assert traps.read_text() == "cxxfilt"


def test_process_imports_installed_modules(traps: Path) -> None:
    program = f"import {', '.join(NAMES)}; from benchguard.ipc import users; print(sys.argv[1:])"
    done = subprocess.run([*own_python(program), "a", "b"], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("['a', 'b']\n", "")
    assert not traps.exists()


def test_demangler_imports_nothing_from_working_directory(traps: Path) -> None:
    with closing(Demangler()) as demangler:
        assert demangler.demangle("_Z3addPfi") == "add(float*, int)"
    assert not traps.exists()


def test_launch_overhead_imports_nothing_from_working_directory(traps: Path) -> None:
    assert launch_overhead(SIM) is not None
    assert not traps.exists()
