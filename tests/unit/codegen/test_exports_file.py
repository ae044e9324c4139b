"""Exports as text: what is read from a library comes back from its file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchguard.codegen.__main__ import main
from benchguard.codegen.errors import CodegenError
from benchguard.codegen.exports import DriverExports, Version, read_exports
from benchguard.codegen.exports_file import exports_text, load_exports

ROOT = Path(__file__).parents[3]
FILE = ROOT / "sim" / "hip" / "exports.txt"
DEBIAN = Path(sys.prefix) / "hip" / "usr" / "lib" / "x86_64-linux-gnu" / "libamdhip64.so.5"
EXPORTS = DriverExports(
    ("hipMalloc", "hipInit", "hipPlain"),
    "libamdhip64.so.5",
    None,
    (Version("hip_4.2", None), Version("hip_5.0", "hip_4.2")),
    (("hipMalloc", "hip_5.0"), ("hipInit", "hip_4.2")),
)


def test_exports_file_round_trip_keeps_exports(tmp_path: Path) -> None:
    path = tmp_path / "exports.txt"
    path.write_text(exports_text(EXPORTS))
    again = load_exports(path)
    assert again.names == ("hipPlain", "hipInit", "hipMalloc")
    assert (again.soname, again.versions) == (EXPORTS.soname, EXPORTS.versions)
    assert dict(again.version_of) == dict(EXPORTS.version_of)


def test_exports_file_is_independent_of_symbol_order() -> None:
    other = DriverExports(
        EXPORTS.names[::-1], EXPORTS.soname, "ab", EXPORTS.versions, EXPORTS.version_of[::-1]
    )
    assert exports_text(other) == exports_text(EXPORTS)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("soname a\nhipInit hip_4.2\n", "line 2: 'hipInit hip_4.2' names no version"),
        ("soname a\nversion b c\nhipInit\n", "line 2: 'version b c' names no version"),
        ("soname a b c\n", "line 1"),
        ("soname a\n", "has no soname or no export"),
        ("hipInit\n", "has no soname or no export"),
    ],
)
def test_invalid_line_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "exports.txt"
    path.write_text(text)
    with pytest.raises(CodegenError) as excinfo:
        load_exports(path)
    assert complaint in str(excinfo.value)


@pytest.mark.skipif(not DEBIAN.exists(), reason="`python build.py setup` fetches Debian's libamdhip64-5")
def test_committed_exports_match_debians_library(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """sim/hip exports what the real library does, each name under its version."""
    out = tmp_path / "exports.txt"
    assert main(["exports", "--driver", str(DEBIAN), "--out", str(out)]) == 0
    assert "409 exports of 7 versions" in capsys.readouterr().out
    assert out.read_text() == FILE.read_text()
    assert load_exports(FILE).versions == read_exports(DEBIAN).versions
