"""The first reason wins, and a pass is what has none."""

from __future__ import annotations

import dataclasses
from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from benchguard.errors import UsageError
from benchguard.grade.options import GradeOptions
from benchguard.grade.outcome import Findings, evidence_of, outcome_of
from benchguard.grade.time_tests import TimeTests
from benchguard.grade.timing import carried_reason, first_use_of
from benchguard.judge.ceilings import rates_of
from benchguard.judge.contract import Checked, Mismatch
from benchguard.replay.clocks import Clocks
from benchguard.replay.protocol import InARow, Overhead, Sample, TimedSample
from benchguard.replay.result import ReplayResult, SampleRow
from tests.unit.grade.test_timing import honest, remembers, table

ROWS = table(200, honest)
_EMPTY = Sample(2.0, 12.0, 5.0, 1980.0, 0, 0, tail_us=4.0, span_us=102.0)
EMPTY = tuple(TimedSample(_EMPTY, 3 * n) for n in range(40))
WRONG = Mismatch(3, 1, "sparse", "y", 7, 100, "y[4] should be 1, is 2")


def replayed(
    rows: list[SampleRow],
    verdict: str = "pass",
    reason: str = "",
    pci_bus: str = "0000:19:00.0",
    others: int = 0,
    host_wait: float = 0.0,
    in_a_row: tuple[InARow, ...] = (),
    primed: bool = True,
) -> ReplayResult:
    """A replay result with the fields that outcome_of() reads."""
    overhead = Overhead(0.03, 1.2, 2.0, empty_beside_us=99.0)
    device = SimpleNamespace(pci_bus=pci_bus)
    namespace = SimpleNamespace(
        verdict=verdict,
        reason=reason,
        table=tuple(rows),
        empty=EMPTY,
        overhead=overhead,
        device=device,
        prepared=SimpleNamespace(primed=primed, streams=1),
        warm=(),
        clocks=Clocks("", other_processes=others),
        host_wait=host_wait,
        in_a_row=in_a_row,
    )
    return cast(ReplayResult, namespace)


def checked(rows: list[SampleRow], **changes: Any) -> Checked:
    counts = tuple(Counter(row.input_set or 0 for row in rows).items())
    plain = Checked(len(rows), 0, None, 1e-7, 1e-6, 0, "", counts)
    return Checked(**{**{f: getattr(plain, f) for f in plain.__struct_fields__}, **changes})


def outcome(rows: list[SampleRow] = ROWS, found: Checked | None = None, **replay: str) -> tuple[str, str]:
    rates = rates_of(100.0, None, None, "")
    findings = Findings(
        replayed(rows, **replay), found or checked(rows), rates, carried_reason(rows, first_use_of(rows))
    )
    outcome_ = outcome_of(findings)
    return outcome_.verdict, outcome_.reason


def each(**changes: Any) -> list[SampleRow]:
    return [dataclasses.replace(row, **changes) for row in ROWS]


def test_clean_findings_pass() -> None:
    assert outcome() == ("pass", "")


def test_wrong_output_names_sample_buffer_and_element() -> None:
    verdict, reason = outcome(found=checked(ROWS, wrong=1, first=WRONG))
    assert verdict == "wrong"
    assert all(part in reason for part in ("1 of 200", "'y' of sample 3", "sparse", "7 of 100", "y[4]"))


@pytest.mark.parametrize("verdict", ["unreplayable", "timeout", "failed", "error"])
def test_failed_replay_keeps_verdict_and_reason(verdict: str) -> None:
    assert outcome(verdict=verdict, reason="why") == (verdict, "why")


def test_unchecked_sample_fails() -> None:
    counts = tuple(Counter(row.input_set or 0 for row in ROWS[1:]).items())
    assert outcome(found=checked(ROWS, samples=199, counts=counts))[0] == "failed"


def test_warm_sample_that_the_judge_did_not_check_is_found() -> None:
    replay = replayed(ROWS)
    replay.__dict__["warm"] = (SimpleNamespace(input_set=0),)
    rates = rates_of(100.0, None, None, "")
    assert outcome_of(Findings(replay, checked(ROWS), rates, "")).verdict == "failed"
    counts = Counter(row.input_set or 0 for row in ROWS) + Counter({0: 1})
    found = checked(ROWS, samples=len(ROWS) + 1, counts=tuple(counts.items()))
    assert outcome_of(Findings(replay, found, rates, "")).verdict == "pass"


def test_sample_checked_on_other_inputs_fails() -> None:
    counts = ((0, 200),)
    assert outcome(found=checked(ROWS, counts=counts))[0] == "failed"


def test_work_after_end_event_is_violation() -> None:
    verdict, reason = outcome(each(tail_us=5000.0))
    assert (verdict, "outlives the call" in reason) == ("violation", True)


