"""Compare --gpu-time with a program's own events and with CUPTI: python tests/device/gpu_time.py [--driver sim]

Launches kernels of several lengths behind a long one, so that no time includes the host. For each length the median
must be within 1 us or 5 % of that of the program's own events in a run without --gpu-time, since own events around an
observed launch include the shim's. If torch has CUPTI, the medians of three sizes must be within 1 us or 5 % of
torch.profiler's in a run without --gpu-time, because CUPTI makes event pairs longer. On the CPU driver, whose times
depend on the machine's other work, the comparison is only printed.
Exits with 1 on a difference, and with 77 if the machine has no GPU.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
NO_GPU = 77
TURNS = (1_000, 10_000, 100_000, 400_000)
SIZES = (512, 2048, 4096)
ROUNDS = 25
SKIPPED = "skipped"
PTX = b"""
.version 7.5
.target sm_75
.address_size 64
.visible .global .u32 sink;
.visible .entry spin(.param .u32 turns)
{
  .reg .pred %p<3>; .reg .b32 %r<3>;
  ld.param.u32 %r1, [turns];
  mov.u32 %r2, 1;
again:
  mad.lo.u32 %r2, %r2, 1664525, 1013904223;
  sub.s32 %r1, %r1, 1;
  setp.gt.s32 %p1, %r1, 0;
  @%p1 bra again;
  setp.ne.u32 %p2, %r2, 77;  // the loop has a result, so that ptxas keeps it
  @%p2 bra done;
  st.global.u32 [sink], %r2;
done:
  ret;
}
"""


def own_events(scale: int) -> dict[str, Any]:
    """Launch behind a long kernel, each launch between two events. Times are in nanoseconds."""
    cuda = ctypes.CDLL("libcuda.so.1")

    def call(name: str, *words: Any) -> None:
        status = getattr(cuda, name)(*words)
        if status != 0:
            raise SystemExit(f"{name} returned {status}")

    device, context, module, function = (
        ctypes.c_int(),
        ctypes.c_void_p(),
        ctypes.c_void_p(),
        ctypes.c_void_p(),
    )
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    call("cuModuleLoadData", ctypes.byref(module), PTX)
    call("cuModuleGetFunction", ctypes.byref(function), module, b"spin")

    def event() -> ctypes.c_void_p:
        made = ctypes.c_void_p()
        call("cuEventCreate", ctypes.byref(made), 0)
        call("cuEventRecord", made, None)
        return made

    def launch(turns: int) -> None:
        word = ctypes.c_uint32(turns)
        places = (ctypes.c_void_p * 1)(ctypes.addressof(word))
        call("cuLaunchKernel", function, 1, 1, 1, 32, 1, 1, 0, None, places, None)

    def between(begin: ctypes.c_void_p, end: ctypes.c_void_p) -> float:
        elapsed = ctypes.c_float()
        call("cuEventElapsedTime", ctypes.byref(elapsed), begin, end)
        return elapsed.value * 1e6

    launch(1)
    call("cuCtxSynchronize")
    launch(20_000_000 // scale)
    empty = [(event(), event()) for _ in range(ROUNDS)]
    pairs = []
    for turns in TURNS * ROUNDS:
        begin = event()
        launch(turns // scale)
        pairs.append((begin, event()))
    call("cuCtxSynchronize")
    return {
        "times": [between(*pair) for pair in pairs],
        "empty_ns": statistics.median(between(*pair) for pair in empty),
    }


def torch_kernels(*, profiled: bool) -> dict[str, Any]:
    """Launch kernels of torch, under its profiler or not."""
    try:
        import torch
        from torch.profiler import ProfilerActivity, profile
    except ImportError:
        return {SKIPPED: "torch is missing"}
    if not torch.cuda.is_available() or ProfilerActivity.CUDA not in torch.profiler.supported_activities():
        return {SKIPPED: "torch has no CUPTI here"}
    values = [torch.rand(size, size, device="cuda") for size in SIZES]
    filler = torch.rand(8192, 8192, device="cuda")

    def work() -> None:
        for _ in range(4):
            filler @ filler
        for _ in range(ROUNDS):
            for value in values:
                torch.sin(value)
        torch.cuda.synchronize()

    work()
    if not profiled:
        work()
        return {}
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        work()
    kernels = [
        (each.start_ns(), each.duration_ns())
        for each in profiler.profiler.kineto_results.events()
        if each.device_type() == torch.autograd.DeviceType.CUDA and "sin" in each.name()
    ]
    return {"times": [duration for _, duration in sorted(kernels)]}


def run(command: Sequence[str]) -> dict[str, Any]:
    """Run a part of this file; returns what it printed."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=400, check=False)
    if ran.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {ran.stderr.strip()}")
    printed: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return printed


