"""The compiler's word on what is generated from CUDA's own headers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchguard.codegen.emit import emit_shim
from benchguard.codegen.emit.sim import emit_sim
from benchguard.codegen.generate import generic_surface, write_files
from benchguard.codegen.headers import Headers
from benchguard.codegen.model import Api

HOOK = Path(__file__).parents[3] / "hook"
SIM = Path(__file__).parents[3] / "sim"
STRICT = [
    "-std=gnu11",
    "-D_GNU_SOURCE",
    "-fPIC",
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Werror",
]


def compile_c(headers: Headers, folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    command = ["cc", *STRICT, "-D__CUDA_API_VERSION_INTERNAL", f"-I{HOOK}", f"-I{SIM}", f"-I{folder}"]
    command += ["-isystem", str(headers.folder), "-c", str(folder / name), "-o", str(folder / f"{name}.o")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def generated(headers: Headers, tmp_path: Path) -> Path:
    write_files(emit_shim(generic_surface(headers)), tmp_path)
    return tmp_path


def test_types_agree_with_the_header(headers: Headers, api: Api, generated: Path) -> None:
    """For every function of the header, nb_<name>_t is the very type that cuda.h declares."""
    checks = "".join(
        f'_Static_assert(__builtin_types_compatible_p(nb_{f.name}_t, __typeof__(&{f.name})), "{f.name}");\n'
        for f in api.functions
    )
    (generated / "check.c").write_text(f'#include "real.h"\n{checks}')
    result = compile_c(headers, generated, "check.c")
    assert result.returncode == 0, result.stderr
    assert checks.count("_Static_assert") == len(api.functions)


def test_type_check_fails_on_a_wrong_type(headers: Headers, generated: Path) -> None:
    """Control of the test above: the v1 ABI of cuMemAlloc is not the v2 one."""
    (generated / "check.c").write_text(
        '#include "real.h"\n_Static_assert(__builtin_types_compatible_p(nb_cuMemAlloc_v2_t, '
        '__typeof__(&cuMemAlloc)), "differ");\n'
    )
    assert "differ" in compile_c(headers, generated, "check.c").stderr


@pytest.mark.parametrize("name", ["hooks.c", "operations.c", "surface.c", "surface.S"])
def test_generated_shim_source_compiles(headers: Headers, generated: Path, name: str) -> None:
    """With every warning an error, and each wrapper against the prototype that cuda.h declares."""
    result = compile_c(headers, generated, name)
    assert result.returncode == 0, result.stderr


def test_generated_sim_sources_compile(headers: Headers, api: Api, tmp_path: Path) -> None:
    """Stubs have the header's prototypes; the table names only functions that exist."""
    write_files(emit_sim(api), tmp_path)
    (tmp_path / "names.c").write_text('#include "driver/core/api.h"\n')
    for name in ("stubs.c", "procaddr.c", "names.c"):
        result = compile_c(headers, tmp_path, name)
        assert result.returncode == 0, result.stderr
