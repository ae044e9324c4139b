# A problem in KernelBench's form, of our own writing.
import torch
from torch import nn


class Model(nn.Module):
    """A linear layer, its bias, and a clamp."""

    def __init__(self, in_features: int, out_features: int, low: float):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.low = low

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.clamp(self.linear(x), min=self.low)


batch_size = 8
in_features = 16
out_features = 12


def get_inputs():
    return [torch.randn(batch_size, in_features)]


def get_init_inputs():
    return [in_features, out_features, -0.25]
