"""The tables of docs/problems.md match the code."""

from __future__ import annotations

import re
from pathlib import Path

from benchguard.problem.c_types import C_TYPES
from benchguard.problem.distributions import NAMES
from benchguard.problem.load import load
from benchguard.problem.spec import Tolerance
from benchguard.problem.tolerances import DEFAULTS
from tests.conftest import ROOT

TEXT = (ROOT / "docs" / "problems.md").read_text()
ROW = re.compile(r"^\| (b?float\w+) \| (\S.*?) \| (\S.*?) \|$", re.MULTILINE)
EXPONENTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def number(written: str) -> float:
    """1e-5, 2⁻⁶, 3 · 2⁻⁵"""
    result = 1.0
    for part in written.split(" · "):
        power = re.fullmatch(r"2([⁻⁰-⁹¹²³]+)", part)
        result *= 2.0 ** int(power[1].translate(EXPONENTS)) if power else float(part)
    return result


def test_documented_tolerances_match_code() -> None:
    assert {n: Tolerance(number(a), number(r)) for n, a, r in ROW.findall(TEXT)} == DEFAULTS


def test_documented_distributions_match_code() -> None:
    (section,) = re.findall(r"^## Distributions$(.*)", TEXT, re.MULTILINE | re.DOTALL)
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(NAMES)


def test_documented_types_match_code() -> None:
    (line,) = re.findall(r"^Types: (.*?)and `\[VAR\]`", TEXT, re.MULTILINE | re.DOTALL)
    assert set(re.findall(r"`(\w+)`", line)) <= C_TYPES.keys()


def test_documented_example_loads(tmp_path: Path) -> None:
    (source,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    path = tmp_path / "softmax.py"
    path.write_text(source)
    case = load(str(path)).cases[0]
    assert [each.name for each in case.spec.arguments] == ["x", "y", "rows", "columns"]
    total = case.expected(case.inputs(1, "own"))["y"].sum(axis=1)
    assert abs(total - 1).max() < 1e-12
