"""neutrino-bench starter: write a template for a submission."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast, get_args

import click

from ..errors import BenchguardError, UsageError
from ..problem.errors import blaming
from ..problem.starter import Language
from ..problem.starter import starter as starter_of
from .options import OutputPath
from .output import print_document


@click.command()
@click.argument("problem", metavar="PROBLEM")
@click.option(
    "--lang",
    type=click.Choice(get_args(Language)),
    help="Language of the template.  [default: cuda; python for tasks of GPU MODE and KernelBench]",
)
@click.option(
    "-o",
    "--output",
    type=OutputPath(),
    metavar="FILE",
    help="Write to this file, which must not exist.  [default: standard output]",
)
@click.option(
    "--dtype", default="", metavar="TYPE", help="Type of parameters of type [VAR].  [default: float]"
)
def starter(problem: str, lang: str | None, output: Path | None, dtype: str) -> int:
    """Write a template for a submission to PROBLEM (PATH.py[:CLASS]), from the problem's signature.

    PROBLEM may also be a task of GPU MODE, a problem of KernelBench or a challenge of LeetGPU. This imports the
    problem's files, so they must be trusted.
    """
    if output is not None and output.exists():
        raise UsageError(f"{output} exists; name another file, or remove it")
    with blaming(Path(problem), "writing a template"):  # what the author's methods return may be anything
        text = text_of(problem, cast("Language | None", lang), dtype)
    if output is None:
        print_document(text)
        return 0
    try:
        with output.open("x") as file:
            file.write(text)
    except OSError as error:
        raise BenchguardError(f"cannot write {output}: {error.strerror}; name another file") from error
    return 0


def text_of(problem: str, language: Language | None, dtype: str) -> str:
    from ..adapters import load_suite
    from ..adapters.detect import adapter_of
    from ..problem.load import opened, sample_of, signature_of, suite_of
    from ..problem.spec import ELEMENT_BYTES
    from ..problem.starter_sizes import output_sizes
    from ..problem.starter_suite import suite_starter

    format_ = adapter_of(problem)
    if format_ != "problem":
        if dtype:
            raise UsageError(f"--dtype {dtype}: only parameters of type [VAR] need it; leave it out")
        every = {"cases": "all"} if format_ == "leetgpu" else {}  # its functional tests show which sizes vary
        return suite_starter(load_suite(problem, format_, every), language)
    found, path = opened(problem)
    signature_of(found, path, dtype)  # names mistakes in `parameters`
    if dtype and not any(each.get("type") == "[VAR]" for each in found.parameters or ()):
        raise UsageError(f"--dtype {dtype}: no parameter of {path} has the type [VAR]; leave it out")
    options = {"dtype": dtype} if dtype in ELEMENT_BYTES else {}
    cases = suite_of(found, path, options).cases
    specs = [outline for each in cases if (outline := each.outline) is not None]
    if not specs:  # two small cases show which size depends on which number
        small = [*sample_of(found, path, options), min(cases, key=lambda each: each.input_bytes)]
        specs = [each.spec for each in small]
    on_host = {each.name for each in specs[0].buffers if each.on_host}
    parameters = [replace(each, on_host=each.name in on_host) for each in signature_of(found, path, dtype)]
    return starter_of(parameters, language or "cuda", output_sizes(specs))
