"""NVFP4 matrix products on the CPU, against sums over single numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchguard.adapters.block_scaled import is_block_scaled, scaled_mm, unpacked
from benchguard.adapters.host import running_on

torch = pytest.importorskip("torch")
if not hasattr(torch, "float4_e2m1fn_x2"):
    pytest.skip("this torch has no float4", allow_module_level=True)

ml_dtypes = pytest.importorskip("ml_dtypes")
ROWS, COLUMNS, DEPTH = 256, 128, 128


def operand(rows: int, seed: int) -> tuple[Any, Any, np.ndarray]:
    """Packed numbers, their scales by row, and the scaled numbers by ml_dtypes."""
    chance = np.random.default_rng(seed)
    codes = chance.integers(0, 16, (rows, DEPTH), dtype=np.uint8)
    scales = chance.integers(40, 70, (rows, DEPTH // 16), dtype=np.uint8)
    numbers = codes.view(ml_dtypes.float4_e2m1fn).astype(np.float64)
    factors = scales.view(ml_dtypes.float8_e4m3fn).astype(np.float64)
    packed = torch.from_numpy(codes[:, ::2] | codes[:, 1::2] << 4).view(torch.float4_e2m1fn_x2)
    return packed, torch.from_numpy(scales), numbers * np.repeat(factors, 16, axis=1)


def blocked(scales: Any) -> Any:
    """Element (row, column) of a block of 128 x 4 lies at row % 32 * 16 + row // 32 * 4 + column (cuBLAS)."""
    rows, columns = scales.shape
    flat = np.zeros(rows * columns, np.uint8)
    for row in range(rows):
        for column in range(columns):
            block = row // 128 * (columns // 4) + column // 4
            inside = row % 32 * 16 + row % 128 // 32 * 4 + column % 4
            flat[512 * block + inside] = scales[row, column]
    return torch.from_numpy(flat).view(torch.float8_e4m3fn)


def test_product_equals_sums_over_single_numbers() -> None:
    (a, sa, left), (b, sb, right) = operand(ROWS, 1), operand(COLUMNS, 2)
    args = (a, b.transpose(0, 1), blocked(sa), blocked(sb))
    assert is_block_scaled(args)
    result = scaled_mm(*args, out_dtype=torch.float32).double().numpy()
    np.testing.assert_allclose(result, left @ right.T, rtol=1e-5, atol=1e-5)


def test_scales_of_another_order_give_another_product() -> None:
    (a, sa, left), (b, sb, right) = operand(ROWS, 1), operand(COLUMNS, 2)
    plain = sa.reshape(-1).view(torch.float8_e4m3fn)
    result = scaled_mm(a, b.transpose(0, 1), plain, blocked(sb), out_dtype=torch.float32).double().numpy()
    assert not np.allclose(result, left @ right.T, rtol=1e-2)


def test_lower_half_of_a_byte_is_the_first_number() -> None:
    packed = torch.tensor([[0x72]], dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
    assert unpacked(packed).tolist() == [[1.0, 6.0]]


def test_task_code_on_the_cpu_uses_it() -> None:
    (a, sa, left), (b, sb, right) = operand(ROWS, 1), operand(COLUMNS, 2)
    with running_on("cpu"):
        result = torch._scaled_mm(
            a, b.transpose(0, 1), blocked(sa).cuda(), blocked(sb).cuda(), bias=None, out_dtype=torch.float16
        )
    assert result.dtype is torch.float16
    np.testing.assert_allclose(result.double().numpy(), left @ right.T, rtol=2e-3, atol=1e-2)


def test_other_scaling_is_left_to_torch() -> None:
    tensor = torch.zeros(16, 16, dtype=torch.float8_e4m3fn)
    assert not is_block_scaled((tensor, tensor, torch.ones(1), torch.ones(1)))
