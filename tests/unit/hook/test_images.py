"""Image sizing and parameter layouts, on real compiler output and on hostile bytes."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

HERE = Path(__file__).parent
IMAGES = HERE / "images"
FORMAT = {"ptx": 1, "cubin": 2, "fatbin": 3}


def run(program: Path, cases: list[bytes], *arguments: str) -> list[list[str]]:
    """One line of words a case; a sanitizer's finding fails the run."""
    data = b"".join(struct.pack("<I", len(case)) + case for case in cases)
    result = subprocess.run([program, *arguments], input=data, capture_output=True, timeout=240, check=False)
    assert result.returncode == 0, result.stderr.decode()
    return [line.split(maxsplit=2) for line in result.stdout.decode().splitlines()]


def images() -> list[Path]:
    """Output of nvcc 13.0: cubins, PTX, and fatbins with each kind of compression."""
    return sorted(path for path in IMAGES.iterdir() if path.suffix[1:] in FORMAT)


@pytest.mark.parametrize("path", images(), ids=lambda path: path.name)
def test_size_is_the_file_length(measure: Path, path: Path) -> None:
    """The size from the headers equals the length of the compiler's file (PTX: plus its terminator)."""
    text = path.suffix == ".ptx"
    content = path.read_bytes() + (b"\0" if text else b"")
    trailing = content + b"what follows in memory"
    ((format_, size, *_),) = run(measure, [trailing])
    assert (int(format_), int(size)) == (FORMAT[path.suffix[1:]], len(content))


def test_offload_bundle_sizes_are_computed(measure: Path) -> None:
    """clang's offload bundle ends with its last entry. A compressed bundle stores its size (version 2, 3)."""
    name = b"hip-amdgcn-amd-amdhsa--gfx90a"
    bundle = (
        b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", 1) + struct.pack("<QQQ", 128, 40, len(name)) + name
    )
    bundle = bundle.ljust(168, b"\1")
    second = b"CCOB" + struct.pack("<HHIIQ", 2, 1, 300, 4096, 0) + bytes(276)
    third = b"CCOB" + struct.pack("<HHQQQ", 3, 1, 300, 4096, 0) + bytes(268)
    lines = run(measure, [bundle + b"rest", second + b"rest", third + b"rest"])
    assert [(int(line[0]), int(line[1])) for line in lines] == [(5, 168), (6, 300), (6, 300)]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\x7fELF\x01\x01", "ELF header cut short (magic 0x464c457f)"),
        (struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 1 << 40), "fatbin ends beyond the image (magic 0xba55ed50)"),
        (b"CCOB\x01\x00\x01\x00" + bytes(40), "compressed bundle without a size (magic 0x424f4343)"),
        (b"\xde\xad\xbe\xef" + bytes(60), "unknown image format (magic 0xefbeadde)"),
        (b"\n.version 8.0 and no end", "text without an end (magic 0x7265762e)"),
    ],
)
def test_unknown_sizes_name_the_magic_number(measure: Path, content: bytes, problem: str) -> None:
    """An unknown size is an error with the magic number, not a guess."""
    ((_, size, result),) = run(measure, [content])
    assert int(size) == 0
    assert result.split("(")[0] == problem.split("(", maxsplit=1)[0]
    assert "magic 0x" in result


@pytest.mark.parametrize("path", images(), ids=lambda path: path.name)
def test_truncated_images_are_refused(measure: Path, path: Path) -> None:
    """A truncated binary image is never measured as complete."""
    content = path.read_bytes()
    if path.suffix == ".ptx":
        pytest.skip("text has no length of its own to contradict")
    lengths = {*range(200), *range(200, len(content), 97), len(content) - 1}
    for line in run(measure, [content[:length] for length in sorted(lengths)]):
        assert int(line[1]) == 0


@pytest.mark.full
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_mutated_images_never_read_outside(measure: Path, data: st.DataObject) -> None:
    """Mutated headers, 40 at a time: the sanitizers find no read outside the image."""
    content = data.draw(st.sampled_from([path.read_bytes() for path in images()]))
    cases = []
    for _ in range(40):
        case = bytearray(content[: data.draw(st.integers(0, len(content)))])
        for _ in range(data.draw(st.integers(0, 6))):
            if case:
                case[data.draw(st.integers(0, min(len(case), 4000) - 1))] = data.draw(st.integers(0, 255))
        cases.append(bytes(case))
    assert len(run(measure, cases)) == len(cases)
    assert len(run(measure, cases, "layout", "mixed")) == len(cases)
    assert len(run(measure, cases, "globals", "90")) == len(cases)


@pytest.mark.parametrize("image", ["sm_75.cubin", "sm_90.cubin", "plain.fatbin", "default.fatbin"])
@pytest.mark.parametrize(
    ("kernel", "layout"),
    [
        ("saxpy", "4 0:8 8:8 16:4 20:4"),
        ("mixed", "4 0:1 2:2 8:16 24:8"),
        ("empty", "0"),
        ("nowhere", "-1"),
    ],
)
def test_layout_equals_the_source(measure: Path, image: str, kernel: str, layout: str) -> None:
    """Offsets and sizes read from .nv.info are those of the C++ signature."""
    (line,) = run(measure, [(IMAGES / image).read_bytes()], "layout", kernel)
    assert " ".join(line) == layout
