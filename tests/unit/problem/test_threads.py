"""Settings that torch and numpy keep for each thread, and work that threads share."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from benchguard.problem.threads import all_parts, as_in_this_thread, in_parts


def test_thread_gets_the_settings_of_another() -> None:
    torch = pytest.importorskip("torch")
    with torch.device("meta"), torch.no_grad(), np.errstate(divide="raise"):
        enter = as_in_this_thread()

    def settings() -> tuple[str, bool, str]:
        return torch.empty(1).device.type, torch.is_grad_enabled(), np.geterr()["divide"]

    with ThreadPoolExecutor(1) as plain, ThreadPoolExecutor(1, initializer=enter) as alike:
        assert alike.submit(settings).result() == ("meta", False, "raise")
        assert plain.submit(settings).result() == ("cpu", True, "warn")


@pytest.mark.parametrize("size", [0, 1, 10, 25])
def test_each_part_done_once(size: int) -> None:
    starts: list[int] = []
    lock = threading.Lock()

    def work(start: int) -> None:
        with lock:
            starts.append(start)

    in_parts(work, size, 10)
    assert sorted(starts) == [*range(0, size, 10)]


def test_exception_of_a_part_is_raised() -> None:
    def fail(start: int) -> None:
        raise ValueError(start)

    with pytest.raises(ValueError, match=r"^0$"):
        in_parts(fail, 30, 10)


@pytest.mark.parametrize("false_at", [None, 0, 20, 290])
def test_false_part_decides(false_at: int | None) -> None:
    assert all_parts(lambda start: start != false_at, 300, 10) == (false_at is None)
