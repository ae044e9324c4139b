"""The code of a forbidden library is found wherever it is loaded from; own code passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attacks.catalogue import ATTACKS
from tests.attacks.running import Machine, grade
from tests.support.libraries import KIT_PTX, library_of

SIM = Machine("sim", seconds=200)
FORBIDDEN = ("--forbid-library", "libvendor*")


@pytest.mark.parametrize(
    ("vendors", "verdict", "reason"),
    [
        pytest.param(
            KIT_PTX, "violation", "case small: kernel own_mix of libvendor.so.1 is forbidden by 'libvendor*'",
            id="vendor's code",
        ),
        pytest.param(KIT_PTX.replace(b"xor.b32", b"or.b32"), "pass", "", id="other code"),
    ],
)  # fmt: skip
def test_code_of_installed_library_found_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vendors: bytes, verdict: str, reason: str
) -> None:
    library_of(tmp_path / "libvendor.so.1", vendors)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    found = grade(ATTACKS / "25_library_code.py", "Mix", SIM, "small", FORBIDDEN)
    assert (found.verdict, found.reason) == (verdict, reason)
    assert found.whole["cases"][0]["kernels"][0]["source_by"] == ("content" if reason else "loader")
