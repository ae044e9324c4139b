"""Which symbol cuGetProcAddress gives for a base name and a version.

cudaTypedefs.h names each function pointer type PFN_<base>_v<version>[_ptds|_ptsz]. The n-th version of a
base is its n-th ABI: PFN_cuMemAlloc_v2000 is cuMemAlloc, PFN_cuMemAlloc_v3020 is cuMemAlloc_v2. That
rule held for all headers from 11.7 to 13.5, and it is checked here: both must have one signature.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from .errors import CodegenError
from .model import EntryPoint, Function, split_variant


@dataclass(frozen=True)
class Typedef:
    """One PFN_ typedef."""

    base: str
    version: int
    thread: str
    signature: str


def entry_points(typedefs: Iterable[Typedef], functions: Iterable[Function]) -> tuple[EntryPoint, ...]:
    """The table, ordered by base name, per-thread form and version. Raises CodegenError on a mismatch."""
    versions: dict[tuple[str, str], list[Typedef]] = defaultdict(list)
    for typedef in typedefs:
        versions[typedef.base, typedef.thread].append(typedef)
    symbols: dict[tuple[str, str], list[Function]] = defaultdict(list)
    for function in functions:
        symbols[function.base, split_variant(function.name)[2]].append(function)

    rows = []
    for (base, thread), known in versions.items():
        abis = sorted(symbols[base, thread], key=lambda function: split_variant(function.name)[1])
        if len(abis) != len(known):
            raise CodegenError(
                f"cudaTypedefs.h has {len(known)} versions of {base}{thread} but cuda.h has {len(abis)}: "
                "the two headers are not of one release"
            )
        for typedef, function in zip(sorted(known, key=lambda known: known.version), abis, strict=True):
            if typedef.signature != function.signature:
                raise CodegenError(
                    f"PFN_{base}_v{typedef.version}{thread} is {typedef.signature} but {function.name} is "
                    f"{function.signature}: the two headers are not of one release"
                )
            rows.append(EntryPoint(base, typedef.version, bool(thread), function.name))
    return tuple(sorted(rows, key=lambda row: (row.base, row.per_thread, row.version)))
