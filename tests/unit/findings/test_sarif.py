"""SARIF output has the structure that SARIF 2.1.0 demands (OASIS, sections 3.13 to 3.49)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchguard.findings import analyse_log
from benchguard.findings.checks import RULES
from benchguard.findings.sarif import sarif_document
from tests.support.window_logs import WindowLog


@pytest.fixture
def log(tmp_path: Path) -> WindowLog:
    log = WindowLog(tmp_path / "a run.audit.jsonl")
    log.call("cuStreamCreate", phStream=64, Flags=1)
    for _ in range(3):
        with log.window():
            log.launch(64)
    return log


def sarif_of(log: WindowLog) -> dict[str, Any]:
    path = log.close()
    document: dict[str, Any] = json.loads(sarif_document(analyse_log(path), path))
    return document


def test_document_names_version_and_schema(log: WindowLog) -> None:
    document = sarif_of(log)
    assert document["version"] == "2.1.0"
    assert document["$schema"].endswith("sarif-schema-2.1.0.json")
    assert len(document["runs"]) == 1


def test_results_refer_to_rules_and_lines_of_the_log(log: WindowLog) -> None:
    run = sarif_of(log)["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(RULES)
    assert run["results"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in {"none", "note", "warning", "error"}
        assert result["message"]["text"]
        for location in (*result["locations"], *result["relatedLocations"]):
            place = location["physicalLocation"]
            assert place["region"]["startLine"] >= 1
            assert run["artifacts"][place["artifactLocation"]["index"]]["location"]["uri"].endswith(
                "a%20run.audit.jsonl"
            )


def test_rules_have_texts_and_levels(log: WindowLog) -> None:
    for rule in sarif_of(log)["runs"][0]["tool"]["driver"]["rules"]:
        assert rule["defaultConfiguration"]["level"] in {"note", "warning", "error"}
        for part in ("shortDescription", "fullDescription", "help"):
            assert rule[part]["text"]


def test_log_without_findings_has_no_results(tmp_path: Path) -> None:
    run = sarif_of(WindowLog(tmp_path / "log"))["runs"][0]
    assert run["results"] == []
    assert run["invocations"] == [{"executionSuccessful": True, "arguments": ["./program"]}]
