#!/usr/bin/env python3
"""How cold is a cold cache, and who pays for it: python tests/bench/cold/run.py [--driver PATH] [--samples N]

One kernel reads 4, 16, 32 and 128 MB once. Each way of preparing the cache is timed with the replay engine's own
loop: no cache control (warm), scratch memory written (memset), written and then read (flush), other physical memory
mapped behind the addresses (remap), many copies of it in turn (rotate). Prints medians with the 5th and 95th
percentile, and what preparing a sample took.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics
import struct
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from benchguard.capture.layout import ARENA
from benchguard.capture.model import Kernel, Launch, Parameter
from benchguard.replay.binding import open_engine
from benchguard.replay.protocol import COLD, NO_SET, Limits, Options, Overhead, Sample
from benchguard.toolchain.paths import REPLAY
from tests.support.captures import GRANULE, PTX_HEAD, Builder, Memory

LIMITS = Limits(host_bytes=1 << 32, device_bytes=1 << 34, elements=1024, decoders=4)
NAMES = {"none": "warm", "memset": "memset", "flush": "flush", "remap": "remap", "rotate": "rotate"}
BLOCKS, THREADS = 528, 256
WARM_UP = 20

READ = """
.visible .entry sum(.param .u64 from, .param .u64 to, .param .u32 units)
{
    .reg .pred %p<3>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    ld.param.u32 %r1, [units];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r2, %r3, %r4;
    mov.u32 %r6, %nctaid.x;
    mul.lo.u32 %r6, %r6, %r3;
    mov.u32 %r7, 0;
next:
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra done;
    mul.wide.u32 %rd3, %r5, 16;
    add.u64 %rd4, %rd1, %rd3;
    ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%rd4];
    xor.b32 %r8, %r8, %r9;
    xor.b32 %r10, %r10, %r11;
    xor.b32 %r8, %r8, %r10;
    xor.b32 %r7, %r7, %r8;
    add.u32 %r5, %r5, %r6;
    bra next;
done:
    setp.ne.u32 %p2, %r7, 0x12345;
    @%p2 bra end;
    st.global.u32 [%rd2], %r7;
end:
    ret;
}
"""


def code_kernel(instructions: int) -> str:
    """A kernel of straight-line code, in which each instruction depends on the previous one."""
    body = "    fma.rn.f32 %f1, %f1, %f2, %f3;\n" * instructions
    return f"""
