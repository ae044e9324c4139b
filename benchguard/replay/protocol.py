"""Messages between the supervisor and the replay process: one request, then one line of JSON per event.

Bulk data goes through inherited descriptors: the capture, the input sets, the outputs. The fields of Options, Device,
Prepared, Sample, Difference and Overhead are those of engine/replay/replay.h. The supervisor reads lines of a process
in which hostile kernels ran: every length has a bound, every number a range.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from .convergence import Rule

LINE_MAX = 1 << 20
LINES_MAX = 1 << 17
BATCH_MAX = 256
DIFFERENCES_MAX = 64
REFUSALS_MAX = 16
NOTES_MAX = 8
EMPTY_MAX = 1024
SETS_MAX = 4096
"""Input sets of a replay."""
PROCESSES_MAX = 16
"""Processes in which a replay takes its samples."""
NO_SET = 0xFFFFFFFF
"""As input_set: the recorded inputs. As a difference's global_index: the memory is an allocation."""

Word: TypeAlias = Annotated[int, Meta(ge=0, lt=1 << 32)]
Long: TypeAlias = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]
Time: TypeAlias = Annotated[float, Meta(ge=0.0)]
Line: TypeAlias = Annotated[str, Meta(max_length=1024)]
Digest: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]

Cold = Literal["remap", "flush", "rotate", "none", "memset"]
COLD: tuple[Cold, ...] = ("none", "flush", "remap", "rotate", "memset")
"""By their numbers in enum nb_cold."""

# enum nb_replay_status
BAD_CAPTURE, NO_DRIVER, CANNOT, FAILED, TIMEOUT, OURS, OTHER_READ = 1, 2, 3, 4, 5, 6, 7

UNPRIMED = 1
"""enum nb_sample_flag"""


class Limits(msgspec.Struct, frozen=True):
    """How large a capture may be."""

    host_bytes: int
    device_bytes: int
    elements: int
    decoders: int


class Options(msgspec.Struct, frozen=True):
    device: Word = 0
    cold: Word = COLD.index("flush")
    cold_code: bool = False
    prime: bool = True
    prime_limit_ms: Word = 1000
    timeout_ms: Word = 10_000
    scrub: bool = True
    step: bool = False
    """The host waits after each operation of an untimed run, so that an error names it."""
    seed: int = 0
    """Seed of values that kernels can see."""
    key: int = 0
    """Key of the noise in outputs and temporaries."""
    guard: bool = False
    """Memory that lasts from sample to sample is not mapped while the region runs."""
    strict: bool = False
    """The capture is an adversary's."""
    input_bytes: int = 0
    """Bytes of all input sets together; the sets follow later."""
    set_bytes: int = 0
    """Bytes of the largest set, if the sets may be given one at a time; 0: all are held."""
    rotating_count: Word = 0
    """With rotate, the state and its copies; 0: by the size of the cache."""
    flush_code: bool = False
    """A kernel empties the instruction caches before each sample; on HIP only."""
    ignore_reads: bool = False
    """Copies to the host may give other bytes than recorded."""


WARM_MAX = 1024
"""Limit on warm samples."""

IN_A_ROW_MAX = 160
"""Limit on samples in a row."""

WARM_UP_SAMPLES_MAX = 10_000


class InputPart(msgspec.Struct, frozen=True):
    """Part of input set `number`: `bytes` bytes at `offset` of the inputs' memory go to device address `address`.

    `zeros`: they are zeros, and the memory need not be read.
    """

    number: Word
    address: int
    bytes: int
    offset: int
    zeros: bool = False


class OutputPart(msgspec.Struct, frozen=True):
    """`bytes` bytes at device address `address`. Those of set n are stored at `offset` + n * `stride` of the outputs.

    `written`: the region only writes it, so that it is filled with a pattern before each sample. `name` is the
    range's, or the address.
    """

    address: int
    bytes: int
    offset: int
    written: bool
    name: str = ""


class SlotPart(msgspec.Struct, frozen=True):
    """`bytes` bytes at device address `address` go to `offset` of a slot. `written`: as in OutputPart."""

    address: int
    bytes: int
    offset: int
    written: bool


class SlotRequest(msgspec.Struct, frozen=True):
    """A pool of `slots` output slots in shared memory, and the replay's ends of its two pipes (ipc/slots.py)."""

    descriptor: int
    slots: int
    stride: int
    parts: tuple[SlotPart, ...]
    announce: int
    release: int


class OpenDriver(msgspec.Struct, frozen=True, tag="driver"):
    """Make the device's primary context before the request comes, in siblings, too, if there are more `processes`.
    The process answers with one byte."""

    driver: str
    device: Word
    processes: Word


