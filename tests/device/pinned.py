"""Show which flushes lines marked L2::evict_last outlive, and the times that grade gives: python tests/device/pinned.py

The first table times two kernels that read an input, one of them with the mark. Before each launch other values are
written to the input, and the cache is flushed in one of several ways. The marked kernel is faster after a flush that
its lines outlive. The second table grades the honest kernel and the attacks of tests/attacks on the L2 cache, with the
median of cold and of warm samples. Skips on a machine without a GPU; --driver sim tries the program on the CPU driver,
which has no cache. Keeps the tables under $OUT if that is set.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # run as a script, not as a module of tests/

from benchguard.toolchain.paths import NATIVE
from tests.attacks.catalogue import ATTACKS, HONEST
from tests.attacks.running import Machine, grade
from tests.device.compare import no_gpu

KERNELS = ROOT / "engine" / "replay" / "sample"
INPUT_BYTES = 16 << 20
ZERO_FILL_BYTES = 128 << 20
BLOCKS, THREADS = 1056, 256
L2_BYTES = 38  # enum CUdevice_attribute

READ = """
.version 7.4
.target sm_80
.address_size 64
.visible .entry NAME(.param .u64 from, .param .u64 count, .param .u64 sink)
{
    .reg .pred %p<2>;
    .reg .f32 %f<6>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [count];
    ld.param.u64 %rd3, [sink];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    cvt.u64.u32 %rd4, %r4;
    mov.u32 %r5, %nctaid.x;
    mul.wide.u32 %rd5, %r5, %r2;
    mov.f32 %f1, 0f00000000;
    POLICY
next:
    setp.ge.u64 %p1, %rd4, %rd2;
    @%p1 bra done;
    shl.b64 %rd6, %rd4, 4;
    add.u64 %rd7, %rd1, %rd6;
    LOAD
    add.f32 %f1, %f1, %f2;
    add.f32 %f1, %f1, %f3;
    add.f32 %f1, %f1, %f4;
    add.f32 %f1, %f1, %f5;
    add.u64 %rd4, %rd4, %rd5;
    bra next;
done:
    mul.wide.u32 %rd6, %r4, 4;
    add.u64 %rd6, %rd3, %rd6;
    st.global.f32 [%rd6], %f1;
    ret;
}
"""


def reader(name: str, marked: bool) -> str:
    """A kernel that reads `count` units of 16 bytes, with the mark L2::evict_last or without."""
    policy = "createpolicy.fractional.L2::evict_last.b64 %rd8, 1.0;" if marked else ""
    load = "ld.global{}.v4.f32 {{%f2, %f3, %f4, %f5}}, [%rd7]{};"
    load = load.format(".L2::cache_hint", ", %rd8") if marked else load.format("", "")
    return READ.replace("NAME", name).replace("POLICY", policy).replace("LOAD", load)


class Gpu:
    """A context on device 0, by ctypes."""

    def __init__(self, library: str) -> None:
        self._cuda = ctypes.CDLL(library)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self._device = device
        sources = [reader("plain", False), reader("marked", True)]
        sources += [(KERNELS / name).read_text() for name in ("kernels.ptx", "kernels_80.ptx")]
        modules = [self._module(text) for text in sources]
        names = ("plain", "marked", "nb_read", "nb_demote")
        self._functions = {name: self._function(m, name) for name, m in zip(names, modules, strict=True)}
        self.events = [self._event(), self._event()]
        self.l2_bytes = self._attribute(L2_BYTES)

    def call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._cuda, name)(*arguments)
        if status:
            raise RuntimeError(f"{name} returned {status}")

    def _module(self, text: str) -> ctypes.c_void_p:
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), text.encode() + b"\0")
        return module

    def _function(self, module: ctypes.c_void_p, name: str) -> ctypes.c_void_p:
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return function

    def _event(self) -> ctypes.c_void_p:
        event = ctypes.c_void_p()
        self.call("cuEventCreate", ctypes.byref(event), 0)
        return event

    def _attribute(self, number: int) -> int:
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), number, self._device)
        return value.value

    def allocate(self, size: int) -> int:
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        self.fill(address.value, 1, size)
        return address.value

    def fill(self, address: int, word: int, size: int) -> None:
        self.call("cuMemsetD32Async", ctypes.c_uint64(address), word, ctypes.c_size_t(size // 4), None)

    def copy(self, target: int, source: int, size: int) -> None:
        self.call(
            "cuMemcpyDtoDAsync_v2",
            ctypes.c_uint64(target),
            ctypes.c_uint64(source),
            ctypes.c_size_t(size),
            None,
        )

    def launch(self, name: str, *values: int) -> None:
        words = [ctypes.c_uint64(value) for value in values]
        pointers = (ctypes.c_void_p * len(words))(*(ctypes.addressof(each) for each in words))
        self.call(
            "cuLaunchKernel", self._functions[name], BLOCKS, 1, 1, THREADS, 1, 1, 0, None, pointers, None
        )

    def time_us(self, work: Callable[[], None]) -> float:
        """Between events around `work`, which the caller has queued other work before."""
        self.call("cuEventRecord", self.events[0], None)
        work()
        self.call("cuEventRecord", self.events[1], None)
        self.call("cuCtxSynchronize")
        ms = ctypes.c_float()
        self.call("cuEventElapsedTime", ctypes.byref(ms), *self.events)
        return 1000 * ms.value


class Flushes:
    """The ways to flush, each with a row's name. `before` runs before the input is written, `after` behind it."""

    def __init__(self, gpu: Gpu, target: int) -> None:
        self._gpu, self._target = gpu, target
        self._bytes = 3 * gpu.l2_bytes
        self._scratch = gpu.allocate(max(2 * self._bytes, ZERO_FILL_BYTES))
        self._sink = gpu.allocate(4 * BLOCKS * THREADS)
        self.rows: dict[str, tuple[Callable[[], None], Callable[[], None]]] = {
            "no flush": (self._nothing, self._nothing),
            "zeros, 128 MiB": (self._nothing, self._zeros),
            "write and read 3 x L2": (self._nothing, self._flush),
            "the same, persisting lines reset": (self._reset, self._flush),
            "the same, input demoted": (self._nothing, self._demote_and_flush),
            "the same, reset and demoted": (self._reset, self._demote_and_flush),
            "the same, scratch marked and demoted": (self._nothing, self._displace_and_flush),
        }

    def _nothing(self) -> None:
        pass

    def _reset(self) -> None:
        self._gpu.call("cuCtxResetPersistingL2Cache")

    def _zeros(self) -> None:
        self._gpu.fill(self._scratch, 0, ZERO_FILL_BYTES)

    def _flush(self) -> None:
        self._gpu.fill(self._scratch, 0x5EED, self._bytes)
        self._gpu.launch("nb_read", self._scratch + self._bytes, self._bytes // 16, self._sink)

    def _demote_and_flush(self) -> None:
        self._gpu.launch("nb_demote", self._target, INPUT_BYTES // 128)
        self._flush()

    def _displace_and_flush(self) -> None:
        from_ = self._scratch + self._bytes
        self._gpu.launch("marked", from_, self._bytes // 16, self._sink)
        self._gpu.launch("nb_demote", from_, self._bytes // 128)
        self._flush()


def flush_rows(gpu: Gpu, rounds: int) -> list[str]:
    target, source, sink = (
        gpu.allocate(INPUT_BYTES),
        gpu.allocate(INPUT_BYTES),
        gpu.allocate(4 * BLOCKS * THREADS),
    )
    flushes = Flushes(gpu, target)
    lines = ["| flush | plain, us | evict_last, us | ratio |", "| --- | --- | --- | --- |"]
    for name, (before, after) in flushes.rows.items():
        medians = []
        for kernel in ("plain", "marked"):
            times = []
            for number in range(rounds + 2):
                before()
                gpu.fill(source, number + 1, INPUT_BYTES)
                gpu.copy(target, source, INPUT_BYTES)
                after()
                times.append(
                    gpu.time_us(lambda kernel=kernel: gpu.launch(kernel, target, INPUT_BYTES // 16, sink))
                )
            medians.append(statistics.median(times[2:]))
            gpu.call("cuCtxResetPersistingL2Cache")
            gpu.launch("nb_demote", target, INPUT_BYTES // 128)
        plain, marked = medians
        lines.append(f"| {name} | {plain:.2f} | {marked:.2f} | {marked / plain:.3f} |")
    return lines


def grade_rows(machine: Machine) -> list[str]:
    honest = [HONEST / "row_mean.cu", HONEST / "cache_hints.cu"]
    attacks = [ATTACKS / f"{name}.cu" for name in ("26_evict_last", "26_persisting_l2", "27_prefetch_next")]
    lines = ["| submission | verdict | cold, us | warm, us |", "| --- | --- | --- | --- |"]
    for path in [*honest, *attacks]:
        found = grade(path, "RowMean", machine, "small" if machine.is_sim else "cached")
        cases = found.whole.get("cases") or [{}]
        warm = (cases[-1].get("times") or {}).get("warm")
        cells = [f"{time:.2f}" if time is not None else "" for time in (found.time_us, warm)]
        lines.append(f"| {path.stem} | {found.verdict} {found.reason[:60]} | {' | '.join(cells)} |")
    return lines


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--driver", default="auto", help="auto, or sim to try this program without a GPU")
    parser.add_argument("--rounds", type=int, default=40, help="launches for each median (default: 40)")
    options = parser.parse_args(arguments)
    if options.driver != "sim" and (reason := no_gpu()):
        print(f"pinned: SKIPPED: {reason}")
        return 0
    library = str(NATIVE / "sim" / "libcuda.so.1") if options.driver == "sim" else "libcuda.so.1"
    gpu = Gpu(library)
    lines = [
        f"input {INPUT_BYTES >> 20} MiB, L2 {gpu.l2_bytes >> 20} MiB",
        "",
        *flush_rows(gpu, options.rounds),
        "",
    ]
    print("\n".join(lines), flush=True)
    graded = grade_rows(Machine(options.driver))
    print("\n".join(graded))
    if "OUT" in os.environ:
        Path(os.environ["OUT"], "pinned.md").write_text("\n".join([*lines, *graded, ""]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
