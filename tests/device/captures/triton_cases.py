"""A Triton matrix product, autotuned in the same process."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from harness import Case, TorchClock, main


@triton.autotune(
    configs=[
        triton.Config({"M": 128, "N": 128, "K": 64}, num_stages=3, num_warps=8),
        triton.Config({"M": 128, "N": 64, "K": 64}, num_stages=4, num_warps=4),
        triton.Config({"M": 64, "N": 64, "K": 64}, num_stages=4, num_warps=4),
    ],
    key=["size"],
)
@triton.jit
def product(a, b, c, size, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):  # type: ignore[no-untyped-def] # noqa: N803
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    depth = tl.arange(0, K)
    total = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, size, K):
        left = tl.load(a + rows[:, None] * size + (start + depth)[None, :])
        right = tl.load(b + (start + depth)[:, None] * size + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * size + columns[None, :], total.to(tl.bfloat16))


def autotuned() -> Case:
    size = 2048
    a, b, c = (torch.rand(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(3))

    def run() -> None:
        product[lambda meta: (size // meta["M"], size // meta["N"])](a, b, c, size)

    return Case(run, {"c": c})


if __name__ == "__main__":
    torch.manual_seed(0)
    main({"autotuned": autotuned}, TorchClock())
