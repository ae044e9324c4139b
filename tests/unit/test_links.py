"""Every relative link of a page leads to a file, and to a heading that the file has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

FOLDERS = ("docs", "examples", "sim", "tests")
PAGES = [*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))]
CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?P<path>[^)#\s]*)(?:#(?P<heading>[^)\s]+))?\)")


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for found in LINK.finditer(CODE.sub("", page.read_text())):
        path, heading = found["path"], found["heading"]
        if path.startswith(("http:", "https:")):
            continue
        target = page.parent / path if path else page
        assert target.exists(), f"{page}: {path} does not exist"
        assert heading is None or heading in anchors(target), f"{page}: {path} has no heading {heading}"
