"""Machine code of a kernel: NVIDIA's nvdisasm where it is installed, and hostile stand-ins for it in the sandbox."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchguard.errors import BenchguardError, UsageError
from benchguard.images import disassemble as module
from benchguard.images.disassemble import disassemble, find_nvdisasm
from benchguard.images.image import read_image
from benchguard.quarantine.probe import features
from tests.conftest import ROOT

CUBIN = (ROOT / "tests" / "unit" / "hook" / "images" / "sm_90.cubin").read_bytes()
with_nvdisasm = pytest.mark.skipif(
    find_nvdisasm() is None, reason="no nvdisasm: pip install nvidia-cuda-nvdisasm"
)


def symbol(name: str) -> int:
    found = next(kernel.symbol for kernel in read_image(CUBIN).codes[0].kernels if kernel.name == name)
    assert found is not None
    return found


@with_nvdisasm
def test_machine_code_of_one_kernel_is_printed() -> None:
    text = disassemble(CUBIN, symbol("saxpy")).text
    assert ".text.saxpy:" in text and "EXIT" in text and ".text.mixed:" not in text


@with_nvdisasm
def test_damaged_cubin_is_one_line() -> None:
    with pytest.raises(BenchguardError, match=r"nvdisasm could not read the kernel: .* status 1"):
        disassemble(b"\x7fELF" + bytes(200), 3)


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> Path:
    """A program in place of nvdisasm, which a hostile cubin has taken over."""
    folder.mkdir()
    folder.chmod(0o755)
    path = folder / "nvdisasm"
    path.write_text(f"#!{sys.executable} -IS\n{code}\n")
    path.chmod(0o755)
    monkeypatch.setattr(module, "find_nvdisasm", lambda: path)
    return path


def test_program_that_reads_a_secret_works_only_outside_the_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if features()["filesystem"] != "on":
        pytest.skip(f"the sandbox cannot confine files here: {features()['filesystem']}")
    secret = tmp_path / "secret"
    secret.write_text("the secret")
    code = f"print('honest')\ntry: print(open({str(secret)!r}).read())\nexcept OSError as error: print('refused')"
    path = stand_in(tmp_path / "tool", monkeypatch, code)
    assert "the secret" in subprocess.run([path], capture_output=True, text=True, check=True).stdout
    assert disassemble(CUBIN, 1).text == "honest\nrefused\n"


def test_program_that_hangs_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path / "tool", monkeypatch, "import time\nwhile True: time.sleep(1)")
    with pytest.raises(BenchguardError, match="took more than 3 s and was killed"):
        disassemble(CUBIN, 1, seconds=3)


def test_program_that_prints_without_end_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path / "tool", monkeypatch, "import sys\nwhile True: sys.stdout.write('x' * 65536)")
    with pytest.raises(BenchguardError, match="printed more than"):
        disassemble(CUBIN, 1)


def test_missing_nvdisasm_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_nvdisasm", lambda: None)
    with pytest.raises(UsageError, match="pip install nvidia-cuda-nvdisasm"):
        disassemble(CUBIN, 1)
