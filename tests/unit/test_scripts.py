"""The scripts that no test runs, because they need a GPU or take minutes, can be imported."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = [
    ROOT / "tests/attacks/run.py",
    *sorted((ROOT / "tests/bench").rglob("run.py")),
    *sorted((ROOT / "tests/device").glob("*.py")),
]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_script_can_be_imported(script: Path) -> None:
    importlib.import_module(".".join(script.relative_to(ROOT).with_suffix("").parts))
