"""The choice of a region: by the program, by launches, by a kernel's name, by timing events."""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.unit.hook.kernel_names import MATCHING, OTHERS

HERE = Path(__file__).parent
HOOK = HERE.parents[2] / "hook"
SOURCES = [path for path in sorted((HOOK / "core").rglob("*.c")) if path.name != "filter.c"]
OPERATION, REFUSAL, META, END = 12, 15, 17, 18


@dataclass(frozen=True)
class Steps:
    """The program's output for each step, and the files in the folder."""

    lines: list[str]
    stderr: str
    folder: Path

    @property
    def after(self) -> list[str]:
        """Begun, ended, open or closed, after each step."""
        result = (re.fullmatch(r"(?:\w|\w:.*) (\d+ \d+ \w+)", line) for line in self.lines)
        return [match[1] for match in result if match]

    def said(self, word: str) -> list[str]:
        return [line.removeprefix(f"{word} ") for line in self.lines if line.startswith(f"{word} ")]

    @property
    def raw_captures(self) -> list[Path]:
        return sorted(self.folder.glob("*.nrec"), key=lambda path: int(path.stem.split("-")[1]))


Run = Callable[..., Steps]


def build(folder: Path, sanitizer: str | None) -> Path:
    program = folder / "region_steps"
    flags = ["-std=gnu11", "-D_GNU_SOURCE", "-g", "-O1", f"-I{HOOK}"]
    if sanitizer is not None:
        flags += [f"-fsanitize={sanitizer}", "-fno-sanitize-recover"]
    sources = [str(HERE / "programs" / "region_steps.c"), *map(str, SOURCES)]
    subprocess.run(["cc", *flags, *sources, "-pthread", "-ldl", "-o", str(program)], check=True)
    return program


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("region"), "address,undefined")


@pytest.fixture
def run(program: Path, tmp_path: Path) -> Run:
    def run_(choice: str, *steps: str, using: Path = program) -> Steps:
        command = [str(using), str(tmp_path), choice, *steps]
        result = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
        assert result.returncode == 0, (result.returncode, result.stdout, result.stderr)
        lines = result.stdout.splitlines()
        assert lines[-1] == "wrong 0"
        return Steps(lines, result.stderr, tmp_path)

    return run_


def elements(path: Path) -> list[tuple[int, bytes]]:
    """Kind and payload of every complete element."""
    data, results, at = path.read_bytes(), [], 24
    while at + 16 <= len(data):
        kind, _, size = struct.unpack_from("<IIQ", data, at)
        if at + 16 + size <= len(data):
            results.append((kind, data[at + 16 : at + 16 + size]))
        at += 16 + size
    return results


def count(path: Path, kind: int) -> int:
    return sum(result == kind for result, _ in elements(path))


@pytest.mark.parametrize(
    "choice",
    ["launches=", "launches=1", "launches=2:2", "launches=3:2", "launches=-1:2", "launches=1:2x", "launches= 1:2",
     "launches=1:99999999999999999999", "kernel=", "kernel=x", "kernel=1:", "kernel=0:x", "window=", "window=0",
     "window=1.5", "programme", ""],
)  # fmt: skip
def test_invalid_selection_is_reported_and_records_nothing(run: Run, choice: str) -> None:
    steps = run(choice, "k:a", "B")
    assert steps.lines[0] == "wanted 0"
    assert steps.after == ["0 0 closed"] * 2
    assert "NEUTRINO_REGION is invalid" in steps.stderr
    assert steps.raw_captures == []


def test_launch_selection_counts_from_0_and_excludes_the_end(run: Run) -> None:
    """The region ends when its last launch has returned, before the program reads the result."""
    steps = run("launches=1:3", "k:a", "c", "k:b", "c", "k:c", "c", "k:d")
    assert [line.split()[2] for line in steps.after] == (
        ["closed", "closed", "open", "open", "closed", "closed", "closed"]
    )
    (raw_capture,) = steps.raw_captures
    assert count(raw_capture, OPERATION) == 2
    assert struct.unpack("<II", elements(raw_capture)[-1][1]) == (0, 2)


