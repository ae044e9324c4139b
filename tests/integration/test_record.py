"""neutrino-bench record: which region is captured, and what is said where none can be."""

from __future__ import annotations

import re
import struct
import sys
from pathlib import Path

import pytest

from benchguard.capture import Capture, CaptureError, pack
from benchguard.capture.layout import OperationKind, Role
from tests.integration.apis import Api, both_apis
from tests.integration.support import DRIVER_PROGRAM, PROGRAMS, Compiler, Record

SHOWN = re.compile(
    r"neutrino-bench: x(?:\.\d)?\.ncap: \d+ operations?, \d+ kernels?, [\d.]+ \w+ of memory, "
    r"[\d.]+ \w+ file, packed in [\d.]+ s"
)


@pytest.fixture
def program(compile_c: Compiler, api: Api) -> Path:
    return compile_c(
        f"{api.name}/region_program", PROGRAMS / "region_program.c", *api.sources, links=api.links()
    )


LAUNCH, SET = OperationKind.KERNEL, OperationKind.MEMSET
EVENT = OperationKind.EVENT_RECORD


@pytest.mark.quick
@both_apis
def test_each_region_of_the_program_gets_a_file(record: Record, program: Path) -> None:
    recorded = record([program, "twice"])
    assert (recorded.status, recorded.stdout) == (0, "done\n")
    assert recorded.captures == ["x.2.ncap", "x.ncap"]
    assert (recorded.kinds(), recorded.kinds("x.2.ncap")) == ([LAUNCH], [LAUNCH] * 2)
    assert len(recorded.said) == 2 and all(SHOWN.fullmatch(line) for line in recorded.said)
    assert list(recorded.folder.glob(".x.ncap.*")) == []
    assert (recorded.folder / "x.audit.jsonl").is_file()


def test_failed_record_does_not_block_the_next_one(record: Record, program: Path) -> None:
    failed = record([program, "timed"], "--launches", "100:101")
    assert failed.status == 70 and failed.captures == []
    assert "--launches 100:101 asks for more" in failed.stderr
    assert record([program, "twice"]).status == 0
    assert failed.captures == ["x.2.ncap", "x.ncap"]


def test_capture_of_further_region_is_not_replaced(record: Record, program: Path, tmp_path: Path) -> None:
    """The file for a second region is in the way: nothing runs."""
    (tmp_path / "x.2.ncap").touch()
    recorded = record([program, "twice"])
    assert (recorded.status, recorded.stdout) == (2, "")
    assert "x.2.ncap exists; name another file, or replace it with --force" in recorded.stderr


@both_apis
@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        (["--launches", "1:4"], [LAUNCH, LAUNCH, SET, LAUNCH]),
        (["--launches", "0:1"], [LAUNCH]),
        (["--kernel", "sca??:5"], [LAUNCH]),
        (["--window", "3"], [EVENT, LAUNCH, LAUNCH, LAUNCH]),
    ],
)
def test_option_chooses_the_region(
    record: Record, program: Path, options: list[str], kinds: list[OperationKind]
) -> None:
    """The program does not mark a region: it has four pairs of events around 1, 2, 3 and 4 launches."""
    recorded = record([program, "timed"], *options)
    assert recorded.status == 0, recorded.stderr
    assert [kind for kind in recorded.kinds() if kind in (LAUNCH, SET) or options[0] == "--window"] == kinds


@both_apis
def test_capture_describes_its_region(record: Record, program: Path, api: Api) -> None:
    recorded = record([program, "timed"], "--launches", "2:3")
    with Capture.open(recorded.folder / "x.ncap") as capture:
        meta = capture.meta
        assert capture.kernels[0].name == "scale"
        value = struct.unpack("<f", capture.memory(capture.allocations[0].address, 4))[0]
    assert value == 2.0, "the memset before the second pair, and its first launch"
    assert meta["region"] == "launches=2:3"
    assert meta["program"] == f"{program} timed"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00", meta["started"])
    assert int(meta["process"]) > 0 and meta["driver"].endswith(api.soname) and meta["shim"]


