"""The page of a log: structure, escaped text, content security policy, and its command."""

from __future__ import annotations

import base64
import builtins
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from benchguard.audit.log import LogError
from benchguard.cli.main import cli
from benchguard.errors import UsageError
from benchguard.report.log_page import log_page
from benchguard.report.log_report import read_log_report
from benchguard.report.page import ROWS_MAX, render
from tests.support import logs

plotly = pytest.importorskip("plotly", reason="the extra `report` is not installed")

HOSTILE = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u202e\x1b[2J\x00&amp;{{7*7}}"


@pytest.fixture(autouse=True)
def small_plotly(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library has 5 MB; test_browser.py draws with it."""
    monkeypatch.setattr("plotly.offline.get_plotlyjs", lambda: "var Plotly = {};")


class Parsed(HTMLParser):
    """Elements, and the text of scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] == "script" and self.cdata_elem == "script":
            self.scripts[-1] += data

    def count(self, tag: str) -> int:
        return sum(each == tag for each, _ in self.tags)


@pytest.mark.parametrize("gpu_time", [False, True])
def test_page_says_whether_the_log_has_times_of_the_gpu(tmp_path: Path, gpu_time: bool) -> None:
    first = msgspec.structs.replace(logs.session(), gpu_time=True) if gpu_time else logs.session()
    lines = [first, logs.launch(0, number=3), logs.launch_time(9000, number=3), logs.end()]
    html = render(log_page(read_log_report(logs.write_log(tmp_path / "log", lines))))
    assert ("no times of the GPU" in html, "has times of the GPU" in html) == (not gpu_time, gpu_time)


def page_of(tmp_path: Path, *lines: Any) -> str:
    path = logs.write_log(tmp_path / "log", [logs.session(), *lines, logs.end()])
    return render(log_page(read_log_report(path)))


def hostile_lines() -> list[Any]:
    return [
        logs.image(HOSTILE, HOSTILE), logs.kernel(HOSTILE), logs.launch(10, HOSTILE), logs.call(20, HOSTILE, result=1),
        logs.call(30, "cuMemAlloc_v2", {"dptr": 16, "bytesize": 4096}),
    ]  # fmt: skip


def test_hostile_text_adds_no_element(tmp_path: Path) -> None:
    honest = [
        logs.image("/lib/x.so", "note"), logs.kernel(), logs.launch(10), logs.call(20, "cuInit", result=1),
        logs.call(30, "cuMemAlloc_v2", {"dptr": 16, "bytesize": 4096}),
    ]  # fmt: skip
    expected, found = Parsed(page_of(tmp_path, *honest)), Parsed(page_of(tmp_path, *hostile_lines()))
    assert [tag for tag, _ in found.tags] == [tag for tag, _ in expected.tags]
    assert found.count("img") == 0 and found.count("script") == 4


def test_hostile_text_is_shown_escaped(tmp_path: Path) -> None:
    html = page_of(tmp_path, *hostile_lines())
    assert "&lt;/script&gt;&lt;script&gt;" in html and "{{7*7}}" in html
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x1b\x00]", html)
    assert "\\u202e\\x1b[2J" in html


def test_chart_data_has_the_original_names(tmp_path: Path) -> None:
    scripts = Parsed(page_of(tmp_path, *hostile_lines())).scripts
    assert HOSTILE in json.loads(scripts[0])["timeline"]["names"]


def test_policy_allows_exactly_the_scripts_of_the_page(tmp_path: Path) -> None:
    html = page_of(tmp_path, logs.launch(10))
    found = Parsed(html)
    policy = next(attrs["content"] for tag, attrs in found.tags if attrs.get("http-equiv"))
    assert policy is not None and policy.startswith("default-src 'none'; script-src 'sha256-")
    digests = [
        base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in found.scripts[1:]
    ]
    assert re.findall("'sha256-([^']+)'", policy) == digests
    assert "unsafe-eval" not in policy and "'unsafe-inline'" not in policy.split("style-src")[0]


def test_page_refers_to_nothing_outside(tmp_path: Path) -> None:
    found = Parsed(page_of(tmp_path, *hostile_lines()))
    links = [
        value for _, attrs in found.tags for name, value in attrs.items() if name in ("src", "href", "action")
    ]
    assert links and all(value is not None and value.startswith("#") for value in links)


def test_page_names_its_sections_and_losses(tmp_path: Path) -> None:
    path = logs.write_log(
        tmp_path / "log",
        [
            logs.session("a", "b"),
            logs.launch(10),
            logs.end(dropped=7, complete=False, unobserved=["9: sh -c x"]),
        ],
    )
    html = render(log_page(read_log_report(path)))
    for text in (
        "Run of a b",
        "incomplete",
        "7 records were dropped",
        "9: sh -c x",
        'id="timeline"',
        'id="calls"',
    ):
        assert text in html


def test_merged_timeline_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchguard.report.log_report.LAUNCH_BOXES", 20)
    html = page_of(tmp_path, *(logs.launch(at * 1000) for at in range(300)))
    assert re.search(r"Showing \d+ boxes for 300 launches: neighbours in time are merged", html)


def test_long_table_says_how_many_rows_it_omits(tmp_path: Path) -> None:
    html = page_of(tmp_path, *(logs.launch(at, f"kernel{at}") for at in range(ROWS_MAX + 25)))
    assert f"Kernels: {ROWS_MAX} of {ROWS_MAX + 25} rows; most launched first" in html


def test_log_without_calls_has_a_page_without_charts(tmp_path: Path) -> None:
    html = page_of(tmp_path)
    assert "The log has no calls." in html and Parsed(html).count("script") == 1


def report(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["report", *map(str, arguments)])


def test_command_writes_the_page(tmp_path: Path) -> None:
    path = logs.write_log(tmp_path / "log", [logs.session(), logs.launch(10), logs.end()])
    assert report(path, "--html", tmp_path / "x.html").exit_code == 0
    assert "<!doctype html>" in (tmp_path / "x.html").read_text()


def test_cut_log_is_shown_with_status_1_and_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from benchguard.cli.main import main

    path = logs.write_log(tmp_path / "log", [logs.session(), logs.launch(10), logs.end()])
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(SystemExit) as ended:
        main(["report", str(path), "--html", str(tmp_path / "x.html")])
    err = capsys.readouterr().err
    assert (ended.value.code, err.count("\n")) == (1, 1) and "cut short" in err
    assert "cut short" in (tmp_path / "x.html").read_text()


@pytest.mark.parametrize("content", ["", "{}\n", "text"])
def test_file_that_is_not_a_log_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(content)
    result = report(tmp_path / "log", "--html", tmp_path / "x.html")
    assert isinstance(result.exception, LogError | UsageError) and not (tmp_path / "x.html").exists()


def test_missing_extra_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without_plotly(name: str, *arguments: Any, **settings: Any) -> Any:
        if name.startswith("plotly"):
            raise ModuleNotFoundError(f"No module named {name!r}", name="plotly")
        return original(name, *arguments, **settings)

    monkeypatch.setattr(builtins, "__import__", without_plotly)
    with pytest.raises(
        UsageError, match=r"needs the package plotly; install it with .*neutrino-bench\[report\]"
    ):
        page_of(tmp_path, logs.launch(10))