def test_launches_of_other_threads_are_inside_or_outside(run: Run) -> None:
    """Four threads launch 100 kernels each; exactly the 250 selected launches are recorded."""
    steps = run("launches=50:300", "f:4")
    (raw_capture,) = steps.raw_captures
    assert count(raw_capture, OPERATION) == 250
    assert count(raw_capture, REFUSAL) == 0
    assert elements(raw_capture)[-1][0] == END


def test_launches_of_threads_do_not_race(run: Run, tmp_path: Path) -> None:
    steps = run("launches=50:300", "f:4", using=build(tmp_path, "thread"))
    assert count(steps.raw_captures[0], OPERATION) == 250


def test_launch_stuck_in_the_driver_is_refused_after_a_wait(run: Run) -> None:
    steps = run("launches=0:2", "b:a", "k:b", "k:c", "r")
    assert steps.after == ["1 0 open", "1 0 open", "1 1 closed", "1 1 closed"]
    (refusal,) = [payload for kind, payload in elements(steps.raw_captures[0]) if kind == REFUSAL]
    assert b"still inside the driver" in refusal


@pytest.mark.parametrize("sanitizer", ["address,undefined", "thread"])
def test_no_element_follows_the_end(run: Run, program: Path, tmp_path: Path, sanitizer: str) -> None:
    """Elements that other threads append while a region ends are dropped and refused, and are not in the next."""
    using = program if sanitizer != "thread" else build(tmp_path, sanitizer)
    raw_captures = run("program", "a:30", using=using).raw_captures
    assert len(raw_captures) == 30
    for raw_capture in raw_captures:
        kinds = [kind for kind, _ in elements(raw_capture)]
        assert kinds.index(END) == len(kinds) - 1
        assert struct.unpack("<II", elements(raw_capture)[-1][1]) == (0, kinds.count(OPERATION))
        assert OPERATION not in kinds[: kinds.index(META)]
    (reason,) = {
        payload[40:].rstrip(b"\0")
        for each in raw_captures
        for kind, payload in elements(each)
        if kind == REFUSAL
    }
    assert reason == b"another thread submitted work while the region ended"


@pytest.mark.parametrize(("pattern", "name"), MATCHING)
def test_kernel_pattern_matches_the_name_or_its_plain_part(run: Run, pattern: str, name: str) -> None:
    assert run(f"kernel=1:{pattern}", "k:", f"k:{name}").after == ["0 0 closed", "1 1 closed"]


@pytest.mark.parametrize(("pattern", "name"), OTHERS)
def test_kernel_pattern_does_not_match_other_names(run: Run, pattern: str, name: str) -> None:
    assert run(f"kernel=1:{pattern}", f"k:{name}").after == ["0 0 closed"]


def test_only_the_nth_launch_of_a_kernel_is_recorded(run: Run) -> None:
    steps = run("kernel=2:a", "k:a", "k:b", "k:a", "k:b", "k:a")
    assert steps.after == ["0 0 closed"] * 2 + ["1 1 closed"] * 3
    assert count(steps.raw_captures[0], OPERATION) == 1


def test_window_is_a_pair_of_events_on_one_stream_with_work_between(run: Run) -> None:
    """The first pair (7), another stream's event, an event without work before it, then the second pair."""
    steps = run(
        "window=2", "e:7", "k:a", "e:7", "k:b", "e:8", "e:7", "e:7", "k:c", "e:9", "e:7", "k:d", "e:8"
    )
    assert steps.after[:4] == ["0 0 closed"] * 4
    # stream 8's event could be the first of the second pair, and is the one that gets it
    assert steps.after[4:11] == ["1 0 open"] * 7
    assert steps.after[11] == "1 1 closed"


def test_first_window_is_recorded(run: Run) -> None:
    steps = run("window=1", "k:a", "e:0", "c", "e:0", "k:b", "e:0", "k:c", "e:0")
    assert steps.after == ["0 0 closed", "1 0 open", "1 0 open"] + ["1 1 closed"] * 5


def test_untracked_streams_do_not_disturb_the_window(run: Run) -> None:
    events = [step for stream in range(100) for step in (f"e:{stream}", "k:a", f"e:{stream}")]
    steps = run("window=64", *events)
    assert steps.after[-1] == "1 1 closed"