class Request(msgspec.Struct, frozen=True, tag="replay"):
    """A replay to make. `deadline` is in seconds of the monotonic clock.

    `inputs_ready` is the pipe on which the judge announces streamed one-use sets, or -1 (inputs.py).

    `output_sets` outputs are kept: 0, 1 (of the last sample) or one for each input set. The last `one_use_sets` input
    sets are used for one timed sample each; `schedule_seed` decides which sample uses which set.
    """

    capture: int
    driver: str
    options: Options
    limits: Limits
    rule: Rule
    deadline: float
    sampling_seconds: float | None
    verify: bool
    ignore_refusals: bool
    inputs: tuple[InputPart, ...] = ()
    inputs_descriptor: int = -1
    input_sets: int = 0
    outputs: tuple[OutputPart, ...] = ()
    outputs_descriptor: int = -1
    outputs_stride: int = 0
    output_sets: int = 0
    one_use_sets: int = 0
    schedule_seed: int = 0
    empty: bool = False
    """Take samples of an empty kernel between the others."""
    slots: SlotRequest | None = None
    inputs_ready: int = -1
    warm: bool = False
    """All samples, also those of an empty kernel, come with the state in the cache."""
    warm_up_samples: int | None = None
    """Samples to discard; None: until they are steady."""
    warm_samples: int = 0
    """Samples after the others, with the state in the cache."""
    in_a_row: bool = False
    """After all samples, take some on the memory that the run before left. The judge gets their outputs, too."""
    processes: Word = 1
    """Processes in which samples are taken, each with a context and memory of its own (siblings.py)."""
    checked: tuple[OutputPart, ...] | None = None
    """Outputs of each sample to hold against an untimed run. None: no check, or a judge's."""


class Device(msgspec.Struct, frozen=True):
    name: Annotated[str, Meta(max_length=128)]
    driver_version: Word
    compute_major: Word
    compute_minor: Word
    multiprocessors: Word
    l2_bytes: Word
    clock_khz: Word
    memory_bytes: Long
    free_bytes: Long
    pci_bus: Annotated[str, Meta(max_length=32)]
    pageable: Word = 0
    """1: kernels reach pageable host memory, the replay process's own too (HMM)."""


def is_gpu(device: Device | None) -> bool:
    """Whether the device is a GPU. The CPU driver has no PCI address."""
    return device is not None and bool(device.pci_bus)


class Prepared(msgspec.Struct, frozen=True):
    """Cost of preparing, in milliseconds, and its results."""

    context_ms: Time
    memory_ms: Time
    modules_ms: Time
    total_ms: Time
    mapped_bytes: Long
    restored_bytes: Long
    copies: Word
    operations: Word
    streams: Word
    primed: Word
    code_copies: Word = 1
    flush_blocks: Word = 0
    """Launched before each sample to empty the instruction caches."""
    flushed: Word = 0
    """1: that kernel has the instruction for it on this device."""
    unlisted_globals: Word = 0
    """Globals of the images that are restored although the capture does not list them."""
    unknown_globals: Word = 0
    """1: an image may have globals that are not restored."""
    one_set: Word = 0
    """1: the device has room for one input set at a time."""


class Overhead(msgspec.Struct, frozen=True):
    tick_us: Time
    empty_pair_us: Time
    empty_kernel_us: Time
    empty_beside_us: Time = 0.0
    """span_us - device_us of a sample of an empty kernel, before any kernel of the capture ran."""


class Sample(msgspec.Struct, frozen=True):
    device_us: float
    """Less than 0 if a kernel overwrote the time of an event."""
    host_us: Time
    restore_us: Time
    clock_mhz: Time
    input_set: Word
    flags: Word
    guard_us: Time = 0.0
    """Time to unmap and to map the guarded memory."""
    tail_us: Time = 0.0
    """From the moment when the host sees the end event until the context is idle."""
    span_us: Time = 0.0
    """Between two times of the device that no kernel of the region can write; 0 if unknown."""


class Difference(msgspec.Struct, frozen=True):
    """Memory that differs from the recorded one; `global_index` is the index of a global, or NO_SET.

    `again`: two replays differ from each other here, too. `expected` and `actual` are in hexadecimal.
    """

    address: Long
    bytes: Long
    differing: Long
    first_offset: Long
    global_index: Word
    again: bool
    expected: Annotated[str, Meta(max_length=32)]
    actual: Annotated[str, Meta(max_length=32)]


class TimedSample(msgspec.Struct, frozen=True, array_like=True):
    """A sample, when it ended, by the monotonic clock, which all processes share, and the process that took it."""

    sample: Sample
    ended_ns: Long
    process: Annotated[int, Meta(ge=0, lt=PROCESSES_MAX)] = 0


class Opened(msgspec.Struct, frozen=True, tag_field="event", tag="opened"):
    """The capture is read; `refusals` are the reasons why it cannot be replayed."""

    refusals: Annotated[tuple[Line, ...], Meta(max_length=REFUSALS_MAX)]


class Searched(msgspec.Struct, frozen=True, tag_field="event", tag="searched"):
    """The images were searched. Sent first, in a strict replay without a judge: a grade's reader searches them."""

    unrestored: Line
    """Why kernels may keep data from sample to sample (capture/unrestored.py); empty if they cannot."""


