"""Which cuda.h is used: the toolkit's before the wheel's."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchguard.codegen import headers
from benchguard.codegen.errors import CodegenError
from benchguard.codegen.headers import find_headers, headers_in, newest_headers

from .conftest import GOLDEN


def toolkit(root: Path, version: int) -> Path:
    shutil.copytree(GOLDEN / "include", root / "include")
    text = (root / "include" / "cuda.h").read_text()
    (root / "include" / "cuda.h").write_text(text.replace("CUDA_VERSION 13000", f"CUDA_VERSION {version}"))
    return root


def test_toolkit_precedes_the_wheel(tmp_path: Path) -> None:
    result = find_headers({"CUDA_HOME": str(toolkit(tmp_path / "cuda", 12010))})
    assert (result.version, result.origin) == (12010, f"toolkit {tmp_path / 'cuda'}")


def test_wheel_is_not_looked_for_beside_a_toolkit_that_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each grade looks for headers, and a look into a wheel takes 10 ms."""
    monkeypatch.setattr(headers, "_wheel", lambda name: pytest.fail(f"{name} was looked for"))
    find_headers({"CUDA_HOME": str(toolkit(tmp_path / "cuda", 12010))}, minimum=12000)


def test_toolkit_is_found_by_its_compiler(tmp_path: Path) -> None:
    """nvcc on the path, through a link, as distributions install it."""
    root = toolkit(tmp_path / "cuda", 12010)
    (root / "bin").mkdir()
    (root / "bin" / "nvcc").write_text("#!/bin/sh\n")
    (root / "bin" / "nvcc").chmod(0o755)
    (tmp_path / "nvcc").symlink_to(root / "bin" / "nvcc")
    assert find_headers({"PATH": str(tmp_path)}).origin == f"toolkit {root}"


def test_old_toolkit_is_skipped(tmp_path: Path) -> None:
    environment = {"CUDA_HOME": str(toolkit(tmp_path / "cuda", 12010))}
    assert find_headers(environment, minimum=13000).version >= 13000
    with pytest.raises(CodegenError, match="too old, 99000 is needed"):
        find_headers(environment, minimum=99000)


def test_wheel_origin_has_its_version() -> None:
    newest = newest_headers({"CUDA_HOME": "/nonexistent"})
    assert newest.version >= 13050
    assert newest.origin.startswith("wheel nvidia-cuda-runtime 13.")


def test_missing_headers_are_reported_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headers, "_candidates", lambda _: iter(()))
    with pytest.raises(CodegenError, match="install the wheel nvidia-cuda-runtime"):
        find_headers({})


def test_folder_without_cuda_h_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CodegenError, match=r"name a folder that holds cuda\.h"):
        headers_in(tmp_path)
    (tmp_path / "cuda.h").write_text("int x;\n")
    with pytest.raises(CodegenError, match="defines no CUDA_VERSION"):
        headers_in(tmp_path)
