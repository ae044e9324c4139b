"""A HIP library that nothing can run on does not disturb CUDA programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchguard.shim.vendors import HIP
from tests.conftest import ROOT
from tests.integration.support import Compiler, Observe

pytestmark = pytest.mark.skipif(HIP.has_device(), reason="this machine has an AMD GPU")


@pytest.fixture
def unusable_hip(compile_c: Compiler, tmp_path: Path) -> dict[str, str]:
    """An environment whose loader finds a HIP library."""
    source = tmp_path / "hip.c"
    source.write_text('__attribute__((visibility("default"))) int hipInit(void) { return 100; }\n')
    library = compile_c("hip-library/libamdhip64.so.5", source, flags=("-Wl,-soname,libamdhip64.so.5",))
    return {"LD_LIBRARY_PATH": str(library.parent)}


@pytest.mark.quick
def test_cuda_program_is_observed_beside_unusable_hip_library(
    observe: Observe, program: Callable[[str], Path], unusable_hip: dict[str, str]
) -> None:
    observed = observe([program("linked")], driver="auto", environment=unusable_hip)
    assert observed.status == 0, observed.stderr
    assert observed.launches == {("scale", (4, 1, 1), (256, 1, 1)): 3}
    assert observed.lines[0]["api"] == "cuda"


@pytest.mark.quick
def test_doctor_passes_beside_unusable_hip_library(unusable_hip: dict[str, str]) -> None:
    words = [sys.executable, "-m", "benchguard", "doctor", "--json"]
    environment = {**os.environ, **unusable_hip}
    result = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT, env=environment)
    findings = {finding["subject"]: finding for finding in json.loads(result.stdout)["findings"]}
    assert result.returncode == 0, findings
    assert findings["hip driver"]["level"] == "ok"
    assert "not used: this machine has no AMD GPU" in findings["hip driver"]["found"]
