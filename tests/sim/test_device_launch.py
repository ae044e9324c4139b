"""Kernels that launch kernels, and kernels of the same image that call what the driver lacks."""

from __future__ import annotations

import ctypes
import struct
from pathlib import Path

import pytest

from .conftest import PTX_HEAD, Driver
from .isolated import isolated
from .test_link import link

NOT_SUPPORTED, ILLEGAL_ADDRESS, TIMEOUT = 801, 700, 702
INVALID_CONFIGURATION, MAX_DEPTH, INVALID_FUNCTION = 9, 65, 98
NULL_STREAM, TAIL, FIRE_AND_FORGET, OTHER = 0, 3, 4, 16

RUNTIME = """
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(
    .param .b64 k, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2GetLastError();
.extern .func (.param .b32 r) __cudaCDP2PeekAtLastError();
.extern .func (.param .b64 r) __cudaCDP2GetErrorName(.param .b32 e);
.extern .func (.param .b32 r) __cudaCDP2MemcpyAsync(
    .param .b64 t, .param .b64 f, .param .b64 n, .param .b32 k, .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2MemsetAsync_ptsz(
    .param .b64 t, .param .b32 v, .param .b64 n, .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2GetDevice(.param .b64 p);
"""
REGISTERS = ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>;\n    ld.param.u64 %rd1, [to];"


def declare(*names: str) -> str:
    """Prototypes of kernels that a text names before it defines them."""
    return "".join(f".visible .entry {name}(.param .u64 to, .param .u32 value);\n" for name in names)


def write_kernel(name: str, body: str) -> str:
    return (
        f".visible .entry {name}(.param .u64 to, .param .u32 value)\n"
        f"{{\n    {REGISTERS}\n    ld.param.u32 %r1, [value];\n{body}\n    ret;\n}}\n"
    )


def write_launch(
    kernel: str,
    value: str = "%r1",
    stream: int = NULL_STREAM,
    grid: str = "1",
    block: str = "1",
    shared: int = 0,
) -> str:
    """PTX that launches kernel(to, value) as nvcc writes it. The result is in %r15; 77 without a buffer."""
    return f"""
    {{
    .reg .pred %none; .reg .b64 %buffer;
    .param .b64 k; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 r;
    mov.u64 %buffer, {kernel};
    st.param.b64 [k], %buffer;
    st.param.b32 [g], {grid}; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1;
    st.param.b32 [b], {block}; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1;
    st.param.b32 [s], {shared};
    call.uni (r), __cudaCDP2GetParameterBufferV2, (k, g, b, s);
    ld.param.b64 %buffer, [r];
    mov.u32 %r15, 77;
    setp.eq.s64 %none, %buffer, 0;
    @%none bra SKIP;
    st.u64 [%buffer], %rd1;
    st.u32 [%buffer+8], {value};
    {{
    .param .b64 p; .param .b64 t; .param .b32 q;
    st.param.b64 [p], %buffer;
    st.param.b64 [t], {stream};
    call.uni (q), __cudaCDP2LaunchDeviceV2, (p, t);
    ld.param.b32 %r15, [q];
    }}
SKIP:
    }}
""".replace("SKIP", f"SKIP{next(NUMBERS)}")


NUMBERS = iter(range(10**6))

# Appends `value` at to[1 + to[0]++].
NOTE = """
    atom.global.add.u32 %r2, [%rd1], 1;
    mad.wide.u32 %rd2, %r2, 4, %rd1;
    st.global.u32 [%rd2+4], %r1;
"""


def load(driver: Driver, *texts: str) -> ctypes.c_void_p:
    return driver.handle("cuModuleLoadData", (PTX_HEAD + RUNTIME + "".join(texts)).encode())


def run(
    driver: Driver, module: ctypes.c_void_p, name: str, value: int = 0, words: int = 64, block: int = 1
) -> list[int]:
    """Run a kernel on zeros and return the memory."""
    function = driver.handle("cuModuleGetFunction", module, name.encode())
    to = driver.allocate(4 * words)
    driver.write(to, bytes(4 * words))
    assert driver.launch(function, [to, ctypes.c_uint32(value)], block=block) == 0
    return list(struct.unpack(f"<{words}I", driver.read(to, 4 * words)))


