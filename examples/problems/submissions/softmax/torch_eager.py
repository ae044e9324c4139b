"""PyTorch's own kernel."""

import torch


def solution(x, y, rows: int, columns: int):
    torch.softmax(x, 1, out=y)
