"""PyTorch, eager: elementwise, reduction, cuBLAS and attention kernels, from several libraries."""

from __future__ import annotations

import hashlib

import torch


def show(name: str, result: torch.Tensor) -> None:
    print(name, hashlib.sha256(result.float().cpu().numpy().tobytes()).hexdigest())


torch.manual_seed(0)
picture = torch.rand(512, 512, 3, device="cuda")
show("weighted-sum", torch.sum(picture * torch.tensor([0.2989, 0.587, 0.114], device="cuda"), dim=-1))
show("softmax", torch.softmax(torch.rand(1024, 1024, device="cuda"), -1))
matrix = torch.rand(1024, 1024, device="cuda", dtype=torch.bfloat16)
show("matmul", matrix @ matrix)
query = torch.rand(2, 4, 512, 64, device="cuda", dtype=torch.bfloat16)
show("attention", torch.nn.functional.scaled_dot_product_attention(query, query, query))
