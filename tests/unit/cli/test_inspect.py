"""neutrino-bench inspect: what it shows of captures, whole, hostile and damaged."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from benchguard.capture import CaptureError
from benchguard.capture.layout import ARENA, NOTHING, ImageFormat, ModuleKind
from benchguard.capture.model import Image, Kernel, Launch, Module, Range, Refusal
from benchguard.cli.main import cli
from tests.support import captures

AMD = Path(__file__).parents[2] / "data" / "hip"


def inspect(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["inspect", *map(str, arguments)])


def shown(*arguments: str | Path) -> str:
    result = inspect(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def hostile_capture(path: Path) -> Path:
    """A capture whose texts contain terminal control sequences."""
    text = "\x1b[2J\x9b31m\u202e\n\x07" + "n" * 300
    with captures.Builder(path) as builder:
        builder.device()
        image = builder.content(b"image")
        digest = hashlib.sha256(b"image").hexdigest()
        builder.add(Module(builder.add(Image(digest, ImageFormat.ELF, text, image)), ModuleKind.MODULE))
        builder.add(Kernel(0, 0, 0, 0, 0, 1024, text))
        builder.stream()
        builder.memory(captures.Memory(ARENA, b"1", b"2", call=text))
        builder.operation(Launch(0, 0, (1, 1, 1), (1, 1, 1), 0, b""))
        builder.add(Range(ARENA, 1, captures.Role.INPUT, text, text))
        builder.add(Refusal(1, text, text))
        builder.end()
    return path


def test_tables_show_kernels_memory_and_operations(tmp_path: Path) -> None:
    out = shown(captures.saxpy_capture(tmp_path / "x.ncap"), "--operations")
    for line in (
        "region 1 of tests/support/captures.py",
        "saxpy  |        1 |         0 | 8x1x1 | 128x1x1 |        12 |      0 | ",
        "0x300000200000 | 4096 B | throughout | 4096 B |  4096 B | cuMemAlloc_v2",
        "<8x1x1, 128x1x1> saxpy",
        "y    | state | 0x300000200000 | 4096 B | float32 | 1024",
    ):
        assert line in out


@pytest.mark.parametrize("name", captures.CAPTURES)
def test_every_option_works_on_every_capture(name: str, tmp_path: Path) -> None:
    path = captures.CAPTURES[name](tmp_path / "x.ncap")
    assert shown(path, "--operations", "--memory", "--check", "--dump-images", tmp_path / "images")
    for image in (tmp_path / "images").glob("*"):
        assert hashlib.sha256(image.read_bytes()).hexdigest() == image.stem


def test_json_contains_every_table(tmp_path: Path) -> None:
    path = captures.graph_capture(tmp_path / "x.ncap")
    document = json.loads(shown(path, "--json", "--operations"))
    assert document["schema"] == "neutrino-bench/inspect/1"
    assert document["kernels"][0]["name"] == "saxpy" and document["kernels"][0]["graph_launches"] == 2
    assert document["graphs"] == [{"graph": 1, "nodes": 3, "edges": 2, "launches": 2}]
    assert document["sizes"]["file_bytes"] == path.stat().st_size
    assert [each["kind"] for each in document["operation_list"]] == [
        "kernel",
        "memcpy",
        "empty",
        "graph_launch",
        "graph_launch",
    ]
    assert document["operation_list"][0]["stream"] == NOTHING
    assert bytes.fromhex(document["operation_list"][0]["parameters"])[8:16] == ARENA.to_bytes(8, "little")


def test_refused_capture_shows_call_and_reason(tmp_path: Path) -> None:
    out = shown(captures.refused_capture(tmp_path / "x.ncap"))
    assert "cannot be replayed: cuMemcpyDtoH_v2, after operation 0: reads device memory" in out


@pytest.mark.parametrize("options", [["--operations", "--memory"], ["--json", "--operations"]])
def test_hostile_text_is_escaped(options: list[str], tmp_path: Path) -> None:
    out = shown(hostile_capture(tmp_path / "x.ncap"), *options)
    assert all(c.isprintable() or c == "\n" for c in out)
    assert "\\x1b" in out or "\\u001b" in out


def test_mangled_kernel_name_is_shown_demangled(tmp_path: Path) -> None:
    with captures.Builder(tmp_path / "x.ncap") as builder:
        builder.device()
        builder.add(Kernel(builder.module(captures.SAXPY), 0, 0, 0, 0, 1024, "_Z4fillPfi"))
        builder.end()
    assert "fill(float*, int)" in shown(tmp_path / "x.ncap")


@pytest.mark.parametrize("capture", ["x.ncap", "missing.ncap"])
def test_unwritable_images_folder_is_refused_before_the_capture_is_read(capture: str, tmp_path: Path) -> None:
    captures.saxpy_capture(tmp_path / "x.ncap")
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file" / "images", tmp_path / "file"):
        refused = CliRunner().invoke(cli, ["inspect", str(tmp_path / capture), "--dump-images", str(folder)])
        assert refused.exit_code == 2
        assert "file" in refused.output
        assert (tmp_path / "file").read_text() == ""


def test_kernel_name_is_shown_without_abi_tags(tmp_path: Path) -> None:
    with captures.Builder(tmp_path / "x.ncap") as builder:
        builder.device()
        builder.add(Kernel(builder.module(captures.SAXPY), 0, 0, 0, 0, 1024, "_Z3addB2v1B5cw_3di"))
        builder.end()
    assert "add(int) " in shown(tmp_path / "x.ncap")
    assert (
        json.loads(shown(tmp_path / "x.ncap", "--json"))["kernels"][0]["demangled"]
        == "add[abi:v1][abi:cw_3d](int)"
    )


def hip_capture(path: Path, *images: tuple[ImageFormat, bytes]) -> Path:
    with captures.Builder(path) as builder:
        builder.device()
        for format_, raw in images:
            builder.add(Image(hashlib.sha256(raw).hexdigest(), format_, "/x.so", builder.content(raw)))
        builder.end()
    return path


def test_amd_code_shows_targets_kernels_and_problems(tmp_path: Path) -> None:
    """Targets are in the table, kernels in JSON. An unreadable image is reported and is not an error."""
    formats = {"bundle.hipfb": 5, "compressed.hipfb": 6, "gfx90a.hsaco": 7}
    images = [(ImageFormat(number), (AMD / name).read_bytes()) for name, number in formats.items()]
    path = hip_capture(tmp_path / "x.ncap", *images, (ImageFormat.CODE_OBJECT, b"\x7fELF"))
    out = shown(path, "--dump-images", tmp_path / "images")
    assert "| gfx1100, gfx90a:xnack+, gfx90a:xnack-" in out
    assert "code object" in out and "compressed bundle" in out
    assert "the code object is damaged" in out
    suffixes = [".hipfb", ".hipfb", ".hsaco", ".hsaco"]
    assert sorted(each.suffix for each in (tmp_path / "images").iterdir()) == suffixes
    bundle, _, alone, broken = json.loads(shown(path, "--json"))["images"]
    assert [each["target"] for each in bundle["code"]][:1] == ["hipv4-amdgcn-amd-amdhsa--gfx1100"]
    mixed = next(each for each in alone["code"][0]["kernels"] if each["name"] == "mixed")
    assert mixed["parameters"] == [[0, 1], [2, 2], [8, 16], [24, 8], [32, 8]]
    assert broken["code"][0]["problem"] and not broken["problem"]


def test_damaged_code_is_reported_and_fails_check(tmp_path: Path) -> None:
    path = hip_capture(tmp_path / "x.ncap", (ImageFormat.CODE_OBJECT, b"A" * 4096))
    raw = bytearray(path.read_bytes())
    at = raw.find(b"A" * 100)
    raw[at if at >= 0 else 100] ^= 1
    path.write_bytes(raw)
    assert "blob" in shown(path)
    assert inspect(path, "--check").exit_code != 0


def test_check_finds_damage_that_opening_misses(tmp_path: Path) -> None:
    """Changes a byte of memory, not of the tables, which are read at once."""
    path = captures.saxpy_capture(tmp_path / "x.ncap")
    raw = bytearray(path.read_bytes())
    raw[200] ^= 1
    path.write_bytes(raw)
    assert inspect(path).exit_code == 0
    result = inspect(path, "--check")
    assert isinstance(result.exception, CaptureError) and result.exception.status == 70
    assert "blob 0" in str(result.exception)