def test_single_late_wake_up_passes() -> None:
    rows = [dataclasses.replace(ROWS[0], tail_us=5000.0), *ROWS[1:]]
    assert outcome(rows) == ("pass", "")


def test_work_before_start_event_is_violation() -> None:
    rows = [dataclasses.replace(row, host_us=row.device_us + 400.0) for row in ROWS]
    verdict, reason = outcome(rows)
    assert (verdict, "outside the events" in reason) == ("violation", True)


def test_tails_on_cpu_driver_are_ignored() -> None:
    assert outcome(each(tail_us=5000.0), pci_bus="") == ("pass", "")


def test_start_event_after_the_work_is_violation() -> None:
    rows = [dataclasses.replace(row, device_us=3.0) for row in ROWS]
    verdict, reason = outcome(rows)
    assert (verdict, "events show 3 us, but" in reason) == ("violation", True)


def test_events_longer_than_device_clock_are_violation() -> None:
    assert outcome(each(span_us=20.0))[0] == "violation"
    assert outcome(each(host_us=20.0)) == ("pass", "")  # longer events make a time worse


def test_failed_check_of_the_time_is_unproven_beside_another_process() -> None:
    replay = replayed(each(span_us=20.0), others=1)
    found = Findings(replay, checked(ROWS), rates_of(100.0, None, None, ""), "")
    assert outcome_of(found).verdict == "unproven"
    assert "another process had the device open" in outcome_of(found).reason
    honest = Findings(replayed(ROWS, others=1), checked(ROWS), rates_of(100.0, None, None, ""), "")
    assert outcome_of(honest).verdict == "pass"


def test_failed_check_of_the_time_is_unproven_on_a_busy_host() -> None:
    """The replay's thread that waits for a processor ends samples late, and empty samples, too."""
    late = each(span_us=20.0)
    rates = rates_of(100.0, None, None, "")
    busy, idle = (
        Findings(replayed(late, host_wait=share), checked(ROWS), rates, "") for share in (0.1, 0.001)
    )
    assert outcome_of(busy).verdict == "unproven"
    assert "the replay waited 10% of its time for a processor" in outcome_of(busy).reason
    assert outcome_of(idle).verdict == "violation"
    remembered = table(200, remembers)
    carried = carried_reason(remembered, first_use_of(remembered))
    found = Findings(replayed(remembered, host_wait=0.1), checked(remembered), rates, carried)
    assert outcome_of(found).verdict == "violation"


def test_cached_results_are_violation() -> None:
    assert outcome(table(200, remembers))[0] == "violation"


def test_time_that_does_not_count_is_not_tested() -> None:
    rows = table(200, remembers)
    rates = rates_of(100.0, None, None, "")
    for found, verdict in ((checked(rows), "pass"), (checked(rows, wrong=1, first=WRONG), "wrong")):
        findings = Findings(
            replayed(rows), found, rates, carried_reason(rows, first_use_of(rows)), is_timed=False
        )
        assert outcome_of(findings, require_evidence=True).verdict == verdict


def test_wrong_output_precedes_doubtful_time() -> None:
    rows = table(200, remembers)
    assert outcome(rows, checked(rows, wrong=1, first=WRONG))[0] == "wrong"


def test_impossible_time_is_violation() -> None:
    rates = rates_of(1.0, 10**12, None, "NVIDIA H200")
    findings = Findings(replayed(ROWS), checked(ROWS), rates, "")
    assert outcome_of(findings).verdict == "violation"


def test_unknown_median_is_unconverged() -> None:
    assert outcome(verdict="unconverged", reason="too noisy") == ("unconverged", "too noisy")


def test_convergence_cannot_be_required_of_inline_times() -> None:
    with pytest.raises(UsageError, match="--require-converged has no effect with --inline"):
        GradeOptions(inline=True, require_converged=True)


def states(rows: list[SampleRow] = ROWS, counted: bool = False, **replay: str) -> dict[str, str]:
    rates = rates_of(100.0, 1000 if counted else None, None, "")
    carried = carried_reason(rows, first_use_of(rows))
    return {
        each.check: each.state
        for each in evidence_of(Findings(replayed(rows, **replay), checked(rows), rates, carried))
    }


def test_checks_of_a_clean_time_held() -> None:
    assert set(states().values()) == {"held"}


def test_failed_check_is_listed_with_those_that_held() -> None:
    assert states(each(tail_us=5000.0)) == {
        "anchored time": "held",
        "host clock": "held",
        "work after the end event": "failed",
        "empty samples": "held",
        "restored memory": "held",
        "carried results": "held",
    }


