"""PyTorch, eager: one of its own kernels for each operation."""

import torch


def solution(rgb, grey, height: int, width: int):
    wide = rgb.to(torch.int32)
    grey.copy_((77 * wide[..., 0] + 150 * wide[..., 1] + 29 * wide[..., 2] + 128) >> 8)