class Ready(msgspec.Struct, frozen=True, tag_field="event", tag="ready"):
    """The recorded state is rebuilt on this device."""

    device: Device
    prepared: Prepared
    notes: Annotated[tuple[Line, ...], Meta(max_length=NOTES_MAX)] = ()
    """Deviations from the recorded state, and their reasons."""


class Verified(msgspec.Struct, frozen=True, tag_field="event", tag="verified"):
    """`count` places differ; `differences` has the first of them."""

    count: Word
    differences: Annotated[tuple[Difference, ...], Meta(max_length=DIFFERENCES_MAX)]


class Measured(msgspec.Struct, frozen=True, tag_field="event", tag="overhead"):
    overhead: Overhead


class Phase(msgspec.Struct, frozen=True, tag_field="event", tag="phase"):
    """The beginning of a phase, for progress displays."""

    name: Annotated[str, Meta(max_length=32)]


class Batch(msgspec.Struct, frozen=True, tag_field="event", tag="batch"):
    samples: Annotated[tuple[TimedSample, ...], Meta(min_length=1, max_length=BATCH_MAX)]


class SlotTimes(msgspec.Struct, frozen=True):
    """Seconds spent copying outputs to slots, and waiting for free slots, over all samples."""

    copy_s: Time
    wait_s: Time


class InputTimes(msgspec.Struct, frozen=True):
    """Seconds spent writing input sets to the device between samples, and waiting for the judge to draw sets."""

    write_s: Time
    wait_s: Time


class OutputCheck(msgspec.Struct, frozen=True):
    """The outputs of `samples` timed samples, held against untimed runs; `wrong` of them are wrong.

    `first` names the first wrong output, also one of an untimed run. `unknown` says why the check could not tell.
    """

    samples: Word
    wrong: Word
    first: Line
    unknown: Line = ""
    digests: Annotated[dict[Word, Digest], Meta(max_length=SETS_MAX)] = {}
    """By input set, SHA-256 of the outputs that an untimed run gave. Only if the check held."""


class InARow(msgspec.Struct, frozen=True):
    """Samples of one process on the memory that the run before left. The judge got their outputs after those of all
    other samples.

    After the `first` ones come rounds, in which samples with restored memory are beside them (in_a_row.py). `trouble`
    says why another one did not end.
    """

    samples: Annotated[tuple[Sample, ...], Meta(max_length=IN_A_ROW_MAX)] = ()
    first: Word = 0
    trouble: Line = ""
    process: Annotated[int, Meta(ge=0, lt=PROCESSES_MAX)] = 0


class Done(msgspec.Struct, frozen=True, tag_field="event", tag="done"):
    """The last event of a complete replay. `reason` says why it did not converge."""

    converged: bool
    reason: Line
    reached: Time | None
    wanted: Time | None
    warm_up: Word
    notes: Annotated[tuple[Line, ...], Meta(max_length=NOTES_MAX)]
    slots: SlotTimes | None = None
    inputs: InputTimes | None = None
    empty: Annotated[tuple[TimedSample, ...], Meta(max_length=EMPTY_MAX)] = ()
    """Samples of an empty kernel, taken between the others."""
    warm: Annotated[tuple[Sample, ...], Meta(max_length=WARM_MAX)] = ()
    """Samples with the state in the cache."""
    outputs: OutputCheck | None = None
    in_a_row: Annotated[tuple[InARow, ...], Meta(max_length=PROCESSES_MAX)] = ()
    """Those of each process."""
    host_wait: Annotated[float, Meta(ge=0, le=1)] = 0.0
    """Share of the time of sampling in which the replay's thread waited for a processor (host_wait.py)."""


class Failed(msgspec.Struct, frozen=True, tag_field="event", tag="failed"):
    """The last event of a failed replay. `status` is an enum nb_replay_status.

    `input_set`: the set on which the host read other bytes than when recorded; None for other failures.
    """

    status: Annotated[int, Meta(ge=1, le=255)]
    text: Line
    phase: Annotated[str, Meta(max_length=32)]
    input_set: Word | None = None


Event: TypeAlias = Searched | Opened | Ready | Verified | Measured | Phase | Batch | Done | Failed

encode = msgspec.json.Encoder().encode
decode_event = msgspec.json.Decoder(Event).decode
decode_request = msgspec.json.Decoder(Request).decode
decode_work = msgspec.json.Decoder(OpenDriver | Request).decode


def renumbered(request: Request, number: Mapping[int, int]) -> Request:
    """The request in a process whose descriptors have other numbers; -1 stays -1."""
    to = {**number, -1: -1}
    slots = request.slots
    if slots is not None:
        slots = replace(
            slots,
            descriptor=to[slots.descriptor],
            announce=to[slots.announce],
            release=to[slots.release],
        )
    return replace(
        request,
        capture=to[request.capture],
        inputs_descriptor=to[request.inputs_descriptor],
        outputs_descriptor=to[request.outputs_descriptor],
        inputs_ready=to[request.inputs_ready],
        slots=slots,
    )
