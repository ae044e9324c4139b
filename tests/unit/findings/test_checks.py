"""Each finding has a program that triggers it, and a look-alike that does not."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchguard.findings import analyse_log
from benchguard.findings.checks import RULES
from benchguard.findings.rules import Severity
from tests.support.window_logs import WindowLog

SIDE, OTHER, HANDLE = 64, 65, 9
Program = Callable[[WindowLog], None]


def side_stream(log: WindowLog, key: int = SIDE, *, blocking: bool = False) -> None:
    log.call("cuStreamCreate", phStream=key, Flags=0 if blocking else 1)


def windows(log: WindowLog, launches: list[int]) -> None:
    """A warm-up, and then a window for each number; the number is that of its launches."""
    log.launch()
    log.synchronize()
    for number in launches:
        with log.window():
            for _ in range(number):
                log.launch()


# --- empty ---------------------------------------------------------------------------------------------------


def stops_launching(log: WindowLog) -> None:
    windows(log, [1, 1, 0, 0])


def never_launches(log: WindowLog) -> None:
    windows(log, [0, 0, 0])


def only_copies_inputs(log: WindowLog) -> None:
    """The answer comes from the host, before the windows."""
    log.call("cuMemcpyHtoD_v2", dstDevice=1, srcHost=2, ByteCount=4)
    bare_windows(log, 3)


def measures_overhead_alone(log: WindowLog) -> None:
    bare_windows(log, 3)


def launches_always(log: WindowLog) -> None:
    windows(log, [1, 1, 1, 1])


def bare_windows(log: WindowLog, number: int) -> None:
    for _ in range(number):
        log.record(1)
        log.record(2)
        log.synchronize()
        log.elapsed(1, 2)


def measures_overhead_first(log: WindowLog) -> None:
    bare_windows(log, 5)
    windows(log, [1, 1, 1])


def measures_overhead_last(log: WindowLog) -> None:
    windows(log, [1, 1, 1])
    bare_windows(log, 5)


def skips_first_calls_without_flush(log: WindowLog) -> None:
    log.launch()
    bare_windows(log, 3)
    for _ in range(3):
        log.record(1)
        log.launch()
        log.record(2)
        log.synchronize()
        log.elapsed(1, 2)


def copies_an_answer(log: WindowLog) -> None:
    log.launch()
    for _ in range(3):
        with log.window():
            log.call("cuMemcpyDtoDAsync_v2", dstDevice=1, srcDevice=2, ByteCount=8, hStream=0)


def times_copies_alone(log: WindowLog) -> None:
    for _ in range(3):
        with log.window():
            log.call("cuMemcpyDtoDAsync_v2", dstDevice=1, srcDevice=2, ByteCount=8, hStream=0)


# --- streams -------------------------------------------------------------------------------------------------


def hides_on_side_stream(log: WindowLog) -> None:
    side_stream(log)
    with log.window():
        log.launch(SIDE)


def hides_behind_destroyed_stream(log: WindowLog) -> None:
    with log.window():
        side_stream(log)
        log.launch(SIDE)
        log.call("cuStreamDestroy_v2", hStream=SIDE)


def reuses_handle_of_running_stream(log: WindowLog) -> None:
    """The driver gives the handle of a destroyed stream again. A wait for the new stream leaves the old one running."""
    side_stream(log)
    log.launch(SIDE)
    log.call("cuStreamDestroy_v2", hStream=SIDE)
    side_stream(log)
    log.call("cuStreamSynchronize", hStream=SIDE)
    with log.window():
        log.launch()


def destroys_finished_stream(log: WindowLog) -> None:
    side_stream(log)
    log.launch(SIDE)
    log.call("cuStreamSynchronize", hStream=SIDE)
    log.call("cuStreamDestroy_v2", hStream=SIDE)
    with log.window():
        log.launch()


def destroys_awaited_stream(log: WindowLog) -> None:
    side_stream(log)
    log.events(HANDLE)
    log.launch(SIDE)
    log.record(HANDLE, SIDE)
    log.call("cuStreamWaitEvent", hStream=0, hEvent=HANDLE, Flags=0)
    log.call("cuStreamDestroy_v2", hStream=SIDE)
    with log.window():
        log.launch()


def works_on_blocking_stream(log: WindowLog) -> None:
    side_stream(log, blocking=True)
    with log.window():
        log.launch(SIDE)


def forks_and_joins(log: WindowLog) -> None:
    side_stream(log)
    log.events(HANDLE, HANDLE + 1)
    with log.window():
        log.record(HANDLE)
        log.call("cuStreamWaitEvent", hStream=SIDE, hEvent=HANDLE, Flags=0)
        log.launch(SIDE)
        log.record(HANDLE + 1, SIDE)
        log.call("cuStreamWaitEvent", hStream=0, hEvent=HANDLE + 1, Flags=0)


def joins_on_the_host(log: WindowLog) -> None:
    side_stream(log)
    log.synchronize()
    log.record(1)
    log.launch(SIDE)
    log.call("cuStreamSynchronize", hStream=SIDE)
    log.record(2)
    log.synchronize()
    log.elapsed(1, 2)


def joins_without_fork(log: WindowLog) -> None:
    """The kernel can run beside the flush, before the start event."""
    side_stream(log)
    log.events(HANDLE)
    with log.window():
        log.launch(SIDE)
        log.record(HANDLE, SIDE)
        log.call("cuStreamWaitEvent", hStream=0, hEvent=HANDLE, Flags=0)


CONTEXT = 500


def hides_in_another_context(log: WindowLog) -> None:
    """The legacy stream of a context of its own: neither the events nor the grader's wait include it."""
    log.call("cuCtxCreate_v2", pctx=CONTEXT, flags=0, dev=0)
    log.call("cuCtxPopCurrent_v2", pctx=CONTEXT)
    with log.window():
        log.call("cuCtxPushCurrent_v2", ctx=CONTEXT)
        log.launch()
        log.call("cuCtxPopCurrent_v2", pctx=CONTEXT)


