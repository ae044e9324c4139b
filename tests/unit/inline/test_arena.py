"""The arena, as a submission sees it that knows our sources."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from benchguard.inline.result import GUARDS, InlineResult, arena_text
from benchguard.inline.seal import SEALED_BYTES
from benchguard.toolchain.paths import INLINE
from tests.unit.inline.support import Timed, doubled, timed

pytestmark = pytest.mark.usefixtures("native")
ENDED_BY_THE_GATE = 70
PROTECT_BYTES = 21
"""Bytes of gate.S's PROTECT: movl, movq, movq, syscall."""

LOOK = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
WORD = ctypes.c_ulong
with open("/proc/self/maps") as maps:
    MAPS = [line.split() for line in maps]
def spans(end):
    found = [(*(int(each, 16) for each in line[0].split("-")), line[1]) for line in MAPS if line[-1].endswith(end)]
    assert found, end
    return found
# Finds the arena without knowing its address: neighbouring mappings of one GiB without a file.
RUNS = [[0, 0]]
for line in MAPS:
    begin, end = (int(each, 16) for each in line[0].split("-"))
    if len(line) == 5 and begin == RUNS[-1][1]:
        RUNS[-1][1] = end
    else:
        RUNS.append([begin, end if len(line) == 5 else 0])
[ARENA] = [run for run in RUNS if run[1] - run[0] == 1 << 30]
OURS = spans("libneutrino_inline.so")
def call_of(cuda, case, places):
    return lambda: cuda.twice(places["y"], places["x"], case.buffers[0].elements)
"""


def run(folder: Path, program: str, samples: int = 3) -> Timed:
    return timed(folder, LOOK + program, doubled(), samples=samples)


def guards(result: InlineResult, bit: int) -> bool:
    return GUARDS[bit] not in result.arena


def needs_filter(result: InlineResult) -> None:
    if not guards(result, 2):
        pytest.skip("no seccomp filter here: " + GUARDS[2])


def symbol(name: str) -> int:
    with INLINE.open("rb") as file:
        elf = ELFFile(file).get_section_by_name(".symtab").get_symbol_by_name(name)
        return int(elf[0]["st_value"])


def test_missing_protections_are_listed() -> None:
    assert arena_text(31) == "on"
    assert arena_text(31 - 8) == GUARDS[8]
    assert arena_text(0) == "; ".join(GUARDS.values())


def test_arena_is_closed_while_a_call_runs(tmp_path: Path) -> None:
    """All of its pages are mapped, and none can be accessed."""
    program = """
def bind(cuda, number, case, places):
    honest = call_of(cuda, case, places)
    def call():
        with open("/proc/self/maps") as maps:
            for line in maps:
                begin, end = (int(each, 16) for each in line.split()[0].split("-"))
                if begin < ARENA[1] and end > ARENA[0]:
                    print(line.split()[1], end - begin)
        honest()
    return call
"""
    outcome = run(tmp_path, program, samples=1)
    assert outcome.result.correct
    lines = [line.split() for line in outcome.output.splitlines()]
    assert {rights for rights, _ in lines} == {"---p"}
    assert sum(int(size) for _, size in lines) == 2 << 30  # a call to warm up, and one sample


def test_reading_the_arena_ends_the_process(tmp_path: Path) -> None:
    program = """
def bind(cuda, number, case, places):
    return lambda: [ctypes.string_at(at, 8) for at in range(ARENA[0], ARENA[1], 4096)]
"""
    outcome = run(tmp_path, program)
    assert outcome.status == -signal.SIGSEGV
    assert outcome.results == ("no result came: the process ended before it was sealed",)


def test_system_calls_cannot_read_the_arena(tmp_path: Path) -> None:
    program = """
def bind(cuda, number, case, places):
    honest, sink = call_of(cuda, case, places), os.pipe()[1]
    def call():
        for at in range(ARENA[0], ARENA[1], 1 << 20):
            assert libc.syscall(1, sink, WORD(at), 64) == -1
        honest()
    return call
"""
    assert run(tmp_path, program).result.correct


def test_arena_cannot_be_opened_moved_or_replaced(tmp_path: Path) -> None:
    """The loop's code cannot be made writable either. Each attempt is refused and reported."""
    program = """
EPERM, READ, WRITE, FIXED = 1, 1, 2, 0x32
def refused(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(number, *(WORD(each) for each in arguments))
    assert result == -1 and ctypes.get_errno() == EPERM, (number, result, ctypes.get_errno())
def bind(cuda, number, case, places):
    honest = call_of(cuda, case, places)
    state = []
    def call():
        if not state:
            state.append(1)
            low, high = ARENA
            page, far = high - (1 << 29), ctypes.CDLL(None).valloc
            for at, size in ((low, high - low), (page, 4096), (low - 4096, 8192), (page, 1 << 40), (0x1000, page)):
                refused(10, at, size, READ)                       # mprotect
                refused(329, at, size, READ, 0)                   # pkey_mprotect
                refused(11, at, size)                             # munmap
                refused(28, at, size, 4)                          # madvise: DONTNEED
                refused(9, at, size, READ, FIXED, 2**64 - 1, 0)   # mmap
            refused(25, page, 4096, 4096, 3, 0x10000000)          # mremap from
            refused(25, 0x10000000, 4096, 4096, 3, page)          # and onto it
            for begin, end, rights in OURS:
                refused(10, begin, end - begin, READ | WRITE)
            code = next(each for each in spans("libcuda.so.1") if "x" in each[2])
            refused(10, code[0], 4096, READ | WRITE)
            print("tried")
        honest()
    return call
"""
    outcome = run(tmp_path, program)
    if not outcome.output:
        needs_filter(outcome.result)
    assert outcome.output == "tried\n", outcome.errors
    assert outcome.result.correct and outcome.result.full
    if guards(outcome.result, 4):
        assert any(each.startswith("mprotect(") for each in outcome.result.attempts)
        assert any(each.startswith("munmap(") for each in outcome.result.attempts)


