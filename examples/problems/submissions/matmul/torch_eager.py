"""PyTorch's own, which is cuBLAS."""

import torch


def solution(a, b, c, m: int, n: int, k: int):
    torch.matmul(a, b, out=c)
