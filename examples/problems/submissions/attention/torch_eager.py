"""PyTorch's own: whichever of its kernels suits; what it returns is the output."""

import torch


def solution(q, k, v, o, heads: int, length: int):
    return torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None])[0]
