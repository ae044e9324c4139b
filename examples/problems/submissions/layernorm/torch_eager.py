"""PyTorch's own kernel; what it returns is the output."""

import torch


def solution(x, gamma, beta, y, rows: int, columns: int):
    return torch.nn.functional.layer_norm(x, (columns,), gamma, beta, 1e-5)