.visible .entry code(.param .u64 from, .param .u64 to, .param .u32 units)
{{
    .reg .f32 %f<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    ld.global.f32 %f1, [%rd1];
    ld.global.f32 %f2, [%rd1+4];
    ld.global.f32 %f3, [%rd1+8];
{body}    st.global.f32 [%rd2], %f1;
    ret;
}}
"""


@dataclass(frozen=True)
class Timing:
    samples: Sequence[Sample]
    overhead: Overhead | None = None

    def percentile(self, share: float) -> float:
        times = sorted(each.device_us for each in self.samples)
        return times[int(share * (len(times) - 1))]

    @property
    def median(self) -> float:
        return statistics.median(each.device_us for each in self.samples)

    @property
    def restore(self) -> float:
        return statistics.median(each.restore_us for each in self.samples)

    def __str__(self) -> str:
        return f"{self.median:8.2f} ({self.percentile(0.05):.2f}-{self.percentile(0.95):.2f})"


def capture(path: Path, size: int, text: str = READ, name: str = "sum", blocks: int = BLOCKS) -> Path:
    """Capture one launch that reads `size` random bytes. It never writes to its output allocation."""
    noise = os.urandom(size)
    result = ARENA + -(-size // GRANULE) * GRANULE
    with Builder(path) as builder:
        builder.device()
        layout = (Parameter(0, 8), Parameter(8, 8), Parameter(16, 4))
        builder.add(Kernel(builder.module(PTX_HEAD + text), 20, 16, 0, 0, 1024, name, layout))
        builder.stream()
        builder.memory(Memory(ARENA, noise, noise))
        builder.memory(Memory(result, b"", b"", 4096))
        parameters = struct.pack("<QQI", ARENA, result, size // 16)
        threads = THREADS if name == "sum" else 32
        builder.operation(Launch(0, 0, (blocks, 1, 1), (threads, 1, 1), 0, parameters))
        builder.end()
    return path


def measure(
    path: Path, driver: str, library: str, count: int, overhead: bool = False, **options: object
) -> Timing:
    descriptor = os.open(path, os.O_RDONLY)
    engine = open_engine(descriptor, LIMITS, library)
    try:
        engine.prepare(driver, Options(**options))  # type: ignore[arg-type]
        for _ in range(WARM_UP):
            engine.measure(NO_SET)
        samples = [engine.measure(NO_SET) for _ in range(count)]
        return Timing(samples, engine.measure_overhead() if overhead else None)
    finally:
        engine.close()
        os.close(descriptor)


def keep_context(driver: str) -> ctypes.CDLL:
    """Retain the primary context, so that measurements do not create one each."""
    library = ctypes.CDLL(driver)
    context = ctypes.c_void_p()
    library.cuInit(0)
    library.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    return library


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--driver", default="libcuda.so.1")
    parser.add_argument("--library", default=str(REPLAY), help="library of the replay engine")
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--sizes", type=int, nargs="*", default=[4, 16, 32, 128], help="sizes in MB")
    parser.add_argument("--modes", nargs="*", choices=COLD, default=list(NAMES))
    parser.add_argument(
        "--code", type=int, nargs="*", default=[], help="sizes of straight-line kernels, in instructions"
    )
    parser.add_argument("--strict", action="store_true", help="use strict replays, with guarded memory")
    parser.add_argument("--scrub", action="store_true", help="measure with and without scrubbing")
    options = parser.parse_args()
    context = keep_context(options.driver)
    with tempfile.TemporaryDirectory() as folder:
        data(Path(folder), options)
        code(Path(folder), options)
    del context


def data(folder: Path, options: argparse.Namespace) -> None:
    print(f"{'':10}{'us':>8} (5 % - 95 %)   restore us")
    for size in options.sizes:
        path = capture(folder / f"{size}.ncap", size << 20)
        for mode in options.modes:
            if options.strict and mode not in {"remap", "rotate"}:
                strict(path, f"{size:4} MB {NAMES[mode]}", COLD.index(mode), options)
            for scrub in (True, False) if options.scrub else (True,):
                cold = COLD.index(mode)
                timing = measure(
                    path, options.driver, options.library, options.samples, cold=cold, scrub=scrub
                )
                name = NAMES[mode] + ("" if scrub else " -s")
                clock = statistics.median(each.clock_mhz for each in timing.samples)
                print(f"{size:4} MB {name:9}{timing!s:28}{timing.restore:9.0f}   {clock:.0f} MHz", flush=True)


def strict(path: Path, name: str, cold: int, options: argparse.Namespace) -> None:
    """Measure three times, alternately, what unmapping memory before each sample costs and how it changes the time."""
    for guard in (False, True) * 3:
        timing = measure(
            path, options.driver, options.library, options.samples, True, cold=cold, guard=guard, strict=True
        )
        guarding = statistics.median(each.guard_us for each in timing.samples)
        tail = statistics.median(each.tail_us for each in timing.samples)
        print(
            f"{name} {'guarded ' if guard else 'mapped  '}{timing!s:28}{timing.restore:9.0f}   "
            f"guarding {guarding:.0f} us, tail {tail:.1f} us; {timing.overhead}",
            flush=True,
        )


def code(folder: Path, options: argparse.Namespace) -> None:
    for count in options.code:
        path = capture(folder / f"code{count}.ncap", 4096, code_kernel(count), "code", 132)
        for mode in ("none", "flush"):
            for cold_code in (False, True):
                timing = measure(
                    path,
                    options.driver,
                    options.library,
                    options.samples,
                    True,
                    cold=COLD.index(mode),
                    cold_code=cold_code,
                )
                name = f"{mode}{' cold code' if cold_code else ''}"
                print(f"{count:6} instructions {name:16}{timing!s:28}{timing.overhead}", flush=True)


if __name__ == "__main__":
    main()
