"""Checks of the machine that need a machine made for them."""

from __future__ import annotations

import compileall
from pathlib import Path

import pytest

from benchguard.machine import checks


def test_module_without_bytecode_is_a_warning_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "lonely"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "inner" / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(checks, "_IMPORTED", ("lonely.inner", "not_installed"))
    finding = checks._bytecode()
    assert (finding.level, finding.found.partition(";")[0]) == ("warn", "not compiled: lonely")
    assert finding.then == f"run `python -m compileall -q {package}`"
    assert compileall.compile_dir(package, quiet=2)
    assert checks._bytecode().level == "ok"
