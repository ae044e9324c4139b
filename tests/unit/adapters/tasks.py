"""GPU MODE tasks of a few lines, in the forms that they come in."""

from __future__ import annotations

from pathlib import Path

YAML = """\
files:
  - {"name": "submission.py", "source": "@SUBMISSION@"}
  - {"name": "helpers.py", "source": "../helpers.py"}
  - {"name": "reference.py", "source": "reference.py"}
tests:
  - {"size": 8, "seed": 1}
benchmarks:
  - {"size": 16, "seed": 2}
  - {"size": 24, "seed": 3}
"""

HELPERS = """\
import torch

def check_with(reference):
    def check(data, output):
        expected = reference(data)
        pairs = zip(output, expected) if isinstance(expected, tuple) else [(output, expected)]
        good = all(torch.allclose(o, e) for o, e in pairs)
        return good, "" if good else "they differ"
    return check
"""

# Form 1: data is a tuple of inputs, the output is returned.
RETURNS = """\
import torch
from helpers import check_with

def generate_input(size, seed):
    gen = torch.Generator(device="cuda").manual_seed(seed)
    a = torch.randn(size, size, device="cuda", generator=gen)
    b = torch.randn(size, size, generator=gen).cuda()
    return a, b, 2.5

def ref_kernel(data):
    a, b, factor = data
    return (a + b) * factor

check_implementation = check_with(ref_kernel)
"""

# Form 2: data is one tensor.
BARE = """\
import torch
from helpers import check_with

def generate_input(size, seed):
    gen = torch.Generator(device="cuda")
    gen.manual_seed(seed)
    return torch.rand(size, device=torch.device("cuda:0"), generator=gen)

def ref_kernel(data):
    return data.sum(), data.to("cuda").argmax()

def check_implementation(data, output):
    expected = ref_kernel(data)
    wrong = [str(i) for i in range(2) if not torch.allclose(output[i].double(), expected[i].double())]
    return "wrong: " + ", ".join(wrong) if wrong else ""
"""

# Form 3: something is read and written, the output is written and returned.
IN_PLACE = """\
import torch
from helpers import check_with

def generate_input(size, seed):
    gen = torch.Generator(device="cuda").manual_seed(seed)
    a = torch.randn(size, device="cuda", generator=gen)
    total = torch.randn(size, device="cuda", generator=gen)
    return a, total, torch.empty(size, device="cuda")

def ref_kernel(data):
    a, total, out = data
    total += a
    out[...] = 2 * a
    torch.cuda.synchronize()
    return total, out

check_implementation = check_with(ref_kernel)
"""


# Form 4: the reference ignores the memory that data has for the result, and computes in another dtype.
IGNORES = """\
import torch
from helpers import check_with

def generate_input(size, seed):
    gen = torch.Generator(device="cuda").manual_seed(seed)
    x = torch.randn(size, device="cuda", generator=gen)
    return x, torch.empty_like(x).contiguous()

def ref_kernel(data):
    x, room = data
    return x.double().cumsum(0)

def check_implementation(data, output):
    wanted = ref_kernel(data)
    good = output.shape == wanted.shape and bool(torch.allclose(output.double(), wanted, rtol=1e-4, atol=1e-4))
    return good, "" if good else f"not the running sum: {tuple(output.shape)}"
"""

# Form 5: a layer. Data has weights by name, a configuration, an optional value, and an input that no seed changes.
LAYER = """\
import torch

def generate_input(size, seed, masked, kind):
    gen = torch.Generator(device="cuda").manual_seed(seed)
    x = torch.randn(size, size, device="cuda", generator=gen)
    mask = torch.randint(0, 2, (size,), device="cuda", generator=gen) if masked else torch.ones(size, device="cuda")
    weights = {
        "proj.weight": torch.nn.Parameter(torch.randn(size, size, device="cuda")),
        "steps": [torch.randn(size), (torch.randn(size), None)],
    }
    return x, mask, weights, {"size": size, "kind": kind, "scale": 2.0}, None

def ref_kernel(data):
    x, mask, weights, config, nothing = data
    assert nothing is None and config["kind"] == "plain" and type(config["scale"]) is float
    first, (second, end) = weights["steps"]
    assert end is None and isinstance(weights["proj.weight"], torch.nn.Parameter)
    out = (x * mask) @ weights["proj.weight"].T * config["scale"]
    return {"out": out.t(), "sums": (first + second,)}

def check_implementation(data, output):
    wanted = ref_kernel(data)
    pairs = [(output["out"], wanted["out"]), (output["sums"][0], wanted["sums"][0])]
    return all(torch.allclose(a, b, rtol=1e-4, atol=1e-4) for a, b in pairs)
"""

# Form 6: the result replaces an input that the generator draws, whatever it was.
OVERWRITES = """\
import torch
from helpers import check_with

def generate_input(size, seed):
    torch.manual_seed(seed)
    a = torch.randint(-3, 3, (size, size, 2), dtype=torch.int8, device="cuda").permute(1, 2, 0)
    packed = torch.randint(0, 16, (size, size), dtype=torch.uint8, device="cuda").view(torch.float4_e2m1fn_x2)
    c = torch.randn(2, size, size, device="cuda").permute(1, 2, 0)
    return a, packed, c

def ref_kernel(data):
    a, packed, c = data
    assert packed.dtype == torch.float4_e2m1fn_x2 and not a.is_contiguous()
    c.copy_(a.float().permute(0, 2, 1) + packed.view(torch.uint8).float()[:, :, None])
    return c

check_implementation = check_with(ref_kernel)
"""

# Form 8: a forward and a backward pass, with a harness that names the submission's functions.
PASSES = """\
import torch

ATOL, RTOL = 1e-5, 1e-5

def reference_forward(x, target):
    return (x - target.unsqueeze(1)).square().sum(1)

def reference_backward(x, target, scale):
    return 2 * (x - target.unsqueeze(1)) * scale.unsqueeze(1)

def generate_inputs(rows, size, seed=42):
    torch.manual_seed(seed)
    return torch.randn(rows, size, device="cuda"), torch.randn(rows), torch.randn(rows)
"""
HARNESS = """\
from reference import generate_inputs

ROWS = 6

def check(module, size):
    inputs = generate_inputs(ROWS, size)
    for name in ("distance_forward", "distance_backward"):
        assert hasattr(module, name)
"""
PASSES_YAML = """\
files:
  - {"name": "submission.py", "source": "@SUBMISSION@"}
  - {"name": "reference.py", "source": "reference.py"}
  - {"name": "eval.py", "source": "eval.py"}
config: {main: eval.py}
tests: [{size: 5}]
"""

# Form 7: random operators.
RANDOM = RETURNS.replace("return (a + b) * factor", "return torch.nn.functional.dropout(a + b)")


def write_task(folder: Path, reference: str, yaml: str = YAML) -> Path:
    task = folder / "task_py"
    task.mkdir(exist_ok=True)
    (folder / "helpers.py").write_text(HELPERS)
    (task / "task.yml").write_text(yaml)
    (task / "reference.py").write_text(reference)
    return task
