"""Reading a driver file: order, identity and versions; other files are refused."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from benchguard.codegen.emit import shim_map
from benchguard.codegen.errors import CodegenError
from benchguard.codegen.exports import read_exports
from benchguard.codegen.headers import headers_in
from benchguard.codegen.parse import parse_headers
from benchguard.codegen.surface import Surface

from .conftest import GOLDEN

SOURCE = """
int cuInit(unsigned flags) { return (int)flags; }
__attribute__((weak)) int cuWeak(void) { return 1; }
__attribute__((visibility("hidden"))) int cuHidden(void) { return 2; }
static int cuStatic(void) { return cuHidden(); }
int cuData = 3;
extern int cuElsewhere(void);
int cuLast(void) { return cuStatic() + cuElsewhere(); }
"""
VERSIONS = "v_1 { global: cuInit; cuWeak; local: *; };\nv_2 { global: cuLast; } v_1;\n"


def library(folder: Path, *flags: str) -> Path:
    (folder / "driver.c").write_text(SOURCE)
    (folder / "driver.map").write_text(VERSIONS)
    output = folder / "driver.so"
    command = [
        "cc",
        "-shared",
        "-fPIC",
        str(folder / "driver.c"),
        "-o",
        str(output),
        "-Wl,-soname,libcuda.so.1",
    ]
    subprocess.run([*command, "-Wl,--build-id=0x00112233445566778899", *flags], check=True)
    return output


def test_exports_are_the_exported_functions_only(tmp_path: Path) -> None:
    """Global and weak functions; not hidden or static ones, not data, not what is only used."""
    exports = read_exports(library(tmp_path))
    assert sorted(exports.names) == ["cuInit", "cuLast", "cuWeak"]
    assert (exports.soname, exports.build_id) == ("libcuda.so.1", "00112233445566778899")
    assert (exports.versions, exports.version_of) == ((), ())


def test_names_keep_the_order_of_the_symbol_table(tmp_path: Path) -> None:
    path = library(tmp_path)
    listed = subprocess.run(
        ["readelf", "-W", "--dyn-syms", str(path)], capture_output=True, text=True, check=True
    )
    order = [
        line.split()[-1] for line in listed.stdout.splitlines() if " FUNC " in line and " UND " not in line
    ]
    assert list(read_exports(path).names) == order


def test_version_script_keeps_symbol_versions(tmp_path: Path) -> None:
    """A client that was linked to hip_4.2 names needs a shim that has them under that version."""
    path = library(tmp_path, f"-Wl,--version-script={tmp_path / 'driver.map'}")
    exports = read_exports(path)
    assert [(version.name, version.parent) for version in exports.versions] == [("v_1", None), ("v_2", "v_1")]
    assert dict(exports.version_of) == {"cuInit": "v_1", "cuWeak": "v_1", "cuLast": "v_2"}
    api = parse_headers(headers_in(GOLDEN / "include"))
    script = tmp_path / "shim.map"
    script.write_text(shim_map.emit(Surface(api, exports, "", {})))
    assert read_exports(library(tmp_path, f"-Wl,--version-script={script}")) == exports


def test_version_script_exports_the_shims_own_names(tmp_path: Path) -> None:
    exports = read_exports(library(tmp_path, f"-Wl,--version-script={tmp_path / 'driver.map'}"))
    api = parse_headers(headers_in(GOLDEN / "include"))
    script = tmp_path / "shim.map"
    script.write_text(shim_map.emit(Surface(api, exports, "", {})))
    ours = "".join(f"int {name}(void) {{ return 1; }}\n" for name in shim_map.OWN)
    (tmp_path / "own.c").write_text(f"{ours}int neutrino_hidden(void) {{ return 1; }}\n")
    both = library(tmp_path, str(tmp_path / "own.c"), f"-Wl,--version-script={script}")
    assert set(read_exports(both).names) == {*exports.names, *shim_map.OWN}


@pytest.mark.parametrize(
    "content", [b"", b"\x7fELF", b"no library\n" * 100, b"\x7fELF\x02\x01\x01" + bytes(57)]
)
def test_invalid_library_is_reported_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "libcuda.so.1"
    path.write_bytes(content)
    with pytest.raises(CodegenError) as excinfo:
        read_exports(path)
    assert str(path) in str(excinfo.value)
    assert "\n" not in str(excinfo.value)


def test_damaged_libraries_are_read_or_refused(tmp_path: Path) -> None:
    """Whatever bytes are changed, the answer is exports or one line, never another exception."""
    original = library(tmp_path).read_bytes()
    path = tmp_path / "damaged.so"
    randomness = random.Random(580)
    refused = 0
    for _ in range(150):
        data = bytearray(original)
        for _ in range(8):
            region = randomness.choice([(0, 64), (0, len(data)), (len(data) - 2048, len(data))])
            data[randomness.randrange(*region)] = randomness.randrange(256)
        path.write_bytes(data[: randomness.choice([len(data), randomness.randrange(len(data))])])
        try:
            read_exports(path)
        except CodegenError as error:
            assert "\n" not in str(error)
            refused += 1
    assert refused > 0


def test_library_of_another_machine_is_refused(tmp_path: Path) -> None:
    """The stubs are x86-64 code: 62 in e_machine, here changed to AArch64's 183."""
    path = library(tmp_path)
    data = bytearray(path.read_bytes())
    data[18:20] = (183).to_bytes(2, "little")
    path.write_bytes(data)
    with pytest.raises(CodegenError, match="only x86-64 drivers are supported"):
        read_exports(path)
