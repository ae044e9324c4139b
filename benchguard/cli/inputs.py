"""Input sets from files: --input NAME=FILE."""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import UsageError

if TYPE_CHECKING:
    from ..replay.buffers import Source

STREAM_MAX = 256 << 20
"""Bytes that are taken from a pipe or a device: /dev/zero never ends."""

input_option = click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="NAME=FILE",
    help="Write a file to a named range, or to an address, before each sample. Repeat a name to give several input "
    "sets, one drawn at random for each sample.",
)


def inputs_of(words: tuple[str, ...]) -> dict[str | int, Source]:
    contents: defaultdict[str | int, list[bytes]] = defaultdict(list)
    for word in words:
        name, file = name_and_file("--input", word)
        try:
            contents[range_key("--input", name)].append(_content_of(file))
        except OSError as error:
            raise UsageError(f"cannot read the input {file}: {error.strerror}; check the path") from error
    return {key: sets[0] if len(sets) == 1 else sets for key, sets in contents.items()}


def _content_of(file: str) -> bytes:
    """The content of a file, or of a pipe or device that ends. Raises OSError, UsageError."""
    with Path(file).open("rb") as stream:
        if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            return stream.read()
        content = stream.read(STREAM_MAX + 1)
    if len(content) > STREAM_MAX:
        raise UsageError(
            f"the input {file} is a pipe or a device with more than {STREAM_MAX >> 20} MiB; write it to a file first"
        )
    return content


def name_and_file(option: str, word: str) -> tuple[str, str]:
    name, equals, file = word.partition("=")
    if not (name and equals and file):
        raise UsageError(f"{option} {word!r} is not NAME=FILE; give a range's name or an address, and a file")
    return name, file


def range_key(option: str, name: str) -> str | int:
    """A name, or an address if it begins with 0x."""
    return number_of(option, name) if name.startswith("0x") else name


def number_of(option: str, text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise UsageError(
            f"{option}: {text!r} is not a number; give an address as 0x..., and a size in bytes"
        ) from None
