"""Standard output that is closed or full, and exit statuses that stay true then."""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import sys
from collections.abc import Iterator
from typing import NoReturn, TextIO

from .. import exit_status


class ClosedPipeError(Exception):
    """A BrokenPipeError by another name: click ends with status 1 on the original."""


@contextlib.contextmanager
def closed_pipes_renamed() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise ClosedPipeError from error


@contextlib.contextmanager
def quiet_pipe(output: TextIO) -> Iterator[None]:
    """End rows quietly when their reader has ended, as `head` does."""
    try:
        yield
    except BrokenPipeError:
        discard(output)


def replace_closed_output() -> None:
    """Replace standard output and standard error if they are closed, so that no other file gets their descriptors.

    Writes to this standard output fail, and those to this standard error lead nowhere. The descriptors are not
    inherited: an observed command finds its streams closed, as without us.
    """
    if sys.stdout is None:
        sys.stdout = _null_stream(1, os.O_RDONLY)
    if sys.stderr is None:
        sys.stderr = _null_stream(2, os.O_WRONLY)


def _null_stream(number: int, flags: int) -> TextIO:
    """A stream on the descriptor `number`, which is closed. Standard input gets a descriptor, too, if it is closed."""
    descriptor = os.open(os.devnull, flags)  # the lowest free number
    if descriptor < number:
        os.dup2(descriptor, number, inheritable=False)
    return os.fdopen(max(descriptor, number), "w", closefd=False)


def exit_with(status: int) -> NoReturn:
    """Write what is buffered and exit; the status is INTERNAL if standard output cannot be written."""
    try:
        sys.stdout.flush()
    except OSError as error:
        exit_unwritable(error)
    gc.freeze()  # the interpreter's last collection visits every object otherwise: 0.05 s, and more under load
    sys.exit(status)


def exit_unwritable(error: OSError | ClosedPipeError) -> NoReturn:
    """Exit with one line after a failed write to standard output or standard error."""
    reason = os.strerror((error.errno or errno.EIO) if isinstance(error, OSError) else errno.EPIPE)
    with contextlib.suppress(OSError):
        print(
            f"neutrino-bench: error: cannot write to standard output: {reason}; "
            "send it to a file with free space, or to a reader that stays",
            file=sys.stderr,
            flush=True,
        )
    discard(sys.stdout, sys.stderr)
    sys.exit(exit_status.INTERNAL)


def discard(*streams: TextIO) -> None:
    """Let streams that cannot be written lead nowhere: the interpreter flushes them once more at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            os.dup2(null, stream.fileno())
