"""SIM_INJECT and simInject: calls that fail, are late, run out of memory or are not there."""

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
def test_which_calls_fail(sim_path: Path, when: str, results: list[int]) -> None:
    assert run(sim_path, f"cuDeviceGetCount{when}=fail(46)", *[COUNT] * 5).answers == results


def test_a_call_that_fails_does_nothing(sim_path: Path) -> None:
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


def test_patterns_reach_every_variant_they_match(sim_path: Path) -> None:
    outcome = run(
        sim_path,
        "cuStream*Query*=fail(999);cuEventQuer?=fail(1)",
        "driver.result('cuStreamQuery', None)",
        "driver.result('cuStreamQuery_ptsz', None)",
        "driver.result('cuEventQuery', None)",
        "driver.result('cuCtxSynchronize')",
    )
    assert outcome.answers == [999, 999, 1, 0]


def test_the_first_rule_that_fails_wins_and_all_count(sim_path: Path) -> None:
    rules = "cuDeviceGetCount:2=fail(2);cuDevice*:1-3=fail(3);cuDeviceGetCount:4=fail(4)"
    assert run(sim_path, rules, *[COUNT] * 5, prelude="driver('cuInit', 0)\n").answers == [3, 2, 3, 4, 0]


def test_what_the_driver_calls_itself_is_not_counted(sim_path: Path) -> None:
    """cuMemAllocPitch allocates."""
    pitch = "driver.result('cuMemAllocPitch_v2', ctypes.byref(ctypes.c_uint64()), ctypes.byref(ctypes.c_size_t()), "
    pitch += "ctypes.c_size_t(64), ctypes.c_size_t(4), 4)"
    assert run(sim_path, "cuMemAlloc_v2=fail(2)", pitch, ALLOCATE.format(4)).answers == [0, 2]


def test_chance_repeats_with_its_seed(sim_path: Path) -> None:
    def pattern(rules: str) -> list[int]:
        return run(sim_path, rules, *[COUNT] * 200).answers

    first = pattern("cuDeviceGetCount:25%=fail(1)")
    assert pattern("cuDeviceGetCount:25%=fail(1);@seed=1") == first
    assert pattern("@seed=2;cuDeviceGetCount:25%=fail(1)") != first
    assert 25 <= sum(first) <= 75


def test_delays_happen_and_the_call_goes_on(sim_path: Path) -> None:
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


def test_memory_runs_out_after_so_many_bytes(sim_path: Path) -> None:
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


def test_a_dropped_export_is_not_found_and_its_symbol_stays(sim_path: Path) -> None:
    outcome = run(
        sim_path,
        "cuGraphLaunch*=drop",
        look_up("cuGraphLaunch"),
        look_up("cuGraphUpload"),
        "bool(driver.library.cuGraphLaunch)",
    )
    assert outcome.answers == [[0, False, 1, 500], [0, True, 0, 0], True]


def test_dropping_the_newest_variant_leaves_the_older(sim_path: Path) -> None:
    address = (
        "(lambda p: (driver('cuGetProcAddress_v2', b'cuMemAlloc', ctypes.byref(p), 13000, ctypes.c_uint64(0), None),"
        " p.value == ctypes.cast(driver.library.cuMemAlloc, ctypes.c_void_p).value))(ctypes.c_void_p())[1]"
    )
    assert run(sim_path, "cuMemAlloc_v2=drop", address).answers == [True]


def test_another_version(sim_path: Path) -> None:
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
def test_rules_can_change_while_the_program_runs(sim_path: Path, inject: str) -> None:
    outcome = run(
        sim_path,
        "cuDeviceGetCount:3=fail(9)",
        "table.contents.bytes",
        *[COUNT] * 2,
        f"{inject}(b'cuDeviceGetCount:3=fail(8)')",  # counts begin anew
        *[COUNT] * 3,
        f"{inject}(b'nonsense')",  # nothing changes
        f"{inject}(None)",
        *[COUNT] * 3,
        prelude=CONTROL,
    )
    assert outcome.answers == [16, 0, 0, 0, 0, 0, 8, 1, 0, 0, 0, 0]
    assert outcome.errors == "CPU driver: SIM_INJECT: at character 1, 'nonsense': " + NO_NAME + "\n"


