"""The Python modules of the wire formats are what the generator writes from the C headers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchguard.codegen.errors import CodegenError
from benchguard.codegen.generate import layout_files
from tests.conftest import ROOT

WIRE = ROOT / "hook" / "core" / "wire"


@pytest.mark.parametrize("name", ["audit/layout.py", "capture/layout.py"])
def test_committed_module_is_what_the_generator_writes(name: str) -> None:
    """If this fails: python -m benchguard.codegen layouts"""
    assert layout_files(WIRE)[name] == (ROOT / "benchguard" / name).read_text()


def changed(folder: Path, header: str, old: str, new: str) -> dict[str, str]:
    copies = folder / "wire"
    shutil.copytree(WIRE, copies)
    text = (copies / header).read_text()
    assert old in text
    (copies / header).write_text(text.replace(old, new))
    return layout_files(copies)


def test_new_member_appears_in_its_place(tmp_path: Path) -> None:
    files = changed(tmp_path, "record.h", "uint32_t opaque; ", "uint64_t added; uint32_t opaque; ")
    assert 'GRAPH = Struct("<QQIQI")  # graph, handle, nodes, added, opaque' in files["audit/layout.py"]


def test_new_number_and_constant_are_taken(tmp_path: Path) -> None:
    files = changed(tmp_path, "record.h", "NB_RING_CLOSED = 3", "NB_RING_CLOSED = 3, NB_RING_BROKEN = 9")
    assert "    BROKEN = 9\n" in files["audit/layout.py"]
    files = changed(tmp_path / "b", "capture_format.h", "(1u << 24)", "(1u << 25)")
    assert "BLOBS_MAX = 1 << 25\n" in files["capture/layout.py"]


def test_union_keeps_its_size_when_a_member_grows(tmp_path: Path) -> None:
    old = "uint32_t element_bytes; /* 1, 2 or 4 */"
    files = changed(tmp_path, "capture_format.h", old, f"{old} uint64_t more;")
    assert 'u64("as.set.more"),\n            reserved("", "40s"),' in files["capture/layout.py"]


def test_structure_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(CodegenError, match=r"layouts\.toml: no header declares struct nb_capture_meta"):
        changed(tmp_path, "capture_format.h", "struct nb_capture_meta", "struct nb_capture_metadata")
