"""docs/api.md has every public name."""

from __future__ import annotations

import re

import benchguard
from tests.conftest import ROOT


def test_api_page_lists_exactly_the_public_names() -> None:
    page = (ROOT / "docs" / "api.md").read_text()
    listed = re.findall(r"^\.\. auto\w+:: ([\w.]+)", page, re.MULTILINE)
    assert sorted(name.rpartition(".")[2] for name in listed) == sorted(benchguard.__all__)