def works_in_its_only_context(log: WindowLog) -> None:
    log.call("cuCtxCreate_v2", pctx=CONTEXT, flags=0, dev=0)
    log.call("cuCtxSetCurrent", ctx=CONTEXT)
    side_stream(log, blocking=True)
    for _ in range(2):
        with log.window():
            log.launch()
            log.launch(SIDE)
            log.launch(call="cuLaunchKernel_ptsz")


def copies_on_side_stream(log: WindowLog) -> None:
    side_stream(log)
    with log.window():
        log.launch()
        log.call("cuMemcpyHtoDAsync_v2", dstDevice=1, srcHost=2, ByteCount=8, hStream=SIDE)


def copies_after_invalid_capture(log: WindowLog) -> None:
    """CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ends a stream capture, so the copy runs."""
    side_stream(log)
    log.call("cuStreamBeginCapture_v2", hStream=SIDE, mode=0)
    log.call("cuStreamEndCapture", result=901, hStream=SIDE, phGraph=0)
    with log.window():
        log.launch()
        log.call("cuMemcpyHtoDAsync_v2", dstDevice=1, srcHost=2, ByteCount=8, hStream=SIDE)


def captures_copy(log: WindowLog) -> None:
    """CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD leaves a stream capture as it was."""
    side_stream(log)
    log.call("cuStreamBeginCapture_v2", hStream=SIDE, mode=0)
    log.call("cuStreamEndCapture", result=908, hStream=SIDE, phGraph=0)
    with log.window():
        log.launch()
        log.call("cuMemcpyHtoDAsync_v2", dstDevice=1, srcHost=2, ByteCount=8, hStream=SIDE)


def leaves_work_running(log: WindowLog) -> None:
    side_stream(log)
    log.launch(SIDE)
    with log.window():
        log.launch()


def captures_fork_and_join(log: WindowLog) -> None:
    """Records and waits in a stream capture order nothing now, and its launches do not run."""
    side_stream(log)
    side_stream(log, OTHER)
    log.call("cuStreamBeginCapture_v2", hStream=SIDE, mode=0)
    log.record(HANDLE, SIDE)
    log.call("cuStreamWaitEvent", hStream=OTHER, hEvent=HANDLE, Flags=0)
    log.launch(OTHER, captured=True)
    log.record(HANDLE + 1, OTHER)
    log.call("cuStreamWaitEvent", hStream=SIDE, hEvent=HANDLE + 1, Flags=0)
    log.call("cuStreamEndCapture", hStream=SIDE, phGraph=1)
    with log.window():
        log.graph()


