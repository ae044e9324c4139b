"""Memory errors of a program that nvcc compiled have their source lines in the device cordon."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from benchguard.quarantine.runner.compilers import compile_library
from benchguard.quarantine.runner.source import flags_of
from tests.conftest import ROOT
from tests.device import sanitizer

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not in PATH")


@needs_nvcc
@pytest.mark.full
def test_planted_errors_have_their_lines(
    native: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert native
    monkeypatch.setattr(sys, "argv", ["sanitizer.py", "--driver", "sim"])
    status = sanitizer.main()
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")][2:]
    assert status == 0 and len(rows) == 9, rows


@needs_nvcc
@pytest.mark.full
@pytest.mark.parametrize("machine_code", [True, False])
def test_library_for_the_cordon_has_no_machine_code(machine_code: bool, tmp_path: Path) -> None:
    """A cubin is an ELF file for EM_CUDA (190); host code is for another machine."""
    nvcc, source = shutil.which("nvcc"), tmp_path / "k.cu"
    source.write_text((ROOT / "tests" / "device" / "planted.cu").read_text())
    assert nvcc is not None
    library = compile_library(Path(nvcc), source, "sm_80", flags_of(None), tmp_path, machine_code)
    raw = library.read_bytes()
    found = [
        at
        for at in range(1, len(raw))
        if raw.startswith(b"\x7fELF", at) and raw[at + 18 : at + 20] == b"\xbe\0"
    ]
    assert bool(found) == machine_code