@both_apis
def test_concurrent_launches_are_recorded_once(record: Record, program: Path) -> None:
    recorded = record([program, "threads"], "--launches", "5:25")
    assert recorded.kinds() == [LAUNCH] * 20


@pytest.mark.quick
@both_apis
@pytest.mark.parametrize(
    ("what", "options", "reason"),
    [
        ("timed", [],
         "the program never called benchguard.region(); choose a region with --launches, --kernel or --window"),
        ("timed", ["--launches", "20:25"], "only 10 launches were made, --launches 20:25 asks for more"),
        ("timed", ["--kernel", "scale:11"],
         "kernels of that name were launched 10 times, --kernel scale:11 asks for more"),
        ("timed", ["--kernel", "gemm*"], "no kernel matches gemm*; launched were scale"),
        ("timed", ["--window", "5"], "no stream saw 5 pairs of timing events with work between the two"),
    ],
)  # fmt: skip
def test_missing_region_is_an_error_with_a_reason(
    record: Record, program: Path, what: str, options: list[str], reason: str
) -> None:
    recorded = record([program, what], *options)
    assert recorded.status == 70
    assert recorded.said == [
        f"neutrino-bench: error: no region was captured: {reason}; x.ncap is not written"
    ]
    assert recorded.captures == []


def test_timeout_without_region_says_that_it_struck(record: Record) -> None:
    recorded = record(["sleep", "60"], "--timeout", "0.5")
    assert recorded.status == 124
    (line,) = recorded.said
    assert "the command was killed after 0.5 s; raise --timeout; no region was captured" in line


def test_program_without_driver_calls_is_an_error(record: Record) -> None:
    (line,) = record(["true"]).said
    assert "the program made no driver call" in line


@both_apis
def test_too_long_region_is_reported_and_kept(record: Record, program: Path) -> None:
    recorded = record([program, "timed"], "--launches", "8:12")
    assert (recorded.status, recorded.captures) == (70, [])
    values, error = recorded.said
    assert str(recorded.unended.parent) in values
    assert "began and never ended: only 10 launches were made, --launches 8:12 asks for more" in error
    with pytest.raises(CaptureError, match="without the region's end"):
        pack(recorded.unended, recorded.folder / "y.ncap")


@both_apis
def test_program_killed_in_its_region_is_reported(record: Record, program: Path) -> None:
    recorded = record([program, "killed"])
    assert (recorded.status, recorded.captures) == (128 + 9, [])
    assert "the program was killed inside the region" in recorded.said[-1]
    assert b"region" + b"killed" in recorded.unended.read_bytes()


@both_apis
def test_failing_program_keeps_its_status(record: Record, program: Path) -> None:
    assert record([program, "fails"]).status == 3


@both_apis
def test_full_disk_does_not_disturb_the_program(record: Record, program: Path) -> None:
    """The program computes the same result, and learns of the full disk when it ends the region."""
    recorded = record([program, "disk"])
    assert recorded.stdout == "right\n"
    assert recorded.status == 1 and recorded.captures == []
    assert any("neutrino_region_end: cannot write to" in line for line in recorded.said)
    assert "began and never ended" in recorded.said[-1] and "the disk was full" in recorded.said[-1]


@both_apis
def test_fork_inside_a_region_leaves_the_region_complete(record: Record, program: Path) -> None:
    recorded = record([program, "fork"])
    assert recorded.status == 0, recorded.stderr
    assert recorded.kinds() == [LAUNCH] * 3


@both_apis
def test_unreplayable_capture_is_written_and_reported(record: Record, program: Path, api: Api) -> None:
    recorded = record([program, "reads"])
    assert recorded.status == 0
    assert recorded.captures == ["x.ncap"]
    assert any(
        line.startswith(f"neutrino-bench: cannot be replayed: {api.call('cuMemcpyDtoH_v2')}: ")
        for line in recorded.said
    )


