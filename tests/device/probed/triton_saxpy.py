"""A kernel of Triton: prints a hash of its results, and the costs of launches."""

import hashlib

import timed
import torch
import triton
import triton.language as tl


@triton.jit
def saxpy(y, x, a, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: N803
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(y + i, tl.load(y + i, mask=mask) + a * tl.load(x + i, mask=mask), mask=mask)


x = (torch.arange(100_000, device="cuda") % 97).float()
y = x.clone()
n = x.numel()
saxpy.warmup(y, x, 0.5, n, BLOCK=1024, grid=(98,))  # compile before the first launch


def launch() -> None:
    saxpy[(98,)](y, x, 0.5, n, BLOCK=1024)
    torch.cuda.synchronize()


timed.launches(launch)
print(hashlib.sha256(y.cpu().numpy().tobytes()).hexdigest())
