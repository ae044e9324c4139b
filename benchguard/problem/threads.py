"""How many threads this process computes with. Where several make input sets at once each has a share of the cores:
numpy's BLAS and torch begin one thread a core otherwise, and wait for each other in loops.
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
"""Beyond that, memory is what is waited for."""

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
    """As many as we may run on, and have not been told to leave to others."""
    return min(_limit[0], len(os.sched_getaffinity(0)))


@contextmanager
def shared_threads(count: int) -> Iterator[None]:
    """A process that is forked meanwhile computes with `count` threads; this one with as many as before again.

    It has to be said before the fork: OpenBLAS begins its threads when it is told their number. torch has one, as
    GNU's OpenMP does not survive a fork.
    """
    with ExitStack() as stack:
        stack.callback(_limit.__setitem__, 0, _limit[0])
        _limit[0] = count
        kept = {name: os.environ.get(name) for name in _VARIABLES}  # for libraries to come
        stack.callback(_restore, kept)
        os.environ.update(dict.fromkeys(_VARIABLES, str(count)))
        for get, set_ in _blas():
            stack.callback(set_, get())
            set_(count)
        torch = sys.modules.get("torch")
        if torch is not None:
            stack.callback(torch.set_num_threads, torch.get_num_threads())
            torch.set_num_threads(1)
        yield


def _restore(kept: Mapping[str, str | None]) -> None:
    for name, value in kept.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value


def _blas() -> Iterator[tuple[Callable[[], int], Callable[[int], None]]]:
    """How those that are loaded are asked and told."""
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
