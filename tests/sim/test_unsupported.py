"""SIM_UNSUPPORTED: a kernel with an instruction that the engine does not have, beside others."""

from __future__ import annotations

from pathlib import Path

import pytest

from .isolated import Outcome, isolated

NOT_SUPPORTED, ILLEGAL_INSTRUCTION, INVALID_PTX = 801, 715, 218

CODE = r'''
start()
TEXT = """.version 8.0
.target sm_90a
.address_size 64
.func helper()
{
    wgmma.fence.sync.aligned;
    ret;
}
.visible .entry good(.param .u64 to)
{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [to];
    st.global.u32 [%rd1], 5;
    ret;
}
.visible .entry bad(.param .u64 to)
{
again:
    {
        .reg .b32 %q;
        mov.u32 %q, 1;
        wgmma.commit_group.sync.aligned;
    }
    bra again;
}
.visible .entry calls(.param .u64 to)
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    mov.u32 %r1, %tid.x;
    setp.eq.u32 %p1, %r1, 7;
    @!%p1 bra end;
    call helper;
end:
    ret;
}
SYNTAX
"""
module = ctypes.c_void_p()
answer(driver.result("cuModuleLoadData", ctypes.byref(module), TEXT.replace("SYNTAX", syntax).encode()))
memory = driver.allocate(4)
def launch(name, block=1):
    function = driver.handle("cuModuleGetFunction", module, name.encode())
    answer([driver.launch(function, [memory], block=block), driver.result("cuCtxSynchronize")])
'''


def run(sim_path: Path, *calls: str, syntax: str = "", **variables: str) -> Outcome:
    return isolated(sim_path, f"syntax = {syntax!r}\n{CODE}" + "\n".join(calls), **variables)


def test_kernel_that_cannot_run_fails_its_image_on_request(sim_path: Path) -> None:
    """The program passes no error log, so stderr has the reason."""
    outcome = run(sim_path, SIM_UNSUPPORTED="load")
    assert outcome.answers == [INVALID_PTX]
    assert outcome.errors.splitlines() == [
        "CPU driver: cannot load an image (218): ptxas application ptx input, line 6; error   : "
        "unsupported PTX instruction 'wgmma.fence.sync.aligned' in function helper"
    ]


def test_kernel_that_cannot_run_fails_alone_with_its_line(sim_path: Path) -> None:
    """Other kernels of the image run before and after, and a function fails where it is called."""
    calls = [
        'launch("bad")',
        'launch("good")',
        'launch("bad")',
        'launch("calls")',
        'launch("calls", block=8)',
    ]
    outcome = run(sim_path, *calls)
    refused = [NOT_SUPPORTED, 0]
    assert outcome.answers == [0, refused, [0, 0], refused, [0, 0], [0, ILLEGAL_INSTRUCTION]]
    first, *fault = outcome.errors.splitlines()
    instruction = "unsupported PTX instruction 'wgmma.commit_group.sync.aligned'"
    assert first == f"CPU driver: kernel bad cannot run: line 22: {instruction}"
    assert "  line 6 of the PTX: wgmma.fence.sync.aligned;" in fault


@pytest.mark.parametrize(
    "syntax", [".visible .entry torn()\n{\n    add.u32 %r1;\n}", ".visible .entry torn()\n{"]
)
def test_text_that_is_no_ptx_fails_its_image_in_either_case(sim_path: Path, syntax: str) -> None:
    for value in ("load", "launch"):
        assert run(sim_path, syntax=syntax, SIM_UNSUPPORTED=value).answers == [INVALID_PTX]


@pytest.mark.parametrize(
    ("instruction", "words"),
    [
        ("frob.b32", "'frob' is not a PTX instruction"),
        ("bar.sink 0", "unsupported PTX instruction 'bar.sink'"),
    ],
)
def test_word_that_is_not_in_ptx_fails_its_image(sim_path: Path, instruction: str, words: str) -> None:
    outcome = run(sim_path, syntax=f".visible .entry odd()\n{{\n    {instruction};\n}}")
    assert outcome.answers == [INVALID_PTX]
    (line,) = outcome.errors.splitlines()
    assert line.endswith(f"{words} in kernel odd")


@pytest.mark.parametrize(
    "instruction",
    [
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r1], %r1, [%r1]",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%r1], [%rd1], 16, [%r1], %h1",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%rd1], [%r1], 16",
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {%r1, %r1}], [%r1]",
        "tcgen05.wait::ld.sync.aligned",
        "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%rd1], 2",
        "multimem.red.relaxed.sys.global.add.f32 [%rd1], %f1",
        "mov.pred %p1, %is_explicit_cluster",
    ],
)
def test_instruction_that_the_engine_lacks_fails_its_kernel_alone(sim_path: Path, instruction: str) -> None:
    registers = ".reg .b16 %h<2>; .reg .b32 %r<2>; .reg .b64 %rd<2>; .reg .f32 %f<2>; .reg .pred %p<2>;"
    kernel = f".visible .entry lacks(.param .u64 to)\n{{\n    {registers}\n    {instruction};\n    ret;\n}}"
    outcome = run(sim_path, 'launch("lacks")', 'launch("good")', syntax=kernel)
    assert outcome.answers == [0, [NOT_SUPPORTED, 0], [0, 0]]
    (line,) = outcome.errors.splitlines()
    assert line.startswith("CPU driver: kernel lacks cannot run: line 40: ")
