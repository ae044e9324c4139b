"""Write docs/cli.md from the commands' own help: python docs/make_cli.py"""

from __future__ import annotations

import sys
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchguard.cli.main import cli  # noqa: E402

WIDTH = 100
HEAD = """\
# Commands

Made from the commands' own help by `python docs/make_cli.py`; a test fails when the two differ.

Exit status: the observed command's own, 128 + n if signal n ended it; 1 a log that does not verify, or a failed
check; 2 usage; 124 a time-out; 126 and 127 a command that cannot be run or found; 70 our own error.
"""


def text() -> str:
    """The whole page."""
    parts = [HEAD, section("neutrino-bench", cli)]
    parts += [section(f"neutrino-bench {name}", command) for name, command in sorted(cli.commands.items())]
    return "\n".join(parts)


def section(path: str, command: click.Command) -> str:
    context = click.Context(command, info_name=path, terminal_width=WIDTH, max_content_width=WIDTH)
    lines = [line.rstrip() for line in command.get_help(context).splitlines()]
    return f"## {path}\n\n```\n" + "\n".join(lines) + "\n```\n"


if __name__ == "__main__":
    (ROOT / "docs" / "cli.md").write_text(text())