def waits_for_earlier_work(log: WindowLog) -> None:
    side_stream(log)
    log.launch(SIDE)
    log.synchronize()
    with log.window():
        log.launch()


def leaves_stream_current(log: WindowLog) -> None:
    side_stream(log)
    log.record(1)
    log.launch()
    log.record(2, SIDE)
    log.synchronize()
    log.elapsed(1, 2)


def ends_on_joined_stream(log: WindowLog) -> None:
    side_stream(log)
    log.events(HANDLE)
    log.record(1)
    log.launch()
    log.record(HANDLE)
    log.call("cuStreamWaitEvent", hStream=SIDE, hEvent=HANDLE, Flags=0)
    log.record(2, SIDE)
    log.synchronize()
    log.elapsed(1, 2)


# --- events --------------------------------------------------------------------------------------------------


def records_start_again(log: WindowLog) -> None:
    log.record(1)
    log.launch()
    log.record(1)
    log.launch()
    log.record(2)
    log.elapsed(1, 2)


def reuses_events(log: WindowLog) -> None:
    windows(log, [1, 1])


def records_both_again(log: WindowLog) -> None:
    for _ in range(2):
        log.record(1)
        log.launch()
        log.record(2)
    log.elapsed(1, 2)


def records_end_again(log: WindowLog) -> None:
    log.record(1)
    log.launch()
    log.record(2)
    log.launch()
    log.record(2)
    log.elapsed(1, 2)


def measures_laps(log: WindowLog) -> None:
    log.record(1)
    for _ in range(3):
        log.launch()
        log.record(2)
        log.synchronize()
        log.elapsed(1, 2)


def asks_for_unseen_events(log: WindowLog) -> None:
    log.elapsed(70, 71, 1.0)


def asks_nothing(log: WindowLog) -> None:
    log.events(1, 2)
    for _ in range(3):
        log.record(1)
        log.launch()
        log.record(2)
        log.synchronize()


def orders_streams_by_events(log: WindowLog) -> None:
    """A pipeline: events with timing, that streams and the host wait for."""
    side_stream(log)
    log.events(1, 2)
    for _ in range(3):
        for event in (1, 2):
            log.record(event)
            log.launch()
            log.call("cuStreamWaitEvent", hStream=SIDE, hEvent=event, Flags=0)


def records_without_timing(log: WindowLog) -> None:
    for event in (1, 2):
        log.call("cuEventCreate", phEvent=event, Flags=2)
    log.record(1)
    log.launch()
    log.record(2)


# --- time ----------------------------------------------------------------------------------------------------


def one_window(log: WindowLog, milliseconds: float | None = None) -> None:
    log.synchronize()
    log.record(1)
    log.launch()
    log.record(2)
    log.synchronize()
    log.elapsed(1, 2, milliseconds)


def gives_negative_time(log: WindowLog) -> None:
    one_window(log, -1.0)


def gives_no_number(log: WindowLog) -> None:
    one_window(log, math.nan)


def gives_too_long_time(log: WindowLog) -> None:
    one_window(log, 500.0)


def gives_true_time(log: WindowLog) -> None:
    one_window(log)


def gives_too_short_time(log: WindowLog, milliseconds: float | None = 0.01) -> None:
    log.record(1)
    log.synchronize()
    log.launch(work_ns=5_000_000)
    log.record(2)
    log.synchronize()
    log.elapsed(1, 2, milliseconds)


def gives_true_time_after_wait(log: WindowLog) -> None:
    gives_too_short_time(log, None)


def host_waits_long(log: WindowLog, number: int = 4) -> None:
    for _ in range(number):
        log.synchronize()
        log.record(1)
        log.launch()
        log.record(2)
        log.synchronize(took=20_000_000)
        log.elapsed(1, 2)
    for _ in range(4 - number):
        one_window(log)


