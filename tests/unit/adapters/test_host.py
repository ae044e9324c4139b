"""Parts of torch that import its compiler, which takes seconds: use_deterministic_algorithms, and dispatch modes."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("torch")

TASK = """
import sys
import torch
from benchguard.adapters.host import running_on

def states():
    real = torch.use_deterministic_algorithms
    with running_on("cpu"):
        for mode, warn_only in ((True, False), (True, True), (False, False)):
            torch.use_deterministic_algorithms(mode, warn_only=warn_only)
            yield torch.get_deterministic_debug_mode()
    assert torch.use_deterministic_algorithms is real
"""


def ran(text: str) -> None:
    subprocess.run([sys.executable, "-c", TASK + text], check=True, timeout=120)


def test_deterministic_algorithms_set_without_importing_the_compiler() -> None:
    ran("assert list(states()) == [2, 1, 0]\nassert 'torch._inductor' not in sys.modules")


def test_imported_compiler_told_of_deterministic_algorithms() -> None:
    if not hasattr(pytest.importorskip("torch._inductor.config"), "deterministic"):
        pytest.skip("this torch's compiler has no such option")
    ran("""
from torch._inductor import config
seen = [(mode, config.deterministic) for mode in states()]
assert seen == [(2, True), (1, True), (0, False)]
""")


def test_shapes_of_inputs_known_without_importing_the_compiler() -> None:
    """As GPU MODE's tasks draw: with a generator on the GPU. The second draw looks at values, so it has data."""
    ran("""
from benchguard.problem.without_data import outlined

def draw():
    generator = torch.Generator(device="cuda")
    generator.manual_seed(3)
    numbers = torch.randn(1 << 19, 1 << 19, device="cuda:0", dtype=torch.float16, generator=generator)
    return numbers, torch.zeros(4).cuda(), torch.tensor([1, 2], device=torch.device("cpu")).to("cuda").cpu()

with running_on("cpu"):
    drawn = outlined(draw)
    assert 'torch._dynamo' not in sys.modules
    assert [(each.dtype, each.shape) for each in drawn] == [
        (torch.float16, (1 << 19, 1 << 19)), (torch.float32, (4,)), (torch.int64, (2,))
    ]
    assert outlined(lambda: torch.ones(3).sum().item()) == 3
    assert outlined(lambda: torch.ones(3).numpy().sum()) == 3
    assert outlined(lambda: torch.ones(3).sum().item(), lambda: "other") == "other"
""")


MODE = """
from benchguard.adapters.tf32 import tf32_operators
from benchguard.adapters.trace import traced

model = torch.nn.Conv1d(1, 1, 3)
with torch.no_grad(), tf32_operators() as operators:
    result = traced(model, lambda: model(torch.ones(1, 1, 8)))
assert operators.rounded == 1
assert not result.kept
"""


def test_modes_seeing_operators_without_importing_the_compiler() -> None:
    ran(MODE + "assert 'torch._dynamo' not in sys.modules")


def test_modes_with_the_imported_compiler_hidden_from_it() -> None:
    ran("""
import torch._dynamo
from benchguard.problem.dispatch import dispatch_mode

seen = []

class Mode(dispatch_mode()):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        seen.append(torch._dynamo.is_compiling())
        return function(*args, **(kwargs or {}))

with Mode():
    result = torch.compile(lambda each: each + 1, backend="eager")(torch.ones(2))
assert result.tolist() == [2, 2]
assert seen and not any(seen)
""")
