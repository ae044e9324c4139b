"""Check of a machine before it gets work, and the decision that follows: version, problem, driver, shim, sandbox."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from ..errors import BenchguardError
from ..grade.options import GradeOptions
from ..grade.problem_identity import sha256_of
from ..ipc.json_text import UNREADABLE, json_line
from ..ipc.text import one_line
from ..machine.checks import Finding, grading_findings
from ..quarantine.probe import features
from ..shim.driver import discover
from ..version import __version__

REPORT_MAX = 1 << 20

SEALED = ("network", "system calls", "filesystem")
"""Protections without which a submission could reach the ports of the cluster, and run code on all of its machines."""


class Needs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The needs of a run."""

    problems: dict[str, str]
    """The SHA-256 of each problem."""
    driver: str
    full_sandbox: bool
    version: str


class NodeReport(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A machine as it describes itself. `problems` lacks those that cannot be read there."""

    version: str
    problems: dict[str, str]
    is_sim: bool
    findings: tuple[Finding, ...]
    features: dict[str, str]


@dataclass(frozen=True)
class Refused:
    """A machine that gets no work, and why."""

    node: str
    reason: str


def needs_of(problems: Sequence[str], options: GradeOptions) -> Needs:
    """Raises UsageError if a problem cannot be read."""
    full = options.require_sandbox is not None
    return Needs({each: sha256_of(each) for each in problems}, options.driver, full, __version__)


def report_node(needs: bytes) -> bytes:
    """Check this machine; return a NodeReport as JSON. Raises no exception."""
    wanted = msgspec.msgpack.decode(needs, type=Needs)
    found: list[Finding] = []
    protections: dict[str, str] = {}
    problems: dict[str, str] = {}
    is_sim = False
    for each in wanted.problems:
        with contextlib.suppress(BenchguardError, OSError):
            problems[each] = sha256_of(each)
    try:
        is_sim = discover(wanted.driver, api="cuda").is_sim
        found += grading_findings(wanted.driver)
        protections = features()
    except (BenchguardError, OSError) as error:
        found.append(Finding("fail", "machine", one_line(str(error))))
    return json_line(NodeReport(__version__, problems, is_sim, tuple(found), protections))


def parse_report(data: bytes) -> NodeReport:
    """Raises BenchguardError for anything but a report."""
    try:
        return msgspec.json.decode(data, type=NodeReport)
    except UNREADABLE as error:
        raise BenchguardError(f"invalid report: {error}") from error


def refusal_of(report: NodeReport, needs: Needs, *, gpu: bool) -> str:
    """Why a machine gets no work; empty if it can grade. `gpu`: a GPU is needed."""
    if report.version != needs.version:
        return f"neutrino-bench {report.version} is installed, and {needs.version} is needed"
    for problem, sha256 in needs.problems.items():
        if problem not in report.problems:
            return f"the problem {problem} cannot be read there; give it the same path on every machine"
        if report.problems[problem] != sha256:
            return f"the problem {problem} differs there"
    failed = [finding for finding in report.findings if finding.level == "fail"]
    if failed:
        return "; ".join(f"{finding.subject}: {finding.found}" for finding in failed)
    if gpu and report.is_sim:
        return "it has no GPU driver"
    off = {name: why for name, why in report.features.items() if why != "on"}
    wanted = [*SEALED, *(off if needs.full_sandbox else ())]
    missing = [
        f"{name}: {report.features.get(name, 'not tested')}" for name in dict.fromkeys(wanted) if name in off
    ]
    missing += [f"{name}: not tested" for name in SEALED if name not in report.features]
    return f"the sandbox is partial: {'; '.join(missing)}" if missing else ""
