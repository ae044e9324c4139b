"""Whether a GPU lets one process at a time use it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace

import pytest

from benchguard.gpu.exclusive import is_exclusive

DEFAULT, PROHIBITED, EXCLUSIVE = 0, 2, 3


class NVMLError(Exception):
    pass


def nvml_with(modes: Mapping[str, int]) -> Callable[[], SimpleNamespace]:
    """A module with GPUs of these compute modes. It refuses other names."""

    def handle(uuid: str) -> str:
        if uuid not in modes:
            raise NVMLError
        return uuid

    module = SimpleNamespace(
        NVMLError=NVMLError,
        NVML_COMPUTEMODE_EXCLUSIVE_PROCESS=EXCLUSIVE,
        nvmlInit=lambda: None,
        nvmlShutdown=lambda: None,
        nvmlDeviceGetHandleByUUID=handle,
        nvmlDeviceGetComputeMode=lambda uuid: modes[uuid],
    )
    return lambda: module


@pytest.mark.parametrize(("mode", "exclusive"), [(DEFAULT, False), (PROHIBITED, False), (EXCLUSIVE, True)])
def test_compute_mode_tells_whether_a_gpu_is_exclusive(mode: int, exclusive: bool) -> None:
    load = nvml_with({"GPU-1": DEFAULT, "GPU-2": mode})
    assert is_exclusive(("GPU-1", "GPU-2"), load) == exclusive
    assert not is_exclusive(("GPU-1",), load) and not is_exclusive((), load)


def test_gpu_that_nvml_does_not_know_is_taken_for_shared() -> None:
    assert not is_exclusive(("all",), nvml_with({"GPU-1": EXCLUSIVE}))


def test_machine_without_nvml_is_taken_for_shared() -> None:
    def fail() -> SimpleNamespace:
        raise ImportError

    assert not is_exclusive(("GPU-1",), fail)
