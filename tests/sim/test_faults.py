"""Kernels that fault: the code, later calls, the report. Results of "an H200" were observed with driver
580.159.04."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .conftest import PTX_HEAD
from .isolated import Outcome, isolated

KERNELS = (
    PTX_HEAD
    + """
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .align 1 .b8 message[6] = {120, 32, 61, 61, 32, 0};
.global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};
.visible .entry nothing() { ret; }
.visible .entry store(.param .u64 a)
{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [a];
    st.global.u32 [%rd1], 1;
    ret;
}
.visible .entry load(.param .u64 a)
{
    .reg .b64 %rd<2>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [a];
    ld.global.u32 %r1, [%rd1];
    ret;
}
.visible .entry add(.param .u64 a)
{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [a];
    red.global.add.u32 [%rd1], 1;
    ret;
}
.visible .entry last(.param .u64 a)
{
    .reg .pred %p<2>;
    .reg .b64 %rd<2>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [a];
    mov.u32 %r1, %tid.y;
    setp.ne.u32 %p1, %r1, 2;
    @%p1 ret;
    st.global.v2.u32 [%rd1], {%r1, %r1};
    ret;
}
.visible .entry shared(.param .u64 a)
{
    .shared .align 8 .b8 room[64];
    .reg .b64 %rd<2>;
    .reg .b32 %r<3>;
    ld.param.u64 %rd1, [a];
    cvt.u32.u64 %r1, %rd1;
    mov.u32 %r2, room;
    add.u32 %r1, %r1, %r2;
    st.shared.u32 [%r1], 1;
    ret;
}
.visible .entry trap(.param .u64 a) { trap; ret; }
.visible .entry spin(.param .u64 a) { again: bra again; }
.visible .entry barrier(.param .u64 a) { bar.sync 1, 64; ret; }
.func (.param .b32 r) deeper(.param .b32 x)
{
    .reg .b32 %r<4>;
    ld.param.u32 %r1, [x];
    add.u32 %r2, %r1, 1;
    {
        .param .b32 y;
        .param .b32 z;
        st.param.b32 [y], %r2;
        call (z), deeper, (y);
        ld.param.b32 %r3, [z];
    }
    st.param.b32 [r], %r3;
    ret;
}
.visible .entry recurse(.param .u64 a)
{
    .reg .b32 %r<2>;
    {
        .param .b32 y;
        .param .b32 z;
        st.param.b32 [y], 0;
        call (z), deeper, (y);
        ld.param.b32 %r1, [z];
    }
    ret;
}
.visible .entry assert(.param .u64 a)
{
    .reg .b64 %rd<3>;
    mov.u64 %rd1, message;
    cvta.global.u64 %rd1, %rd1;
    mov.u64 %rd2, file;
    cvta.global.u64 %rd2, %rd2;
    {
        .param .b64 a;
        .param .b64 b;
        .param .b32 c;
        .param .b64 d;
        .param .b64 e;
        st.param.b64 [a], %rd1;
        st.param.b64 [b], %rd2;
        st.param.b32 [c], 7;
        st.param.b64 [d], %rd1;
        st.param.b64 [e], 1;
        call.uni __assertfail, (a, b, c, d, e);
    }
    ret;
}
"""
)

SETUP = f"""
context = start()
module = driver.handle("cuModuleLoadData", {KERNELS!r}.encode())
memory = driver.allocate(64)
def run(name, address=0, block=(1, 1, 1), grid=(1, 1, 1)):
    value = ctypes.c_uint64(address)
    pointers = (ctypes.c_void_p * 1)(ctypes.addressof(value))
    function = driver.handle("cuModuleGetFunction", module, name.encode())
    launched = driver.result("cuLaunchKernel", function, *grid, *block, 0, None, pointers, None)
    return launched or driver.result("cuCtxSynchronize")
