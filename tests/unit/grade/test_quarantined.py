"""Verdicts of sandboxed runs that left nothing to replay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchguard.grade.conclusion import confinement_of, notes_of, output_of
from benchguard.grade.quarantined import finding_of
from benchguard.grade.result import Checks, GradedCase, Verdict
from benchguard.judge.contract import Opened
from benchguard.quarantine.contract import FEATURES, Audit, Broke, Quarantined, is_full


def ended(**fields: Any) -> Quarantined:
    values: dict[str, Any] = {
        "captures": ((Path("0"), Path("1")),),
        "confinement": {},
        "submission_sha256": "0" * 64,
        "altered": False,
        "status": 0,
        "timed_out": False,
        "broke": None,
        "seconds": {},
        "wall_s": 20.0,
        "audit": Audit("log", "0" * 64, 1, 0, True),
        "output": "",
    }
    return Quarantined(**{**values, **fields})


def case_with(wrong: int, verdict: Verdict) -> GradedCase:
    return GradedCase("c", {}, verdict, "they differ" if wrong else "", checks=Checks(10, wrong, 3, ""))


@pytest.mark.parametrize(("wrong", "verdict"), [(0, "pass"), (2, "wrong")])
def test_note_on_differing_outputs_claims_tolerance_only_without_wrong_outputs(
    wrong: int, verdict: Verdict
) -> None:
    opened = Opened("p", "arguments", "solution", (), ())
    *_, note = notes_of(opened, [case_with(wrong, verdict)], ended().confinement)
    assert "differ from sample to sample" in note
    assert ("within the tolerances" in note) == (wrong == 0)


def test_output_contains_compiler_text_after_prints() -> None:
    text = "k.cu(4): error: x\nk.cu(5): error: y"
    result = ended(output="printed\n", broke=Broke("compile", "k.cu(4): error: x", text))
    assert output_of(result) == f"printed\n{text}"
    assert output_of(ended(output="printed\n")) == "printed"


@pytest.mark.parametrize(
    ("fields", "verdict", "words"),
    [
        (
            {"broke": Broke("import", "s.py:3: ValueError: bad size")},
            "failed",
            "import: s.py:3: ValueError: bad size",
        ),
        ({"broke": Broke("compile", "k.cu(4): error: x")}, "failed", "compile: k.cu(4): error: x"),
        ({"broke": Broke("record", "outputs on the host", unreplayable=True)}, "unreplayable", "on the host"),
        ({"trouble": "the process ended: killed by SIGSEGV"}, "failed", "SIGSEGV"),
        ({"trouble": "the quarantine did not start", "is_ours": True}, "error", "did not start"),
        ({"audit": Audit("log", "0" * 64, 1, 7, False)}, "failed", "7 records"),
        ({"timed_out": True}, "timeout", "killed after 20 s; raise --timeout"),
        ({"timed_out": True, "is_ours": True}, "error", "was not ready after 20 s, so no code"),
        ({"altered": True}, "violation", "changed its own files"),
    ],
)
def test_failed_run_has_verdict_and_message(fields: dict[str, Any], verdict: str, words: str) -> None:
    finding = finding_of(ended(**fields))
    assert finding is not None
    assert finding.verdict == verdict
    assert words in finding.text


def test_complete_run_has_no_finding() -> None:
    assert finding_of(ended()) is None


def test_sandbox_is_full_only_if_every_replay_had_all_protections() -> None:
    full = dict.fromkeys(FEATURES, "on")
    assert is_full(confinement_of(full, [full, {}]))  # a case that was refused before its replay
    partial = {**full, "identity": "it runs as root"}
    merged = confinement_of(full, [full, partial])
    assert not is_full(merged)
    assert merged == {**full, "identity": "in a replay: it runs as root"}
    assert confinement_of(partial, [full, partial]) == partial
