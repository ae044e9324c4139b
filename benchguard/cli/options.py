"""Options that several commands have."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from ..errors import BenchguardError, UsageError

CUDA_DRIVERS = ("auto", "sim")
DRIVERS = (*CUDA_DRIVERS, "hip", "hip-sim")


def complete_driver(words: Sequence[str]) -> Callable[..., list[CompletionItem]]:
    """For shells: these words, and files where none of them fits."""

    def complete(ctx: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:  # noqa: ARG001
        fitting = [CompletionItem(word) for word in words if word.startswith(typed)]
        return fitting or [CompletionItem(typed, type="file")]

    return complete


driver_option = click.option(
    "--driver",
    default="auto",
    shell_complete=complete_driver(DRIVERS),
    metavar="auto|sim|hip|hip-sim|PATH",
    show_default=True,
    help="The real driver: this machine's (CUDA's, else HIP's, else the CPU driver), the CPU driver, this machine's of "
    "HIP, the CPU driver as HIP's, or a library.",
)

cuda_driver_option = click.option(
    "--driver",
    default="auto",
    shell_complete=complete_driver(CUDA_DRIVERS),
    metavar="auto|sim|PATH",
    show_default=True,
    help="The real driver of CUDA: this machine's (the CPU driver if it has none), the CPU driver, or a library.",
)

timeout_option = click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Kill the command and what it started after so long; exit with 124.",
)

_SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"([0-9]{1,12})([KMGT]?)(?:i?B)?", re.IGNORECASE)


flush_cache_option = click.option(
    "--flush-cache",
    is_flag=True,
    help="Empty the instruction caches before each sample: on AMD's devices with s_icache_inv in 60 blocks a compute "
    "unit, elsewhere as --icache cold.",
)


def pairs(option: str, words: Sequence[str]) -> dict[str, str]:
    """NAME=VALUE, several times. Raises UsageError."""
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals):
            raise UsageError(f"{option} {word!r} is no NAME=VALUE; give a name and what it is")
        found[name] = value
    return found


def size_of(option: str, text: str) -> int:
    """Bytes, as 512M or 16G. Raises UsageError."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"{option} {text!r} is no size; give bytes, or a number with K, M, G or T")
    return int(found[1]) * _SIZES[found[2].upper()]


def write_text(path: Path, text: str) -> None:
    """Raises BenchguardError."""
    try:
        path.write_text(text)
    except OSError as error:
        raise BenchguardError(f"cannot write {path}: {error.strerror}; give another path") from error
