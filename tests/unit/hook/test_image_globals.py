"""The names of an image's globals, in real compiler output and in misleading texts."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
IMAGES = HERE / "images"
OURS = {"table", "counter", "hidden", "weights", "*everyones", "_ZZ9variablesE5inner"}


def names_of(
    measure: Path, image: bytes, architecture: int = 90, kind: str = "globals"
) -> tuple[list[str], str]:
    """The names, and why there may be others."""
    result = subprocess.run(
        [measure, kind, str(architecture)],
        input=struct.pack("<I", len(image)) + image,
        capture_output=True,
        timeout=240,
        check=False,
    )
    assert result.returncode == 0, result.stderr.decode()
    names, _, problem = result.stdout.decode().partition(";")
    return names.split(), problem.strip()


def entry(kind: int, architecture: int, payload: bytes, flags: int = 0, raw_bytes: int = 0) -> bytes:
    """One entry of a fat binary."""
    head = struct.pack(
        "<HHIQIIHHIIIQQQ",
        kind, 1, 64, len(payload), len(payload) if flags else 0, 0, 0, 0, architecture, 0, 0, flags, 0, raw_bytes,
    )  # fmt: skip
    return head + payload


def fatbin(*entries: bytes) -> bytes:
    """A fat binary of these entries."""
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, sum(map(len, entries))) + b"".join(entries)


def ptx(*names: str) -> bytes:
    """A text with one global each."""
    return b".version 8.0\n" + b"".join(f".global .u32 {name};\n".encode() for name in names)


@pytest.mark.parametrize(
    "image", ["variables.cubin", "variables.ptx", "variables_speed.fatbin", "variables_size.fatbin"]
)
def test_globals_match_the_source(measure: Path, image: str) -> None:
    """Global, constant, static, function-local and managed variables; none in shared memory."""
    names, problem = names_of(measure, (IMAGES / image).read_bytes())
    assert problem == ""
    assert {name for name in names if not name.startswith(("$", "__"))} == OURS


@pytest.mark.parametrize(
    "path", sorted((ROOT / "tests/sim/data").glob("*.fatbin")), ids=lambda path: path.name
)
def test_compressed_entries_are_read(measure: Path, path: Path) -> None:
    """A fat binary's compressed entries are read, or the image has no entry for the device."""
    _, problem = names_of(measure, path.read_bytes())
    empty = "the fat binary has neither machine code nor PTX for the device"
    assert problem == (empty if path.stem in {"lto", "newer"} else "")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (".global .align 4 .b8 first[4] = {1, 2, 3, 4}, second[8];", ["first", "second"]),
        (".visible .const .align 16 .v4 .f32 four;", ["four"]),
        (".weak .global .attribute(.managed) .u32 here; .global .u32 there;", ["*here", "there"]),
        (".global .u64 address[2] = {other, generic(third)};", ["address"]),
        ("// .global .u32 no;\n/* .global .u32 no; */ .file 1 \".global .u32 no;\"\n.global.u32 yes;", ["yes"]),
        (".global .texref picture; .global .samplerref how; .global .surfref canvas;", []),
        (".entry k(.param .u64 .ptr .global .align 4 p) { .shared .u32 s; ld.global.u32 %r1, [x]; }", []),
        (".global .v4 .u32 many<3>, one; .const .u32 two < /* two */ 2 > ;",
         ["many", "many0", "many1", "many2", "one", "two", "two0", "two1"]),
        (".section .debug_info { .b8 1 } .global .b8 $str[2] = {65};", ["$str"]),
    ],
)  # fmt: skip
def test_ptx_declarations_are_listed(measure: Path, text: str, names: list[str]) -> None:
    """Names are those outside of functions, comments, strings and initialisers."""
    assert names_of(measure, b".version 8.0 .target sm_90\n" + text.encode()) == (names, "")


@pytest.mark.parametrize(
    ("entries", "names"),
    [
        ([(1, 80, "old"), (1, 90, "new"), (1, 100, "newer")], ["new"]),
        ([(1, 90, "text"), (1, 90, "text_90a"), (1, 80, "old")], ["text", "text_90a"]),
    ],
)
def test_newest_entry_that_the_device_runs_is_read(
    measure: Path, entries: list[tuple[int, int, str]], names: list[str]
) -> None:
    """Only entries of the newest target that is not above the device, and all of them."""
    image = fatbin(*(entry(kind, architecture, ptx(name)) for kind, architecture, name in entries))
    assert names_of(measure, image) == (names, "")


def test_machine_code_is_preferred_to_ptx(measure: Path) -> None:
    """The driver loads an older cubin of the device's family, but not one of another family."""
    cubin = (IMAGES / "sm_75.cubin").read_bytes()
    image = fatbin(entry(1, 80, ptx("text")), entry(2, 75, cubin))
    assert names_of(measure, image, 79) == (["table"], "")
    assert names_of(measure, image, 86) == (["text"], "")


