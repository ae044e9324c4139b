"""What PyTorch programs do to a driver, each a case that is recorded, replayed and timed (tests/device/replays.py)."""

from __future__ import annotations

import torch
from harness import Case, TorchClock, main


def _rand(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.rand(*shape, device="cuda", dtype=dtype)


def reduction() -> Case:
    """Elementwise, then a reduction: two ATen kernels."""
    picture, weights, grey = _rand(512, 512, 3), _rand(3), _rand(512, 512)
    return Case(lambda: torch.sum(picture * weights, dim=-1, out=grey), {"grey": grey})


def softmax() -> Case:
    value, result = _rand(4096, 8192), _rand(4096, 8192)
    return Case(lambda: torch.softmax(value, dim=-1, out=result), {"result": result})


def layernorm() -> Case:
    value, weight, bias = _rand(4096, 4096), _rand(4096), _rand(4096)
    case = Case(lambda: None, {})

    def run() -> None:
        case.outputs["result"] = torch.nn.functional.layer_norm(value, (4096,), weight, bias)

    case.run = run
    return case


def compiled() -> Case:
    """torch.compile: a Triton kernel that Inductor wrote."""
    value, other, result = _rand(2048, 2048), _rand(2048, 2048), _rand(2048, 2048)

    @torch.compile
    def function(a: torch.Tensor, b: torch.Tensor, into: torch.Tensor) -> None:
        into.copy_(torch.nn.functional.gelu(a) * b + a.mean(dim=-1, keepdim=True))

    return Case(lambda: function(value, other, result), {"result": result})


def graph() -> Case:
    """A CUDA graph of four kernels, launched once."""
    value, result = _rand(1024, 1024), _rand(1024, 1024)

    def body() -> None:
        result.copy_(torch.relu(value * 2 - 1) + 1)

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        body()
    torch.cuda.current_stream().wait_stream(side)
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        body()
    return Case(captured.replay, {"result": result})


def gemm() -> Case:
    """cuBLAS: tensor-map descriptors, clusters, packed parameters."""
    a, b, c = (_rand(4096, 4096, dtype=torch.bfloat16) for _ in range(3))
    return Case(lambda: torch.matmul(a, b, out=c), {"c": c})


def attention() -> Case:
    """cuDNN or flash attention, as torch chooses."""
    query, key, value = (_rand(4, 16, 2048, 64, dtype=torch.bfloat16) for _ in range(3))
    case = Case(lambda: None, {})

    def run() -> None:
        case.outputs["result"] = torch.nn.functional.scaled_dot_product_attention(query, key, value)

    case.run = run
    return case


def streams() -> Case:
    """Fork to two streams, join, and use both results."""
    a, b = _rand(2048, 2048), _rand(2048, 2048)
    left, right, result = torch.empty_like(a), torch.empty_like(a), torch.empty_like(a)
    one, two = torch.cuda.Stream(), torch.cuda.Stream()

    def run() -> None:
        main_stream = torch.cuda.current_stream()
        one.wait_stream(main_stream)
        two.wait_stream(main_stream)
        with torch.cuda.stream(one):
            torch.mul(a, b, out=left)
        with torch.cuda.stream(two):
            torch.add(a, b, out=right)
        main_stream.wait_stream(one)
        main_stream.wait_stream(two)
        torch.sub(left, right, out=result)

    return Case(run, {"result": result})


def optimiser() -> Case:
    """A fused Adam step: parameters and moments change in place."""
    parameters = [torch.nn.Parameter(_rand(1024, 1024)) for _ in range(4)]
    for parameter in parameters:
        parameter.grad = _rand(1024, 1024)
    adam = torch.optim.Adam(parameters, lr=1e-3, fused=True)
    adam.step()
    return Case(adam.step, {}, state={f"p{i}": p.data for i, p in enumerate(parameters)})


CASES = {
    "reduction": reduction,
    "softmax": softmax,
    "layernorm": layernorm,
    "compiled": compiled,
    "graph": graph,
    "gemm": gemm,
    "attention": attention,
    "streams": streams,
    "optimiser": optimiser,
}

if __name__ == "__main__":
    torch.manual_seed(0)
    main(CASES, TorchClock())
