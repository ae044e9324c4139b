"""A mixed set of submissions to examples/problems/vector_add.py: honest, wrong, cheating, crashing, hanging."""

from __future__ import annotations

from benchguard.fleet.job import Graded, Source
from tests.conftest import ROOT

PROBLEM = ROOT / "examples" / "problems" / "vector_add.py"
HONEST = (ROOT / "examples/problems/submissions/vector_add/kernel.ptx").read_text()
OPTIONS = {"driver": "sim", "samples": 8, "timeout": 25.0, "forbid_library": ("cublas*",)}
"""A kernel with a forbidden name is the cheat: that is certain on the CPU driver, whose times are not."""

HOST = '''
"""Launches a kernel of PTX through the driver."""

import ctypes

PTX = """{ptx}"""
cuda = ctypes.CDLL("libcuda.so.1")
module, function = ctypes.c_void_p(), ctypes.c_void_p()


def solution(a, b, c, n):
    if not module:
        assert cuda.cuModuleLoadData(ctypes.byref(module), PTX.encode() + b"\\0") == 0
        assert cuda.cuModuleGetFunction(ctypes.byref(function), module, b"{name}") == 0
    values = [ctypes.c_uint64(each.data_ptr()) for each in (a, b, c)] + [ctypes.c_uint64(n)]
    places = (ctypes.c_void_p * 4)(*(ctypes.addressof(each) for each in values))
    assert cuda.cuLaunchKernel(function, -(-n // 256), 1, 1, 256, 1, 1, 0, None, places, None) == 0
'''

CRASHES = "import ctypes\n\n\ndef solution(a, b, c, n):\n    ctypes.string_at(0)\n"
HANGS = "import time\n\n\ndef solution(a, b, c, n):\n    while True:\n        time.sleep(1)\n"


def _launched(name: str) -> Source:
    return Source(HOST.format(ptx=HONEST.replace(".entry solution", f".entry {name}"), name=name), "python")


KINDS: dict[str, tuple[str, Source]] = {
    "honest": ("pass", Source(HONEST, "ptx")),
    "wrong": ("wrong", Source(HONEST.replace("add.f32", "sub.f32"), "ptx")),
    "broken": ("failed", Source(HONEST.replace("add.f32", "odd.f32"), "ptx")),
    "crashes": ("failed", Source(CRASHES, "python")),
    "launched": ("pass", _launched("add")),
    "cheats": ("violation", _launched("cublas_cheat")),
    "hangs": ("timeout", Source(HANGS, "python")),
}
"""The expected verdict of each kind. `launched` is the honest control of `cheats`."""


def mixed(count: int, leave_out: tuple[str, ...] = ()) -> dict[str, Source]:
    """`count` submissions, no two of which have the same content."""
    kinds = [each for each in KINDS if each not in leave_out]
    marks = {"ptx": "//", "python": "#"}
    items = {}
    for number in range(count):
        kind = kinds[number % len(kinds)]
        source = KINDS[kind][1]
        text = f"{source.source}\n{marks[source.language]} submission {number}\n"
        items[f"{kind}-{number}"] = Source(text, source.language)
    return items


def unexpected(graded: list[Graded]) -> list[tuple[str, str, str]]:
    """The outcomes that are not as expected: id, verdict, reason."""
    return [
        (
            each.id,
            each.result.verdict if each.result else "none",
            each.result.reason if each.result else each.trouble,
        )
        for each in graded
        if each.result is None or each.result.verdict != KINDS[each.id.partition("-")[0]][0]
    ]