@both_apis
def test_raw_captures_are_kept_on_request(record: Record, program: Path) -> None:
    recorded = record([program, "twice"], "--keep-raw", "--quiet")
    (line,) = recorded.said
    assert "raw captures are in" in line
    assert len(list(recorded.folder.glob(".x.ncap.*/*.nrec"))) == 2


@pytest.mark.quick
@both_apis
def test_existing_file_is_replaced_only_with_force(record: Record, program: Path, tmp_path: Path) -> None:
    (tmp_path / "x.ncap").write_text("mine")
    recorded = record([program, "twice"])
    assert recorded.status == 2 and "--force" in recorded.said[-1]
    assert (tmp_path / "x.ncap").read_text() == "mine"
    assert record([program, "twice"], "--force").status == 0
    assert record([program, "twice"], "--force").kinds() == [LAUNCH]


@pytest.mark.quick
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--launches", "5"], "A:B"),
        (["--launches", "5:5"], "A < B"),
        (["--kernel", ""], "PATTERN"),
        (["--kernel", "a:0"], "PATTERN:N"),
        (["--window", "0"], "--window"),
        (["--launches", "0:1", "--window", "1"], "give only one"),
    ],
)
def test_invalid_region_choice_is_a_usage_error(record: Record, options: list[str], said: str) -> None:
    recorded = record(["true"], *options)
    assert recorded.status == 2
    (line,) = recorded.said
    assert said in line


def test_missing_output_folder_is_reported_before_the_program_runs(record: Record) -> None:
    recorded = record(["echo", "ran"], output="nowhere/x.ncap")
    assert (recorded.status, recorded.stdout) == (2, "")
    (line,) = recorded.said
    assert "nowhere" in line


REGION = (
    DRIVER_PROGRAM
    + """

class Array:
    def __init__(self, address):
        data = {"data": (address, False), "shape": (16, 64), "typestr": "<f4", "version": 3}
        self.__cuda_array_interface__ = data


address = memory.value
try:
    with benchguard.region("sets", inputs={"x": Array(address)}, outputs={"y": (address + 4096, 64)}) as recorded:
        check(cuda.cuMemsetD32_v2(memory, 7, ctypes.c_size_t(1024)))
        benchguard.region_range("z", (address + 4224, 32), "output")
        if len(sys.argv) > 1:
            raise KeyError("the program's own")
except KeyError as error:
    print(error)
print(address, recorded)
"""
)


def test_region_names_memory(record: Record, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(REGION)
    recorded = record([sys.executable, "program.py"])
    assert recorded.status == 0, recorded.stderr
    address, inside = recorded.stdout.split()
    assert inside == "True"
    with Capture.open(tmp_path / "x.ncap") as capture:
        ranges = [(r.name, r.role, r.address, r.bytes, r.type, r.shape) for r in capture.ranges]
        assert capture.meta["region"] == "sets"
    assert ranges == [
        ("x", Role.INPUT, int(address), 4096, "float32", (16, 64)),
        ("y", Role.OUTPUT, int(address) + 4096, 64, "", ()),
        ("z", Role.OUTPUT, int(address) + 4224, 32, "", ()),
    ]
    assert recorded.kinds() == [SET]


def test_region_passes_on_exceptions(record: Record, tmp_path: Path) -> None:
    """And what was recorded until then is a region."""
    (tmp_path / "program.py").write_text(REGION)
    recorded = record([sys.executable, "program.py", "raise"])
    assert recorded.status == 0, recorded.stderr
    assert "the program's own" in recorded.stdout
    assert recorded.kinds() == [SET]


def test_region_has_no_effect_if_an_option_chooses(record: Record, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(REGION)
    recorded = record([sys.executable, "program.py"], "--launches", "0:1")
    assert recorded.stdout.split()[1] == "False"
    assert "only 0 launches were made" in recorded.said[-1]
