"""How compiler failures are reported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchguard.toolchain.compiler import Library, compile_library, find_compiler
from benchguard.toolchain.errors import ShimError


def library(folder: Path, source: str) -> Library:
    (folder / "part.c").write_text(source)
    (folder / "part.map").write_text("{ global: answer; local: *; };\n")
    return Library((folder / "part.c",), "libpart.so", folder / "part.map")


def test_compile_error_message_is_one_line_and_its_output_is_complete(tmp_path: Path) -> None:
    source = "int answer(void) { return x; }\nint other(void) { return y; }"
    with pytest.raises(ShimError) as excinfo:
        compile_library(find_compiler(), library(tmp_path, source), tmp_path / "o.so", tmp_path)
    assert str(excinfo.value).startswith("libpart.so: does not compile: ")
    assert "error" in str(excinfo.value)
    assert "\n" not in str(excinfo.value)
    assert "part.c:1:" in excinfo.value.output and "part.c:2:" in excinfo.value.output
    assert not list(tmp_path.rglob("*.o"))


def test_compile_error_output_covers_every_failing_source(tmp_path: Path) -> None:
    both = library(tmp_path, "int answer(void) { return x; }")
    (tmp_path / "more.c").write_text("int more(void) { return z; }")
    both = replace(both, sources=(*both.sources, tmp_path / "more.c"))
    with pytest.raises(ShimError) as excinfo:
        compile_library(find_compiler(), both, tmp_path / "o.so", tmp_path)
    assert "part.c:1:" in excinfo.value.output and "more.c:1:" in excinfo.value.output


def test_unresolved_symbol_fails_the_link(tmp_path: Path) -> None:
    """-z defs: a shim that lacks a function must fail here, not in the measured process."""
    source = "int elsewhere(void);\nint answer(void) { return elsewhere(); }"
    with pytest.raises(ShimError, match="undefined reference to `elsewhere'"):
        compile_library(find_compiler(), library(tmp_path, source), tmp_path / "o.so", tmp_path)


def test_warnings_are_errors(tmp_path: Path) -> None:
    with pytest.raises(ShimError, match="conversion"):
        compile_library(
            find_compiler(),
            library(tmp_path, "int answer(long x) { return x; }"),
            tmp_path / "o.so",
            tmp_path,
        )


@pytest.mark.parametrize("sanitize", ["address,undefined", "thread"])
def test_sanitized_library_contains_the_sanitizer_run_time(tmp_path: Path, sanitize: str) -> None:
    source = "int answer(int *x) { return x[1]; }"
    compile_library(find_compiler(), library(tmp_path, source), tmp_path / "o.so", tmp_path, sanitize)
    run_time = {"address,undefined": b"__asan_", "thread": b"__tsan_"}[sanitize]
    assert run_time in (tmp_path / "o.so").read_bytes()


def test_unknown_sanitizer_is_named(tmp_path: Path) -> None:
    with pytest.raises(ShimError, match="no sanitizer memory; choose one of address,undefined, thread"):
        compile_library(
            find_compiler(), library(tmp_path, "int answer;"), tmp_path / "o.so", tmp_path, "memory"
        )


def test_missing_compiler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/nonexistent/cc -m64")
    with pytest.raises(ShimError, match="unset CC or name a C compiler"):
        find_compiler()
