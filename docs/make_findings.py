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

Generated from the explanations beside the checks by `python docs/make_findings.py`; a test compares the two.

| finding | severity | |
| --- | --- | --- |
"""


def text() -> str:
    """The text of the page."""
    rules = sorted(RULES.values(), key=lambda rule: (-rule.severity, rule.id))
    rows = [f"| [{rule.id}](#{rule.id}) | {rule.severity.name} | {rule.title} |\n" for rule in rules]
    return HEAD + "".join(rows) + "".join(map(section, rules))


def section(rule: Rule) -> str:
    assert isinstance(rule.severity, Severity)
    title = rule.title[0].upper() + rule.title[1:]
    return (
        f"\n## {rule.id}\n\nSeverity `{rule.severity.name}`. {title}.\n\n{rule.meaning}\n\n"
        f"Honest causes, and what to do: {rule.honest}\n"
    )


if __name__ == "__main__":
    (ROOT / "docs" / "findings.md").write_text(text())