def host_works_before_it_waits(log: WindowLog) -> None:
    for _ in range(4):
        log.synchronize()
        log.record(1)
        log.launch()
        log.record(2)
        log.now += 20_000_000
        log.synchronize()
        log.elapsed(1, 2)


def host_waits_long_once(log: WindowLog) -> None:
    host_waits_long(log, 1)


def gives_constant_time(log: WindowLog) -> None:
    for _ in range(25):
        one_window(log, 0.0078125)


def gives_varied_times(log: WindowLog) -> None:
    for number in range(25):
        one_window(log, 0.0078125 + number % 3 / 1000)


# --- host ----------------------------------------------------------------------------------------------------


def calls_host_function(log: WindowLog) -> None:
    with log.window():
        log.launch()
        log.call("cuLaunchHostFunc", hStream=0, fn=1, userData=0)


def calls_host_function_outside(log: WindowLog) -> None:
    log.call("cuLaunchHostFunc", hStream=0, fn=1, userData=0)
    launches_always(log)


def waits_for_memory(log: WindowLog) -> None:
    with log.window():
        log.call("cuStreamWaitValue32_v2", stream=0, addr=1, value=1, flags=0)
        log.launch()


def loads_code(log: WindowLog) -> None:
    launches_always(log)
    with log.window():
        log.call("cuModuleLoadData", module=7, image=1)
        log.launch()


def loads_code_first(log: WindowLog) -> None:
    with log.window():
        log.call("cuModuleLoadData", module=7, image=1)
        log.launch()
    launches_always(log)


def loads_code_before(log: WindowLog) -> None:
    log.call("cuModuleLoadData", module=7, image=1)
    launches_always(log)


def reads_result(log: WindowLog) -> None:
    with log.window():
        log.launch()
        log.call("cuMemcpyDtoH_v2", dstHost=1, srcDevice=2, ByteCount=4)


def reads_result_behind(log: WindowLog) -> None:
    launches_always(log)
    log.call("cuMemcpyDtoH_v2", dstHost=1, srcDevice=2, ByteCount=4)


def launches_from_thread(log: WindowLog) -> None:
    with log.window():
        log.launch(thread=2)


def launches_late(log: WindowLog) -> None:
    log.record(1)
    log.launch()
    log.record(2)
    log.launch(thread=2)
    log.synchronize()
    log.elapsed(1, 2)


# --- loop ----------------------------------------------------------------------------------------------------


def launches_less_once(log: WindowLog) -> None:
    windows(log, [3, 3, 1, 3, 3])


def times_two_programs_by_turns(log: WindowLog) -> None:
    windows(log, [3, 1, 3, 1, 3, 1, 3])


def tunes_first(log: WindowLog) -> None:
    windows(log, [5, 1, 1, 1])


def has_new_pointers(log: WindowLog) -> None:
    for number in range(3):
        with log.window():
            log.launch(parameters=(f"{number:02x}",))


def replays_graph(log: WindowLog) -> None:
    with log.window():
        log.graph()


def replays_empty_graph(log: WindowLog) -> None:
    """A graph without kernels counts as a memset."""
    log.launch()
    with log.window():
        log.graph(kernels=0)


# --- samples of inline timing --------------------------------------------------------------------------------


def samples(log: WindowLog, launches: list[int]) -> None:
    """A warm-up, and then a sample for each number; the number is that of its launches."""
    log.launch()
    log.synchronize()
    for number, count in enumerate(launches):
        with log.sample(number):
            for each in range(count):
                log.launch(parameters=(f"{number:02x}{each:02x}",))
    log.phase("", "libffi.so.8")


def samples_with_work(log: WindowLog) -> None:
    samples(log, [2, 2, 2, 2])


def samples_without_work(log: WindowLog) -> None:
    samples(log, [0, 0, 0])


def first_samples_without_work(log: WindowLog) -> None:
    samples(log, [0, 0, 1, 1])


def sample_with_less_work(log: WindowLog) -> None:
    samples(log, [3, 3, 1, 3, 3])


