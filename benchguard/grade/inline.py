"""Grade with times from the submission's own process, for work that cannot be replayed (benchguard/inline)."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from ..errors import UsageError
from ..inline.contract import SAMPLES_MAX, InlineCase
from ..inline.result import InlineResult
from ..inline.supervise import Inline
from ..judge.ceilings import rates_of
from ..judge.contract import Ask, AskExpected, Expected, Opened, Secrets
from ..judge.process import JudgeProcess
from ..judge.slack import widened
from ..problem.spec import CaseSpec
from ..replay.protocol import Overhead
from ..replay.result import time_block
from ..replay.statistics import summarise
from .conclusion import TimedCase
from .logged_kernels import Logged, logged_kernels
from .opening import Opening
from .outcome import Outcome
from .provenance import attributed, refusal_of
from .quarantined import finding_of
from .result import Checks, GradedCase, GradeResult, Inputs
from .run import GradeRun
from .specification import Finding

SAMPLES = 100


class InlineRun(GradeRun):
    """Secret inputs and expected outputs are placed in the process, out of reach, before the submission is loaded."""

    trust = "inline"

    def run(self) -> GradeResult:
        judge, opening = self.start()
        opening.find()
        opened = opening.opened
        if opened.own_checks:
            raise UsageError(
                "this problem's own check decides, which --inline cannot call; leave --inline out"
            )
        submission = self.submission(opening)
        opening.hold()
        with self.timed("references"):
            secrets = [self._secrets(opening, index) for index in range(len(opened.cases))]
            cases = [self._case(judge, opened, index, *each) for index, each in enumerate(secrets)]
        with Inline(cases, self._samples(), device=self.options.device) as inline:
            quarantined = self.quarantine(submission, opening, inline)
            results = inline.results()
        finding = finding_of(quarantined)
        calls = [0 if isinstance(result, str) else len(result.errors) for result in results]
        kernels = logged_kernels(quarantined, calls)
        timed = [
            TimedCase(self._with_kernels(_graded(spec, known, result), logged))
            for spec, (known, _), result, logged in zip(opened.cases, secrets, results, kernels, strict=True)
            if finding is None or not isinstance(result, str)
        ]
        return self.result(opened, submission, quarantined, timed, finding)

    def _with_kernels(self, case: GradedCase, logged: Logged) -> GradedCase:
        """The case with its kernels, and with the verdict that they lead to."""
        forbid, allow = self.options.forbid_library, self.options.allow_images
        kernels, finding = attributed(logged.kernels, forbid, allow), logged.finding
        if refusal := refusal_of(kernels, forbid, allow):
            finding = Finding("violation", refusal)
        elif (forbid or allow) and not kernels and finding is None:
            text = "the trace has no launch in the timed calls, so --forbid-library and --allow-images cannot tell"
            finding = Finding(
                "failed", f"{text}; launch a kernel through the CUDA driver, or leave the option out"
            )
        if finding is not None and case.verdict == "pass":
            case = replace(case, verdict=finding.verdict, reason=finding.text)
        least, most = min(logged.by_sample, default=0), max(logged.by_sample, default=0)
        notes = case.notes
        if least != most:
            notes = (*notes, f"the samples launch {least} to {most} kernels each, by the audit log")
        return replace(case, kernels=kernels, sample_launches=logged.by_sample, notes=notes)

    def ask(self) -> Ask:
        """One input set per sample and one for the warm-up: no set is used twice.

        Only the submission's process knows the set of a sample, and a kernel may be faster on other distributions than
        the problem's own. So only a quarter of the sets have another one, which leaves the median where it is.
        """
        return msgspec.structs.replace(
            super().ask(), sets_max=self._samples() + 1, one_use=0, others_every=4, few_untimed=False
        )

    def _samples(self) -> int:
        return min(self.options.samples or SAMPLES, SAMPLES_MAX)

    def _secrets(self, opening: Opening, index: int) -> tuple[Secrets, list[int]]:
        self.report("computing references", opening.name_of(index))
        return opening.secrets(index)

    def _case(
        self, judge: JudgeProcess, opened: Opened, index: int, secrets: Secrets, ends: list[int]
    ) -> InlineCase:
        judge.ask(AskExpected(index))
        expected, descriptors = judge.answer(Expected)
        self.own(descriptors)
        return InlineCase(
            inputs=ends[0],
            expected=descriptors[0],
            inputs_layout=secrets.inputs,
            expected_layout=expected.outputs,
            sets=secrets.sets,
            tolerances=widened(opened.tolerances[index], expected.factors),
        )


def _graded(spec: CaseSpec, secrets: Secrets, result: InlineResult | str) -> GradedCase:
    if isinstance(result, str):
        # The quarantine ended well, so only the submission can have withheld or forged the result.
        return GradedCase(spec.name, spec.params, "failed", f"{result}; grade without --inline")
    outcome = _outcome(result)
    summary = summarise(result.times_us) if result.times_us else None
    rates = rates_of(summary.median if summary else None, spec.flops, spec.moved_bytes, "")
    return GradedCase(
        name=spec.name,
        params=spec.params,
        verdict=outcome.verdict,
        reason=outcome.reason,
        time_us=time_block(summary) if summary else None,
        gflops=rates.gflops,
        gbytes_per_s=rates.gbytes_per_s,
        inputs=Inputs(result.sets, 0, _counted(secrets)),
        checks=Checks(len(result.counted), sum(map(bool, result.counted)), 0, ""),
        overhead=Overhead(tick_us=0.0, empty_pair_us=result.event_overhead_us, empty_kernel_us=0.0),
        notes=tuple(_notes(result)),
        samples=result.times_us,
    )


def _outcome(result: InlineResult) -> Outcome:
    if result.altered:
        return Outcome("violation", result.altered)
    if result.attempts:
        return Outcome("violation", f"the submission tried to open a forbidden file: {result.attempts[0]}")
    if any(result.counted):
        wrong = sum(map(bool, result.counted))
        return Outcome(
            "wrong",
            f"{wrong} of {len(result.counted)} outputs are wrong, with up to {max(result.counted)} wrong elements",
        )
    if result.done < result.wanted and len(result.errors) < result.sets:  # each sample needs a set of its own
        why = result.stopped or "the reason is unknown"
        return Outcome("failed", f"{result.done} of {result.wanted} samples were taken: {why}")
    return Outcome("pass", "")


def _notes(result: InlineResult) -> list[str]:
    notes = ["timed in the submission's own process: do not rank it with replayed times"]
    if not result.full:
        notes.append(
            f"{result.done} of {result.wanted} samples: each needs its own input set, and memory holds no more"
        )
    if result.arena != "on":
        notes.append(f"the arena that holds the results is not fully protected: {result.arena}")
    if result.corrected:
        notes.append(f"{result.corrected} samples took longer by the device clock than by their events")
    if result.settled:
        notes.append(
            "one sample does not count, because its output was wrong: the call may not wait for the legacy default "
            "stream; since then inputs were ready before each call, and host time is in the samples"
        )
    elif result.unprimed:
        notes.append(f"{result.unprimed} samples began before they were fully queued: host time is in them")
    if not result.joins_all:
        notes.append("the end event of a sample does not wait for all streams with this driver")
    return notes


def _counted(secrets: Secrets) -> dict[str, int]:
    counted: dict[str, int] = {}
    for name in secrets.distributions:
        counted[name] = counted.get(name, 0) + 1
    return counted
