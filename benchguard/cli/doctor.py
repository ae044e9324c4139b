"""neutrino-bench doctor: check this machine."""

from __future__ import annotations

import click

from ..ipc.json_text import json_document
from ..machine.checks import SCHEMA, findings
from .output import print_document, say


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(as_json: bool) -> int:
    """Check this machine: driver, shim, compiler, headers, sandbox features.

    Prints one line per check: ok, warn (works with limits) or fail, and advice. Exits with 1 if a check fails.
    """
    report = list(findings())
    if as_json:
        document = {"schema": SCHEMA, "findings": report}
        print_document(json_document(document))
    else:
        for finding in report:
            then = f"; {finding.then}" if finding.then else ""
            say(f"{finding.level:4}  {finding.subject:12} {finding.found}{then}")
    return int(any(finding.level == "fail" for finding in report))
