"""A pytest plugin for numba-cuda's own tests: what became of each, one JSON object a line, as it becomes known.

A crash or a kill leaves the lines before it, the last of which names the test that was running. It has no import
of ours, so that any Python with numba-cuda can load it.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

TEXT_KEPT = 20_000
STICKY = re.compile(
    r"CUDA_ERROR_(ILLEGAL_\w+|LAUNCH_FAILED|LAUNCH_TIMEOUT|ASSERT|MISALIGNED_ADDRESS|HARDWARE_\w+)"
)
"""Errors after which every call on the context fails: the tests that follow need a new process."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--outcomes", required=True, help="file that gets the outcomes")
    parser.addoption("--only", help="file of the tests to run, a name or a pattern each line")


@pytest.fixture(scope="class")
def initialize_from_pytest_config(request: pytest.FixtureRequest) -> None:
    """numba-cuda's test cases ask for this; its definition is in their repository, not in their package."""
    request.cls._dump_failed_filechecks = False


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Outcomes(config), "numba-outcomes")


class Outcomes:
    def __init__(self, config: pytest.Config) -> None:
        self._file = Path(config.getoption("--outcomes")).open("a", buffering=1, encoding="utf-8")  # noqa: SIM115
        only = config.getoption("--only")
        self._only = Path(only).read_text(encoding="utf-8").split("\n") if only else None
        log = os.environ.get("SIM_LAUNCH_LOG")
        self._launches = Path(log) if log else None
        self._lost = False

    def _write(self, **fields: Any) -> None:
        self._file.write(json.dumps(fields) + "\n")

    def _launched(self) -> int:
        """How many launches the driver has counted."""
        if self._launches is None or not self._launches.exists():
            return 0
        return self._launches.read_bytes().count(b"\n")

    def _chosen(self, name: str) -> bool:
        return self._only is None or any(name == line or fnmatchcase(name, line) for line in self._only)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self._only is not None:
            items[:] = [item for item in items if self._chosen(item.nodeid)]
        self._write(collected=[item.nodeid for item in items])

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.outcome == "failed":
            self._write(uncollected=report.nodeid, text=str(report.longrepr)[-TEXT_KEPT:])
        elif report.outcome == "skipped":
            self._write(uncollected=report.nodeid, reason=_reason(report.longrepr))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        name = item.nodeid
        self._write(begins=name)
        before, start = self._launched(), time.monotonic()
        result = yield
        seconds = round(time.monotonic() - start, 3)
        self._write(ends=name, seconds=seconds, launches=self._launched() - before)
        if self._lost:
            item.session.shouldstop = "the context is lost"
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call" and report.outcome == "passed":
            return
        fields: dict[str, Any] = {"test": report.nodeid, "outcome": report.outcome}
        if report.outcome == "skipped":
            fields["reason"] = getattr(report, "wasxfail", None) or _reason(report.longrepr)
            if hasattr(report, "wasxfail"):
                fields["outcome"] = "xfailed"
        elif report.outcome == "failed":
            written = "\n".join(text for _, text in report.sections)
            fields["text"] = str(report.longrepr)[-TEXT_KEPT:]
            fields["written"] = written[-TEXT_KEPT:]
            self._lost = self._lost or STICKY.search(fields["text"]) is not None
        self._write(**fields)


def _reason(longrepr: object) -> str:
    if isinstance(longrepr, tuple):
        return str(longrepr[2]).removeprefix("Skipped: ")
    return str(longrepr)