"""

ILLEGAL, MISALIGNED, FAILED, ASSERT, TIMEOUT = 700, 716, 719, 710, 702


def run(sim_path: Path, *calls: str, **environment: str) -> Outcome:
    return isolated(sim_path, SETUP + "".join(f"answer({call})\n" for call in calls), **environment)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("run('store', 16)", ILLEGAL),
        ("run('load', 16)", ILLEGAL),
        ("run('add', 16)", ILLEGAL),
        ("run('store', memory.value + 2)", MISALIGNED),
        ("run('add', memory.value + 2)", MISALIGNED),
        ("run('shared', 1 << 20)", ILLEGAL),
        ("run('shared', 62)", MISALIGNED),
        ("run('trap')", FAILED),
        ("run('assert')", ASSERT),
        ("run('recurse')", ILLEGAL),
        ("run('barrier')", TIMEOUT),
    ],
)
@pytest.mark.parametrize("check", ["exact", "pages"])
def test_fault_returns_its_code_and_is_sticky(sim_path: Path, call: str, code: int, check: str) -> None:
    """Codes are those of an H200, except the barrier, at which a GPU would wait for ever."""
    outcome = run(
        sim_path,
        "run('store', memory.value)",
        call,
        "driver.result('cuCtxSynchronize')",
        SIM_MEMORY_CHECK=check,
    )
    assert outcome.answers == [0, code, code]


def test_kernel_timeout_stops_kernel(sim_path: Path) -> None:
    assert run(sim_path, "run('spin')", SIM_KERNEL_TIMEOUT_MS="50").answers == [TIMEOUT]


def test_kernel_timeout_stops_kernel_of_many_short_blocks(sim_path: Path) -> None:
    """Each block ends within its first turn; all of them would run for days."""
    call = "run('nothing', grid=((1 << 31) - 1, 65535, 1))"
    assert run(sim_path, call, SIM_KERNEL_TIMEOUT_MS="50").answers == [TIMEOUT]


AFTERWARDS: dict[str, int | None] = {
    # None: the code of the fault.
    "cuCtxSynchronize()": None,
    "cuStreamQuery(None)": None,
    "cuStreamSynchronize(stream)": None,
    "cuEventQuery(event)": None,
    "cuMemAlloc_v2(out, 4)": None,
    "cuMemFree_v2(memory)": None,
    "cuCtxGetCurrent(out)": 0,
    "cuCtxGetDevice(out)": 0,
    "cuCtxGetLimit(out, 0)": None,
    "cuCtxSetLimit(0, 2048)": None,
    "cuMemGetInfo_v2(out, out)": None,
    "cuModuleGetFunction(out, module, b'nothing')": None,
    "cuCtxGetId(context, out)": 0,
    "cuCtxGetFlags(out)": 0,
    "cuCtxGetApiVersion(context, out)": 0,
    "cuCtxGetStreamPriorityRange(out, out)": None,
    "cuCtxGetCacheConfig(out)": None,
    "cuPointerGetAttribute(out, 2, memory)": 0,
    "cuMemGetAddressRange_v2(out, out, memory)": None,
    "cuStreamCreate(out, 0)": None,
    "cuEventCreate(out, 0)": None,
    "cuEventRecord(event, None)": None,
    "cuStreamDestroy_v2(stream)": None,
    "cuEventDestroy_v2(event)": None,
    "cuModuleUnload(module)": None,
    "cuModuleLoadData(out, text)": None,
    "cuMemHostAlloc(out, 64, 0)": None,
    "cuDeviceGetCount(out)": 0,
    "cuDeviceTotalMem_v2(out, 0)": 0,
    "cuInit(0)": 0,
    "cuDevicePrimaryCtxGetState(0, out, out)": 0,
    "cuCtxPopCurrent_v2(out)": 0,
    "cuCtxPushCurrent_v2(context)": 0,
    "cuCtxCreate_v2(out, 0, 0)": None,
    "cuDevicePrimaryCtxRetain(out, 0)": None,
    "cuCtxSetCurrent(other)": 0,
    "cuMemAlloc_v2(ctypes.byref(ctypes.c_uint64()), 4)": None,
    "cuCtxDestroy_v2(None)": 1,
    "cuCtxDestroy_v2(other)": 0,
    "cuCtxDestroy_v2(context)": 0,
    "cuCtxCreate_v4(out, None, 0, 0)": None,
}


@pytest.mark.parametrize(("call", "code"), [("run('trap')", FAILED), ("run('store', 16)", ILLEGAL)])
def test_query_after_fault_still_answers(sim_path: Path, call: str, code: int) -> None:
    """Results are those of an H200. Uninvolved contexts fail too, and no new context can be made."""
    code_text = "other = driver.handle('cuCtxCreate_v4', None, 0, 0)\n" + SETUP
    code_text += "out = ctypes.create_string_buffer(64)\nmemory = ctypes.c_uint64(memory.value)\n"
    code_text += f"text = {KERNELS!r}.encode()\n"
    code_text += "stream = driver.handle('cuStreamCreate', 1)\nevent = driver.handle('cuEventCreate', 0)\n"
    code_text += f"assert {call} == {code}\n"
    code_text += "".join(f"answer(driver.library.{name})\n" for name in AFTERWARDS)
    answers = isolated(sim_path, "driver('cuInit', 0)\n" + code_text).answers
    expected = {name: code if result is None else result for name, result in AFTERWARDS.items()}
    assert dict(zip(AFTERWARDS, answers, strict=True)) == expected


def test_fault_scope_context_limits_fault_to_context(sim_path: Path) -> None:
    outcome = run(
        sim_path,
        "run('trap')",
        "driver.result('cuCtxCreate_v4', ctypes.byref(ctypes.c_void_p()), None, 0, 0)",
        "driver.result('cuCtxSynchronize')",
        SIM_FAULT_SCOPE="context",
    )
    assert outcome.answers == [FAILED, 0, 0]


def test_fault_stops_kernels_of_other_contexts(sim_path: Path) -> None:
    code = f"""
