# A problem in KernelBench's form, of our own writing.
import torch
from torch import nn


class Model(nn.Module):
    """A transposed convolution."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int):
        super().__init__()
        self.layer = nn.ConvTranspose2d(in_channels, out_channels, kernel_size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)


def get_inputs():
    return [torch.rand(2, 32, 24, 24)]


def get_init_inputs():
    return [32, 16, 5]
