"""Run a few PTX instructions over arrays; an oracle rounds exact fractions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.unit.ptx.engine import Engine, Outcome

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


def program(body: str, loads: list[str], result: str) -> str:
    """A kernel in which %a, %b ... are the thread's elements; it stores %d, which `body` sets."""
    names = "abcefg"[: len(loads)]
    lines = [f".param .u64 p{i}" for i in range(len(loads) + 1)]
    text = HEAD + f".visible .entry k({', '.join(lines)})\n{{\n"
    text += ".reg .pred %p<8>;\n.reg .b16 %rs<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\n"
    text += f".reg .b{width(result)} %d;\nmov.u32 %r0, %tid.x;\n"
    for i, (name, load) in enumerate(zip(names, loads, strict=True)):
        text += f".reg .b{width(load)} %{name};\nld.param.u64 %rd0, [p{i}];\n"
        text += f"mad.wide.u32 %rd0, %r0, {size(load)}, %rd0;\nld.global.{load} %{name}, [%rd0];\n"
    text += body + f"\nld.param.u64 %rd0, [p{len(loads)}];\nmad.wide.u32 %rd0, %r0, {size(result)}, %rd0;\n"
    return text + f"st.global.{result} [%rd0], %d;\nret;\n}}\n"


def size(load: str) -> int:
    """Size in bytes of a type such as b32."""
    return int(load[1:]) // 8


def width(load: str) -> int:
    """Size in bits of the register for a type."""
    return max(int(load[1:]), 16)


def apply(engine: Engine, body: str, result: str, *sources: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Run `body` with one thread per element, at most 1024. Returns unsigned bit patterns."""
    bits = [np.ascontiguousarray(source).view(f"u{source.dtype.itemsize}") for source in sources]
    module = engine.load(program(body, [f"b{8 * each.dtype.itemsize}" for each in bits], result))
    out = np.zeros(len(bits[0]), f"u{size(result)}")
    outcome: Outcome = module.run("k", [1], [len(out)], *bits, out)
    assert outcome.status == "ok", outcome.why
    return out


@dataclass(frozen=True)
class Format:
    """A binary floating-point format: fraction bits and exponent bits."""

    fraction: int
    exponent: int

    @property
    def bits(self) -> int:
        return 1 + self.exponent + self.fraction

    @property
    def bias(self) -> int:
        return 2 ** (self.exponent - 1) - 1

    @property
    def infinity(self) -> int:
        return (2**self.exponent - 1) << self.fraction

    def value(self, bits: int) -> Fraction:
        """The exact value of a finite bit pattern."""
        exponent, fraction = bits >> self.fraction & (2**self.exponent - 1), bits & (2**self.fraction - 1)
        whole = fraction + (2**self.fraction if exponent else 0)
        size = Fraction(whole) * Fraction(2) ** (max(exponent, 1) - self.bias - self.fraction)
        return -size if bits >> (self.bits - 1) else size

    def rounded(self, value: Fraction, mode: str = "rn", negative_zero: bool = False) -> int:
        """Round an exact value to a bit pattern in a PTX rounding mode."""
        sign = 1 << (self.bits - 1) if value < 0 or (value == 0 and negative_zero) else 0
        size = abs(value)
        if size == 0:
            return sign
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        exponent -= Fraction(2) ** exponent > size
        exponent = max(exponent, 1 - self.bias)
        units = size / Fraction(2) ** (exponent - self.fraction)
        whole = units.numerator // units.denominator
        rest = units - whole
        up = {
            "rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1),
            "rz": False,
            "rm": sign != 0 and rest > 0,
            "rp": sign == 0 and rest > 0,
        }[mode]
        pattern = ((exponent + self.bias - 1) << self.fraction) + whole + up
        if pattern < self.infinity:
            return sign | pattern
        away = mode == "rn" or (mode == "rp" and not sign) or (mode == "rm" and sign != 0)
        return sign | (self.infinity if away else self.infinity - 1)


F16, BF16, F32, F64 = Format(10, 5), Format(7, 8), Format(23, 8), Format(52, 11)
