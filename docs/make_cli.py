"""Generate docs/cli.md from the help texts of the commands: python docs/make_cli.py"""

from __future__ import annotations

import sys
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchguard.cli.main import cli  # noqa: E402

WIDTH = 100
HELP = cli.context_settings["help_option_names"]
HEAD = """\
# Commands

Generated from the help texts of the commands by `python docs/make_cli.py`; a test compares the two.

## Exit status

`observe` and `record` exit with the status of their command, 128 + n if signal n ended it, unless `--fail-on` says
otherwise. The table has all other
statuses, which `benchguard/exit_status.py` defines.

| status | meaning |
| --- | --- |
| 0 | success: verdict `pass` |
| 1 | verdict `wrong`; the hash chain of a log is broken; a check of `doctor` failed |
| 2 | usage: an argument, an option or a problem file is invalid; no code of a submission has run |
| 3 | verdict `violation`; a finding that `--fail-on` names |
| 4 | verdict `unreplayable` |
| 5 | verdict `unconverged`, with `--require-converged` |
| 6, 7 | `compare --fail-on`: slower, unsure |
| 8 | verdict `unproven`: `--require-evidence`, another process on the GPU, a strict replay without one-use inputs |
| 65 | verdict `failed`: the submission failed to import, compile or run; a kernel of a capture failed |
| 70 | verdict `error`: neutrino-bench or this machine failed; a capture is damaged |
| 124 | verdict `timeout`; `--timeout` has killed the command |
| 126, 127 | the command cannot be executed, does not exist |
| 129, 130, 143 | ended by SIGHUP, Ctrl-C, SIGTERM |
"""


def text() -> str:
    """The text of the page."""
    parts = [HEAD, section("neutrino-bench", cli)]
    context = click.Context(cli)
    for name in sorted(cli.list_commands(context)):
        command = cli.get_command(context, name)
        assert command is not None
        parts.append(section(f"neutrino-bench {name}", command))
    return "\n".join(parts)


def section(path: str, command: click.Command) -> str:
    context = click.Context(
        command, info_name=path, terminal_width=WIDTH, max_content_width=WIDTH, help_option_names=HELP
    )
    lines = [line.rstrip() for line in command.get_help(context).splitlines()]
    return f"## {path}\n\n```\n" + "\n".join(lines) + "\n```\n"


if __name__ == "__main__":
    (ROOT / "docs" / "cli.md").write_text(text())