def noted(memory: list[int]) -> list[int]:
    return memory[1 : 1 + memory[0]]


def test_launches_follow_their_grid_and_its_children_in_order(driver: Driver) -> None:
    """A child ends with its own children. A tail launch comes after all others of its grid."""
    module = load(
        driver,
        declare("parent"),
        write_kernel("leaf", NOTE),
        write_kernel("middle", NOTE + "add.u32 %r1, %r1, 100;" + write_launch("leaf")),
        write_kernel(
            "parent",
            "mov.u32 %r1, 7;"
            + write_launch("leaf", stream=TAIL)
            + "mov.u32 %r1, 1;"
            + write_launch("middle")
            + "mov.u32 %r1, 2;"
            + write_launch("middle", stream=FIRE_AND_FORGET)
            + "mov.u32 %r1, 3;"
            + write_launch("middle", stream=OTHER)
            + "mov.u32 %r1, 8;"
            + write_launch("leaf", stream=TAIL)
            + "mov.u32 %r1, 9;"
            + NOTE,
        ),
    )
    assert noted(run(driver, module, "parent")) == [9, 1, 101, 2, 102, 3, 103, 7, 8]


def test_each_thread_launches_with_its_own_arguments(driver: Driver) -> None:
    module = load(
        driver,
        write_kernel(
            "child",
            """
    mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
    mad.lo.u32 %r3, %r3, %r4, %r5;
    mad.lo.u32 %r3, %r1, 6, %r3;
    mad.wide.u32 %rd2, %r3, 4, %rd1;
    st.global.u32 [%rd2], %r1;
""",
        ),
        write_kernel("parent", "mov.u32 %r1, %tid.x;" + write_launch("child", grid="2", block="3")),
    )
    assert run(driver, module, "parent", words=600, block=100) == [
        thread for thread in range(100) for _ in range(6)
    ]


def test_refused_launch_sets_the_last_error(driver: Driver) -> None:
    check = """
    {
    .param .b32 peeked; .param .b32 e; .param .b32 got; .param .b64 name;
    call.uni (peeked), __cudaCDP2PeekAtLastError, ();
    ld.param.b32 %r3, [peeked];
    st.global.u32 [%rd1], %r3;
    call.uni (got), __cudaCDP2GetLastError, ();
    ld.param.b32 %r3, [got];
    st.global.u32 [%rd1+4], %r3;
    st.param.b32 [e], %r3;
    call.uni (name), __cudaCDP2GetErrorName, (e);
    ld.param.b64 %rd3, [name];
    ld.u8 %r4, [%rd3+9];
    st.global.u32 [%rd1+8], %r4;
    st.global.u32 [%rd1+12], %r15;
    call.uni (got), __cudaCDP2GetLastError, ();
    ld.param.b32 %r3, [got];
    st.global.u32 [%rd1+16], %r3;
    }
"""
    module = load(
        driver,
        ".visible .func helper() { ret; }\n",
        write_kernel("leaf", ""),
        write_kernel("fits", write_launch("leaf", block="1024") + check),
        write_kernel("no_blocks", write_launch("leaf", grid="0") + check),
        write_kernel("large", write_launch("leaf", block="1025") + check),
        write_kernel("shared", write_launch("leaf", shared=1 << 20) + check),
        write_kernel("function", write_launch("helper") + check),
    )
    assert run(driver, module, "fits")[:5] == [0, 0, ord("s"), 0, 0]
    invalid = ord("I")
    for name, error in (
        ("no_blocks", INVALID_CONFIGURATION),
        ("large", INVALID_CONFIGURATION),
        ("shared", INVALID_CONFIGURATION),
        ("function", INVALID_FUNCTION),
    ):
        assert run(driver, module, name)[:5] == [error, error, invalid, 77, 0], name


