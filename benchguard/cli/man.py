"""neutrino-bench man: print the manual page, which is made of the help texts of all commands."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from ..version import __version__
from .output import print_document


@click.command()
@click.pass_context
def man(context: click.Context) -> int:
    """Print the manual page.

    \b
    neutrino-bench man | man -l -
    neutrino-bench man > ~/.local/share/man/man1/neutrino-bench.1
    """
    print_document(page(context.find_root().command))
    return 0


def page(root: click.Command) -> str:
    """The page of `root` and its commands, in the language of man(7)."""
    assert isinstance(root, click.Group), "the root has commands"
    top = click.Context(root, info_name="neutrino-bench", help_option_names=["-h", "--help"])
    lines = [f'.TH NEUTRINO\\-BENCH 1 "" "neutrino-bench {__version__}"', ".SH NAME"]
    lines += ["neutrino\\-bench \\- observe, replay and grade GPU programs", ".SH SYNOPSIS"]
    lines += [".nf", r"\fBneutrino\-bench\fR [\fIOBSERVE OPTIONS\fR] \-\- \fICOMMAND\fR..."]
    lines += [r"\fBneutrino\-bench\fR \fISUBCOMMAND\fR [\fIOPTIONS\fR]", ".fi", ".SH DESCRIPTION"]
    lines += _texts(root.help or "")
    for name in root.list_commands(top):
        command = root.get_command(top, name)
        assert command is not None, "the group lists its commands"
        lines += [f".SH {_escape(name.upper())}", *_command(command, top, name)]
    lines += [".SH EXAMPLES", *_texts((root.epilog or "").replace("Examples:\n", ""))]
    return "\n".join(lines) + "\n"


def _command(command: click.Command, top: click.Context, name: str) -> Iterator[str]:
    context = click.Context(command, parent=top, info_name=name)
    yield from (".nf", _escape(command.get_usage(context).replace("Usage: ", "", 1)), ".fi")
    yield from _texts(command.help or "")
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            yield from (".TP", rf"\fB{_escape(record[0])}\fR", _escape(" ".join(record[1].split())))
    if command.epilog:
        yield from _texts(command.epilog)


def _texts(text: str) -> Iterator[str]:
    r"""Paragraphs of a help text; a line of \b before a paragraph keeps its lines."""
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        lines = paragraph.splitlines()
        keeps = bool(lines) and lines[0].strip() == "\b"
        body = [_escape(line) for line in lines[keeps:]]
        yield from (".PP", *((".nf", *body, ".fi") if keeps else (line.strip() for line in body)))


def _escape(line: str) -> str:
    """A line that roff shows as it is."""
    line = line.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{line}" if line.lstrip().startswith((".", "'")) else line
