"""The driver's context is made while nvcc runs, and each has its own time."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import cast

import pytest

from benchguard.quarantine.contract import Confine, Order
from benchguard.quarantine.runner import cuda_entry, reporting
from benchguard.quarantine.runner.cuda_entry import load_cuda
from benchguard.quarantine.runner.driver import Driver
from benchguard.quarantine.runner.reporting import Reporter, SubmissionError

KERNEL = "__global__ void solution(float *y) {}\n"
PTX = ".version 8.0\n.entry solution() { ret; }\n"
WAIT_SECONDS = 60


class WaitingDriver:
    """Makes no context before nvcc runs."""

    arch = "sm_90a"

    def __init__(self, nvcc_runs: Path, has_context: Path) -> None:
        self._nvcc_runs, self._has_context = nvcc_runs, has_context

    def make_context(self) -> None:
        until = time.monotonic() + WAIT_SECONDS
        while not self._nvcc_runs.exists():
            assert time.monotonic() < until, "nvcc was not started before the context"
            time.sleep(0.01)
        self._has_context.touch()

    def load(self, image: bytes, _name: str) -> bytes:
        return image

    def function(self, _module: bytes, name: str) -> str:
        return name


class FailingDriver(WaitingDriver):
    def make_context(self) -> None:
        raise SubmissionError("cuDevicePrimaryCtxRetain returned CUDA_ERROR_OUT_OF_MEMORY")


def order_in(folder: Path) -> Order:
    source = folder / "k.cu"
    source.write_text(KERNEL)
    return Order(str(source), "cuda", "solution", "arguments", Confine(str(folder), ()))


def use_nvcc(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    nvcc = folder / "nvcc"
    nvcc.write_text(f"#!/bin/sh\n{script}")
    nvcc.chmod(0o755)
    monkeypatch.setattr(cuda_entry, "find_nvcc", lambda: nvcc)


def test_context_and_nvcc_that_wait_for_each_other_both_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, made = tmp_path / "runs", tmp_path / "made"
    use_nvcc(
        tmp_path,
        monkeypatch,
        f"touch {runs}; for i in $(seq {10 * WAIT_SECONDS}); do test -e {made} && break; sleep 0.1; done\n"
        f"test -e {made} || exit 1\ncat >k.ptx <<'END'\n{PTX}END\n",
    )
    reporter = Reporter(os.open(os.devnull, os.O_WRONLY))
    load_cuda(order_in(tmp_path), cast(Driver, WaitingDriver(runs, made)), reporter)


def test_context_that_fails_while_nvcc_runs_is_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_nvcc(tmp_path, monkeypatch, "sleep 1; exit 1\n")
    reporter = Reporter(os.open(os.devnull, os.O_WRONLY))
    with pytest.raises(SubmissionError, match="cuDevicePrimaryCtxRetain"):
        load_cuda(order_in(tmp_path), cast(Driver, FailingDriver(tmp_path, tmp_path)), reporter)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("nvcc", "context", "seconds"),
    [
        (5.0, 2.0, {"driver": 1.0 + 2.0, "compile": 5.0}),
        (2.0, 5.0, {"driver": 1.0 + 5.0, "compile": 2.0}),
    ],
)
def test_seconds_of_the_longer_part_do_not_count_for_the_shorter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nvcc: float, context: float, seconds: dict[str, float]
) -> None:
    clock, path = Clock(), tmp_path / "events"
    monkeypatch.setattr(reporting, "time", clock)
    reporter = Reporter(os.open(path, os.O_WRONLY | os.O_CREAT))
    reporter.begin("driver")
    clock.now += 1.0
    reporter.begin("compile")
    clock.now += max(nvcc, context)
    reporter.overlapped("driver", context, max(0.0, context - nvcc))
    reporter.rest()
    clock.now += 30.0  # the judge opens the problem
    reporter.begin("warm-up", 0)
    clock.now += 0.5
    reporter.finish()
    finished = json.loads(path.read_text().splitlines()[-1])
    assert finished["seconds"] == {**seconds, "warm-up": 0.5}
