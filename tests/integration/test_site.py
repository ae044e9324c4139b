"""The documentation site: every page without a warning, offline, readable in a narrow window."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

pytest.importorskip("sphinx", reason="the extra `docs` is not installed")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PAGES = ("docs/index", "README", "docs/cli", "docs/api", "docs/threat-model", "docs/formats", "docs/findings")


def build(source: Path, out: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-c", str(ROOT / "docs" / "site")]
    return subprocess.run(
        [*command, "-d", str(out / "doctrees"), str(source), str(out / "site")],
        cwd=ROOT, capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("docs")
    built = build(ROOT, out)
    assert built.returncode == 0, built.stderr
    return out / "site"


@pytest.mark.parametrize("link", ["[x](missing.md)", "[x](index.md#no-such-heading)", "[x](#nowhere)"])
def test_broken_link_fails_the_build(tmp_path: Path, link: str) -> None:
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "index.md"
    page.write_text("# Title\n\n[fine](index.md#title)\n")
    assert build(tmp_path, tmp_path / "control").returncode == 0
    page.write_text(f"# Title\n\n{link}\n")
    built = build(tmp_path, tmp_path / "broken")
    assert built.returncode != 0
    assert "index.md:3: WARNING" in built.stderr


def test_pages_name_no_script_style_or_image_of_another_host(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 60
    for page in pages:
        named = re.findall(
            r"<(?:script|link|img|iframe)[^>]*(?:src|href)=\"((?:https?:)?//[^\"]*)\"", page.read_text()
        )
        assert named == [], page
    styles = "".join(path.read_text() for path in site.rglob("*.css"))
    assert not re.search(r"url\([\"']?(?:https?:)?//|@import", styles)


def test_first_page_leads_to_the_site(site: Path) -> None:
    target = re.search(r"url=([\w/.]+)", (site / "index.html").read_text())
    assert target is not None and (site / target[1]).is_file()


@pytest.fixture
def browser() -> Iterator[Any]:
    if BROWSER is None:
        pytest.skip("no Chromium in PATH: apt-get install chromium")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.mark.parametrize("width", [1400, 400])
def test_pages_fit_the_window_without_requests_or_messages(browser: Any, site: Path, width: int) -> None:
    page, console, foreign = browser.new_page(viewport={"width": width, "height": 900}), [], []
    page.on("console", lambda message: console.append(message.text))
    page.on("pageerror", lambda error: console.append(str(error)))
    page.on("request", lambda request: foreign.append(request.url))
    for name in PAGES:
        page.goto((site / f"{name}.html").as_uri())
        page.wait_for_load_state("load")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
    assert console == []
    assert [url for url in foreign if not url.startswith(site.as_uri())] == []
