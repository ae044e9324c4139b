"""When NVML's counts say that a GPU works on nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, repeat
from types import SimpleNamespace

import pytest

from benchguard.gpu import quiet
from benchguard.gpu.quiet import CPU_DRIVER, wait_until_quiet


class NVMLError(Exception):
    pass


def nvml_with(rates: Iterator[tuple[int, int]]) -> Callable[[], SimpleNamespace]:
    """A module that reads these rates of kernels and memory, in turn."""

    def read(_: object) -> SimpleNamespace:
        kernels, memory = next(rates)
        return SimpleNamespace(gpu=kernels, memory=memory)

    module = SimpleNamespace(
        NVMLError=NVMLError,
        nvmlInit=lambda: None,
        nvmlShutdown=lambda: None,
        nvmlDeviceGetHandleByUUID=lambda uuid: uuid,
        nvmlDeviceGetUtilizationRates=read,
    )
    return lambda: module


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quiet, "QUIET_SECONDS", 0.05)
    monkeypatch.setattr(quiet, "POLL_SECONDS", 0.01)


@pytest.mark.parametrize("busy", [(100, 0), (0, 3)])
def test_work_that_ends_is_waited_for(busy: tuple[int, int]) -> None:
    rates = chain([busy] * 3, repeat((0, 0)))
    assert wait_until_quiet(("GPU-1",), 1.0, nvml_with(rates))
    assert next(rates) == (0, 0)


@pytest.mark.parametrize("busy", [(100, 0), (0, 3)])
def test_work_that_goes_on_is_not_quiet(busy: tuple[int, int]) -> None:
    assert not wait_until_quiet(("GPU-1",), 0.1, nvml_with(chain([(0, 0)] * 2, repeat(busy))))


def test_nvml_that_cannot_tell_is_not_quiet() -> None:
    def refuses(_: object) -> None:
        raise NVMLError

    module = nvml_with(repeat((0, 0)))()
    module.nvmlDeviceGetUtilizationRates = refuses
    assert not wait_until_quiet(("GPU-1",), 1.0, lambda: module)
    assert not wait_until_quiet(("all",), 1.0, lambda: (_ for _ in ()).throw(ImportError))


def test_cpu_driver_is_quiet_when_its_process_stops() -> None:
    assert wait_until_quiet((CPU_DRIVER,), 0.0, lambda: None)
