"""Limit the threads with which a process computes.

Processes that make input sets at once share the cores. Without limits, numpy's BLAS and torch start one thread per core
in each process, which then wait for each other in busy loops.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

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
