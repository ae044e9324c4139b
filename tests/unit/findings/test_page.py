"""docs/findings.md and the metadata of the checks are the same."""

from __future__ import annotations

import importlib.util
import re

from benchguard.findings.checks import CHECKS, RULES
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "findings.md"


def test_page_equals_explanations_of_checks() -> None:
    specification = importlib.util.spec_from_file_location(
        "make_findings", ROOT / "docs" / "make_findings.py"
    )
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    assert PAGE.read_text() == module.text(), "run `python docs/make_findings.py`"


def test_every_finding_has_a_section() -> None:
    assert set(re.findall(r"^## ([a-z-]+)$", PAGE.read_text(), re.MULTILINE)) == set(RULES)


def test_ids_are_unique_and_plain() -> None:
    ids = [rule.id for check in CHECKS for rule in check.rules]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)+", each) for each in RULES)
