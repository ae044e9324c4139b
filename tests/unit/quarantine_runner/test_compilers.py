"""Messages of a failed compilation, with a script in place of nvcc."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from benchguard.quarantine.runner.compilers import (
    compile_kernels,
    compile_library,
    compile_ptx,
    find_nvcc,
    find_nvrtc,
    start_ptx,
)
from benchguard.quarantine.runner.reporting import SubmissionError
from benchguard.quarantine.runner.source import flags_of
from benchguard.toolchain.paths import NATIVE

SOURCE = "__global__ void k() {}\n"


def failure_of(folder: Path, output: str) -> SubmissionError:
    nvcc, source = folder / "nvcc", folder / "k.cu"
    nvcc.write_text(f"#!/bin/sh\ncat <<'END'\n{output}\nEND\nexit 1\n")
    nvcc.chmod(0o755)
    source.write_text(SOURCE)
    with pytest.raises(SubmissionError) as excinfo:
        compile_ptx(nvcc, source, "sm_90", flags_of(None), folder)
    return excinfo.value


@pytest.mark.parametrize(
    "output",
    [
        "sh: 1: gcc: not found\nnvcc fatal   : Failed to preprocess host compiler properties.",
        "gcc: fatal error: cannot execute 'cc1plus': execvp: No such file or directory",
    ],
)
def test_nvcc_without_host_compiler_says_so(output: str, tmp_path: Path) -> None:
    failure = failure_of(tmp_path, output)
    assert failure.text == "nvcc finds no working host compiler; install g++, or name one with -ccbin"
    assert failure.detail.strip() == output


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("note: x\nk.cu(4): error: nonsense\n1 error detected", "k.cu(4): error: nonsense"),
        ("nvcc fatal   : Unsupported gpu architecture", "nvcc fatal : Unsupported gpu architecture"),
        (
            "cc1plus: fatal error: k.cu: No such file or directory",
            "cc1plus: fatal error: k.cu: No such file or directory",
        ),
        (
            "/usr/bin/ld: cannot find -lcudnn: No such file\ncollect2: error: ld returned 1 exit status",
            "/usr/bin/ld: cannot find -lcudnn: No such file",
        ),
        ("", "nvcc ended with status 1"),
    ],
)
def test_compiler_message_is_first_error(output: str, text: str, tmp_path: Path) -> None:
    failure = failure_of(tmp_path, output)
    assert failure.text == text
    assert failure.detail.strip() == output


@pytest.mark.parametrize("name", ["k.cu", "two words (v2).cu"])
@pytest.mark.parametrize(
    ("include", "others", "remedy"),
    [
        (
            '"tiles/size.cuh"',
            (),
            "the submission is this file alone: submit a folder that has tiles/size.cuh, too",
        ),
        ('"tiles/size.cuh"', ("notes.txt",), "directory"),
        ('"../size.cuh"', (), "no files above its own: submit a folder with the header beside this file"),
        ("<no_such_library.h>", (), "toolkit here has no such header: leave it out, or have it installed"),
        (
            "<torch/extension.h>",
            (),
            "submit a .py file that compiles this one with torch.utils.cpp_extension",
        ),
    ],
)
def test_missing_header_has_a_remedy(
    include: str, others: tuple[str, ...], remedy: str, name: str, tmp_path: Path
) -> None:
    nvcc = find_nvcc()
    if nvcc is None:
        pytest.skip("there is no nvcc")
    source = tmp_path / "submission" / name
    source.parent.mkdir()
    source.write_text(f"#include {include}\n{SOURCE}")
    for other in others:
        (source.parent / other).touch()
    with pytest.raises(SubmissionError) as excinfo:
        compile_ptx(nvcc, source, "sm_90", flags_of(None), tmp_path)
    assert f"fatal error: {include[1:-1]}: No such file" in excinfo.value.text
    assert excinfo.value.text.endswith(remedy)


def test_nvrtc_has_a_remedy_for_a_missing_header(tmp_path: Path) -> None:
    nvrtc = find_nvrtc()
    if nvrtc is None:
        pytest.skip("there is no NVRTC")
    source = tmp_path / "k.cu"
    source.write_text(f'#include "size.cuh"\n{SOURCE}')
    with pytest.raises(SubmissionError, match=r"size\.cuh.*: submit a folder that has size\.cuh, too"):
        compile_kernels(nvrtc, source, "sm_90", flags_of(None))


@pytest.mark.usefixtures("native")
def test_driver_is_linked_where_the_toolkit_has_no_stub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvcc = find_nvcc()
    if nvcc is None:
        pytest.skip("there is no nvcc")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(NATIVE / "sim"))
    source = tmp_path / "k.cu"
    source.write_text("#include <cuda.h>\nint solution() { return cuInit(0); }\n")
    library = compile_library(nvcc, source, "sm_90", flags_of("-lcuda -Xptxas=-O1"), tmp_path)
    assert b"libcuda.so.1" in library.read_bytes()


@pytest.mark.parametrize("flags", [None, "--expt-relaxed-constexpr"])
def test_square_root_of_an_integer_compiles_in_device_code(flags: str | None, tmp_path: Path) -> None:
    nvcc = find_nvcc()
    if nvcc is None:
        pytest.skip("there is no nvcc")
    source = tmp_path / "k.cu"
    source.write_text("__global__ void k(float* y, int d) { *y = 1 / sqrt(d) + erf(*y / sqrt(2)); }\n")
    assert b"sqrt" in compile_ptx(nvcc, source, "sm_90", flags_of(flags), tmp_path)


@pytest.mark.parametrize("name", ["k $(touch x).cu", 'k".cu', "k`x`.cu", "k\\.cu", "k;x.cu", "ü.cu"])
def test_name_that_a_shell_reads_otherwise_does_not_reach_nvcc(name: str, tmp_path: Path) -> None:
    """nvcc has a shell start the host compiler, with the file's name in double quotes."""
    nvcc, source, scratch = tmp_path / "nvcc", tmp_path / "files" / name, tmp_path / "scratch"
    nvcc.write_text(
        '#!/bin/bash\nfor word; do case $word in *.cu) sh -c "cat \\"$word\\"" >found;; *.ptx) out=$word;; esac; done\n'
        'mv found "$out"\n'
    )
    nvcc.chmod(0o755)
    scratch.mkdir()
    source.parent.mkdir()
    source.write_text(SOURCE)
    assert compile_ptx(nvcc, source, "sm_90", flags_of(None), scratch).decode() == SOURCE
    assert not (scratch / "x").exists()


def test_nvcc_with_more_output_than_a_pipe_holds_ends_while_the_caller_works(tmp_path: Path) -> None:
    """The caller makes the driver's context meanwhile, and reads nothing."""
    nvcc, source, done = tmp_path / "nvcc", tmp_path / "k.cu", tmp_path / "done"
    nvcc.write_text(f"#!/bin/sh\nhead -c 1000000 /dev/zero | tr '\\0' x\necho made >k.ptx\ntouch {done}\n")
    nvcc.chmod(0o755)
    source.write_text(SOURCE)
    started = start_ptx(nvcc, source, "sm_90", flags_of(None), tmp_path)
    until = time.monotonic() + 60
    while not done.exists() and time.monotonic() < until:
        time.sleep(0.01)
    assert done.exists()
    assert started.finish().read_text() == "made\n"
    assert started.ended <= time.monotonic()
