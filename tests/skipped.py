"""Tests that the quick run skipped, because the environment lacks torch or HIP, are full tests in the run after it.

CI runs the quick tests first, and then the full ones with more extras. A test that was skipped for a missing extra
would run in neither.
"""

from __future__ import annotations

import pytest

KEY = "neutrino/skipped"
"""In pytest's cache: ids of skipped tests, and of files that were skipped as a whole."""

_skipped: set[str] = set()


@pytest.hookimpl(trylast=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """Add the mark after tests/tiers.py, which refuses two marks on one test."""
    if item.config.option.markexpr == "quick":
        return
    skipped = _cached(item.config)
    if item.nodeid in skipped or item.nodeid.partition("::")[0] in skipped:
        item.add_marker("full")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail"):
        _skipped.add(report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.skipped:
        _skipped.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Keep the names of a run of all quick tests. Its workers have reported to this process."""
    config = session.config
    is_whole = config.option.markexpr == "quick" and not config.option.keyword
    is_whole = is_whole and config.args_source != pytest.Config.ArgsSource.ARGS
    if is_whole and not hasattr(config, "workerinput") and (cache := _cache_of(config)):
        cache.set(KEY, sorted(_skipped))


def _cached(config: pytest.Config) -> set[str]:
    found = cache.get(KEY, []) if (cache := _cache_of(config)) else []
    return set(found) if isinstance(found, list) else set()


def _cache_of(config: pytest.Config) -> pytest.Cache | None:
    """None with -p no:cacheprovider."""
    return getattr(config, "cache", None)