def test_entries_that_a_driver_could_take_instead_are_read(measure: Path) -> None:
    """It takes PTX if it rejects the machine code. It never takes machine code for another family."""
    cubin = (IMAGES / "sm_75.cubin").read_bytes()
    image = fatbin(entry(1, 60, ptx("old")), entry(2, 75, cubin), entry(1, 80, ptx("text")))
    assert names_of(measure, image, 79, "others") == (["old", "text"], "")
    assert names_of(measure, image, 86, "others") == (["old"], "")
    assert names_of(measure, ptx("text"), 86, "others") == ([], "")


@pytest.mark.parametrize(
    ("rest", "problem"),
    [
        (bytes(24), ""),
        (bytes(100) + b"x", "the fat binary has bytes behind the last entry that can be read"),
        (entry(1, 80, ptx("hidden"))[:-1], "the fat binary has bytes behind the last entry that can be read"),
    ],
    ids=["zeros", "a byte", "a cut entry"],
)
def test_bytes_behind_the_last_entry_may_have_globals(measure: Path, rest: bytes, problem: str) -> None:
    """A driver may find entries where this reader finds none."""
    image = fatbin(entry(1, 80, ptx("text")), rest)
    assert names_of(measure, image, 86) == (["text"], "")
    assert names_of(measure, image, 86, "others") == ([], problem)


@pytest.mark.parametrize(
    ("image", "problem"),
    [
        (b"", "it is neither a cubin nor PTX"),
        (b"CCOB" + bytes(60), "the compressed bundle is cut short or its version is unknown"),
        (b"\x7fELF" + bytes(60), "its section table cannot be read"),
        (b'.version 8.0\n.file 1 "\\""\n', "its text has an escaped quotation mark or line end"),
        (b".version 8.0\n// a \\\n", "its text has an escaped quotation mark or line end"),
        (b".version 8.0\n// a \r.global .u32 b;\n", "its text has a carriage return within a line"),
        (b'.version 8.0\n.file 1 "a\nb"\n', "a string of its text does not end on its line"),
        (b".version 8.0\n\0.global .u32 b;\n", "its text goes on behind a NUL"),
        (b'.version 8.0\r\n// it\'s "odd\n/* " */ .file 1 "a\\b // c" \0\0', ""),
        *(
            (b".version 8.0\n.global .u32 many<" + count + b">;",
             "one of its declarations of numbered variables cannot be read")
            for count in (b"", b"0", b"010", b"-1", b"65537", b"n", b"2 2", b"9" * 40)
        ),
        (b".version 8.0\n.global .u32 unfinished", "its text ends in a declaration"),
        (b".version 8.0\n.global .u32 " + b"a" * 9000 + b";", "one of its globals has an invalid name"),
        (fatbin(entry(1, 90, b"\xf0" * 40, 0x2000, 100)), "an entry does not decompress to the size that it declares"),
        (fatbin(entry(1, 90, b"\0" * 40, 0x8000, 100)), "an entry does not decompress to the size that it declares"),
        (fatbin(entry(1, 90, b"\0" * 40, 0x8000, 1 << 40)), "an entry of the fat binary declares an impossible size"),
    ],
)  # fmt: skip
def test_unreadable_images_name_the_problem(measure: Path, image: bytes, problem: str) -> None:
    """Unknown globals are reported; the image is not taken for one without globals."""
    assert names_of(measure, image)[1] == problem


def test_overlapping_lz4_matches_are_decoded(measure: Path) -> None:
    """A distance of one repeats a byte; a distance beyond what was written is refused."""
    text = ptx("a" * 300)
    head = text[: text.index(b"a" * 300) + 1]
    tail = text[len(head) + 299 :]
    count = 299 - 4 - 15
    block = bytes([0xFF, len(head) - 15]) + head + b"\1\0" + b"\xff" * (count // 255) + bytes([count % 255])
    block += bytes([len(tail) << 4]) + tail
    assert names_of(measure, fatbin(entry(1, 90, block, 0x2000, len(text)))) == (["a" * 300], "")
    wrong = block.replace(head + b"\1\0", head + b"\xff\0")
    assert names_of(measure, fatbin(entry(1, 90, wrong, 0x2000, len(text))))[1] != ""


def test_unterminated_name_is_refused(measure: Path) -> None:
    """A string table without its last NUL names nothing."""
    content = bytearray((IMAGES / "variables.cubin").read_bytes())
    start = content.index(b"\0counter\0") + 1
    table_end = content.index(b"\0variables\0", start)
    content[start:table_end] = bytes(byte or 65 for byte in content[start:table_end])
    names, problem = names_of(measure, bytes(content))
    assert problem != "" or "counter" not in names
