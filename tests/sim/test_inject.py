"""SIM_INJECT and simInject: calls that fail, are delayed, run out of memory or are missing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from .isolated import ROOT, Outcome, isolated

COUNT = "driver.result('cuDeviceGetCount', ctypes.byref(ctypes.c_int()))"
ALLOCATE = "driver.result('cuMemAlloc_v2', ctypes.byref(ctypes.c_uint64()), ctypes.c_size_t({}))"


def run(sim_path: Path, rules: str, *calls: str, prelude: str = "start()\n") -> Outcome:
    code = prelude + "".join(f"answer({call})\n" for call in calls)
    return isolated(sim_path, code, SIM_INJECT=rules)


@pytest.mark.parametrize(
    ("when", "results"),
    [
        ("", [46, 46, 46, 46, 46]),
        (":*", [46, 46, 46, 46, 46]),
        (":1", [46, 0, 0, 0, 0]),
        (":3", [0, 0, 46, 0, 0]),
        (":2-3", [0, 46, 46, 0, 0]),
        (" : 4 - ", [0, 0, 0, 46, 46]),
        (":100%", [46, 46, 46, 46, 46]),
        (":0%", [0, 0, 0, 0, 0]),
    ],
)
def test_rule_range_selects_failing_calls(sim_path: Path, when: str, results: list[int]) -> None:
    assert run(sim_path, f"cuDeviceGetCount{when}=fail(46)", *[COUNT] * 5).answers == results


def test_injected_failure_has_no_effect(sim_path: Path) -> None:
    outcome = run(
        sim_path,
        "cuMemAlloc_v2:2=fail(CUDA_ERROR_OUT_OF_MEMORY); ; cuMemFree_v2=fail(CUDA_SUCCESS);",
        *[ALLOCATE.format(64)] * 3,
        "driver.number('cuMemGetInfo_v2', None, kind=ctypes.c_size_t)",
        "driver.result('cuMemFree_v2', driver.allocate(1 << 20))",
        "driver.number('cuMemGetInfo_v2', None, kind=ctypes.c_size_t)",
    )
    first, second, third, before, freed, after = outcome.answers
    assert (first, second, third, freed) == (0, 2, 0, 0)
    assert before - after == 1 << 20


def test_pattern_matches_every_variant(sim_path: Path) -> None:
    outcome = run(
        sim_path,
        "cuStream*Query*=fail(999);cuEventQuer?=fail(1)",
        "driver.result('cuStreamQuery', None)",
        "driver.result('cuStreamQuery_ptsz', None)",
        "driver.result('cuEventQuery', None)",
        "driver.result('cuCtxSynchronize')",
    )
    assert outcome.answers == [999, 999, 1, 0]


def test_first_failing_rule_wins_and_all_count(sim_path: Path) -> None:
    rules = "cuDeviceGetCount:2=fail(2);cuDevice*:1-3=fail(3);cuDeviceGetCount:4=fail(4)"
    assert run(sim_path, rules, *[COUNT] * 5, prelude="driver('cuInit', 0)\n").answers == [3, 2, 3, 4, 0]


def test_internal_calls_are_not_counted(sim_path: Path) -> None:
    """cuMemAllocPitch calls cuMemAlloc."""
    pitch = "driver.result('cuMemAllocPitch_v2', ctypes.byref(ctypes.c_uint64()), ctypes.byref(ctypes.c_size_t()), "
    pitch += "ctypes.c_size_t(64), ctypes.c_size_t(4), 4)"
    assert run(sim_path, "cuMemAlloc_v2=fail(2)", pitch, ALLOCATE.format(4)).answers == [0, 2]


def test_chance_repeats_with_seed(sim_path: Path) -> None:
    def pattern(rules: str) -> list[int]:
        return run(sim_path, rules, *[COUNT] * 200).answers

    first = pattern("cuDeviceGetCount:25%=fail(1)")
    assert pattern("cuDeviceGetCount:25%=fail(1);@seed=1") == first
    assert pattern("@seed=2;cuDeviceGetCount:25%=fail(1)") != first
    assert 25 <= sum(first) <= 75


def test_delay_precedes_the_call(sim_path: Path) -> None:
    prelude = "import time\nstart()\nbegin = time.monotonic()\n"
    rules = "cuDeviceGetCount:1=delay(120ms);cuDeviceGetCount:1=delay(80000us);cuDeviceGetCount:2=fail(5)"
    outcome = run(sim_path, rules, COUNT, "time.monotonic() - begin", COUNT, prelude=prelude)
    assert outcome.answers[0] == 0
    assert outcome.answers[1] >= 0.2  # a sleep never ends early
    assert outcome.answers[2] == 5


def test_init_can_fail(sim_path: Path) -> None:
    outcome = run(sim_path, "cuInit:1=fail(100)", *["driver.result('cuInit', 0)"] * 2, prelude="")
    assert outcome.answers == [100, 0]
    assert outcome.errors == ""


def test_memory_limit_fails_allocations(sim_path: Path) -> None:
    outcome = run(
        sim_path,
        "@memory=1M",
        ALLOCATE.format(600 << 10),
        ALLOCATE.format(600 << 10),
        ALLOCATE.format(400 << 10),
        "driver.number('cuDeviceTotalMem_v2', 0, kind=ctypes.c_size_t)",
        "driver.library.simInject(b'')",
        ALLOCATE.format(600 << 10),
    )
    assert outcome.answers == [0, 2, 0, 8 << 30, 0, 0]


def look_up(name: str) -> str:
    return (
        "(lambda p, s: (driver.result('cuGetProcAddress_v2', "
        f"b'{name}', ctypes.byref(p), 13000, ctypes.c_uint64(0), ctypes.byref(s)), p.value is not None, s.value,"
        f" driver.result('cuGetProcAddress', b'{name}', ctypes.byref(p), 13000, ctypes.c_uint64(0))))"
        "(ctypes.c_void_p(), ctypes.c_int(-1))"
    )


def test_dropped_export_is_hidden_but_symbol_stays(sim_path: Path) -> None:
    outcome = run(
        sim_path,
        "cuGraphLaunch*=drop",
        look_up("cuGraphLaunch"),
        look_up("cuGraphUpload"),
        "bool(driver.library.cuGraphLaunch)",
    )
    assert outcome.answers == [[0, False, 1, 500], [0, True, 0, 0], True]


def test_dropped_variant_leaves_older_one(sim_path: Path) -> None:
    address = (
        "(lambda p: (driver('cuGetProcAddress_v2', b'cuMemAlloc', ctypes.byref(p), 13000, ctypes.c_uint64(0), None),"
        " p.value == ctypes.cast(driver.library.cuMemAlloc, ctypes.c_void_p).value))(ctypes.c_void_p())[1]"
    )
    assert run(sim_path, "cuMemAlloc_v2=drop", address).answers == [True]


def test_injected_version_is_reported(sim_path: Path) -> None:
    version = "driver.number('cuDriverGetVersion')"
    outcome = run(
        sim_path, "@version=11080", version, look_up("cuKernelGetName"), look_up("cuLaunchKernelEx")
    )
    assert outcome.answers[0] == 11080
    assert outcome.answers[1][2] == 2  # CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
    assert outcome.answers[2][2] == 0


CONTROL = """
start()
class Table(ctypes.Structure):
    _fields_ = (("bytes", ctypes.c_size_t), ("inject", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)))