def sample_whose_call_fails(log: WindowLog) -> None:
    log.phase("case 0 sample 0")
    log.launch()
    log.phase("", "libffi.so.8")


def sample_hides_on_side_stream(log: WindowLog) -> None:
    """The end event waits for the stream, but its kernel runs while the loop holds the legacy stream."""
    side_stream(log)
    with log.sample(0):
        log.launch(SIDE)
    log.phase("", "libffi.so.8")


def sample_on_unjoined_stream(log: WindowLog) -> None:
    side_stream(log)
    log.events(HANDLE)
    with log.sample(0, joins_all=False):
        log.record(HANDLE)
        log.call("cuStreamWaitEvent", hStream=SIDE, hEvent=HANDLE, Flags=0)
        log.launch(SIDE)
    log.phase("", "libffi.so.8")


def sample_on_forked_stream(log: WindowLog) -> None:
    side_stream(log)
    log.events(HANDLE)
    for number in range(2):
        with log.sample(number):
            log.record(HANDLE)
            log.call("cuStreamWaitEvent", hStream=SIDE, hEvent=HANDLE, Flags=0)
            log.launch(SIDE, parameters=(f"{number:02x}",))
    log.phase("", "libffi.so.8")


def sample_before_late_launch(log: WindowLog) -> None:
    with log.sample(0):
        log.launch()
    log.launch(thread=2)
    log.phase("", "libffi.so.8")


@dataclass(frozen=True)
class Case:
    rule: str
    program: Program
    like: Program


CASES = (
    Case("empty-window", stops_launching, launches_always),
    Case("empty-window", never_launches, launches_always),
    Case("empty-window", only_copies_inputs, measures_overhead_alone),
    Case("empty-window", never_launches, measures_overhead_first),
    Case("empty-window", stops_launching, measures_overhead_last),
    Case("empty-windows-first", skips_first_calls_without_flush, measures_overhead_first),
    Case("event-overhead", measures_overhead_first, launches_always),
    Case("copies-only", copies_an_answer, times_copies_alone),
    Case("copies-only", replays_empty_graph, replays_graph),
    Case("unjoined-kernel", hides_on_side_stream, works_on_blocking_stream),
    Case("unjoined-kernel", hides_behind_destroyed_stream, forks_and_joins),
    Case("unjoined-kernel", hides_on_side_stream, joins_on_the_host),
    Case("unjoined-kernel", hides_in_another_context, works_in_its_only_context),
    Case("unjoined-copy", copies_on_side_stream, reads_result),
    Case("unjoined-copy", copies_after_invalid_capture, captures_copy),
    Case("kernel-not-after-start", joins_without_fork, forks_and_joins),
    Case("kernel-not-after-start", joins_without_fork, joins_on_the_host),
    Case("earlier-work-running", leaves_work_running, waits_for_earlier_work),
    Case("earlier-work-running", leaves_work_running, captures_fork_and_join),
    Case("earlier-work-running", leaves_work_running, destroys_finished_stream),
    Case("earlier-work-running", reuses_handle_of_running_stream, destroys_awaited_stream),
    Case("events-on-two-streams", leaves_stream_current, ends_on_joined_stream),
    Case("start-recorded-again", records_start_again, reuses_events),
    Case("window-restarted", records_both_again, reuses_events),
    Case("end-recorded-again", records_end_again, measures_laps),
    Case("unseen-record", asks_for_unseen_events, reuses_events),
    Case("time-not-asked", asks_nothing, orders_streams_by_events),
    Case("time-not-asked", asks_nothing, records_without_timing),
    Case("time-not-asked", asks_nothing, launches_always),
    Case("impossible-time", gives_negative_time, gives_true_time),
    Case("impossible-time", gives_no_number, gives_true_time),
    Case("time-over-host", gives_too_long_time, gives_true_time),
    Case("time-under-host", gives_too_short_time, gives_true_time_after_wait),
    Case("host-time-over-event-time", host_waits_long, host_waits_long_once),
    Case("host-time-over-event-time", host_waits_long, host_works_before_it_waits),
    Case("same-time", gives_constant_time, gives_varied_times),
    Case("host-callback", calls_host_function, calls_host_function_outside),
    Case("stream-gate", waits_for_memory, launches_always),
    Case("module-load", loads_code, loads_code_first),
    Case("first-module-load", loads_code_first, loads_code_before),
    Case("copy-to-host", reads_result, reads_result_behind),
    Case("other-thread-launches", launches_from_thread, launches_always),
    Case("late-launch", launches_late, launches_from_thread),
    Case("fewer-kernels", launches_less_once, times_two_programs_by_turns),
    Case("fewer-kernels", launches_less_once, tunes_first),
    Case("same-parameters", launches_always, has_new_pointers),
    Case("graph-replay", replays_graph, launches_always),
    Case("empty-window", samples_without_work, samples_with_work),
    Case("empty-window", first_samples_without_work, samples_with_work),
    Case("fewer-kernels", sample_with_less_work, samples_with_work),
    Case("kernel-not-after-start", sample_hides_on_side_stream, sample_on_forked_stream),
    Case("unjoined-kernel", sample_on_unjoined_stream, sample_on_forked_stream),
    Case("late-launch", sample_before_late_launch, samples_with_work),
)

