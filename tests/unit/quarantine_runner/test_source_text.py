"""Directives, entries and flags in source text."""

from __future__ import annotations

import pytest

from benchguard.quarantine.runner.reporting import SubmissionError
from benchguard.quarantine.runner.source import Flags, directive, flags_of, kernel_of, ptx_entry


def test_directives_only_before_code() -> None:
    source = "// By hand.\n\n//nvcc: -O2\n  // launch: grid=1\nint x;\n// launch: grid=2\n"
    assert directive(source, "launch") == " grid=1"
    assert directive(source, "nvcc") == " -O2"
    assert directive("int x;\n// nvcc: -O2", "nvcc") is None
    assert directive("\ufeff// nvcc: -O2", "nvcc") == " -O2"  # as editors of Windows begin files
    assert directive("#include <cuda_fp16.h>\n// nvcc: -O2", "nvcc") == " -O2"
    assert directive("", "nvcc") is None


@pytest.mark.parametrize(
    ("source", "kernel"),
    [
        ("__global__ void solution(int n) {}", "solution"),
        ('extern "C" __global__ void __launch_bounds__(256, (2)) solution(int n) {}', "solution"),
        ("template <int N> __global__ void k(int n) {}\nvoid __global__ solution ( int n) {}", "solution"),
        ("__global__ void add(int n) {}", "add"),
        ("__global__ void add(int n) {} // solution(n) calls it", "add"),
        ('__global__ void add(int n) { printf("solution(%d)", n); }', "add"),
        ("__global__ void a(int n) {}\n__global__ void b(int n) {}", None),
        ('__global__ void add(int n) {}\nextern "C" void solution(int n) { add<<<1, n>>>(n); }', None),
        ('__global__ void add(int n) {}\nextern "C" void solve(int n) { add<<<1, n>>>(n); }', None),
        (
            '__global__ void add(int n) {}\nextern "C" void other(int n);\nint main() { add<<<1, 2>>>(3); }',
            "add",
        ),
        ('extern "C" __global__ void add(int n) {}\nint main() { add<<<1, 2>>>(3); }', "add"),
        ('// launch: grid=1\n__global__ void k(int n) {}\nextern "C" void f(int n) { k<<<1, n>>>(n); }', "k"),
        ("/* __global__ void solution(int n) */ void solution(int n) {}", None),
        ("", None),
    ],
)
def test_entry_kernel_or_host_function(source: str, kernel: str | None) -> None:
    assert kernel_of(source, "solution") == kernel


def test_only_kernel_does_not_replace_an_entry_of_another_name() -> None:
    """LeetGPU's `solve` is a host function, and a kernel is written for its grid."""
    source = "__global__ void add(int n) {}"
    assert kernel_of(source, "solve") is None
    assert kernel_of(f"// launch: grid=1\n{source}", "solve") == "add"
    assert kernel_of(source, "add") == "add"


@pytest.mark.parametrize(
    ("entries", "found"),
    [
        (["solution"], "solution"),
        (["other", "solution"], "solution"),
        (["other", "_Z8solutionPKfPfi"], "_Z8solutionPKfPfi"),
        (["only"], "only"),
        (["only", "only"], "only"),
        (["a", "b"], None),
        (["_Z9solution2Pf", "solution_"], None),
        ([], None),
    ],
)
def test_ptx_entry_by_plain_or_mangled_name(entries: list[str], found: str | None) -> None:
    ptx = "".join(f".visible .entry {name}(\n.param .u64 x) {{ ret; }}\n" for name in entries).encode()
    if found is not None:
        assert ptx_entry(ptx, "solution", "x.ptx") == found
        return
    with pytest.raises(SubmissionError, match=r"x\.ptx has no kernel solution(, only| and no other)"):
        ptx_entry(ptx, "solution", "x.ptx")


def test_allowed_flags_accepted() -> None:
    assert flags_of(None) == flags_of("") == Flags()
    chosen = flags_of(" -lcublas --use_fast_math -DN=4 -std=c++20 -Xptxas=-dlcm=ca -O2")
    assert chosen == Flags(
        ("--use_fast_math", "-DN=4", "-std=c++20"), ("-Xptxas=-dlcm=ca", "-O2"), ("-lcublas",)
    )
    assert chosen.has_standard


OTHERS = (
    "-ccbin=cc --compiler-bindir -Xcompiler=-fplugin=x.so -Xlinker=-rpath=x -lx -l x.o @file -arch=sm_80 -run -o "
    "--cudart=static --options-file=x -D -DX=$(id) -lcublas;id -Xptxas --include-path=x"
)


@pytest.mark.parametrize("flag", OTHERS.split())
def test_other_flags_refused(flag: str) -> None:
    with pytest.raises(SubmissionError, match="is not allowed; allowed are"):
        flags_of(f"-O3 '{flag}'")


def test_unparsable_flags_refused() -> None:
    with pytest.raises(SubmissionError, match="cannot be read: No closing quotation"):
        flags_of("-D'")