def test_program_records_several_regions(run: Run) -> None:
    steps = run("program", "k:a", "B:one", "k:b", "E", "k:c", "B:two", "E")
    assert steps.after[-1] == "2 2 closed"
    assert [path.stem.split("-")[1] for path in steps.raw_captures] == ["1", "2"]
    names = [
        payload[payload.index(b"region") + 6 :].rstrip(b"\0")
        for path in steps.raw_captures
        for kind, payload in elements(path)
        if kind == META and b"region" in payload[32:38]
    ]
    assert names == [b"one", b"two"]


def test_region_cannot_begin_or_end_twice(run: Run) -> None:
    steps = run("program", "E", "B:a", "B:b", "E", "E")
    assert steps.said("refused") == [
        "no region is open",
        "a region is already open; end it first",
        "no region is open",
    ]
    assert len(steps.raw_captures) == 1


def test_only_one_of_eight_threads_begins_a_region(run: Run) -> None:
    steps = run("program", "w", "E")
    assert steps.said("winners") == ["1"]
    assert steps.after == ["1 0 open", "1 1 closed"]


def test_program_cannot_begin_a_region_selected_by_option(run: Run) -> None:
    steps = run("launches=0:1", "B:a")
    assert steps.said("refused") == [
        "the command line already selects the region; run `record` without a selection"
    ]


def test_unfinished_region_keeps_its_beginning(run: Run) -> None:
    """The file lacks an end, but has the state of the beginning."""
    (raw_capture,) = run("launches=1:5", "k:a", "k:b").raw_captures
    kinds = [kind for kind, _ in elements(raw_capture)]
    assert END not in kinds and META in kinds


@pytest.mark.parametrize("opened", [True, False])
def test_forked_child_records_its_own_regions(run: Run, opened: bool) -> None:
    """The child leaves its parent's region and records to its own files."""
    steps = run(
        "program", *(["B:parent", "k:a", "p", "k:b", "E"] if opened else ["p", "B:parent", "k:b", "E"])
    )
    child, status = steps.said("child")[0].split()
    assert status == "0"
    (parents,) = [path for path in steps.raw_captures if path.stem != f"{child}-1"]
    assert [path.stem for path in steps.raw_captures if path != parents] == [f"{child}-1"]
    assert count(parents, OPERATION) == (2 if opened else 1)
    assert count(parents, META) == count(steps.folder / f"{child}-1.nrec", META)


def test_driver_error_ends_the_region_with_its_status(run: Run) -> None:
    steps = run("program", "d:201", "B:a", "d:0", "B:b", "d:700", "E")
    began, ended = steps.said("refused")
    assert "201" in began and "700" in ended
    first, second = steps.raw_captures
    assert struct.unpack("<II", elements(first)[-1][1])[0] == 201
    assert struct.unpack("<II", elements(second)[-1][1])[0] == 700


def test_full_disk_stops_the_recording_but_not_the_program(run: Run) -> None:
    """Files are limited to 4096 bytes. SIGXFSZ, which would kill the program, never reaches it."""
    steps = run("program", "l:4096", "B:a", *(["k:a"] * 100), "E", "k:b")
    (refused,) = steps.said("refused")
    assert "File too large" in refused and ".nrec" in refused
    (raw_capture,) = steps.raw_captures
    assert raw_capture.stat().st_size <= 4096
    assert END not in [kind for kind, _ in elements(raw_capture)]


def test_missing_folder_is_reported(program: Path, tmp_path: Path) -> None:
    absent = tmp_path / "gone"
    for choice, steps in (("program", ["B:a"]), ("launches=0:1", ["k:a"])):
        result = subprocess.run(
            [str(program), str(absent), choice, *steps],
            capture_output=True,
            text=True,
            timeout=240,
            check=True,
        )
        assert "No such file" in result.stdout + result.stderr
        assert "closed" in result.stdout


def test_file_of_an_earlier_process_with_this_pid_is_kept(program: Path, tmp_path: Path) -> None:
    """As after an exec: the process uses the next number."""
    script = f'touch "{tmp_path}/$$-1.nrec"; exec "{program}" "{tmp_path}" program B:a E'
    subprocess.run(["sh", "-c", script], capture_output=True, timeout=240, check=True)
    first, second = sorted(tmp_path.glob("*-[12].nrec"))
    assert first.stat().st_size == 0
    assert elements(second)[-1][0] == END