other = start()
module = driver.handle("cuModuleLoadData", {KERNELS!r}.encode())
spin = driver.handle("cuModuleGetFunction", module, b"spin")
value = ctypes.c_uint64(0)
pointers = (ctypes.c_void_p * 1)(ctypes.addressof(value))
driver("cuLaunchKernel", spin, 1, 1, 1, 1, 1, 1, 0, None, pointers, None)
{SETUP}
answer(run("trap"))
driver("cuCtxSetCurrent", other)
answer(driver.result("cuCtxSynchronize"))
"""
    assert isolated(sim_path, code).answers == [FAILED, FAILED]


def read_report(sim_path: Path, call: str, prelude: str = "", **environment: str) -> list[str]:
    code = SETUP + prelude + f"answer({call})\nanswer(memory.value)\n"
    outcome = isolated(sim_path, code, **environment)
    return [line.replace(f"{outcome.answers[1]:#x}", "MEMORY") for line in outcome.errors.splitlines()]


def find_line(instruction: str) -> str:
    number = next(i for i, line in enumerate(KERNELS.splitlines(), 1) if line.strip() == instruction)
    return f"  line {number} of the PTX: {instruction}"


def test_report_of_write_names_nearest_allocation(sim_path: Path) -> None:
    lines = read_report(sim_path, "run('last', 16, (4, 3, 1))")
    assert lines[:3] == [
        "CPU driver: kernel last ended with CUDA_ERROR_ILLEGAL_ADDRESS: address outside every allocation",
        find_line("st.global.v2.u32 [%rd1], {%r1, %r1};"),
        "  in thread (0,2,0) of block (0,0,0), write of 8 bytes at 0x10",
    ]
    assert lines[3].startswith("  it is ")
    assert " bytes before the nearest allocation: " in lines[3]
    assert len(lines) == 4


def test_report_of_read_past_end_names_allocation(sim_path: Path) -> None:
    lines = read_report(sim_path, "run('load', memory.value + 100)")
    assert lines[2].startswith("  in thread (0,0,0) of block (0,0,0), read of 4 bytes at ")
    assert lines[3] == "  it is 36 bytes after the nearest allocation: 64 bytes of device memory at MEMORY"


def test_report_of_straddling_access_names_allocation(sim_path: Path) -> None:
    lines = read_report(
        sim_path, "run('last', memory.value + 8, (1, 3, 1))", "memory = driver.allocate(12)\n"
    )
    assert lines[3] == "  it ends 4 bytes after the nearest allocation: 12 bytes of device memory at MEMORY"


def test_report_of_atomic_names_access(sim_path: Path) -> None:
    lines = read_report(sim_path, "run('add', memory.value + 2)")
    assert lines[0].endswith("CUDA_ERROR_MISALIGNED_ADDRESS: misaligned address")
    assert ", atomic access of 4 bytes at " in lines[2]
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("call", "what"),
    [
        ("run('trap')", "CUDA_ERROR_LAUNCH_FAILED: trap"),
        ("run('barrier')", "CUDA_ERROR_LAUNCH_TIMEOUT: deadlock at a barrier"),
        ("run('shared', 64)", "CUDA_ERROR_ILLEGAL_ADDRESS: address outside shared memory"),
    ],
)
def test_report_of_other_fault_names_cause(sim_path: Path, call: str, what: str) -> None:
    lines = read_report(sim_path, call)
    assert lines[0].endswith(what)
    assert lines[1].startswith("  line ")
    assert len(lines) == 3


def test_assertion_message_matches_driver(sim_path: Path) -> None:
    """Each thread writes its message, as on an H200. SIM_MEMORY_CHECK=pages adds no other output."""
    lines = read_report(sim_path, "run('assert', 0, (2, 1, 1))", SIM_MEMORY_CHECK="pages")
    assert lines == [
        f"a.cu:7: x == : block: [0,0,0], thread: [{thread},0,0] Assertion `x == ` failed."
        for thread in (0, 1)
    ]


PAGE = 2 << 20


def run_with_pages(sim_path: Path, *calls: str) -> list[Any]:
    prelude = f"""