def test_other_memory_stays_unrestricted(tmp_path: Path) -> None:
    """Control: a filter that refused every call would pass the test above."""
    program = """
import mmap
def bind(cuda, number, case, places):
    honest = call_of(cuda, case, places)
    def call():
        memory = mmap.mmap(-1, 1 << 20)
        at = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        for rights in (0, 1, 3):
            assert libc.mprotect(WORD(at), WORD(1 << 20), rights) == 0
        assert libc.madvise(WORD(at), WORD(1 << 20), 4) == 0
        honest()
    return call
"""
    outcome = run(tmp_path, program)
    assert outcome.result.correct and outcome.result.attempts == ()


def test_child_process_does_not_inherit_the_arena(tmp_path: Path) -> None:
    program = """
def bind(cuda, number, case, places):
    honest = call_of(cuda, case, places)
    def call():
        child = os.fork()
        if child == 0:
            with open("/proc/self/maps") as maps:
                spans = [[int(each, 16) for each in line.split()[0].split("-")] for line in maps]
            inside = sum(min(e, ARENA[1]) - max(b, ARENA[0]) for b, e in spans if b < ARENA[1] and e > ARENA[0])
            os._exit(0 if inside < (1 << 30) and libc.prctl(39, 0, 0, 0, 0) == 1 else 1)
        assert os.waitpid(child, 0)[1] == 0
        honest()
    return call
"""
    assert run(tmp_path, program, samples=1).result.correct


@pytest.mark.parametrize("door", ["nb_gate_enter_opens", "nb_gate_lend_opens"])
@pytest.mark.parametrize("where", ["before", "within"])
def test_jump_into_the_gate_ends_the_process(tmp_path: Path, door: str, where: str) -> None:
    """The jump leads to the system call that opens the arena. The instructions behind it end the process."""
    program = f"""
JUMP = ctypes.CFUNCTYPE(ctypes.c_long, WORD, WORD, WORD)(OURS[0][0] + {symbol(door) - PROTECT_BYTES:#x})
def jump():
    JUMP(0, 0, 3)
    print("came back", flush=True)
def bind(cuda, number, case, places):
    honest = call_of(cuda, case, places)
    if {where == "before"}:
        jump()
    return jump
"""
    outcome = run(tmp_path, program)
    assert outcome.status != 0 and "came back" not in outcome.output
    if where == "before" and door == "nb_gate_lend_opens":
        assert outcome.status == ENDED_BY_THE_GATE
    for result in outcome.results:
        assert isinstance(result, str) or not result.correct or not result.full


def test_second_thread_cannot_enter_the_gate(tmp_path: Path) -> None:
    program = f"""
import threading
JUMP = ctypes.CFUNCTYPE(ctypes.c_long, WORD, WORD, WORD)(OURS[0][0] + {symbol("nb_gate_lend_opens") - PROTECT_BYTES:#x})
def bind(cuda, number, case, places):
    def call():
        thread = threading.Thread(target=lambda: JUMP(0, 0, 3))
        thread.start()
        thread.join()
    return call
"""
    outcome = run(tmp_path, program)
    assert outcome.status == ENDED_BY_THE_GATE
    assert isinstance(outcome.results[0], str)


def test_call_cannot_start_another_run(tmp_path: Path) -> None:
    program = """
def bind(cuda, number, case, places):
    return lambda: session.run(0, call_of(cuda, case, places), places)
"""
    assert run(tmp_path, program).status == ENDED_BY_THE_GATE


def test_case_runs_once(tmp_path: Path) -> None:
    program = """
def bind(cuda, number, case, places):
    slow = lambda: (cuda.idle(3_000_000), call_of(cuda, case, places)())
    session.run(0, slow, places)
    return call_of(cuda, case, places)
"""
    outcome = run(tmp_path, program)
    assert "the case was run before" in outcome.errors
    assert outcome.result.correct and min(outcome.result.times_us) >= 3000


@pytest.mark.parametrize("first", [True, False])
def test_forged_result_is_refused(tmp_path: Path, first: bool) -> None:
    program = f"""
def forge():
    os.write(order.channel, b"nbS\\0" + bytes({SEALED_BYTES - 4}))
def bind(cuda, number, case, places):
    if {first}:
        forge()
        os._exit(0)
    session.run(0, call_of(cuda, case, places), places)
    forge()
    os._exit(0)
"""
    outcome = run(tmp_path, program)
    assert isinstance(outcome.results[0], str)
    assert ("forged" in outcome.results[0]) and outcome.status == 0


def test_noise_on_the_channel_is_ignored(tmp_path: Path) -> None:
    program = """
def bind(cuda, number, case, places):
    for data in (b"x", b"nbS", b"{}", bytes(50000)):
        os.write(order.channel, data)
    return call_of(cuda, case, places)
"""
    assert run(tmp_path, program).result.correct


def test_keys_are_nowhere_outside_the_arena(tmp_path: Path) -> None:
    """The files are closed, and the memfd of the seal is empty, in the supervisor too."""
    program = """
def bind(cuda, number, case, places):
    for descriptor in (order.seal, *(each for c in order.cases for each in (c.inputs, c.expected))):
        try:
            os.fstat(descriptor)
            print("open", descriptor)
        except OSError:
            pass
    return call_of(cuda, case, places)
"""
    outcome = run(tmp_path, program)
    assert outcome.output == "" and outcome.result.correct
