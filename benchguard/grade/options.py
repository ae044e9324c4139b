"""Options of a grade."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from ..adapters import time_limit
from ..errors import UsageError
from ..gpu.turns import WAIT_SECONDS, WAIT_SECONDS_MAX
from ..inline.contract import SAMPLES_MAX as INLINE_SAMPLES_MAX
from ..quarantine.contract import Convention, Language
from ..replay.convergence import rule_of
from ..replay.protocol import PROCESSES_MAX, WARM_UP_SAMPLES_MAX

TIMEOUT_SECONDS = 300.0
BLOCKS, BLOCKS_MIN = 20, 3
"""Most and fewest blocks A B B A of a comparison."""

SIM_BLOCKS = 6
"""The most on the CPU driver, where more blocks seldom make a result clear."""

COMPARE_SAMPLES = 50
"""Samples of each replay of a comparison, and of the grades before it. Medians of 50 samples differ less than contexts
do (docs/adr/0039)."""

PLACEMENTS, SIM_PLACEMENTS = 4, 1
"""Processes in which the samples of a case are taken, on a GPU and on the CPU driver, whose times vary more."""

UNTIMED_SAMPLES = 6
"""Samples of a case whose time does not count, of which each one-use set serves one."""

SIM_SAMPLES = 20
"""Samples per case on the CPU driver, whose times depend on the machine's other work and seldom converge."""

Cold = Literal["flush", "memset", "none", "warm"]
"""A replay can also remap or rotate memory, but then copies of the state lie where a hostile kernel reaches them."""

_FIXED_COUNT = "inline timing takes a fixed number of samples; give --samples"
_OWN_SETS = "inline timing uses an input set of its own for each sample; give --samples"
_NOT_INLINE = {
    "cold": "inline timing always flushes the data caches",
    "device": "the submission's process uses device 0; choose the device with CUDA_VISIBLE_DEVICES",
    "flush_cache": "inline timing does not empty the instruction caches",
    "icache": "inline timing does not empty the instruction caches",
    "warm_up_samples": "inline timing uses each input set once",
    "until": _FIXED_COUNT,
    "require_converged": _FIXED_COUNT,
    "require_evidence": "the checks of a time need a replay",
    "cordon_device": "the device cordon needs a replay",
    "placements": "inline timing takes place in one process",
    "sets": _OWN_SETS,
    "one_use": _OWN_SETS,
}
"""Options without an effect on inline timing, and the reason."""

MEMORY_MIN = 64 << 20
"""Less is a unit left out, as in `--memory 16`: a small grade on the CPU driver uses 0.2 GiB."""

_LOCAL = {"keep"}
"""Options that name files of this machine."""

_BOUNDS = {
    "warm_up": (1, 1000),
    "warm_up_samples": (0, WARM_UP_SAMPLES_MAX),
    "device": (0, 2**31 - 1),
    "timeout": (1, 1e6),
    "memory_bytes": (0, 2**63 - 1),
    "wait_for_gpu": (0, WAIT_SECONDS_MAX),
    "sets": (4, 1024),
    "one_use": (8, 256),
    "placements": (1, PROCESSES_MAX),
}


