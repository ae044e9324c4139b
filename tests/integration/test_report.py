"""Reports in a real browser: drawing, keyboard, pointer, and hostile text. Skipped where there is no Chromium."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchguard.report.log_page import log_page
from benchguard.report.log_report import LAUNCH_BOXES, read_log_report
from benchguard.report.page import render
from tests.support import logs

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
MILLION = 1_000_000

pytest.importorskip("plotly", reason="the extra `report` is not installed")
in_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium in PATH: apt-get install chromium")


@pytest.fixture
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield chromium
        chromium.close()


def write(path: Path, html: str) -> Path:
    path.write_text(html)
    return path


def html_of(tmp_path: Path, name: str = "saxpy") -> str:
    lines = [
        logs.session(), logs.image(name), logs.kernel(name),
        *(logs.launch(at * 10**6, name if at % 2 else "other", stream=at % 3) for at in range(1, 60)),
        *(logs.call(at * 10**6, "cuMemAlloc_v2", {"dptr": at, "bytesize": 1 << 20}) for at in range(1, 20)),
        logs.launch(61 * 10**6, name, result=1), logs.end(),
    ]  # fmt: skip
    return render(log_page(read_log_report(logs.write_log(tmp_path / "log", lines))))


def opened(browser: Any, path: Path) -> tuple[Any, list[str], list[str]]:
    """A page once its scripts have run, its console messages, and its requests."""
    page, console, requests = browser.new_page(), [], []
    page.on("console", lambda message: console.append(message.text))
    page.on("pageerror", lambda error: console.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_load_state("load")
    return page, console, requests


def range_of(page: Any, section: str) -> list[float]:
    found: list[float] = page.evaluate(f"document.querySelector('#{section} .plot').layout.xaxis.range")
    return found


@in_browser
def test_page_draws_without_a_request_or_a_message(browser: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "x.html", html_of(tmp_path))
    page, console, requests = opened(browser, path)
    page.wait_for_selector("[data-charts='2']")
    assert (console, requests) == ([], [path.as_uri()])
    assert page.locator("#timeline .plot path.js-fill").count() == 4


@in_browser
def test_chart_obeys_keys_and_pointer(browser: Any, tmp_path: Path) -> None:
    page, *_ = opened(browser, write(tmp_path / "x.html", html_of(tmp_path)))
    page.wait_for_selector("[data-charts]")
    whole = range_of(page, "timeline")
    page.focus("#timeline .plot")
    page.keyboard.press("n")
    assert page.inner_text("#timeline .detail") == "saxpy: legacy stream, from 1 ms, 1 us long"
    page.keyboard.press("+")
    low, high = range_of(page, "timeline")
    assert high - low == pytest.approx((whole[1] - whole[0]) / 2)
    assert range_of(page, "memory") == [low, high]
    page.keyboard.press("0")
    assert range_of(page, "timeline") == pytest.approx(whole)
    page.locator("#memory .detail").scroll_into_view_if_needed()
    box = page.locator("#memory .plot").bounding_box()
    page.mouse.move(box["x"] + box["width"] - 40, box["y"] + 100)
    assert "device: 19 MiB" in page.inner_text("#memory .detail")


@in_browser
def test_rows_are_paragraphs_on_a_narrow_page(browser: Any, tmp_path: Path) -> None:
    """Every cell of a row is beside its heading, and nothing is wider than the window."""
    page, *_ = opened(browser, write(tmp_path / "x.html", html_of(tmp_path)))
    page.set_viewport_size({"width": 400, "height": 900})
    cell = page.locator("#calls table.sortable tbody tr").first.locator("td").nth(2)
    heading = cell.evaluate("cell => getComputedStyle(cell, '::before').content")
    assert heading.strip('"') == "Host total"
    for box in page.locator("td:not(:empty)").all():
        place = box.bounding_box()
        assert place["x"] >= 0 and place["x"] + place["width"] <= 400


@in_browser
def test_table_sorts_by_keyboard(browser: Any, tmp_path: Path) -> None:
    page, *_ = opened(browser, write(tmp_path / "x.html", html_of(tmp_path)))
    header = page.locator("#calls th button").nth(1)
    header.focus()
    first = "document.querySelector('#calls table.sortable tbody tr').cells[0].textContent"
    page.keyboard.press("Enter")
    assert page.evaluate(first) == "cuLaunchKernel"
    page.keyboard.press("Enter")
    assert page.evaluate(first) == "cuMemAlloc_v2"


@in_browser
def test_hostile_name_runs_only_without_escapes_and_policy(browser: Any, tmp_path: Path) -> None:
    """The attack works on a page without defences; each defence alone stops it."""
    html = html_of(tmp_path, HOSTILE)
    unescaped = html.replace("&lt;", "<").replace("&gt;", ">").replace("&#34;", '"').replace("&#39;", "'")
    pages = {
        "both": html,
        "escapes": re.sub('<meta http-equiv="Content-Security-Policy"[^>]*>', "", html),
        "policy": unescaped,
        "none": re.sub('<meta http-equiv="Content-Security-Policy"[^>]*>', "", unescaped),
    }
    owned = {}
    for name, text in pages.items():
        page, *_ = opened(browser, write(tmp_path / f"{name}.html", text))
        page.wait_for_timeout(300)
        owned[name] = page.title() == "owned"
    assert owned == {"both": False, "escapes": False, "policy": False, "none": True}


@pytest.mark.timeout(1200)
def test_million_launches_give_a_bounded_page(tmp_path: Path) -> None:
    def lines() -> Iterator[Any]:
        yield logs.session()
        for at in range(MILLION):
            yield logs.launch(at * 2000, f"kernel{at % 40}", stream=at % 5)
        yield logs.end(MILLION * 2000)

    report = read_log_report(logs.write_log(tmp_path / "log", lines()))
    html = render(log_page(report))
    assert f"boxes for {MILLION:,} launches" in html and len(html) < 12 << 20
    assert report.facts.launches.boxes <= LAUNCH_BOXES
    assert sum(box.count for boxes in report.facts.launches.lanes.values() for box in boxes) == MILLION
    assert report.summary.launches == MILLION
