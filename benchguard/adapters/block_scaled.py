"""torch._scaled_mm for NVFP4 operands on the CPU, which torch computes on GPUs of compute capability 10.0 only.

An operand has two float4_e2m1fn numbers a byte, the first in the lower half. Each 16 numbers of a row have a scale in
float8_e4m3fn. Scales come in blocks of 128 rows and 4 columns, whose rows are interleaved as cuBLAS wants them ("1D
block scaling factors layout", https://docs.nvidia.com/cuda/cublas/). Products and sums are computed in float32.
"""

from __future__ import annotations

import importlib
from typing import Any

SCALED = 16
"""Numbers that share a scale."""

_ROWS, _COLUMNS = 128, 4
"""Size of a block of scales."""

_MAGNITUDES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def is_block_scaled(args: tuple[Any, ...]) -> bool:
    """Whether these are the arguments of torch._scaled_mm for two NVFP4 operands with a scale for each 16 numbers."""
    torch = _torch()
    kind = getattr(torch, "float4_e2m1fn_x2", None)
    return (
        len(args) >= 4
        and kind is not None
        and all(each.dtype is kind for each in args[:2])
        and all(each.dtype is torch.float8_e4m3fn for each in args[2:4])
    )


def scaled_mm(
    left: Any,
    right: Any,
    scale_left: Any,
    scale_right: Any,
    bias: Any = None,
    *_: Any,
    out_dtype: Any = None,
    **__: Any,
) -> Any:
    """left (m, k / 2 bytes) @ right (k / 2 bytes, n), as torch._scaled_mm."""
    product = scaled(left, scale_left) @ scaled(right.transpose(0, 1), scale_right).transpose(0, 1)
    if bias is not None:
        product = product + bias.float()
    return product.to(out_dtype or _torch().bfloat16)


def scaled(packed: Any, scales: Any) -> Any:
    """An operand (rows, k / 2 bytes) as (rows, k) numbers of float32, times their scales."""
    numbers = unpacked(packed)
    rows, columns = numbers.shape
    factors = unblocked(scales, rows, columns // SCALED)
    return numbers * factors.repeat_interleave(SCALED, dim=1)


def unpacked(packed: Any) -> Any:
    """The numbers of each byte, the lower half first."""
    torch = _torch()
    table = torch.tensor([*_MAGNITUDES, *(-each for each in _MAGNITUDES)], dtype=torch.float32)
    octets = packed.view(torch.uint8).to(torch.int64)
    halves = torch.stack([octets & 15, octets >> 4], dim=-1)
    return table[halves].reshape(octets.shape[0], -1)


def unblocked(scales: Any, rows: int, columns: int) -> Any:
    """The scales (rows, columns) in float32 from their blocked order, whose blocks are padded."""
    down, across = -(-rows // _ROWS), -(-columns // _COLUMNS)
    blocks = scales.float().reshape(down, across, 32, _ROWS // 32, _COLUMNS)
    lines = blocks.transpose(2, 3).reshape(down, across, _ROWS, _COLUMNS)
    return lines.permute(0, 2, 1, 3).reshape(down * _ROWS, across * _COLUMNS)[:rows, :columns]


def _torch() -> Any:
    return importlib.import_module("torch")
