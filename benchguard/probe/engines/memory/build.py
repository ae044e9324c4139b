"""Counts the accesses of each instruction: the first lane of a warp adds what the warp needs to the place's counters.

Each place has COUNTERS counters of 64 bits: warps, threads, bytes, 32-byte sectors, 128-byte lines, and the warps'
passes through shared memory. Lanes that access the same sector or line are found by match.any.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchguard.probe.engine import Map, Probed, Request, Unit, finish
from benchguard.probe.engines.memory.places import places
from benchguard.probe.ptx import Function, Instruction, PtxError, Rewrite

COUNTERS = 6
MAP_BYTES_EACH = 8 * COUNTERS
TARGET_MIN, TARGET_REDUX = 70, 80
"""match.any needs sm_70; the number of passes is found by redux, which needs sm_80."""

WORD = 4
"""Bytes of a bank's word. Passes are counted for accesses up to this size."""


def build(request: Request) -> Probed:
    """Instrument a kernel.

    Args:
        request: The kernel. The engine has no options.

    Raises:
        PtxError: The PTX cannot be rewritten, or is for a device without match.any.
        UsageError: An option was given.
    """
    request.allow_options()
    rewrite = request.rewrite()
    target = _target(rewrite.module.target)
    if target < TARGET_MIN:
        raise PtxError(f"the PTX is for sm_{target}; counting transactions needs sm_{TARGET_MIN} or later")
    counters = rewrite.add_pointer()
    registers: dict[str, dict[str, str]] = {}
    count = 0
    for function, instruction in [*places(rewrite)]:
        if function.name not in registers:
            registers[function.name] = _registers(rewrite, function)
        code = _Code(rewrite, function, instruction, registers[function.name], target)
        rewrite.before(function, instruction, code.text(counters.register(function), MAP_BYTES_EACH * count))
        count += 1
    return finish(rewrite, [Map(Unit.LAUNCH, MAP_BYTES_EACH * count)])


def _target(words: Sequence[str]) -> int:
    """90 for sm_90a; 0 if no word names a target."""
    found = next(filter(None, (re.match(r"sm_(\d+)", each) for each in words)), None)
    return int(found[1]) if found else 0


def _registers(rewrite: Rewrite, function: Function) -> dict[str, str]:
    kinds = {"lanes": ".b32", "below": ".b32", "same": ".b32", "n": ".b32", "key": ".b64", "wide": ".u64", "p": ".pred",
             "first": ".pred", "word": ".b32", "bank": ".b32", "lane": ".b32"}  # fmt: skip
    return {name: rewrite.new_register(function, kind) for name, kind in kinds.items()}


class _Code:
    def __init__(
        self,
        rewrite: Rewrite,
        function: Function,
        instruction: Instruction,
        names: dict[str, str],
        target: int,
    ) -> None:
        self._rewrite, self._instruction, self._r, self._target = rewrite, instruction, names, target
        self._address, self._at = rewrite.effective_address(function, instruction)

    def text(self, pointer: str, at: int) -> str:
        r, bytes_ = self._r, self._instruction.access_bytes
        end = self._rewrite.new_label()
        lines = [self._address]
        if not self._instruction.space:
            lines += [
                f"isspacep.shared {r['p']}, {self._at};\n@{r['p']} bra {end};",
                f"isspacep.local {r['p']}, {self._at};\n@{r['p']} bra {end};",
            ]
        lines += [
            f"activemask.b32 {r['lanes']};",
            f"mov.u32 {r['below']}, %lanemask_lt;",
            f"and.b32 {r['same']}, {r['lanes']}, {r['below']};",
            f"setp.eq.u32 {r['first']}, {r['same']}, 0;",
            f"popc.b32 {r['n']}, {r['lanes']};",
            self._add(pointer, at, None),
            self._add(pointer, at + 8, r["n"]),
            f"mul.lo.u32 {r['n']}, {r['n']}, {bytes_};",
            self._add(pointer, at + 16, r["n"]),
        ]
        if self._instruction.space == "shared":
            lines += self._passes(pointer, at + 40) if bytes_ <= WORD and self._target >= TARGET_REDUX else []
        else:
            lines += [*self._distinct(5), self._add(pointer, at + 24, r["n"])]
            lines += [*self._distinct(7), self._add(pointer, at + 32, r["n"])]
        return "\n".join([*lines, f"{end}:"])

    def _add(self, pointer: str, at: int, register: str | None) -> str:
        r = self._r
        value = f"cvt.u64.u32 {r['wide']}, {register};" if register else f"mov.u64 {r['wide']}, 1;"
        return f"{value}\n@{r['first']} red.global.add.u64 [{pointer}+{at}], {r['wide']};"

    def _distinct(self, shift: int) -> list[str]:
        """Leave the number of different addresses >> shift in n."""
        r = self._r
        return [
            f"shr.u64 {r['key']}, {self._at}, {shift};",
            f"match.any.sync.b64 {r['same']}, {r['key']}, {r['lanes']};",
            *self._leaders(),
            f"popc.b32 {r['n']}, {r['n']};",
        ]

    def _leaders(self) -> list[str]:
        """Leave the lanes that are the first of those in `same` in n, and whether this one is in p."""
        r = self._r
        return [
            f"and.b32 {r['same']}, {r['same']}, {r['below']};",
            f"setp.eq.u32 {r['p']}, {r['same']}, 0;",
            f"vote.sync.ballot.b32 {r['n']}, {r['p']}, {r['lanes']};",
        ]

    def _passes(self, pointer: str, at: int) -> list[str]:
        """The most different words of one bank. A lane that is not the first of its word has a key of its own."""
        r = self._r
        return [
            f"shr.u64 {r['key']}, {self._at}, 2;",
            f"match.any.sync.b64 {r['same']}, {r['key']}, {r['lanes']};",
            *self._leaders(),
            f"cvt.u32.u64 {r['word']}, {r['key']};",
            f"and.b32 {r['bank']}, {r['word']}, 31;",
            f"mov.u32 {r['lane']}, %laneid;",
            f"add.u32 {r['lane']}, {r['lane']}, 32;",
            f"selp.b32 {r['bank']}, {r['bank']}, {r['lane']}, {r['p']};",
            f"match.any.sync.b32 {r['same']}, {r['bank']}, {r['lanes']};",
            f"popc.b32 {r['n']}, {r['same']};",
            f"redux.sync.max.u32 {r['n']}, {r['n']}, {r['lanes']};",
            self._add(pointer, at, r["n"]),
        ]
