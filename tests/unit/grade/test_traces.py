"""Whether two captures ask for the same work, and where they differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchguard.capture.model import Attribute, Operation, Synchronize
from benchguard.grade.traces import Trace, are_repeated, first_difference
from tests.support.captures import fill, saxpy_parameters
from tests.unit.grade.recorded import SPARE, N, X, Y, launch, record


def trace(path: Path, **parts: Any) -> Trace:
    return Trace.of(record(path, **parts))


def difference(tmp_path: Path, one: list[Operation], two: list[Operation]) -> str:
    pair = trace(tmp_path / "1.ncap", operations=one), trace(tmp_path / "2.ncap", operations=two)
    result = first_difference(*pair)
    return "" if result is None else result.text


def test_equal_captures_have_no_difference(tmp_path: Path) -> None:
    assert difference(tmp_path, [launch()], [launch()]) == ""


def test_moved_temporary_memory_is_no_difference(tmp_path: Path) -> None:
    """Temporary memory lies elsewhere from call to call."""
    elsewhere = launch(parameters=saxpy_parameters(SPARE, Y, N))
    assert difference(tmp_path, [launch()], [elsewhere]) == ""


def test_waits_of_the_host_are_no_difference(tmp_path: Path) -> None:
    """numba frees ten arrays and more at once, and cuMemFree waits."""
    wait = Synchronize()
    assert difference(tmp_path, [launch(), wait, launch()], [wait, launch(), launch(), wait, wait]) == ""
    one = trace(tmp_path / "3.ncap", operations=[launch(), wait])
    assert are_repeated(one, trace(tmp_path / "4.ncap", operations=[launch()]))


def test_calls_with_the_same_addresses_are_repeated(tmp_path: Path) -> None:
    calls = {
        "same": [launch(), fill(0, SPARE, 0, 4)],
        "moved": [launch(parameters=saxpy_parameters(SPARE, Y, N)), fill(0, SPARE, 0, 4)],
        "filled": [launch(), fill(0, X, 0, 4)],
    }
    first = trace(tmp_path / "first.ncap", operations=calls["same"])
    found = {
        name: are_repeated(first, trace(tmp_path / f"{name}.ncap", operations=each))
        for name, each in calls.items()
    }
    assert found == {"same": True, "moved": False, "filled": False}


@pytest.mark.parametrize(
    ("other", "words"),
    [
        pytest.param(launch(grid=(1, 1, 1)), "grid is (2, 1, 1) and (1, 1, 1)", id="a grid by the inputs"),
        pytest.param(launch(block=(64, 1, 1)), "block is", id="a block"),
        pytest.param(launch(shared_bytes=64), "shared bytes is 0 and 64", id="shared memory"),
        pytest.param(
            launch(parameters=saxpy_parameters(X, Y, N, 3.0)),
            "parameter bytes 0 to 7",
            id="a scalar of the inputs",
        ),
        pytest.param(
            launch(parameters=saxpy_parameters(0x1234, Y, N)),
            "parameter bytes 8 to 15",
            id="no address",
        ),
        pytest.param(launch(attributes=(Attribute(2, b"\1" * 64),)), "attributes", id="an attribute"),
        pytest.param(fill(0, Y, 0, 4), "has a memset there", id="another operation"),
    ],
)
def test_input_dependent_work_is_named(tmp_path: Path, other: Operation, words: str) -> None:
    text = difference(tmp_path, [launch()], [other])
    assert text.startswith("operation 0 (kernel saxpy): ")
    assert words in text


def test_additional_launch_is_named(tmp_path: Path) -> None:
    text = difference(tmp_path, [launch(), launch()], [launch()])
    assert text == "the first capture has 2 operations, the other 1"
    text = difference(tmp_path, [launch()], [launch(), launch()])
    assert text == "the second capture has 2 operations, the other 1"


def test_different_uploads_are_a_suspicion(tmp_path: Path) -> None:
    one = trace(tmp_path / "1.ncap", uploads=[b"answers of one"])
    two = trace(tmp_path / "2.ncap", uploads=[b"answers of two"])
    result = first_difference(one, two)
    assert result is not None
    assert "14 bytes that depend on the inputs" in result.text
    assert not result.of_work
    same = trace(tmp_path / "3.ncap", uploads=[b"answers of one"])
    assert first_difference(one, same) is None


def test_different_host_reads_are_different_work(tmp_path: Path) -> None:
    """The host may have decided by them."""
    one = trace(tmp_path / "1.ncap", reads=[b"same", b"abcd"])
    two = trace(tmp_path / "2.ncap", reads=[b"same", b"abxd"])
    found = first_difference(one, two)
    assert found is not None and found.of_work
    assert found.text == (
        "operation 1 (memcpy dtoh): cuMemcpyDtoH_v2 copies 4 bytes to the host that depend on the inputs: from "
        "offset 2 on 6364 and 7864"
    )
    assert first_difference(one, trace(tmp_path / "3.ncap", reads=[b"same", b"abcd"])) is None
    shorter = first_difference(one, trace(tmp_path / "4.ncap", reads=[b"same", b"abc"]))
    assert shorter is not None and shorter.of_work and "width is 4 and 3" in shorter.text


def test_different_memset_value_is_a_suspicion(tmp_path: Path) -> None:
    """As bytes of parameters and uploads: a barrier's epoch is another number in each call."""
    one = trace(tmp_path / "1.ncap", operations=[fill(0, Y, 1, 64)])
    two = trace(tmp_path / "2.ncap", operations=[msgspec.structs.replace(fill(0, Y, 1, 64), value=2)])
    found = first_difference(one, two)
    assert found is not None and not found.of_work
    assert "value is 1 and 2" in found.text


def test_different_work_precedes_different_bytes(tmp_path: Path) -> None:
    """Bytes that no kernel reads may differ; a grid may not."""
    bytes_only = launch(parameters=saxpy_parameters(X, Y, N, 3.0))
    one = trace(tmp_path / "1.ncap", operations=[launch(), launch()])
    two = trace(tmp_path / "2.ncap", operations=[bytes_only, launch()])
    result = first_difference(one, two)
    assert result is not None
    assert not result.of_work
    three = trace(tmp_path / "3.ncap", operations=[bytes_only, launch(grid=(1, 1, 1))])
    result = first_difference(one, three)
    assert result is not None
    assert result.of_work
    assert result.text.startswith("operation 1")