table = ctypes.POINTER(Table)()
driver("cuGetExportTable", ctypes.byref(table), b"neutrino-inject\\0")
"""


@pytest.mark.parametrize("inject", ["driver.library.simInject", "table.contents.inject"])
def test_rules_change_at_run_time(sim_path: Path, inject: str) -> None:
    outcome = run(
        sim_path,
        "cuDeviceGetCount:3=fail(9)",
        "table.contents.bytes",
        *[COUNT] * 2,
        f"{inject}(b'cuDeviceGetCount:3=fail(8)')",  # counts restart
        *[COUNT] * 3,
        f"{inject}(b'nonsense')",  # the rules stay
        f"{inject}(None)",
        *[COUNT] * 3,
        prelude=CONTROL,
    )
    assert outcome.answers == [16, 0, 0, 0, 0, 0, 8, 1, 0, 0, 0, 0]
    assert outcome.errors == "CPU driver: SIM_INJECT: at character 1, 'nonsense': " + NO_NAME + "\n"


NO_NAME = "unknown export (some need the suffix _v2 or _ptsz)"
ACTION = "unknown action; use fail(CODE), delay(TIME) or drop"


@pytest.mark.parametrize(
    ("rules", "character", "rest", "why"),
    [
        ("cuNothing=fail(2)", 1, "cuNothing=fail(2)", NO_NAME),
        ("cuInit=fail(2);cuMemAlloc_v3=drop", 16, "cuMemAlloc_v3=drop", NO_NAME),
        ("cuInit:=fail(2)", 8, "=fail(2)", "expected a number"),
        ("cuInit:0=fail(2)", 9, "=fail(2)", "expected an ascending range of calls, counted from 1"),
        ("cuInit:5-2=fail(2)", 11, "=fail(2)", "expected an ascending range of calls, counted from 1"),
        ("cuInit:101%=fail(2)", 8, "101%=fail(2)", "expected a probability from 0% to 100%"),
        ("cuInit:2", 9, "", "expected '='"),
        ("cuInit:2=faill(2)", 10, "faill(2)", ACTION),
        ("cuInit=fail(2", 14, "", "expected ')'"),
        ("cuInit=fail(CUDA_OUCH)", 13, "CUDA_OUCH)", "unknown result code"),
        ("cuInit=fail(10000)", 18, ")", "result code too large (at most four digits)"),
        ("cuInit=fail(99999999999999999999)", 13, "99999999999999999999)", "number too large"),
        ("cuInit=delay(5)", 15, ")", "expected a unit of time: us, ms or s"),
        ("cuInit=delay(7200s)", 19, ")", "delay too long (at most one hour)"),
        ("cuInit=fail(2) cuInit=fail(3)", 16, "cuInit=fail(3)", "expected ';' between rules"),
        ("=fail(2)", 1, "=fail(2)", "expected the name of a function"),
        ("@size=5", 1, "@size=5", "unknown setting; use @memory, @version or @seed"),
        ("@version=12", 12, "", "expected a version as from cuDriverGetVersion: 12040 for 12.4"),
        ("@memory=999999999999999999G", 28, "", "number too large"),
    ],
)
def test_bad_rules_fail_init_and_report_position(
    sim_path: Path, rules: str, character: int, rest: str, why: str
) -> None:
    outcome = run(sim_path, rules, "driver.result('cuInit', 0)", COUNT, prelude="")
    assert outcome.answers == [1, 3]
    assert outcome.errors == f"CPU driver: SIM_INJECT: at character {character}, '{rest[:24]}': {why}\n"


EVERY = """
count = 0
for name in {names!r}:
    if name == "simInject":
        continue
    count += 1
    if getattr(driver.library, name)() != 4242:
        answer(name)
