"""The frame of a probe engine: read the request, let a function instrument the kernel, write the answer.

The supervisor runs an engine as `ENGINE WORKDIR KERNEL`. A module that ends in `engine.main(build)` is one: `build`
gets a `Request`, and returns a `Probed`. docs/writing-a-probe.md has a whole example.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

from benchguard.errors import BenchguardError, UsageError
from benchguard.probe.ptx import PtxError, Rewrite, parse

CONTRACT = 3
"""The version of the files between supervisor and engine."""
REQUEST_LIMIT = 1 << 20
TEXT_LIMIT = 64 << 20


class Unit(IntEnum):
    """The unit that a map has a region for."""

    THREAD = 0
    WARP = 1
    BLOCK = 2
    LAUNCH = 3
    ALLOCATIONS = 4
    """A table of the process's allocations, filled in before the launch."""


@dataclass(frozen=True)
class Map:
    """Device memory of a probe, zeroed before the launch and brought back behind it.

    Attributes:
        unit: The unit that gets a region of its own.
        bytes: The size of a region, or of an entry.
        is_counted: A region is a list of entries, as long as launches need (benchguard.probe.counted).
    """

    unit: Unit
    bytes: int
    is_counted: bool = False


@dataclass(frozen=True)
class Request:
    """A kernel to instrument.

    Attributes:
        kernel: Its name.
        ptx: The PTX of its module.
        options: The options of the probe command, KEY to VALUE.
        target: The architecture that the program runs on, for example sm_90.
        benchmark: The answer needs the kernel without probes, too.
    """

    kernel: str
    ptx: str
    options: Mapping[str, str] = field(default_factory=dict)
    target: str = ""
    benchmark: bool = False

    def rewrite(self) -> Rewrite:
        """The kernel, ready for edits.

        Raises:
            PtxError: The PTX cannot be read, or lacks the kernel.
        """
        return Rewrite(parse(self.ptx), self.kernel)

    def allow_options(self, *names: str) -> None:
        """Refuse options that the engine does not have.

        Raises:
            UsageError: An option has another name.
        """
        for name in self.options:
            if name not in names:
                known = f"its options are {', '.join(names)}" if names else "it has none"
                raise UsageError(f"the engine has no option {name[:100]!r}; {known}")


@dataclass(frozen=True)
class Probed:
    """An instrumented kernel.

    Attributes:
        ptx: The rewritten module.
        parameters: The number of the original kernel's parameters.
        maps: The maps, in the order of the added parameters.
        addresses: Symbols of the rewritten module, and the variables of the original module whose addresses they hold.
        unprobed: Functions that the probe does not see, with the reason.
    """

    ptx: str
    parameters: int
    maps: Sequence[Map]
    addresses: Sequence[tuple[str, str]] = ()
    unprobed: Mapping[str, str] = field(default_factory=dict)


def finish(rewrite: Rewrite, maps: Sequence[Map]) -> Probed:
    """Share the variables of the original module, and render the text.

    Args:
        rewrite: A kernel with edits, and a pointer for each map.
        maps: The maps, in the order of `Rewrite.add_pointer`.

    Raises:
        PtxError: A variable cannot be shared.
    """
    addresses = rewrite.share_globals()
    return Probed(
        rewrite.text(), len(rewrite.kernel.parameters), maps, addresses, unprobed=dict(rewrite.unprobed)
    )


def read_request(workdir: Path, kernel: str) -> Request:
    """Read `original.ptx` and `request.json`.

    Raises:
        UsageError: A file is missing, too large or of another contract.
    """
    try:
        document: Any = json.loads(_bounded(workdir / "request.json", REQUEST_LIMIT))
    except ValueError:
        raise UsageError(f"{workdir / 'request.json'} is not JSON") from None
    if not isinstance(document, dict) or document.get("contract") != CONTRACT:
        raise UsageError(f"{workdir / 'request.json'} is not of contract {CONTRACT}")
    if not (workdir / "original.ptx").is_file():
        raise UsageError("the image has machine code only; this engine needs PTX")
    options = document.get("options", {})
    if not isinstance(options, dict) or not all(isinstance(value, str) for value in options.values()):
        raise UsageError(f"{workdir / 'request.json'}: options are not texts")
    text = _bounded(workdir / "original.ptx", TEXT_LIMIT).decode("utf-8", "surrogateescape")
    return Request(kernel, text, options, str(document.get("target", "")), document.get("benchmark") is True)


def write_pruned(workdir: Path, request: Request, probed: Probed) -> None:
    """Write `pruned.bin`: the kernel as `probed` has it, without its probes.

    Raises:
        UsageError: The kernel without probes uses a variable that the probed one does not share.
    """
    pruned = finish(request.rewrite(), [])
    if not set(pruned.addresses) <= set(probed.addresses):
        raise UsageError(
            "the probed kernel does not share all variables of the original (rewrite.share_globals)"
        )
    (workdir / "pruned.bin").write_bytes(pruned.ptx.encode("utf-8", "surrogateescape"))


def write_answer(workdir: Path, kernel: str, probed: Probed) -> None:
    """Write `kernel.info` and `probed.bin`."""
    lines = [kernel, str(probed.parameters), str(len(probed.maps))]
    lines += [f"{int(one.unit)},{one.bytes}{',counted' * one.is_counted}" for one in probed.maps]
    lines += [f"address {symbol} {variable}" for symbol, variable in probed.addresses]
    (workdir / "probed.bin").write_bytes(probed.ptx.encode("utf-8", "surrogateescape"))
    (workdir / "kernel.info").write_text("\n".join(lines) + "\n")


def main(build: Callable[[Request], Probed], arguments: Sequence[str] | None = None) -> int:
    """Run an engine as a command.

    Args:
        build: Instruments a kernel.
        arguments: WORKDIR and KERNEL; by default those of the process.

    Returns:
        The exit status: 0, or another one behind a line on standard error.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if len(given) != 2:
        print("usage: ENGINE WORKDIR KERNEL", file=sys.stderr)
        return 2
    workdir, kernel = Path(given[0]), given[1]
    try:
        request = read_request(workdir, kernel)
        probed = build(request)
        write_answer(workdir, kernel, probed)
        if request.benchmark:
            write_pruned(workdir, request, probed)
    except (BenchguardError, OSError, RecursionError) as error:
        print(str(error).splitlines()[0], file=sys.stderr)
        return 1
    for name, reason in list(probed.unprobed.items())[:20]:
        print(f"not probed: {name[:200]}: {reason}", file=sys.stderr)
    return 0


def _bounded(path: Path, limit: int) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except FileNotFoundError:
        raise UsageError(f"{path} is missing") from None
    if len(data) > limit:
        raise UsageError(f"{path} has more than {limit:,} bytes")
    return data


__all__ = [
    "Map", "Probed", "PtxError", "Request", "Unit", "finish", "main", "read_request", "write_answer",
    "write_pruned",
]  # fmt: skip
