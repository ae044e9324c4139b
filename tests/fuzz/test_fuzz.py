"""The fuzzer finds and reproduces planted errors, and finds none in the readers in a short run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def fuzz(out: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(HERE / "run.py"), *words, "--out", str(out)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@pytest.mark.parametrize(
    ("letter", "message"),
    [
        ("o", "heap-buffer-overflow"),
        ("l", "bytes were not freed"),
        ("s", "takes too long"),
        ("n", "null pointer"),
        ("r", "the letter r"),
    ],
)
def test_planted_error_is_found(folder: Path, letter: str, message: str) -> None:
    file = folder / letter
    file.write_text(letter)
    result = fuzz(folder, "control", "--input", str(file))
    assert result.returncode == 1
    assert message in result.stderr


def test_valid_input_passes(folder: Path) -> None:
    file = folder / "innocent"
    file.write_text("?")
    assert fuzz(folder, "control", "--input", str(file)).returncode == 0


def test_campaign_keeps_finding_and_prints_command(folder: Path) -> None:
    words = ("control", "--count", "2000", "--workers", "2")
    first, second = fuzz(folder, *words), fuzz(folder, *words)
    assert first.returncode == second.returncode == 1
    assert first.stdout == second.stdout  # independent of the order of the workers
    assert "the letter r" in first.stdout
    again = next(line.split() for line in first.stdout.splitlines() if "--input" in line)
    assert Path(again[-1]).is_file()
    assert fuzz(folder, *again[2:]).returncode == 1


@pytest.mark.parametrize("target", ["ptx", "run", "link", "fatbin", "hip", "globals", "kernels", "capture"])
def test_short_campaign_finds_no_error_in_readers(folder: Path, target: str) -> None:
    result = fuzz(folder, target, "--count", "1500", "--seed", "2026")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "1500 of 1500" in result.stderr
    outcomes = {
        word: int(count) for count, _, word in (each.partition(" ") for each in result.stdout.split(", "))
    }
    accepted = sum(
        outcomes.get(word, 0)
        for word in ("accepted", "ok", "linked", "text", "names", "kernel", "size and kernel")
    )
    assert accepted > 10, outcomes


def decode(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(HERE / "decoder.py"), *words, "--out", str(folder)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)


def test_python_decoder_on_mutated_captures_raises_only_capture_errors(folder: Path) -> None:
    result = decode(folder, "--count", "600", "--seed", "2026")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "600 inputs" in result.stdout and " 0 decoded" not in result.stdout


def read_images(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(HERE / "images.py"), *words, "--out", str(folder)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)


def test_readers_of_code_images_on_mutated_images_raise_nothing_else(folder: Path) -> None:
    result = read_images(folder, "--count", "3000", "--seed", "2026")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "3000 inputs" in result.stdout and " 0 read" not in result.stdout


def test_reader_of_code_images_that_fails_is_a_finding(folder: Path) -> None:
    """Control: a reader with a mistake."""
    result = read_images(folder, "--count", "50", "--break-reader")
    assert result.returncode == 1
    assert "ZeroDivisionError" in result.stdout


def grade(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(HERE / "grade.py"), *words, "--out", str(folder)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)


def test_grade_of_mutated_raw_captures_ends_with_a_verdict(folder: Path, native: Path) -> None:
    assert (native / "sim").is_dir()
    done = grade(folder, "--count", "40", "--seed", "2026", "--replay-every", "8")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "40 inputs" in done.stdout and "refused by the packer" in done.stdout and "replayed" in done.stdout


def test_grade_whose_reader_fails_otherwise_is_a_finding(folder: Path, native: Path) -> None:
    """Control: a reader with a mistake."""
    assert (native / "sim").is_dir()
    done = grade(folder, "--count", "1", "--break-reader")
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stdout


def test_grade_that_ends_in_error_is_a_finding(folder: Path, native: Path) -> None:
    """Control: a verdict that blames the machine."""
    assert (native / "sim").is_dir()
    done = grade(folder, "--count", "24", "--break-verdict")
    assert done.returncode == 1
    assert "the verdict is error: planted" in done.stdout


def test_python_decoder_that_fails_otherwise_is_a_finding(folder: Path) -> None:
    """Control: a decoder with a mistake."""
    result = decode(folder, "--count", "50", "--break-decoder")
    assert result.returncode == 1
    assert "ZeroDivisionError" in result.stdout


def read_logs(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(HERE / "logs.py"), *words, "--out", str(folder)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)


def test_reader_of_mutated_compact_logs_shows_only_lines_of_the_log(folder: Path) -> None:
    result = read_logs(folder, "--count", "1500", "--seed", "2026")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "1500 inputs" in result.stdout and " 0 read" not in result.stdout


def test_reader_of_logs_that_fails_is_a_finding(folder: Path) -> None:
    """Control: a reader with a mistake."""
    result = read_logs(folder, "--count", "50", "--break-reader")
    assert result.returncode == 1
    assert "ZeroDivisionError" in result.stdout


def analyse(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(HERE / "findings.py"), *words, "--out", str(folder)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)


def test_analysis_of_mutated_logs_raises_nothing_else(folder: Path) -> None:
    result = analyse(folder, "--count", "1500", "--seed", "2026")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "1500 inputs" in result.stdout and " 0 analysed" not in result.stdout


def test_analysis_that_fails_is_a_finding(folder: Path) -> None:
    """Control: an analysis with a mistake."""
    result = analyse(folder, "--count", "50", "--break-analysis")
    assert result.returncode == 1
    assert "ZeroDivisionError" in result.stdout
