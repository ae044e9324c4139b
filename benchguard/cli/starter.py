"""neutrino-bench starter: code to begin a submission with."""

from __future__ import annotations

from pathlib import Path
from typing import cast, get_args

import click

from ..errors import BenchguardError, UsageError
from ..problem.load import opened, signature_of
from ..problem.starter import Language
from ..problem.starter import starter as starter_of


@click.command(short_help="Write code to begin a submission to PROBLEM with.")
@click.argument("problem", metavar="PROBLEM")
@click.option("--lang", type=click.Choice(get_args(Language)), default="cuda", show_default=True)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write it there; an existing file is left as it is.  [default: standard output]",
)
@click.option(
    "--dtype", default="", metavar="TYPE", help="What a parameter of type [VAR] is.  [default: float]"
)
def starter(problem: str, lang: str, output: Path | None, dtype: str) -> int:
    """Write code to begin a submission to PROBLEM (PATH.py[:CLASS]) with, from its signature.

    The file is loaded, so it is trusted.
    """
    text = starter_of(signature_of(*opened(problem), dtype), cast(Language, lang))
    if output is None:
        click.echo(text, nl=False)
        return 0
    try:
        with output.open("x") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{output} is there already; give another name, or remove it") from None
    except OSError as error:
        raise BenchguardError(f"cannot write {output}: {error.strerror}; give another path") from error
    return 0