def test_check_without_its_numbers_could_not_tell() -> None:
    assert states(pci_bus="")["work after the end event"] == "could not tell"
    assert states(each(span_us=0.0))["anchored time"] == "could not tell"
    assert states(counted=True)["possible rates"] == "could not tell"
    few = table(200, honest, one_use=7)
    assert states(few)["carried results"] == "could not tell"


def test_check_that_could_not_tell_passes_unless_evidence_is_required() -> None:
    findings = Findings(replayed(ROWS, pci_bus=""), checked(ROWS), rates_of(100.0, None, None, ""), "")
    assert outcome_of(findings).verdict == "pass"
    required = outcome_of(findings, require_evidence=True)
    assert (required.verdict, required.reason.count("CPU driver shares")) == ("unproven", 2)
    proven = Findings(replayed(ROWS), checked(ROWS), rates_of(100.0, None, None, ""), "")
    assert outcome_of(proven, require_evidence=True).verdict == "pass"


def test_mostly_unprimed_samples_do_not_pass() -> None:
    rows = [dataclasses.replace(row, unprimed=number < 101) for number, row in enumerate(ROWS)]
    verdict, reason = outcome(rows)
    assert (verdict, "101 of 200 samples began before they were queued" in reason) == ("unconverged", True)
    assert outcome([dataclasses.replace(row, unprimed=n < 20) for n, row in enumerate(ROWS)]) == ("pass", "")


def test_doubt_about_carried_results_could_not_tell() -> None:
    rates = rates_of(100.0, None, None, "")
    findings = Findings(replayed(ROWS), checked(ROWS), rates, "", doubt="one-use inputs take 2.7 % longer")
    assert outcome_of(findings).verdict == "pass"
    assert outcome_of(findings, require_evidence=True).verdict == "unproven"


_FOLLOWER = Sample(100.0, 110.0, 5.0, 1980.0, 1, 0, tail_us=4.0, span_us=200.0)
IN_A_ROW = InARow((_FOLLOWER,) * 3, 3)
LAST = Mismatch(201, 1, "sparse", "y", 7, 100, "y[4] should be 1, is 2")


def in_a_row(
    are_repeated: bool | None,
    found: InARow | None,
    wrong: Mismatch | None = None,
    pci_bus: str = "0000:19:00.0",
    rows: list[SampleRow] = ROWS,
    primed: bool = True,
) -> tuple[str, str]:
    """The verdict, and the state of the check."""
    counts = Counter(row.input_set or 0 for row in ROWS)
    if found is not None:
        counts.update(each.input_set for each in found.samples)
    seen = checked(ROWS, counts=tuple(counts.items()), in_a_row=wrong)
    rates = rates_of(100.0, None, None, "")
    findings = Findings(
        replayed(rows, in_a_row=() if found is None else (found,), pci_bus=pci_bus, primed=primed),
        seen,
        rates,
        "",
        are_repeated=are_repeated,
    )
    states = {each.check: each.state for each in evidence_of(findings)}
    return outcome_of(findings).verdict, states.get("calls in a row", "")


def test_wrong_call_in_a_row_is_wrong_if_the_recorded_calls_are_the_same() -> None:
    assert in_a_row(True, IN_A_ROW) == ("pass", "held")
    assert in_a_row(True, IN_A_ROW, LAST) == ("wrong", "failed")
    assert in_a_row(True, InARow((), 0, "the region did not end")) == ("wrong", "failed")


@pytest.mark.parametrize("are_repeated", [True, False])
def test_call_in_a_row_is_not_blamed_where_single_calls_are_wrong(are_repeated: bool) -> None:
    seen = checked(ROWS, wrong=len(ROWS), first=WRONG, in_a_row=LAST)
    findings = Findings(
        replayed(ROWS, in_a_row=(IN_A_ROW,)),
        seen,
        rates_of(100.0, None, None, ""),
        "",
        are_repeated=are_repeated,
    )
    texts = {each.check: (each.state, each.text) for each in evidence_of(findings)}
    assert texts["calls in a row"] == ("could not tell", "the outputs of single calls are wrong")
    assert "y[4]" in outcome_of(findings).reason


def test_wrong_call_in_a_row_is_unproven_if_the_next_call_may_differ() -> None:
    assert in_a_row(False, IN_A_ROW, LAST) == ("unproven", "could not tell")
    assert in_a_row(False, InARow((), 0, "the region did not end")) == ("unproven", "could not tell")
    assert in_a_row(False, IN_A_ROW) == ("pass", "held")
    assert in_a_row(True, None) == ("pass", "could not tell")


@pytest.mark.parametrize("device_us", [100.0, 160.0])
def test_call_that_takes_longer_in_a_row_is_unproven_whatever_its_events_say(device_us: float) -> None:
    longer = msgspec.structs.replace(_FOLLOWER, device_us=device_us, span_us=260.0)
    assert in_a_row(True, InARow((longer,) * 3, 3)) == ("unproven", "failed")
    assert in_a_row(True, InARow((longer, longer, _FOLLOWER), 3)) == ("unproven", "failed")
    assert in_a_row(True, InARow((longer, _FOLLOWER, _FOLLOWER), 3)) == ("pass", "held")


