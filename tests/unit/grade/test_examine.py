"""Findings of the examiner in two captures, and forged results of the examiner."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from benchguard.grade.examine import Examined, examine, examined_of
from benchguard.grade.specification import Finding
from tests.unit.grade.recorded import SPEC, launch, record


def test_captures_of_equal_calls_have_facts_and_no_finding(tmp_path: Path) -> None:
    one, two = (record(tmp_path / f"{number}.ncap") for number in (0, 1))
    found = examined_of(msgspec.json.encode(examine(one, two, SPEC)).decode())
    assert (found.finding, found.suspicion) == (None, "")
    assert [facts.name for facts in found.facts] == [one.name, two.name]


def test_captures_of_different_calls_are_unreplayable(tmp_path: Path) -> None:
    one = record(tmp_path / "0.ncap")
    two = record(tmp_path / "1.ncap", operations=[launch(grid=(9, 1, 1))])
    found = examine(one, two, SPEC)
    assert found.finding is not None and found.finding.verdict == "unreplayable"
    assert "grid is (2, 1, 1) and (9, 1, 1)" in found.finding.text


def test_finding_of_hostile_names_is_one_short_line(tmp_path: Path) -> None:
    named = [
        msgspec.structs.replace(each, name="x\n\x1b" * 5000) for each in record(tmp_path / "0.ncap").ranges
    ]
    one, two = (record(tmp_path / f"{number}.ncap", ranges=named) for number in (1, 2))
    found = examine(one, two, SPEC).finding
    assert found is not None and found.verdict == "violation"
    assert len(found.text) <= 1000 and found.text.isprintable()


FORGED = {
    "empty": "",
    "null": "null",
    "deep": "[" * 100_000,
    "other fields": '{"verdict": "pass"}',
    "a pass": msgspec.json.encode(Examined(Finding("pass", ""))).decode(),
    "an unknown verdict": '{"finding": {"verdict": "fine", "text": ""}}',
    "an error of ours": msgspec.json.encode(Examined(Finding("error", ""))).decode(),
    "facts of one capture": '{"facts": [{"name": "", "kernels": [], "unlisted": 0, "uploaded_bytes": 0}]}',
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_result_is_a_failure(name: str) -> None:
    found = examined_of(FORGED[name])
    assert found.finding is not None and found.finding.verdict == "failed"
    assert found.facts == () and "\n" not in found.finding.text