def test_copies_and_fills_keep_their_place_among_launches(driver: Driver) -> None:
    work = """
    {
    .param .b64 t; .param .b64 f; .param .b64 n; .param .b32 k; .param .b64 s; .param .b32 q;
    add.u64 %rd2, %rd1, 128;
    st.param.b64 [t], %rd2; st.param.b64 [f], %rd1; st.param.b64 [n], 8; st.param.b32 [k], 3;
    st.param.b64 [s], 0;
    call.uni (q), __cudaCDP2MemcpyAsync, (t, f, n, k, s);
    }
    {
    .param .b64 t; .param .b32 v; .param .b64 n; .param .b64 s; .param .b32 q;
    st.param.b64 [t], %rd1; st.param.b32 [v], 0x101; st.param.b64 [n], 4; st.param.b64 [s], 0;
    call.uni (q), __cudaCDP2MemsetAsync_ptsz, (t, v, n, s);
    }
"""
    module = load(driver, write_kernel("leaf", NOTE), write_kernel("parent", write_launch("leaf") + work))
    memory = run(driver, module, "parent", value=5)
    assert (memory[:2], memory[32:34]) == ([0x01010101, 5], [1, 5])


def test_nesting_ends_after_24_levels_and_tail_launches_go_on(driver: Driver) -> None:
    def repeat(stream: int) -> str:
        name = f"again{stream}"
        return write_kernel(
            name,
            f"""
    ld.global.u32 %r3, [%rd1];
    add.u32 %r3, %r3, 1;
    st.global.u32 [%rd1], %r3;
    setp.ge.u32 %p1, %r3, %r1;
    @%p1 bra END;
    {write_launch(name, stream=stream)}
    st.global.u32 [%rd1+4], %r15;
END:""",
        )

    module = load(driver, repeat(NULL_STREAM), repeat(TAIL))
    assert run(driver, module, "again0", value=100)[:2] == [25, MAX_DEPTH]
    assert run(driver, module, "again3", value=3000)[:2] == [3000, 0]


LAUNCHED = "    ld.param.b32 %r15, [q];\n    }\n"
AGAIN = """
    setp.eq.u32 %none, %r15, 0;
    @%none bra LAUNCHED;
    st.u32 [%buffer+8], 7;
    ld.u32 %r14, [%buffer+8];
    {
    .param .b64 p; .param .b64 t; .param .b32 q;
    st.param.b64 [p], %buffer;
    st.param.b64 [t], 0;
    call.uni (q), __cudaCDP2LaunchDeviceV2, (p, t);
    ld.param.b32 %r13, [q];
    }
    st.global.u32 [%rd1+8], %r14;
    st.global.u32 [%rd1+12], %r13;
LAUNCHED:
"""
"""After a refused launch: write its parameters, read them, and launch it again."""

NESTED = write_kernel(
    "nested",
    f"""
    ld.global.u32 %r3, [%rd1];
    add.u32 %r3, %r3, 1;
    st.global.u32 [%rd1], %r3;
    {write_launch("nested").replace(LAUNCHED, LAUNCHED + AGAIN)}
    st.global.u32 [%rd1+4], %r15;""",
)
"""Launches itself until a launch is refused."""


def test_parameters_of_a_refused_launch_stay_valid(driver: Driver) -> None:
    """They had been freed: the kernel then wrote freed memory, and the second launch was INVALID_VALUE."""
    assert run(driver, load(driver, NESTED), "nested")[:4] == [25, MAX_DEPTH, 7, MAX_DEPTH]


START = """
from tests.sim.test_device_launch import *
start()
def launch(module, name, block=1):
    function = driver.handle("cuModuleGetFunction", module, name.encode())
    to = driver.allocate(256)
    code = driver.launch(function, [to, ctypes.c_uint32(0)], block=block)
    answer([code, driver.result("cuCtxSynchronize")])
"""


def test_fault_of_launched_kernel_names_that_kernel(sim_path: Path) -> None:
    outcome = isolated(
        sim_path,
        START
        + """
leaf = write_kernel("leaf", "st.global.u32 [%rd2+64], %r1;")
module = load(driver, leaf, write_kernel("parent", write_launch("leaf")))
launch(module, "parent")
""",
    )
    assert outcome.answers == [[0, ILLEGAL_ADDRESS]]
    assert outcome.errors.startswith("CPU driver: kernel leaf ended with CUDA_ERROR_ILLEGAL_ADDRESS")
    assert "st.global.u32 [%rd2+64], %r1;" in outcome.errors


def test_endless_tail_launches_end_at_the_time_limit(sim_path: Path) -> None:
    outcome = isolated(
        sim_path,
        START
        + """
module = load(driver, write_kernel("again", write_launch("again", stream=TAIL)))
launch(module, "again")
""",
        SIM_KERNEL_TIMEOUT_MS="200",
    )
    assert outcome.answers == [[0, TIMEOUT]]


