"""vprintf of the CPU driver: its result, and formats with many flags."""

from __future__ import annotations

import struct
from pathlib import Path

from .conftest import PTX_HEAD, Driver
from .isolated import isolated

FLAGS_MAX = 32
"""Flags of a conversion that the CPU driver formats."""


def write_print(
    text: bytes, arguments: str = "", result: str = ".b32", read: str = "ld.param.b32 %r1, [q];"
) -> str:
    """A kernel that prints a format and stores %r1 and %r2. `arguments` fills the memory at %rd3."""
    data = ", ".join(map(str, text + b"\0"))
    return (
        PTX_HEAD
        + f"""
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.visible .global .align 1 .b8 format[{len(text) + 1}] = {{{data}}};
.visible .entry print(.param .u64 to)
{{
    .local .align 8 .b8 values[256];
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [to];
    mov.u64 %rd2, format;
    mov.u64 %rd3, values;
    cvta.local.u64 %rd3, %rd3;
{arguments}
    {{
    .param .b64 f; .param .b64 a; .param {result} q; .param .b8 beside;
    st.param.b64 [f], %rd2; st.param.b64 [a], %rd3; st.param.b8 [beside], 85;
    call.uni (q), vprintf, (f, a);
    {read}
    ld.param.u8 %r2, [beside];
    }}
    st.global.u32 [%rd1], %r1; st.global.u32 [%rd1+4], %r2;
    ret;
}}
"""
    )


def printed(driver: Driver, text: str) -> list[int]:
    """The result of vprintf, and the byte beside it, as the kernel stores them."""
    to = driver.allocate(8)
    assert driver.launch(driver.function(text, "print"), [to]) == 0
    return list(struct.unpack("<2I", driver.read(to, 8)))


NUMBERS = "".join(f"    st.local.u32 [values+{4 * i}], -2147483648;\n" for i in range(FLAGS_MAX + 1))
ALL_FLAGS = b"%" + b"*" * FLAGS_MAX + b"d"
PRINT_ALL_FLAGS = """
from tests.sim.test_printf import *
start()
answer(printed(driver, write_print(ALL_FLAGS, NUMBERS)))
"""
"""Each flag is a number of 11 characters, the longest. tests/sanitize runs it, too: it wrote a byte behind a buffer."""


def test_result_of_printf_is_its_number_of_arguments(sim_path: Path) -> None:
    outcome = isolated(
        sim_path,
        """
from tests.sim.test_printf import *
start()
values = "    st.local.u32 [values], 7; st.local.u32 [values+4], 8;"
answer(printed(driver, write_print(b"%d %d\\n", values)))
""",
    )
    assert (outcome.answers, outcome.output) == ([[2, 85]], "7 8")


def test_narrow_result_of_printf_leaves_the_next_byte(driver: Driver) -> None:
    """A result of one byte got four."""
    narrow = write_print(b"", result=".b8", read="ld.param.u8 %r1, [q];")
    assert printed(driver, narrow) == [0, 85]


def test_format_with_as_many_numbers_as_flags_is_read_to_its_end(sim_path: Path) -> None:
    assert isolated(sim_path, PRINT_ALL_FLAGS).answers == [[FLAGS_MAX + 1, 85]]
