"""neutrino-bench inspect: code images, libraries, and the images of a log."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from benchguard.cli.main import cli, main
from benchguard.errors import BenchguardError, UsageError
from tests.conftest import ROOT
from tests.support import captures, logs

IMAGES = ROOT / "tests" / "unit" / "hook" / "images"
FATBIN = IMAGES / "size.fatbin"


def inspect(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["inspect", *map(str, arguments)])


def shown(*arguments: str | Path) -> str:
    result = inspect(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_image_shows_entries_and_kernels() -> None:
    out = shown(FATBIN)
    assert "cubin for sm_90, zstd, 1459 B of 7672 B, 3 kernels" in out
    assert "  saxpy: 12 registers, 0 B shared, 0 B local, parameters of 8 8 4 4 B" in out
    assert "ptx for compute_90, zstd, 649 B of 1757 B, 3 kernels" in out
    assert "  empty: 0 B shared, no parameters" in out


def test_image_as_json_has_every_kernel() -> None:
    document = json.loads(shown(FATBIN, "--json"))
    [library] = document["libraries"]
    assert document["schema"] == "neutrino-bench/images/1"
    assert [code["target"] for code in library["images"][0]["code"]["codes"]] == ["sm_90", "compute_90"]
    assert library["images"][0]["sha256"] == hashlib.sha256(FATBIN.read_bytes()).hexdigest()


def test_ptx_of_a_kernel_is_printed() -> None:
    out = shown(FATBIN, "--ptx", "saxpy")
    assert out.startswith(".visible .entry saxpy(") and out.rstrip().endswith("}") and "mixed" not in out


def test_ptx_of_a_kernel_in_a_capture_is_printed(tmp_path: Path) -> None:
    out = shown(captures.saxpy_capture(tmp_path / "x.ncap"), "--ptx", "saxpy")
    assert ".entry saxpy" in out and "ret;" in out


def test_absent_kernel_is_refused_with_the_present_names() -> None:
    result = inspect(FATBIN, "--ptx", "sgemm")
    assert isinstance(result.exception, UsageError)
    assert "no image has PTX of a kernel 'sgemm'; there are: saxpy, mixed, empty" in str(result.exception)


def test_entries_are_written_unpacked(tmp_path: Path) -> None:
    shown(FATBIN, "--dump-images", tmp_path / "out")
    cubin, ptx = sorted((tmp_path / "out").iterdir(), key=lambda path: path.name)
    assert cubin.suffix == ".cubin" and cubin.read_bytes() == (IMAGES / "sm_90.cubin").read_bytes()
    assert ptx.name.endswith("-1-compute_90.ptx") and b".entry saxpy" in ptx.read_bytes()


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A shared library with two fat binaries where nvcc puts them."""
    source = tmp_path / "library.s"
    source.write_text(
        '.section .nv_fatbin,"a",@progbits\n'
        f'.balign 8\n.incbin "{FATBIN}"\n.balign 8\n.incbin "{IMAGES / "speed.fatbin"}"\n'
        '.section .note.GNU-stack,"",@progbits\n'
    )
    subprocess.run(["gcc", "-shared", "-o", tmp_path / "library.so", source], check=True)
    return tmp_path / "library.so"


def test_library_shows_all_of_its_images(library: Path) -> None:
    out = shown(library)
    assert (
        out.startswith(f"{library}\n")
        and out.count("  image ") == 2
        and out.count("saxpy: 12 registers") == 2
    )


def log_with_image(tmp_path: Path) -> tuple[Path, Path]:
    """A log whose image is kept, and the folder that keeps it."""
    digest = hashlib.sha256(FATBIN.read_bytes()).hexdigest()
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / digest).write_bytes(FATBIN.read_bytes())
    lines = [
        logs.session(), logs.image("/lib/libk.so", sha256=digest), logs.kernel(image=digest),
        logs.launch(10, image=digest), logs.launch(20, image=digest), logs.end(),
    ]  # fmt: skip
    return logs.write_log(tmp_path / "log.jsonl", lines), kept


def test_log_shows_library_image_and_launched_kernels(tmp_path: Path) -> None:
    log, _ = log_with_image(tmp_path)
    assert shown(log).splitlines() == [
        "/lib/libk.so",
        f"  image {hashlib.sha256(FATBIN.read_bytes()).hexdigest()[:12]}: fatbin, 900 B",
        "    saxpy: 2 launches, 12 registers, 64 B shared, 0 B local, at most 1024 threads, parameters of 8 B",
    ]


def test_log_with_kept_images_shows_entries_and_code(tmp_path: Path) -> None:
    log, kept = log_with_image(tmp_path)
    out = shown(log, "--kept", kept)
    assert "    ptx for compute_90" in out and "      saxpy: 2 launches, 12 registers" in out
    assert ".entry saxpy" in shown(log, "--kept", kept, "--ptx", "saxpy")
    assert "2 entries written" in shown(log, "--kept", kept, "--dump-images", tmp_path / "out")


def test_altered_kept_image_is_refused(tmp_path: Path) -> None:
    log, kept = log_with_image(tmp_path)
    [path] = kept.iterdir()
    path.write_bytes(path.read_bytes() + b"x")
    result = inspect(log, "--kept", kept)
    assert isinstance(result.exception, BenchguardError) and "does not have the SHA-256" in str(
        result.exception
    )


def test_cut_log_is_shown_with_status_1(tmp_path: Path) -> None:
    log, _ = log_with_image(tmp_path)
    log.write_bytes(log.read_bytes()[:-30])
    result = CliRunner().invoke(cli, ["inspect", str(log)], standalone_mode=False)
    assert "saxpy: 2 launches" in result.stdout and "cut short" in result.stderr and result.return_value == 1


def test_hostile_names_are_escaped(tmp_path: Path) -> None:
    text = "\x1b[2J\u202e"
    path = logs.write_log(
        tmp_path / "log.jsonl", [logs.session(), logs.image(text, text), logs.kernel(text), logs.end()]
    )
    out = shown(path)
    assert all(each.isprintable() or each == "\n" for each in out) and "\\x1b[2J" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("size.fatbin", "--operations"), "--operations has no effect on a code image"),
        (("size.fatbin", "--memory"), "--memory has no effect on a code image"),
        (("size.fatbin", "--check"), "--check has no effect on a code image"),
        (("size.fatbin", "--kept", "."), "--kept has no effect on a code image"),
        (("size.fatbin", "--json", "--all-kernels"), "--all-kernels has no effect"),
        (("size.fatbin", "--ptx", "k", "--sass", "k"), "--ptx prints only code"),
        (("size.fatbin", "--ptx", "k", "--json"), "--ptx prints only code"),
        (("log.jsonl", "--ptx", "k"), "an audit log has no code"),
        (("log.jsonl", "--dump-images", "out"), "an audit log has no code"),
        (("x.ncap", "--all-kernels"), "--all-kernels has no effect on a capture"),
        (("/bin/true",), "neither a capture, an audit log, a code image nor a library"),
    ],
    ids=" ".join,
)
def test_option_without_effect_is_refused(
    words: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "size.fatbin").write_bytes(FATBIN.read_bytes())
    logs.write_log(tmp_path / "log.jsonl", [logs.session(), logs.end()])
    captures.saxpy_capture(tmp_path / "x.ncap")
    with pytest.raises(SystemExit) as ended:
        main(["inspect", *words])
    err = capsys.readouterr().err
    assert (ended.value.code, err.count("\n")) == (2, 1) and message in err
