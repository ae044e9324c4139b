"""Each command of a page has a subcommand and options that neutrino-bench has."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from benchguard.cli.main import cli
from tests.conftest import ROOT
from tests.support.page_commands import commands_of, pages

HELP = cli.context_settings["help_option_names"]
"""click keeps a command's help option from its first context for all later ones."""

END = re.compile(r"&|[|;)<>]|\d?>.*")
"""Words at which the shell's part of a line begins."""


def parse(command: str) -> str:
    """The name of the subcommand. Raises click.UsageError for an unknown name or option."""
    words = shlex.split(command.replace(";", " ;").replace(')"', " )").replace('"$(', ""))[1:]
    end = next((at for at, word in enumerate(words) if END.fullmatch(word)), len(words))
    words = words[:end]
    if words == ["--version"]:
        return ""
    name, *rest = ["observe", *words] if words[0].startswith("-") else words
    subcommand = cli.get_command(click.Context(cli), name)
    if subcommand is None:
        raise click.UsageError(f"no command {name}")
    context = click.Context(subcommand, info_name=name, help_option_names=HELP)
    subcommand.make_parser(context).parse_args(rest)
    return name


@pytest.mark.parametrize("page", pages(), ids=str)
def test_page_commands_have_known_names_and_options(page: Path) -> None:
    for command in commands_of((ROOT / page).read_text()):
        parse(command)


def test_pages_have_commands_of_most_subcommands() -> None:
    named = {parse(each) for page in pages() for each in commands_of((ROOT / page).read_text())}
    assert len(named) >= 15


@pytest.mark.parametrize("command", ["neutrino-bench graed a b", "neutrino-bench grade a b --sample 3"])
def test_unknown_name_or_option_is_found(command: str) -> None:
    assert parse(command.replace("graed", "grade").replace("--sample ", "--samples ")) == "grade"
    with pytest.raises(click.UsageError):
        parse(command)