@dataclass(frozen=True)
class GradeOptions:
    """Options of a grade. The defaults are those of `neutrino-bench grade`.

    Attributes:
        adapter: format of the problem. "auto" detects those of GPU MODE, KernelBench and LeetGPU; "problem" is a file
            with a subclass of benchguard.Problem; "pygpubench" is PATH:FUNCTION of a test generator.
        adapter_options: options of the problem format, by name.
        language: language of the submission. None: by its suffix.
        entry: name of the function or class to call. None: the problem's.
        convention: how the entry is called (docs/grading.md). None: the problem's.
        warm_up: untimed calls per case before two calls are captured. None: 2, and up to 4 while a call is short.
        cases: names of the test cases to grade. Empty: all; on the CPU driver, the one with the smallest inputs.
        driver: "auto" (this machine's CUDA driver, else the CPU driver), "sim" (the CPU driver), or the
            path of a driver library.
        device: ordinal of the device, from 0.
        cold: how data caches are made cold before each sample (see ReplayOptions): "flush", "memset" or "none";
            or "warm". None: "flush"; on the CPU driver, which has no caches of its own, "none".
        icache: "cold" runs copies of the code in turn, so that no sample finds its code in the instruction cache.
        flush_cache: as icache="cold".
        warm_up_samples: samples that are discarded before the timed ones. None: until their times are steady.
        samples: number of timed samples per case. None: sample until the rule `until` is met; on the CPU driver, 20.
        until: stop rule, as in ReplayOptions. None: "ci=0.005".
        require_converged: the verdict is "unconverged" if the median is not known well enough (see ReplayOptions).
            Otherwise such a case passes, with `converged` false and a note.
        timeout: seconds for the whole grade. The verdict is "timeout" when they have passed. None: the time that
            the problem's suite gives a ranked submission, else 300.
        wait_for_gpu: seconds to wait for each turn on the GPU. No replay is timed while another grade or replay of this
            machine uses the GPU. Waits do not count for `timeout`. After them, BusyError is raised.
        memory_bytes: host memory limit of the submission's processes together, and of each process that reads or
            replays its captures. 0: half of this machine's memory.
        sets: secret input sets per case.
        one_use: further input sets that serve one sample each: a submission that caches results is slower on them. If
            both numbers are the defaults, and a reference is slow, 4 and 8 sets are made.
        placements: processes in which the samples of a case are taken, each with other memory and another context; one
            where their states together would take more than 4 GiB of the device. Times of kernels of a few microseconds
            differ by 1 % between them. The time is the geometric mean of their medians, and its interval covers them.
            None: 4, on the CPU driver 1.
        network: let the submission use the network.
        require_sandbox: "full" refuses to run the submission if any protection of the sandbox is missing.
        require_evidence: "full" gives the verdict "unproven" if a check of the time could not tell.
        cordon_device: replay once more, off the clock, with a check before each access of the kernels to global and
            shared memory. An access outside of the memory that they were given is a violation. Kernels without PTX
            are named as unchecked.
        forbid_library: shell patterns. A timed kernel is a violation if its name matches, or the installed library that
            contains its code, or the library that loaded it.
        allow_images: shell patterns. A timed kernel is a violation unless one matches: the SHA-256 of its image, the
            installed library that contains its code, or "submission" for all other code. Empty: all may run. With
            `inline` no code is searched: `forbid_library` acts on names and loaders, `allow_images` on the SHA-256.
        inline: time in the submission's own process, for work that cannot be replayed. Such times are less
            trustworthy: do not rank them with replayed times. Not with `cold` (except "flush"), `icache`,
            `flush_cache`, `warm_up_samples`, `until`, `require_converged`, `require_evidence`, `cordon_device`, `sets`,
            `one_use`, `placements`, a `device` other than 0, or more than 1023 `samples`.
        policy: path or name of the policy that the submission's process obeys (docs/policy.md). None: "quarantine";
            "grading" with `inline`. No verdict depends on it.
        reference_device: device that computes the reference results.
        keep: folder for the captures and the audit log. None: they are deleted.
        seed: seed of the secret inputs, for tests only: whoever knows the seed knows the inputs. None: random.

    Raises:
        UsageError: a value is out of range, or two options exclude each other.
    """

    adapter: Literal["auto", "problem", "gpumode", "kernelbench", "leetgpu", "pygpubench"] = "auto"
    adapter_options: dict[str, str] = field(default_factory=dict)
    language: Language | None = None
    entry: str | None = None
    convention: Convention | None = None
    warm_up: int | None = None
    cases: tuple[str, ...] = ()
    driver: str = "auto"
    device: int = 0
    cold: Cold | None = None
    icache: Literal["warm", "cold"] = "warm"
    flush_cache: bool = False
    warm_up_samples: int | None = None
    samples: int | None = None
    until: str | None = None
    require_converged: bool = False
    timeout: float | None = None
    wait_for_gpu: float = WAIT_SECONDS
    memory_bytes: int = 0
    sets: int = 8
    one_use: int = 12
    placements: int | None = None
    network: bool = False
    require_sandbox: Literal["full"] | None = None
    require_evidence: Literal["full"] | None = None
    cordon_device: bool = False
    forbid_library: tuple[str, ...] = ()
    allow_images: tuple[str, ...] = ()
    inline: bool = False
    policy: str | None = None
    reference_device: Literal["auto", "cpu", "cuda"] = "auto"
    keep: Path | None = None
    seed: int | None = None

    @property
    def memory_limit(self) -> int:
        """Bytes of host memory for the submission's processes together, for the reader, and for each replay."""
        return self.memory_bytes or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2

    def __post_init__(self) -> None:
        for name, (low, high) in _BOUNDS.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise UsageError(f"{name.replace('_', '-')} is {value:g}; give {low:g} to {high:g}")
        if 0 < self.memory_bytes < MEMORY_MIN:
            raise UsageError(
                f"memory is {self.memory_bytes} bytes; a submission needs at least {MEMORY_MIN >> 20}M"
            )
        rule_of(self.until, self.samples)
        if self.cold is not None and self.cold not in get_args(Cold):
            raise UsageError(
                f"cold cannot be {self.cold!r} for a submission; give {', '.join(get_args(Cold))}"
            )
        if self.icache not in {"warm", "cold"}:
            raise UsageError(f"icache is {self.icache!r}; give warm or cold")
        for name in ("forbid_library", "allow_images"):
            for pattern in getattr(self, name):
                _check_pattern(name.replace("_", "-"), pattern)
        self.check_inline({each.name for each in fields(self) if getattr(self, each.name) != each.default})

    def check_inline(self, given: Collection[str]) -> None:
        """Raises UsageError if `inline` excludes one of the options whose fields are in `given`."""
        if not self.inline:
            return
        for name, why in _NOT_INLINE.items():
            if name in given and not (name == "cold" and self.cold == "flush"):
                raise UsageError(f"--{name.replace('_', '-')} has no effect with --inline: {why}")
        if self.samples is not None and self.samples > INLINE_SAMPLES_MAX:
            raise UsageError(
                f"--samples is {self.samples}; give at most {INLINE_SAMPLES_MAX} with --inline, because each sample "
                "needs an input set of its own"
            )

    def changed(self) -> dict[str, Any]:
        """The options that differ from the defaults, without those that name files of this machine."""
        default = GradeOptions()
        return {
            each.name: value
            for each in fields(self)
            if each.name not in _LOCAL and (value := getattr(self, each.name)) != getattr(default, each.name)
        }

    @classmethod
    def of_changed(cls, changed: Mapping[str, Any]) -> GradeOptions:
        """The options of changed(), which may come from JSON."""
        values: dict[str, Any] = {
            name: tuple(each) if isinstance(each, list) else each for name, each in changed.items()
        }
        return cls(**values)

    @property
    def seconds(self) -> float:
        return TIMEOUT_SECONDS if self.timeout is None else self.timeout

    def limited(self, problem: str) -> GradeOptions:
        """The options with a time limit for `problem`."""
        return self if self.timeout is not None else replace(self, timeout=time_limit(problem, self.adapter))


_BRACKETS = re.compile(r"\[(?:!?\][^\]]*|!(?!\])[^\]]+|(?!!)[^\]]+)\]")
"""A set of characters in a shell pattern. A ] at its beginning is one of its characters."""


def _check_pattern(option: str, pattern: str) -> None:
    """Raises UsageError for a shell pattern that is empty or has a [ without ], which fnmatch takes as a character.

    Such a pattern matches no library, so a mistake in it would forbid none.
    """
    if not pattern:
        raise UsageError(f"--{option} is empty; give a pattern as libcublas*")
    if "[" in _BRACKETS.sub("", pattern):
        raise UsageError(
            f"--{option} {pattern!r} has a [ without ]; add the ], or write [[] for the character [ itself"
        )


def has_default_sets(options: GradeOptions) -> bool:
    """Whether the judge may make fewer input sets than the options say: the user did not choose their number."""
    return (options.sets, options.one_use) == (GradeOptions.sets, GradeOptions.one_use)