large = driver.allocate({3 << 20})
base = memory.value // {PAGE} * {PAGE}
end = (large.value + {(3 << 20) + PAGE - 1}) // {PAGE} * {PAGE}
"""
    outcome = isolated(
        sim_path, SETUP + prelude + "".join(f"answer({call})\n" for call in calls), SIM_MEMORY_CHECK="pages"
    )
    assert outcome.errors == ""
    return outcome.answers


def test_page_check_allows_access_past_allocation(sim_path: Path) -> None:
    """Past the end of an allocation, and in a freed one, as on an H200."""
    assert run_with_pages(
        sim_path,
        "run('store', memory.value + 64)",
        "run('store', memory.value + 4096)",
        "run('store', base + 0x1ffffc)",
        "driver.result('cuMemFree_v2', memory)",
        "run('store', memory.value)",
        "run('store', large.value + (3 << 20))",
        "run('store', end - 4)",
        "run('store', end)",
    ) == [0, 0, 0, 0, 0, 0, 0, ILLEGAL]


def test_page_check_without_allocation_faults(sim_path: Path) -> None:
    assert run_with_pages(
        sim_path, "driver.result('cuMemFree_v2', large)", "run('store', base + 3 * (2 << 20))"
    ) == [
        0,
        ILLEGAL,
    ]
    assert run_with_pages(sim_path, "run('store', 16)") == [ILLEGAL]


def test_page_check_of_host_memory_uses_host_pages(sim_path: Path) -> None:
    host = "host = driver.handle('cuMemHostAlloc', ctypes.c_size_t(100), 0).value\n"
    code = SETUP + host + "answer(run('store', host + 4092))\nanswer(run('store', host + 4096))\n"
    answers = isolated(sim_path, code, SIM_MEMORY_CHECK="pages").answers
    assert answers == [0, ILLEGAL]


@pytest.mark.parametrize("name", ["SIM_MEMORY_CHECK", "SIM_FAULT_SCOPE", "SIM_UNSUPPORTED"])
def test_unknown_setting_fails_init(sim_path: Path, name: str) -> None:
    outcome = isolated(sim_path, "answer(driver.result('cuInit', 0))", **{name: "some"})
    assert outcome.answers == [1]
    assert outcome.errors.startswith(f"CPU driver: {name}=some: unknown value; use ")
    assert outcome.errors.count("\n") == 1
