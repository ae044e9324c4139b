"""Drivers that call themselves, or hand out what they do not export; and when they are opened."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.integration.support import PROGRAMS, Compiler, Observe, Observed


@pytest.fixture
def observed(observe: Observe, compile_c: Compiler) -> Observed:
    driver: Path = compile_c("odd_driver.so", PROGRAMS / "odd_driver.c", links=("-Wl,-soname,libcuda.so.1",))
    client = compile_c("odd_client", PROGRAMS / "odd_client.c")
    run = observe([client], driver=str(driver))
    assert run.status == 0, run.stderr
    return run


def test_driver_calls_to_itself_are_not_recorded(observed: Observed) -> None:
    """cuStreamQuery ends in cuCtxSynchronize, through the shim: one record a call of the program, not two."""
    calls: Counter[str] = Counter()
    for line in observed.of_kind("call"):
        calls[line["call"]] += line.get("repeats", 1)
    assert calls["cuStreamQuery"] == 3
    assert calls["cuCtxSynchronize"] == 0


def test_address_of_a_non_export_is_passed_on_and_named(observed: Observed) -> None:
    assert "secret 42" in observed.stdout
    (line,) = observed.of_kind("unmapped")
    assert (line["name"], line["asked_version"]) == ("cuSecret", 13000)
    assert "unmapped entry points: cuSecret" in observed.stderr


def test_driver_is_opened_at_the_first_call(observed: Observed) -> None:
    assert "mapped 0 then 1" in observed.stdout
