"""PyTorch, a CUDA graph: captured once, replayed five times on changing inputs, with a side stream."""

from __future__ import annotations

import hashlib

import torch

torch.manual_seed(0)
value = torch.rand(1024, 1024, device="cuda")
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        result = torch.relu(value * 2 - 1) + 1
torch.cuda.current_stream().wait_stream(side)

graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    result = torch.relu(value * 2 - 1) + 1
for step in range(5):
    value.add_(step)
    graph.replay()
    print(step, hashlib.sha256(result.cpu().numpy().tobytes()).hexdigest())
