"""How to replay a capture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..errors import UsageError
from ..gpu.turns import WAIT_SECONDS, WAIT_SECONDS_MAX
from .buffers import Keep
from .protocol import NO_SET, WARM_MAX, WARM_UP_SAMPLES_MAX, Cold

Caching = Literal[Cold, "warm"]
"""A way to make caches cold, or the opposite."""

TIMEOUT_SECONDS = 120.0
TIMEOUT_SECONDS_MAX = 1e6


@dataclass(frozen=True)
class ReplayOptions:
    """Options of a replay. The defaults are those of `neutrino-bench replay`.

    Attributes:
        driver: "auto" (this machine's driver, otherwise the CPU driver), "sim" (the CPU driver), "hip",
            "hip-sim", or the path of a driver library. Its vendor must be the capture's.
        device: ordinal of the device, from 0.
        cold: how data caches are made cold before each sample. None: "rotate" with a `rotating_count` above 1,
            otherwise "flush". "warm": after a flush, all captured memory is read, so that each sample finds it in the
            cache as far as it fits.
        icache: "cold" runs copies of the code in turn, so that no sample finds its code in the instruction cache.
        flush_cache: empty the instruction caches before each sample: by a kernel on AMD devices, otherwise like
            icache="cold". `ReplayResult.icache` says what was done.
        rotating_count: with cold="rotate", the number of copies of the state, the original included. None: enough
            copies for five times the L2 cache.
        prime: hold the stream until the whole sample is queued, so that launch latency is not in the sample.
        verify: before timing, replay twice and compare memory with the recorded outcome, byte for byte.
        samples: number of timed samples. None: sample until the rule `until` is met.
        until: stop rule: "ci=W" (half the 95 % confidence interval of the median is at most W times the median) or
            "cv=W" (the coefficient of variation is at most W). None: "ci=0.005". An interval of one event tick is
            always narrow enough. With None and without `require_converged`, samples are taken for 0.5 s at most, from
            the 100th on.
        require_converged: the verdict is "unconverged" if the rule is not met after 3200 samples or 30 s, or if fewer
            than `samples` were taken. Otherwise it is "pass", with `converged` false and a note.
        timeout: seconds for the whole replay. The verdict is "timeout" when they have passed.
        seed: seed of the order in which input sets are drawn. None: random.
        keep_outputs: which outputs the result holds: those of the "last" sample, one per input set ("sets"), or "none".
        ignore_refusals: replay a capture although its recorder marked it as not replayable, or although the host
            reads other bytes than when it was recorded.
        strict: the capture comes from an adversary. Kernels can reach no memory that could help a later
            sample (docs/architecture.md, "Replay"), and every timed output is checked: `ReplayResult.evidence` has the
            checks. The last 8 to 12 of 10 or more input sets are used once. Not with cold="remap" or "rotate".
        require_evidence: "full" gives the verdict "unproven" if a check could not tell. Only with `strict`.
        require_sandbox: "full" refuses to read the capture if a protection of the process's sandbox is off. Only with
            `strict`, whose process has a sandbox.
        warm_samples: further samples that find all captured memory in the cache: `ReplayResult.warm_us`. Not with
            cold="warm", whose samples all do.
        warm_up_samples: samples that are discarded before the timed ones. None: until their times are steady.
        wait_for_gpu: seconds to wait until no other grade or replay of this machine uses the GPU. They do not count for
            `timeout`. After them, BusyError is raised.
    """

    driver: str = "auto"
    device: int = 0
    cold: Caching | None = None
    icache: Literal["warm", "cold"] = "warm"
    flush_cache: bool = False
    rotating_count: int | None = None
    prime: bool = True
    verify: bool = False
    samples: int | None = None
    until: str | None = None
    require_converged: bool = False
    timeout: float = TIMEOUT_SECONDS
    seed: int | None = None
    keep_outputs: Keep = "last"
    ignore_refusals: bool = False
    strict: bool = False
    require_evidence: Literal["full"] | None = None
    require_sandbox: Literal["full"] | None = None
    warm_samples: int = 0
    warm_up_samples: int | None = None
    wait_for_gpu: float = WAIT_SECONDS

    def __post_init__(self) -> None:
        if not 0 < self.timeout < TIMEOUT_SECONDS_MAX:
            raise UsageError(
                f"timeout is {self.timeout} s; give more than 0 and less than {TIMEOUT_SECONDS_MAX:.0f}"
            )
        if self.require_sandbox and not self.strict:
            raise UsageError("only a strict replay has a sandbox; give strict, or leave require-sandbox out")
        if self.require_evidence and not self.strict:
            raise UsageError("only a strict replay has evidence; give strict, or leave require-evidence out")
        if not 0 <= self.warm_samples <= WARM_MAX:
            raise UsageError(f"warm-samples is {self.warm_samples}; give 0 to {WARM_MAX}")
        if self.warm_samples and self.cold == "warm":
            raise UsageError("all samples of cold 'warm' are warm; leave warm-samples out")
        if self.warm_up_samples is not None and not 0 <= self.warm_up_samples <= WARM_UP_SAMPLES_MAX:
            raise UsageError(f"warm-up-samples is {self.warm_up_samples}; give 0 to {WARM_UP_SAMPLES_MAX}")
        if not 0 <= self.wait_for_gpu <= WAIT_SECONDS_MAX:
            raise UsageError(f"wait-for-gpu is {self.wait_for_gpu:g}; give 0 to {WAIT_SECONDS_MAX:g} seconds")
        if not 0 <= self.device < NO_SET:
            raise UsageError(f"device is {self.device}; give an ordinal from 0")
