"""Memory that a replay cannot restore is found in the images, and the time is then that of the one-use inputs."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from benchguard.capture import Capture
from benchguard.capture.cubin_data import CubinError, unnamed_bytes
from benchguard.capture.unrestored import unrestored
from benchguard.grade.outcome import RESTORED, Findings, evidence_of, outcome_of
from benchguard.grade.timing import reported
from benchguard.judge.ceilings import rates_of
from tests.unit.grade.test_outcome import ROWS, checked, replayed
from tests.unit.replay.engine_captures import one_kernel

KERNEL = """
{head}
.visible .entry keep(.param .u64 at)
{{
    .reg .b64 %rd<4>;
    {body}
    ld.param.u64 %rd1, [at];
    ld.global.u64 %rd2, [%rd1];
    st.global.u64 [%rd1], %rd2;
    ret;
}}
"""
HEAP = ".extern .func (.param .b64 result) malloc (.param .b64 bytes);"


@pytest.mark.parametrize(
    ("head", "body", "reason"),
    [
        (HEAP, "", "the device's heap (malloc)"),
        (HEAP.replace("malloc", "__cudaCDP2Malloc"), "", "the device's heap (__cudaCDP2Malloc)"),
        (HEAP.replace("malloc", "cudaMalloc_ptsz"), "", "the device's heap (cudaMalloc_ptsz)"),
        (HEAP.replace("malloc", "__cudaCDP2GetParameterBufferV2"), "", "(__cudaCDP2GetParameterBufferV2)"),
        (HEAP.replace("malloc", "__cudaCDP2LaunchDeviceV2"), "", ""),
        ("", ".global .align 4 .u32 kept = 7;", "a variable inside a function of PTX"),
        ("", ".const .align 4 .u32 kept = 7;", "a variable inside a function of PTX"),
        ("", "/* } */ .global .align 4 .u32 kept; /* { */", "a variable inside a function of PTX"),
        ("", "// }\n    .global .align 4 .u32 kept;\n    // {", "a variable inside a function of PTX"),
        ("", '.pragma "}"; .global .align 4 .u32 kept; .pragma "{";', "a variable inside a function of PTX"),
        ("", ".global.u32 kept;", "a variable inside a function of PTX"),
        ("", ".loc 1 5 0x0.global .u32 kept;", "a variable inside a function of PTX"),
        (
            ".global .align 1024 .u32 kept; .global .align 1024 .u32 end;",
            "",
            "memory between aligned globals",
        ),
        (".global.align 512 .u32 kept, end;", "", "memory between aligned globals"),
        (".global .align/**/4096 .u32 kept, end;", "", "memory between aligned globals"),
        (".global // .shared\n.align 0x1000 .u32 kept, end;", "", "memory between aligned globals"),
        (".global .align 256 .b8 kept[4]; .extern .shared .align 1024 .b8 tile[];", "", ""),
        (".global .align 4 .u32 kept;", "", ""),
        ("/* a table */ .global .align 4 .u32 kept[2] = {1, 2}; // of two", "// inline asm", ""),
        (".global .align 8 .b8 my_malloc[8];", "", ""),
        ("", "", ""),
    ],
)
def test_ptx_whose_memory_cannot_be_restored_is_found(
    tmp_path: Path, head: str, body: str, reason: str
) -> None:
    path = one_kernel(tmp_path / "x.ncap", KERNEL.format(head=head, body=body), "keep", bytes(8))
    with Capture.open(path) as capture:
        found = unrestored(capture)
    assert reason in found and bool(reason) == bool(found)


def cubin(
    size: int, variables: list[tuple[int, int]], symbol_names: list[bytes] | None = None, tables: int = 1
) -> bytes:
    """A file with section .nv.global of `size` bytes, and a symbol for each offset and size."""
    symbol_names = symbol_names or [b"v%d" % number for number in range(len(variables))]
    names = b"\0.nv.global\0" + b"\0".join(symbol_names) + b"\0"
    places = [names.index(b"\0" + name + b"\0") + 1 for name in symbol_names]
    symbols = bytes(24) + b"".join(
        struct.pack("<IBBHQQ", place, 1, 0, 1, *each) for place, each in zip(places, variables, strict=True)
    )
    table = 64 + len(names) + len(symbols)
    symbol_table = (0, 2, 64 + len(names), len(symbols), 3)
    sections = [(0, 0, 0, 0, 0), (1, 8, 64, size, 0), symbol_table, (0, 3, 64, len(names), 0)]
    sections += [symbol_table] * (tables - 1)
    header = bytearray(64)
    header[:4] = b"\x7fELF"
    struct.pack_into("<Q", header, 40, table)
    struct.pack_into("<HHH", header, 58, 64, len(sections), 3)
    body = b"".join(struct.pack("<IIQQQQIIQQ", n, kind, 0, 0, at, length, link, 0, 0, 0) for n, kind, at, length, link in sections)  # fmt: skip  # noqa: E501
    return bytes(header) + names + symbols + body


@pytest.mark.parametrize(
    ("variables", "unnamed"),
    [
        ([(0, 4096)], 0),
        ([(0, 2048), (2048, 2048)], 0),
        ([(256, 3840)], 256),
        ([(0, 100), (256, 3840)], 0),
        ([(0, 1024), (2048, 2048)], 1024),
        ([(0, 4)], 4092),
        ([], 4096),
        ([(0, 3000), (100, 200), (3000, 1096)], 0),
        ([(at, 1) for at in range(0, 4096, 128)], 4096 - 32),
    ],
)
def test_bytes_of_a_cubin_that_no_symbol_covers_are_found(
    variables: list[tuple[int, int]], unnamed: int
) -> None:
    assert unnamed_bytes(cubin(4096, variables)) == unnamed


@pytest.mark.parametrize(("names", "unnamed"), [([b"a", b"b"], 0), ([b"a", b"a"], 4096), ([b"a", b""], 2048)])
def test_symbols_that_no_name_finds_cover_nothing(names: list[bytes], unnamed: int) -> None:
    """A driver finds one of two symbols with one name, and none without a name."""
    assert unnamed_bytes(cubin(4096, [(0, 2048), (2048, 2048)], names)) == unnamed


def test_second_symbol_table_is_refused() -> None:
    """The driver may read the other one."""
    with pytest.raises(CubinError):
        unnamed_bytes(cubin(4096, [(0, 4096)], tables=2))


def test_cubin_without_data_needs_no_symbols() -> None:
    assert unnamed_bytes(cubin(0, [])) == 0


@pytest.mark.parametrize("size", [0, 40, 63, 100])
def test_cut_cubin_is_refused(size: int) -> None:
    with pytest.raises((CubinError, struct.error)):
        unnamed_bytes(cubin(4096, [(0, 4096)])[:size])


def test_time_with_unrestored_memory_is_that_of_one_use_inputs() -> None:
    assert {row.one_use for row in reported(ROWS)} == {True, False}
    assert {row.one_use for row in reported(ROWS, "the heap")} == {True}


def test_unrestored_memory_is_no_proof() -> None:
    rates = rates_of(100.0, None, None, "")
    findings = Findings(replayed(ROWS), checked(ROWS), rates, "", "the heap")
    states = {each.check: (each.state, each.text) for each in evidence_of(findings)}
    assert states[RESTORED] == ("could not tell", "the heap")
    assert outcome_of(findings).verdict == "pass"
    outcome = outcome_of(findings, require_evidence=True)
    assert (outcome.verdict, outcome.reason) == ("unproven", f"{RESTORED}: the heap")
