"""docs/formats.md lists the id of every document that the code writes."""

from __future__ import annotations

import re

from tests.conftest import ROOT

ID = re.compile(r"neutrino-bench/[a-z-]+/[0-9]+")


def ids_in_code() -> set[str]:
    sources = [path for folder in ("benchguard", "codegen") for path in (ROOT / folder).rglob("*.py")]
    return {each for path in sources for each in ID.findall(path.read_text())}


def test_formats_page_lists_every_id() -> None:
    page = (ROOT / "docs" / "formats.md").read_text()
    table = [line for line in page.splitlines() if line.startswith("|")]
    assert set(ID.findall("\n".join(table))) == ids_in_code()


def test_documents_have_different_ids() -> None:
    """One module defines an id; the surface's reader and writer share one."""
    pattern = re.compile(r'^(?:SCHEMA|FORMAT)[^=\n]*= "(neutrino-bench/[^"]+)"', re.MULTILINE)
    items = [
        (each, path.name)
        for folder in ("benchguard", "codegen")
        for path in (ROOT / folder).rglob("*.py")
        if not path.is_relative_to(ROOT / "benchguard" / "codegen")
        for each in pattern.findall(path.read_text())
    ]
    ids = [each for each, name in items if name != "surface_json.py"]
    assert len(ids) == len(set(ids)) == len(ids_in_code())