LACKS = """
    {
    .param .b64 p; .param .b32 q;
    st.param.b64 [p], %rd1;
    call.uni (q), __cudaCDP2GetDevice, (p);
    }
"""
MIXED = (
    ".visible .func helper(.param .b64 to)\n{\n    .reg .b64 %rd<2>;\n    ld.param.b64 %rd1, [to];\n"
    + LACKS
    + "    ret;\n}\n"
    + write_kernel("leaf", NOTE)
    + write_kernel("good", NOTE + write_launch("leaf"))
    + write_kernel("direct", LACKS)
    + write_kernel("through", "{ .param .b64 p; st.param.b64 [p], %rd1; call.uni helper, (p); }")
    + write_kernel("pointer", "mov.u64 %rd2, helper; setp.eq.u32 %p1, %r1, 1; @!%p1 bra END;\n"
      "{ .param .b64 p; st.param.b64 [p], %rd1; call.uni %rd2, (p), PROTOTYPE; }\n"
      "PROTOTYPE: .callprototype _ (.param .b64 _);\nEND:")
    + write_kernel("launches", write_launch("direct"))
)  # fmt: skip


@pytest.mark.parametrize("linked", [False, True])
def test_kernel_that_calls_what_the_driver_lacks_fails_alone(sim_path: Path, linked: bool) -> None:
    """Also by a function that it calls. The others run before and after it, and launch kernels."""
    outcome = isolated(
        sim_path,
        START
        + f"""
text = PTX_HEAD + RUNTIME + MIXED
if {linked}:
    text = link(driver, text.encode(), (PTX_HEAD + ".visible .entry more() {{ ret; }}").encode()).product.decode()
module = driver.handle("cuModuleLoadData", text.encode())
answer(noted(run(driver, module, "good", value=4)))
for name in ("direct", "through", "through", "pointer"):
    launch(module, name)
answer(noted(run(driver, module, "good", value=6)))
launch(module, "launches")
""",
    )
    refused = [NOT_SUPPORTED, 0]
    assert outcome.answers == [[4, 4], refused, refused, refused, [0, 0], [6, 6], [0, 715]]
    direct, through, *fault = outcome.errors.splitlines()
    missing = "calls __cudaCDP2GetDevice, and the CPU driver lacks that function of the device runtime"
    assert direct.startswith("CPU driver: kernel direct cannot run: line ")
    assert direct.endswith(f": kernel direct {missing}")
    assert through.startswith("CPU driver: kernel through cannot run: line ")
    assert through.endswith(f": function helper {missing}")
    assert fault[0].startswith("CPU driver: kernel launches ended with CUDA_ERROR_ILLEGAL_INSTRUCTION")


def test_image_that_calls_what_the_driver_lacks_fails_to_load_on_request(sim_path: Path) -> None:
    outcome = isolated(
        sim_path,
        START
        + """
text = (PTX_HEAD + RUNTIME + MIXED).encode()
answer(driver.result("cuModuleLoadData", ctypes.byref(ctypes.c_void_p()), text))
""",
        SIM_UNSUPPORTED="load",
    )
    assert outcome.answers == [218]
    assert "function helper calls __cudaCDP2GetDevice" in outcome.errors


def test_kernel_of_another_text_can_be_launched(driver: Driver) -> None:
    parent = RUNTIME + ".extern .entry leaf(.param .u64 to, .param .u32 value);\n"
    product = link(
        driver,
        (PTX_HEAD + parent + write_kernel("parent", write_launch("leaf", value="33"))).encode(),
        (PTX_HEAD + write_kernel("leaf", NOTE)).encode(),
    )
    assert product.code == 0, product.error
    module = driver.handle("cuModuleLoadData", product.product)
    assert noted(run(driver, module, "parent")) == [33]


def test_missing_kernel_of_another_text_is_reported(driver: Driver) -> None:
    text = RUNTIME + ".extern .entry leaf(.param .u64 to, .param .u32 value);\n"
    result = link(driver, (PTX_HEAD + text + write_kernel("parent", write_launch("leaf"))).encode())
    assert (result.code, result.error) == (300, "error   : Undefined reference to 'leaf' in 'in1'")
