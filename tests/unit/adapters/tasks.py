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


def write_task(folder: Path, reference: str, yaml: str = YAML) -> Path:
    task = folder / "task_py"
    task.mkdir()
    (folder / "helpers.py").write_text(HELPERS)
    (task / "task.yml").write_text(yaml)
    (task / "reference.py").write_text(reference)
    return task