@pytest.mark.parametrize(
    ("primed", "longer_us", "state"), [(True, 25.0, "failed"), (False, 25.0, "held"), (False, 45.0, "failed")]
)
def test_call_in_a_row_may_take_longer_where_the_host_has_no_head_start(
    primed: bool, longer_us: float, state: str
) -> None:
    longer = msgspec.structs.replace(_FOLLOWER, span_us=_FOLLOWER.span_us + longer_us)
    assert in_a_row(True, InARow((longer,) * 3, 3), primed=primed)[1] == state


@pytest.mark.parametrize(
    ("longer_us", "included_us"),
    [(3.0, 0.0), (7.0, 7.0), (19.0, 19.0), (25.0, 0.0)],
    ids=["noise", "little", "more", "too much"],
)
def test_time_includes_what_calls_in_a_row_take_longer(longer_us: float, included_us: float) -> None:
    longer = msgspec.structs.replace(_FOLLOWER, span_us=_FOLLOWER.span_us + longer_us)
    tests = TimeTests(replayed(ROWS, in_a_row=(IN_A_ROW, InARow((longer,) * 3, 3))))
    assert tests.included_us == pytest.approx(included_us, abs=0.5)
    assert in_a_row(True, InARow((longer,) * 3, 3))[0] == ("unproven" if longer_us == 25.0 else "pass")
    assert TimeTests(replayed(ROWS, in_a_row=(InARow((longer,) * 3, 3),), pci_bus="")).included_us == 0.0


@pytest.mark.parametrize(("apart_us", "included_us"), [(0.0, 7.0), (8.0, 0.0)])
def test_call_in_a_row_may_take_as_much_longer_as_processes_differ(
    apart_us: float, included_us: float
) -> None:
    rows = [
        dataclasses.replace(
            row,
            process=n % 2,
            device_us=row.device_us + apart_us * (n % 2),
            span_us=row.span_us + apart_us * (n % 2),
        )
        for n, row in enumerate(ROWS)
    ]
    longer = msgspec.structs.replace(_FOLLOWER, span_us=_FOLLOWER.span_us + 7.0)
    tests = TimeTests(replayed(rows, in_a_row=(InARow((longer,) * 3, 3),)))
    assert tests.included_us == pytest.approx(included_us, abs=0.5)


def test_call_that_takes_longer_in_a_row_on_a_busy_machine_is_no_accusation() -> None:
    """Seen on an H200 that six grades shared: the reference of a task, whose replay had waited for a processor for 60 %
    of its time."""
    longer = InARow((msgspec.structs.replace(_FOLLOWER, span_us=260.0),) * 3, 3)
    counts = Counter(row.input_set or 0 for row in ROWS)
    counts.update(each.input_set for each in longer.samples)
    seen, rates = checked(ROWS, counts=tuple(counts.items())), rates_of(100.0, None, None, "")
    for share, begin in (
        (0.6, "the replay waited 60% of its time for a processor, and a call takes"),
        (0.0, "a call"),
    ):
        replay = replayed(ROWS, in_a_row=(longer,), host_wait=share)
        found = outcome_of(Findings(replay, seen, rates, "", are_repeated=True))
        assert found.verdict == "unproven" and found.reason.startswith(begin)
        assert ("time it again on an idle machine" in found.reason) == bool(share)


def test_calls_in_a_row_of_a_process_without_other_samples_are_compared_with_those_of_all() -> None:
    longer = msgspec.structs.replace(_FOLLOWER, span_us=260.0)
    assert in_a_row(True, InARow((longer,) * 3, 3, process=1)) == ("unproven", "failed")
    assert in_a_row(True, InARow((_FOLLOWER,) * 3, 3, process=1)) == ("pass", "held")
    unseen = msgspec.structs.replace(longer, input_set=max(row.input_set or 0 for row in ROWS) + 1)
    assert in_a_row(True, InARow((unseen,) * 3, 3)) == ("pass", "could not tell")


def test_time_of_calls_in_a_row_is_unknown_on_the_cpu_driver() -> None:
    longer = InARow((msgspec.structs.replace(_FOLLOWER, span_us=260.0),) * 3, 3)
    assert in_a_row(True, longer, pci_bus="") == ("pass", "could not tell")
    assert in_a_row(True, longer, LAST, pci_bus="") == ("wrong", "failed")


def test_replay_without_calls_in_a_row_has_no_check_of_them() -> None:
    assert in_a_row(None, None) == ("pass", "")