def observed(
    part: str, driver: str, scale: int, folder: Path, *, gpu_time: bool = True
) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    """Run a part of this file: what it printed, its launches, and their GPU times in the same order."""
    log = folder / f"{part}.audit.jsonl"
    command = [sys.executable, "-m", "benchguard", "-q", "--driver", driver, "--log", str(log)]
    command += ["--gpu-time"] if gpu_time else []
    command += ["--force", "--", sys.executable, __file__, "--part", part, "--scale", str(scale)]
    said = run(command)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    times = {line["number"]: line for line in lines if line["kind"] == "launch_time"}
    launches = [line for line in lines if line["kind"] == "launch"]
    found = [times[line["number"]] for line in launches if line.get("number") in times]
    return said, launches, found


def compare(name: str, ours: Sequence[float], theirs: Sequence[float]) -> bool:
    """Print how far the times are apart; whether all are within 1 us or 5 %."""
    gaps = [one - other for one, other in zip(ours, theirs, strict=True)]
    far = sum(abs(gap) > max(1000, 0.05 * other) for gap, other in zip(gaps, theirs, strict=True))
    print(
        f"{name}: {len(gaps)} times of {min(theirs) / 1e3:.2f} to {max(theirs) / 1e3:.2f} us; ours less theirs: "
        f"median {statistics.median(gaps):.0f} ns, {min(gaps):.0f} to {max(gaps):.0f} ns; "
        f"further than 1 us and 5 %: {far}"
    )
    return not far


def by_length(times: Sequence[float], lengths: int) -> list[float]:
    """The median of each length of kernel. Lengths take turns."""
    return [statistics.median(times[at::lengths]) for at in range(lengths)]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--driver", default="auto")
    parser.add_argument("--scale", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--part", choices=("own_events", "torch", "cupti"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part is not None:
        parts: dict[str, Callable[[], dict[str, Any]]] = {
            "own_events": lambda: own_events(options.scale),
            "torch": lambda: torch_kernels(profiled=False),
            "cupti": lambda: torch_kernels(profiled=True),
        }
        print(json.dumps(parts[options.part]()))
        return 0
    has_gpu = Path("/dev/nvidiactl").exists()
    if options.driver == "auto" and not has_gpu:
        print("gpu_time.py: SKIPPED: this machine has no NVIDIA GPU (/dev/nvidiactl)", file=sys.stderr)
        return NO_GPU
    scale = 1 if has_gpu else 100
    folder = Path(os.environ.get("OUT") or tempfile.mkdtemp(prefix="gpu-time-"))
    said, launches, times = observed("own_events", options.driver, scale, folder)
    print(f"an empty pair of events: {said['empty_ns']:.0f} ns")
    count = len(said["times"])
    early = sum(line["early"] for line in times[-count:])
    print(f"launches: {len(launches)}, timed: {len(times)}, early: {early}")
    right = len(launches) == len(times) == count + 2
    alone, _, none = observed("own_events", options.driver, scale, folder, gpu_time=False)
    right &= not none
    ours = by_length([line["gpu_ns"] for line in times[-count:]], len(TURNS))
    right &= (
        compare("own events, medians by length", ours, by_length(alone["times"], len(TURNS))) or not has_gpu
    )
    profiled = run([sys.executable, __file__, "--part", "cupti"])
    if SKIPPED in profiled:
        print(f"CUPTI: SKIPPED: {profiled[SKIPPED]}", file=sys.stderr)
        return 0 if right else 1
    _, _, times = observed("torch", options.driver, scale, folder)
    with (folder / "torch.audit.jsonl").open() as log:
        overhead = json.loads(log.readline())["gpu_overhead_ns"]
    print(f"events around a launch add {overhead} ns")
    sines = [line["gpu_ns"] - overhead for line in times if "sin" in (line["name"] or "")][
        -ROUNDS * len(SIZES) :
    ]
    if not len(sines) == len(profiled["times"]) == ROUNDS * len(SIZES):
        print(f"CUPTI: {len(profiled['times'])} launches, ours: {len(sines)}")
        return 1
    right &= compare("CUPTI", by_length(sines, len(SIZES)), by_length(profiled["times"], len(SIZES)))
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
