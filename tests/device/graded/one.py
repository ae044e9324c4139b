"""Grade one submission by one grader: python one.py GRADER VARIANT SETTINGS. Prints its time as JSON.

SETTINGS is JSON: the grader's table of the manifest, with absolute paths. It runs without the shim too.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SIZE = 1 << 22

MODEL = """
import torch
import sys

sys.path.insert(0, {here!r})


class {name}(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.call = {call}

    def forward(self, x):
        return self.call(x)


def get_inputs():
    return [torch.rand({size})]


def get_init_inputs():
    return []
"""
COMPUTE = "lambda x: torch.sin(x) * 2 + torch.cos(x)"


def compute(x: Any) -> Any:
    import torch

    return torch.sin(x) * 2 + torch.cos(x)


def do_bench(variant: str, _: dict[str, Any]) -> float:
    import torch
    from triton.testing import do_bench as measure
    from variants import make

    call, x = make(variant, compute), torch.rand(SIZE, device="cuda")
    return 1e3 * float(statistics.median(measure(lambda: call(x), return_mode="all")))


def torch_benchmark(variant: str, _: dict[str, Any]) -> float:
    import torch
    from torch.utils.benchmark import Timer
    from variants import make

    names = {"call": make(variant, compute), "x": torch.rand(SIZE, device="cuda")}
    return 1e6 * float(Timer("call(x)", globals=names).blocked_autorange().median)


def kernelbot(variant: str, settings: dict[str, Any]) -> float:
    root = Path(settings["path"])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for source in (*root.glob("*.py"), *(root / settings["problem"]).glob("*.py"), HERE / "variants.py"):
            shutil.copy(source, folder)
        text = "from reference import ref_kernel\nfrom variants import make\n\n"
        (folder / "submission.py").write_text(f"{text}custom_kernel = make({variant!r}, ref_kernel)\n")
        (folder / "cases.txt").write_text(settings["spec"] + "\n")
        reader, writer = os.pipe()
        command = [sys.executable, "eval.py", "benchmark", "cases.txt"]
        subprocess.run(
            command, cwd=folder, env={**os.environ, "POPCORN_FD": str(writer)}, pass_fds=[writer], check=True
        )
        os.close(writer)
        with os.fdopen(reader) as file:
            lines = dict(line.rstrip("\n").partition(": ")[::2] for line in file)
    return float(lines["benchmark.0.mean"]) / 1e3


def kernelbench(variant: str, settings: dict[str, Any]) -> float:
    sys.path.insert(0, settings["path"])
    from kernelbench.eval import eval_kernel_against_ref

    made = f"__import__('variants').make({variant!r}, {COMPUTE})"
    words = {"here": str(HERE), "size": SIZE}
    result = eval_kernel_against_ref(
        MODEL.format(name="Model", call=COMPUTE, **words),
        MODEL.format(name="ModelNew", call=made, **words),
        measure_performance=True,
        num_perf_trials=50,
    )
    return 1e3 * float(result.runtime)


def pygpubench(variant: str, settings: dict[str, Any]) -> float:
    if "path" in settings:
        sys.path.insert(0, settings["path"])
    import pygpubench as grader

    os.environ["NEUTRINO_VARIANT"] = variant
    result = grader.do_bench_isolated(
        "pygpubench_case.kernel",
        pygpubench_test_case,
        {"size": SIZE},
        50,
        5,
        landlock=False,
        mseal=False,
        allow_root=True,
    )
    return float(statistics.median(result.time_us))


def pygpubench_test_case(size: int, seed: int) -> Any:
    import torch

    generator = torch.Generator(device="cuda")
    generator.manual_seed(seed)
    x = torch.rand(size, device="cuda", generator=generator)
    return (torch.empty_like(x), x), (compute(x), 1e-5, 1e-5)


GRADERS = {each.__name__: each for each in (do_bench, torch_benchmark, kernelbot, kernelbench, pygpubench)}


def main() -> None:
    grader, variant, settings = sys.argv[1:]
    sys.path.insert(0, str(HERE))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
    print(json.dumps({"time_us": GRADERS[grader](variant, json.loads(settings))}), flush=True)


if __name__ == "__main__":
    main()