NO_NAME = "no export has that name; is it one with _v2 or _ptsz?"
ACTION = "no such action; there are fail(CODE), delay(TIME) and drop"


@pytest.mark.parametrize(
    ("rules", "character", "rest", "why"),
    [
        ("cuNothing=fail(2)", 1, "cuNothing=fail(2)", NO_NAME),
        ("cuInit=fail(2);cuMemAlloc_v3=drop", 16, "cuMemAlloc_v3=drop", NO_NAME),
        ("cuInit:=fail(2)", 8, "=fail(2)", "a number is missing"),
        ("cuInit:0=fail(2)", 9, "=fail(2)", "calls are counted from 1, the smaller number first"),
        ("cuInit:5-2=fail(2)", 11, "=fail(2)", "calls are counted from 1, the smaller number first"),
        ("cuInit:101%=fail(2)", 8, "101%=fail(2)", "a probability is from 0% to 100%"),
        ("cuInit:2", 9, "", "a = is missing"),
        ("cuInit:2=faill(2)", 10, "faill(2)", ACTION),
        ("cuInit=fail(2", 14, "", "a ) is missing"),
        ("cuInit=fail(CUDA_OUCH)", 13, "CUDA_OUCH)", "no result has that name"),
        ("cuInit=fail(10000)", 18, ")", "results have four digits at most"),
        ("cuInit=fail(99999999999999999999)", 13, "99999999999999999999)", "the number is too large"),
        ("cuInit=delay(5)", 15, ")", "a time needs its unit: us, ms or s"),
        ("cuInit=delay(7200s)", 19, ")", "a delay is an hour at most"),
        ("cuInit=fail(2) cuInit=fail(3)", 16, "cuInit=fail(3)", "a ; is missing between two rules"),
        ("=fail(2)", 1, "=fail(2)", "a function's name is missing"),
        ("@size=5", 1, "@size=5", "no such setting; there are @memory, @version and @seed"),
        ("@version=12", 12, "", "a version is written as cuDriverGetVersion has it: 12040 for 12.4"),
        ("@memory=999999999999999999G", 28, "", "the number is too large"),
    ],
)
def test_text_that_cannot_be_read_fails_init_and_says_where(
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


def exports(sim_path: Path) -> list[str]:
    with sim_path.open("rb") as file:
        symbols = ELFFile(file).get_section_by_name(".dynsym").iter_symbols()
        return [symbol.name for symbol in symbols if symbol["st_shndx"] != "SHN_UNDEF"]


def beyond_the_header() -> set[str]:
    """Profiler control and graphics interop, of which the header knows nothing; rules cannot name them."""
    source = (ROOT / "sim" / "driver" / "core" / "undeclared.c").read_text()
    return set(re.findall(r"^(?:MISSING\(|CUresult )(cu\w+)", source, re.M))


def test_every_export_can_be_made_to_fail(sim_path: Path) -> None:
    """Called without arguments: what returns at once touches none."""
    names = sorted(set(exports(sim_path)) - beyond_the_header())
    outcome = isolated(sim_path, EVERY.format(names=names), SIM_INJECT="*=fail(4242)")
    assert outcome.answers == [len(names) - 1]


def test_entry_points_and_symbols_are_watched_alike(sim_path: Path) -> None:
    """What cuGetProcAddress gives is the export, not what it calls."""
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


def test_calls_of_all_threads_are_counted_once(sim_path: Path) -> None:
    assert isolated(sim_path, THREADS, SIM_INJECT="cuDeviceGetCount:1001-4000=fail(7)").answers == [3000]


def test_a_child_can_call_while_rules_are_there(sim_path: Path) -> None:
    code = """
start()
import os
child = os.fork()
if child == 0:
    os._exit(driver.library.cuCtxSynchronize())
answer(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert isolated(sim_path, code, SIM_INJECT="cuMemAlloc_v2=fail(2)").answers == [3]


def test_the_control_is_the_only_export_that_is_no_cuda_name(sim_path: Path) -> None:
    assert [name for name in exports(sim_path) if not name.startswith("cu")] == ["simInject"]
