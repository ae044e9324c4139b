"""Limit the threads with which a process computes, and share work among them.

Processes that make input sets at once share the cores. Without limits, numpy's BLAS and torch start one thread per core
in each process, which then wait for each other in busy loops.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

THREADS_MAX = 16
"""With more threads, memory bandwidth is the limit."""

_BLAS = re.compile(r" (/.*/lib(?:\w*openblas|mkl_rt)[^/\n]*)$", re.MULTILINE)
_CALLS = (
    ("scipy_openblas_get_num_threads64_", "scipy_openblas_set_num_threads64_"),
    ("scipy_openblas_get_num_threads", "scipy_openblas_set_num_threads"),
    ("openblas_get_num_threads64_", "openblas_set_num_threads64_"),
    ("openblas_get_num_threads", "openblas_set_num_threads"),
    ("MKL_Get_Max_Threads", "MKL_Set_Num_Threads"),
)
"""int (void) and void (int), by whatever names a build has: of numpy's wheels, of distributions, of conda."""

_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

_limit = [THREADS_MAX]  # of this process, which has one share


def threads() -> int:
    """The number of threads to use: the process's cores, or its share of them."""
    return min(_limit[0], len(os.sched_getaffinity(0)))


def in_parts(work: Callable[[int], object], size: int, part: int) -> None:
    """Call `work` with the start of each part, in threads(). Raises the first exception of `work`."""
    starts = range(0, size, part)
    count = min(threads(), len(starts))
    if count <= 1:
        for start in starts:
            work(start)
        return
    with ThreadPoolExecutor(count) as pool:
        for _ in pool.map(work, starts):
            pass


def all_parts(holds: Callable[[int], bool], size: int, part: int) -> bool:
    """Whether `holds` is true for the start of every part. It is not called any more once it was false."""
    fails = threading.Event()

    def look(start: int) -> None:
        if not fails.is_set() and not holds(start):
            fails.set()

    in_parts(look, size, part)
    return not fails.is_set()


@contextmanager
def shared_threads(count: int) -> Iterator[None]:
    """Processes forked within the context compute with `count` threads. Afterwards this process has its former limit.

    The limit is set before the fork, because OpenBLAS starts threads when the limit changes. torch gets one thread,
    because GNU's OpenMP does not survive a fork.
    """
    with ExitStack() as stack:
        stack.callback(_limit.__setitem__, 0, _limit[0])
        _limit[0] = count
        environment = {name: os.environ.get(name) for name in _VARIABLES}  # for libraries to come
        stack.callback(_restore, environment)
        os.environ.update(dict.fromkeys(_VARIABLES, str(count)))
        for get, set_ in _blas():
            stack.callback(set_, get())
            set_(count)
        torch = sys.modules.get("torch")
        if torch is not None:
            stack.callback(torch.set_num_threads, torch.get_num_threads())
            torch.set_num_threads(1)
        yield


def as_in_this_thread() -> Callable[[], None]:
    """A function that gives another thread the settings of this one: those that torch and numpy keep for each thread.

    A problem may change them when it is opened: torch.set_default_device is an example.
    """
    torch, errors = sys.modules.get("torch"), np.geterr()
    device: Any = getattr(torch, "get_default_device", lambda: None)()  # new in torch 2.3
    has_gradients = torch is not None and torch.is_grad_enabled()

    def enter() -> None:
        np.seterr(**errors)
        if torch is not None:
            torch.set_grad_enabled(has_gradients)
            if device is not None and device != torch.get_default_device():
                torch.set_default_device(device)

    return enter


def _restore(environment: Mapping[str, str | None]) -> None:
    for name, value in environment.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value


def _blas() -> Iterator[tuple[Callable[[], int], Callable[[int], None]]]:
    """The functions that read and set the number of threads, for each loaded BLAS library."""
    maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    for path in dict.fromkeys(_BLAS.findall(maps)):
        try:
            library = ctypes.CDLL(path)
        except OSError:  # replaced on disk since
            continue
        for get, set_ in _CALLS:
            if hasattr(library, get) and hasattr(library, set_):
                yield getattr(library, get), getattr(library, set_)
                break
