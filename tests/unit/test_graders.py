"""The manifest of tests/device/graders.py, and its tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchguard.findings.checks import RULES
from tests.device.graders import ATTACKS, GRADERS, NOT_EXPOSED, main, read_manifest


def test_manifest_gives_absolute_paths(tmp_path: Path) -> None:
    (tmp_path / "manifest.toml").write_text('[kernelbench]\npath = "KernelBench/src"\n')
    settings = read_manifest(tmp_path)
    assert settings["kernelbench"] == {"path": str(tmp_path / "KernelBench/src")}
    assert {"do_bench", "torch_benchmark"} < set(settings)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[other]", "other is not one of"),
        ("[kernelbot]", "lacks path, problem, spec"),
        ("no toml", "manifest.toml"),
    ],
)
def test_wrong_manifest_is_refused(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "manifest.toml").write_text(text)
    assert main([str(tmp_path)]) == 2
    assert message in capsys.readouterr().err


def test_expected_findings_exist() -> None:
    assert set().union(*ATTACKS.values()) <= set(RULES)
    assert set(NOT_EXPOSED) <= set(GRADERS)
    assert all(names <= set(ATTACKS) for names in NOT_EXPOSED.values())
