"""Generate docs/findings.md from the explanations beside the checks: python docs/make_findings.py"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchguard.findings.checks import RULES  # noqa: E402
from benchguard.findings.rules import Rule, Severity  # noqa: E402

HEAD = """\
# Findings

Many graders time kernels themselves, with a pair of events. `neutrino-bench findings LOG` reads the audit log of such
a program, and says whether each timing window holds the work that it seems to.

```
neutrino-bench --log run.audit.jsonl -- python eval.py      # shows findings above info behind the summary
neutrino-bench findings run.audit.jsonl                     # all findings
neutrino-bench --fail-on error -- python eval.py            # status 3 if there is an error
neutrino-bench findings run.audit.jsonl --fail-on unjoined-kernel,empty-window --sarif run.sarif
```

A *timing window* is what lies between the last records of two events before their elapsed time is asked for
(`cuEventElapsedTime`). Each finding names the log lines of the start record, the end record and the elapsed-time
call, and further lines that matter.

Severity `error`: the time is not that of the work. `warning`: look at it; honest programs can cause it. `info`: worth
knowing. A log without findings proves little: the program runs with your rights and can go around the shim
([threat-model.md](threat-model.md)). `neutrino-bench grade` does not rest on the program's own timing.

The analysis follows streams, events, graphs and stream capture by handle, the legacy and the per-thread default
stream, and waits of the host. Contexts that `cuCtxCreate` made are separate; all others count as one. It reads CUDA
logs only. A program that times with the host's clock has no timing windows.
The log of a grade with `--inline` has one for each sample, whose time is not in the log.

Generated from the explanations beside the checks by `python docs/make_findings.py`; a test compares the two.

| finding | severity | |
| --- | --- | --- |
"""


SEEN_HEAD = """\
## Seen in existing graders

Findings above info on an H100 or H200 (CUDA 13.0, torch 2.11, Triton 3.6, 2026-11-25), of a submission under a grader
that is not changed (`python tests/device/graders.py`). Honest submissions, also one that works on a stream of its own
and joins it, have none. `torch.utils.benchmark` times with the host's clock, which this analysis does not examine.
pygpubench (a78c4d61, 2026-11-26) gives each call new inputs, and its events are out of Python's reach. The attack that
leaves the work to a thread gains nothing there (713 us, 63 honest). Its log was incomplete; the cause was not
examined.

The share that the shim adds to the time that a grader reports, on an H100 with nothing else to do, as the median of
pairs of runs with its interval (95 %), a9019bcd of 2026-11-26:

| grader | share | interval or range | time | pairs |
| --- | --- | --- | --- | --- |
| `do_bench` | -0.03 % | -0.23 to +0.34 % | 56 us | 15 |
| KernelBench | -0.18 % | -0.91 to +0.91 % | 55 us | 21 |
| `torch.utils.benchmark` | +0.78 % | -0.55 to +1.55 % | 61 us | 28 |
| pygpubench | +0.86 % | -1.11 to +1.64 % | 63 us | 10 |
| `eval.py`, benchmark case of 8192 (a78c4d61) | -0.35 % | range -30 to +3.2 % | 228 us | 5 |
| `eval.py`, smallest benchmark case | +3.57 % | -3.4 to +41 % | 10 us | 11 |

The first two are below 1 %; the others are so in the median, but for the last one, and not decided. `eval.py` records
its events behind a fill of the L2 cache, so its times hold little of the host's calls; they vary from process to
process. Runs beside other programs gave `torch.utils.benchmark` +23 %, +11 % and -1 %, and decided nothing. A shorter
run on another H100 (a78c4d61) gave it +0.09 % (8 pairs, -1.1 to +20), and pygpubench -1.7 % (5 pairs, -79 to +1.8).

| attack | Triton's `do_bench` | GPU MODE's `eval.py` | KernelBench | pygpubench |
| --- | --- | --- | --- | --- |
"""
_UNJOINED = "kernel-not-after-start unjoined-kernel"
_LATE = f"empty-window {_UNJOINED} late-launch earlier-work-running"
_AGAIN = "start-recorded-again empty-window end-recorded-again"
SEEN = {
    "works on a stream without waiting for it": (
        f"{_UNJOINED} earlier-work-running",
        f"{_UNJOINED} unjoined-copy",
        _UNJOINED,
        f"{_UNJOINED} earlier-work-running",
    ),
    "computes once for each set of pointers": ("empty-window", "empty-window", "empty-window", ""),
    "records all events again behind its work": (
        f"{_AGAIN} time-not-asked window-restarted",
        _AGAIN,
        _AGAIN,
        "",
    ),
    "replaces the method that asks for the time": ("time-not-asked", "time-not-asked", "time-not-asked", ""),
    "leaves the work to a thread": (
        _LATE,
        f"{_LATE} copies-only unjoined-copy fewer-kernels",
        f"{_LATE} fewer-kernels",
        "incomplete-log copies-only",
    ),
}
"""Findings by grader; none where the attack has no way to the grader."""


def seen() -> str:
    rows = (
        (attack, *(", ".join(f"`{each}`" for each in ids.split()) or "no way to it" for ids in cells))
        for attack, cells in SEEN.items()
    )
    return SEEN_HEAD + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def text() -> str:
    """The text of the page."""
    rules = sorted(RULES.values(), key=lambda rule: (-rule.severity, rule.id))
    rows = [f"| [{rule.id}](#{rule.id}) | {rule.severity.name} | {rule.title} |\n" for rule in rules]
    return HEAD + "".join(rows) + "".join(map(section, rules)) + "\n" + seen()


def section(rule: Rule) -> str:
    assert isinstance(rule.severity, Severity)
    title = rule.title[0].upper() + rule.title[1:]
    return (
        f"\n## {rule.id}\n\nSeverity `{rule.severity.name}`. {title}.\n\n{rule.meaning}\n\n"
        f"Honest causes, and what to do: {rule.honest}\n"
    )


if __name__ == "__main__":
    (ROOT / "docs" / "findings.md").write_text(text())
