"""The commands of all pages: lines of code blocks that call neutrino-bench."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import ROOT

GENERATED = ("CHANGELOG.md", "docs/cli.md")
FOLDERS = ("docs", "examples", "sim")
CODE = re.compile(r"^ *```[^\n]*\n(.*?)^ *```$|((?:^    [^\n]*\n)+)", re.DOTALL | re.MULTILINE)
LINE = re.compile(r"(?:\$ |.*&& |.*\$\()?(neutrino-bench (?![:\d])(?:[^\n\\]|\\\n)*)")


def pages() -> list[Path]:
    """Pages with commands that a reader may run, relative to the project."""
    found = [*ROOT.glob("*.md"), *(page for name in FOLDERS for page in (ROOT / name).rglob("*.md"))]
    return sorted(page.relative_to(ROOT) for page in found if str(page.relative_to(ROOT)) not in GENERATED)


def commands_of(page: str) -> Iterator[str]:
    """The commands of a page's code blocks, each as one line."""
    for block in CODE.finditer(page):
        text = (block[1] or block[2]).replace("\\\n", "")
        for line in text.splitlines():
            found = LINE.match(line.strip())
            if found:
                yield re.sub(r"\s+# .*", "", found[1]).strip()
