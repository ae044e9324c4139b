"""Failures of submissions become one bounded, printable line."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from benchguard.problem.spec import Buffer
from benchguard.quarantine.contract import LINE_MAX, Began, Broke, Event, Finished
from benchguard.quarantine.runner.arrays import DeviceArray
from benchguard.quarantine.runner.reporting import DETAIL_MAX, TEXT_MAX, Reporter, SubmissionError, broke

FOLDER = Path(__file__).parent


def raised(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as exception:
        return exception


def test_place_is_line_of_submission() -> None:
    result = broke(raised(KeyError("k")), "warm-up", FOLDER)
    line = raised.__code__.co_firstlineno + 2
    assert result.text == f"test_failure.py:{line}: KeyError: 'k'"
    assert "raise error" in result.detail
    assert broke(raised(KeyError("k")), "warm-up", Path("/elsewhere")).text == "KeyError: 'k'"


def test_import_of_the_problems_reference_has_a_remedy() -> None:
    for name, has_remedy in (("reference", True), ("eval", True), ("references", False)):
        error = ModuleNotFoundError(f"No module named {name!r}", name=name)
        text = broke(raised(error), "import", FOLDER).text
        assert (f"cannot read the problem's {name}.py" in text) == has_remedy


def test_use_of_a_buffer_as_a_tensor_says_when_buffers_are_tensors() -> None:
    buffer = DeviceArray(0, Buffer("x", "float32", (4,)))
    for use in (lambda: buffer[1:], lambda: buffer + 1, lambda: buffer.zero_() + 1):  # type: ignore[index, operator]
        with pytest.raises((TypeError, AttributeError)) as raising:
            use()
        assert "buffers are torch's tensors only if" in broke(raising.value, "warm-up", FOLDER).text
    assert broke(raised(TypeError("an int")), "warm-up", FOLDER).text.endswith("TypeError: an int")


@pytest.mark.parametrize(("cuda", "has_remedy"), [(None, True), ("13.0", False)])
def test_cuda_extension_of_a_torch_for_the_cpu_has_a_remedy(
    cuda: str | None, has_remedy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = SimpleNamespace(version=SimpleNamespace(cuda=cuda))
    monkeypatch.setitem(sys.modules, "torch", torch)
    error = OSError("CUDA_HOME environment variable is not set. Please set it to your CUDA install root.")
    text = broke(raised(error), "import", FOLDER).text
    assert text.endswith("install a build for CUDA") == has_remedy


def test_long_and_unprintable_messages_cut_and_escaped() -> None:
    result = broke(raised(ValueError("a\x1b[2Jb\n" + "\ud800x" * 100_000)), "record", FOLDER)
    assert len(result.text) == TEXT_MAX
    assert "\\x1b[2Jb \\ud800x" in result.text
    assert len(result.detail) <= DETAIL_MAX + 4
    line = msgspec.json.encode(result)
    assert len(line) < LINE_MAX
    assert msgspec.json.decode(line, type=Event) == result


class AwkwardError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


def test_exception_with_failing_str_reported() -> None:
    assert "Awkward" in broke(raised(AwkwardError()), "record", FOLDER).text


def test_deep_recursion_reported() -> None:
    def deeper() -> None:
        deeper()

    try:
        deeper()
    except RecursionError as error:
        result = broke(error, "warm-up", FOLDER)
    assert "RecursionError: maximum recursion depth exceeded" in result.text


def test_submission_error_reported_without_place() -> None:
    result = broke(SubmissionError("one\nline", "and more", unreplayable=True), "compile", FOLDER)
    assert result == Broke("compile", "one line", "and more", True)


def test_long_detail_dropped_before_reason(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path / "events", os.O_WRONLY | os.O_CREAT)
    Reporter(descriptor).send(Broke("import", "why", "\U0001f600" * DETAIL_MAX))
    os.close(descriptor)
    assert msgspec.json.decode((tmp_path / "events").read_bytes(), type=Event) == Broke("import", "why")


def test_events_written_as_lines(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path / "events", os.O_WRONLY | os.O_CREAT)
    reporter = Reporter(descriptor)
    reporter.begin("warm-up", 3)
    reporter.called(3, 0.25)
    reporter.finish()
    os.close(descriptor)
    reporter.finish()  # the reading end is closed
    lines = (tmp_path / "events").read_bytes().splitlines()
    began, finished = (msgspec.json.decode(line, type=Event) for line in lines)
    assert isinstance(began, Began)
    assert (began.phase, began.case) == ("warm-up", 3)
    assert isinstance(finished, Finished)
    assert set(finished.seconds) == {"warm-up", "call 3"}
    assert finished.seconds["call 3"] == 0.25


def test_errors_of_a_compiler_in_a_message_are_told_before_its_commands() -> None:
    lines = [
        "Error building extension 'e': [1/2] nvcc " + "-I/include " * 99,
        "e.cu(68): error: missing quote",
    ]
    text = broke(
        raised(
            RuntimeError(
                "\n".join([*lines, "e.cu:7:1: note: here", "nvcc fatal   : sm_70", "ninja: stopped"])
            )
        ),
        "import",
        FOLDER,
    ).text
    assert text.endswith("-I/include; e.cu(68): error: missing quote; nvcc fatal : sm_70") and len(text) < 300
    assert broke(raised(RuntimeError("two\nlines")), "import", FOLDER).text.endswith(
        "RuntimeError: two lines"
    )
