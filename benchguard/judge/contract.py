"""What the supervisor and the judge's process say to each other, and what a verdict is made of.

Over a socket pair: a JSON line a message, memfds beside it (socket.send_fds). Both sides are ours; what a replay
left in the output slots is not, but that is only compared.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from ..problem.spec import CaseSpec, Layout, Tolerance


class Ask(msgspec.Struct, frozen=True, tag_field="ask", tag="open"):
    """First. `problem` is PATH[:NAME]; `adapter` says what kind of path it is ("problem", "gpumode", …)."""

    problem: str
    adapter: str
    cases: tuple[str, ...] = ()
    """Names; empty: all."""
    sets_max: int = 8
    one_use: int = 8
    """Of the sets, so many beside are used for one sample each."""
    pool_bytes: int = 1 << 30
    """For input sets, expected outputs and output slots, each."""
    seed: int | None = None
    """For tests; None: the OS's."""
    device: str = "auto"
    """Where references are computed: auto, cpu, cuda."""
    adapter_options: dict[str, str] = {}


class AskThrowaway(msgspec.Struct, frozen=True, tag_field="ask", tag="throwaway"):
    """Two sets for each case, as a quarantine's Order has them. Answered with one memfd."""


class AskSecrets(msgspec.Struct, frozen=True, tag_field="ask", tag="secrets"):
    """Input sets and references of a case. Answered with: pool memfd, output slots memfd, the announcing end, the
    releasing end."""

    case: int


class AskExpected(msgspec.Struct, frozen=True, tag_field="ask", tag="expected"):
    """For --inline alone: what is right, as a memfd of the checked buffers' layout, a set after the other."""

    case: int


class AskChecked(msgspec.Struct, frozen=True, tag_field="ask", tag="checked"):
    """No sample of this case comes any more."""

    case: int


Question: TypeAlias = Ask | AskThrowaway | AskSecrets | AskExpected | AskChecked


class Opened(msgspec.Struct, frozen=True, tag_field="answer", tag="opened"):
    name: str
    convention: str
    entry: str
    cases: tuple[CaseSpec, ...]
    tolerances: tuple[dict[str, Tolerance], ...]
    """For each case, by buffer."""
    init: tuple[Any, ...] = ()
    """Arguments of a module's constructor."""


class Throwaway(msgspec.Struct, frozen=True, tag_field="answer", tag="throwaway"):
    layouts: tuple[Layout, ...]
    offsets: tuple[int, ...]


class Secrets(msgspec.Struct, frozen=True, tag_field="answer", tag="secrets"):
    """`sets` input sets are in the pool, laid out by `inputs`; the last `one_use` of them are for one sample each.

    Slot n holds one sample's checked buffers, laid out by `outputs`. `distributions` names each distribution.
    """

    inputs: Layout
    outputs: Layout
    sets: int
    one_use: int
    slots: int
    distributions: tuple[str, ...]


class Expected(msgspec.Struct, frozen=True, tag_field="answer", tag="expected"):
    outputs: Layout


class Mismatch(msgspec.Struct, frozen=True):
    """The first wrong element of a sample. `text` is for people: index, expected, actual."""

    sample: int
    set: int
    distribution: str
    buffer: str
    count: int
    """Of the buffer's elements, wrong ones."""
    elements: int
    text: str


class Checked(msgspec.Struct, frozen=True, tag_field="answer", tag="checked"):
    """Of one case. `samples` were looked at, every element of them; `wrong` of them differ too much."""

    samples: int
    wrong: int
    first: Mismatch | None
    max_absolute_error: float
    max_relative_error: float
    """Of elements that are not 0 and not tiny."""
    nondeterministic: int
    """Sets for which two samples differ in their bits, both being right or not."""
    precision: str = ""
    """Empty, or what the distribution of errors looks like: "float32 output has the errors of float16"."""
    counts: tuple[tuple[int, int], ...] = ()
    """(set, how many samples), to be compared with what the replay says."""


class Trouble(msgspec.Struct, frozen=True, tag_field="answer", tag="trouble"):
    """The problem's own code failed, or cannot be asked so. `text` is one line: what, where, what to do."""

    text: str
    usage: bool = False


Answer: TypeAlias = Opened | Throwaway | Secrets | Expected | Checked | Trouble

encode = msgspec.json.Encoder().encode
decode_question = msgspec.json.Decoder(Question).decode
decode_answer = msgspec.json.Decoder(Answer).decode