answer(count)
"""


def list_exports(sim_path: Path) -> list[str]:
    with sim_path.open("rb") as file:
        symbols = ELFFile(file).get_section_by_name(".dynsym").iter_symbols()
        return [symbol.name for symbol in symbols if symbol["st_shndx"] != "SHN_UNDEF"]


def list_undeclared_exports() -> set[str]:
    """Return the exports that the header does not declare. Rules cannot name them."""
    source = (ROOT / "sim" / "driver" / "core" / "undeclared.c").read_text()
    return set(re.findall(r"^(?:MISSING\(|CUresult )(cu\w+)", source, re.M))


def test_every_export_can_be_injected(sim_path: Path) -> None:
    """Calls without arguments are safe: an injected failure uses none."""
    names = sorted(set(list_exports(sim_path)) - list_undeclared_exports())
    outcome = isolated(sim_path, EVERY.format(names=names), SIM_INJECT="*=fail(4242)")
    assert outcome.answers == [len(names) - 1]


def test_entry_points_and_symbols_are_counted_alike(sim_path: Path) -> None:
    """cuGetProcAddress returns the export, not the implementation."""
    same = (
        "(lambda p: (driver('cuGetProcAddress_v2', b'cuMemAlloc', ctypes.byref(p), 13000, ctypes.c_uint64(0), None),"
        " p.value == ctypes.cast(driver.library.cuMemAlloc_v2, ctypes.c_void_p).value))(ctypes.c_void_p())[1]"
    )
    assert run(sim_path, "", same).answers == [True]


THREADS = """
start()
import threading
failures = []
def many():
    failures.append(sum(driver.library.cuDeviceGetCount(ctypes.byref(ctypes.c_int())) == 7 for _ in range(2000)))
threads = [threading.Thread(target=many) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
answer(sum(failures))
"""


def test_calls_of_threads_are_counted_once(sim_path: Path) -> None:
    assert isolated(sim_path, THREADS, SIM_INJECT="cuDeviceGetCount:1001-4000=fail(7)").answers == [3000]


def test_forked_child_can_call_with_rules(sim_path: Path) -> None:
    code = """
start()
import os
child = os.fork()
if child == 0:
    os._exit(driver.library.cuCtxSynchronize())
answer(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert isolated(sim_path, code, SIM_INJECT="cuMemAlloc_v2=fail(2)").answers == [3]


def test_sim_inject_is_the_only_non_cuda_export(sim_path: Path) -> None:
    assert [name for name in list_exports(sim_path) if not name.startswith("cu")] == ["simInject"]