LOG_RULES = {"incomplete-log", "unobserved-process", "unexamined-events"}
"""Tested below."""
HONEST = (
    captures_fork_and_join,
    launches_always, works_in_its_only_context, measures_overhead_first, measures_overhead_last,
    times_copies_alone, works_on_blocking_stream, forks_and_joins, waits_for_earlier_work, ends_on_joined_stream,
    reuses_events, measures_laps, records_without_timing, gives_true_time, gives_varied_times,
    samples_with_work, sample_on_forked_stream, sample_whose_call_fails,
    host_waits_long_once, replays_graph, tunes_first, reads_result, launches_from_thread,
)  # fmt: skip


def ids_of(program: Program, path: Path) -> set[str]:
    log = WindowLog(path)
    program(log)
    return {finding.id for finding in analyse_log(log.close()).findings}


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.rule}-{case.program.__name__}-{case.like.__name__}"
)
def test_program_gives_its_finding_and_look_alike_does_not(case: Case, tmp_path: Path) -> None:
    assert case.rule in ids_of(case.program, tmp_path / "program")
    assert case.rule not in ids_of(case.like, tmp_path / "like")


@pytest.mark.parametrize("program", HONEST, ids=lambda program: program.__name__)
def test_honest_program_has_no_finding_above_info(program: Program, tmp_path: Path) -> None:
    serious = {name for name in ids_of(program, tmp_path / "log") if RULES[name].severity > Severity.info}
    assert serious == set()


def test_each_sample_is_a_window_and_marks_of_other_code_are_none(tmp_path: Path) -> None:
    log = WindowLog(tmp_path / "log")
    samples(log, [1, 1, 1])
    with log.sample(3, origin="submission.so"):
        log.launch()
    log.phase("", "libffi.so.8")
    assert analyse_log(log.close()).windows == 3


def test_incomplete_log_is_an_error(tmp_path: Path) -> None:
    report = analyse_log(WindowLog(tmp_path / "log").close(complete=False))
    assert [finding.id for finding in report.failing(["error"])] == ["incomplete-log"]
    assert not report.complete


def test_unobserved_child_process_is_named(tmp_path: Path) -> None:
    report = analyse_log(WindowLog(tmp_path / "log").close(unobserved=("4711 nvcc",)))
    assert [finding.evidence[0].message for finding in report.findings] == ["4711 nvcc"]


def test_forgotten_events_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchguard.findings.process.EVENTS_MAX", 4)
    log = WindowLog(tmp_path / "log")
    log.events(*range(10, 18))
    for start in range(10, 18, 2):
        log.record(start)
        log.launch()
        log.record(start + 1)
    log.synchronize()
    for start in range(10, 18, 2):
        log.elapsed(start, start + 1)
    report = analyse_log(log.close())
    assert "unexamined-events" in {finding.id for finding in report.findings}
    assert report.windows < 4


def test_every_rule_has_a_case() -> None:
    assert {case.rule for case in CASES} | LOG_RULES == set(RULES)
