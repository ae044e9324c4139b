"""Commands that take another program's command line after `--`, instead of a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

_KEY = "neutrino-bench.trailing"
_DASHES = "--"


class TrailingCommand(click.Command):
    """A command whose words after the first `--` are a program's, whatever they look like.

    `forms` are the usage lines after the command's own name.
    """

    def __init__(self, *arguments: Any, forms: Sequence[str] = (), **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._forms = forms

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if _DASHES in args:
            at = args.index(_DASHES)
            ctx.meta[_KEY] = tuple(args[at + 1 :])
            args = args[:at]
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for number, form in enumerate(self._forms):
            formatter.write_usage(ctx.command_path, form, prefix="       " if number else None)


def trailing_words(context: click.Context) -> tuple[str, ...] | None:
    """The words after `--`; None without `--`."""
    words: tuple[str, ...] | None = context.meta.get(_KEY)
    return words
