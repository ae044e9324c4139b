"""A problem in KernelBench's form: a recurrent layer of several kinds."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, kind: str, size: int) -> None:
        super().__init__()
        self.layer = getattr(nn, kind)(size, size, num_layers=2, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)[0]


def get_inputs():
    return [torch.randn(3, 12, 128) * 8]


def get_init_inputs():
    return ["LSTM", 128]
