"""Messages between the supervisor and the judge's process.

They travel over a socket pair: one JSON line a message, with memfds beside it (socket.send_fds). Both sides are
trusted. The content of output slots comes from a replay and is not; the judge only compares it.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from ..problem.spec import CaseSpec, Layout, Returned, Tolerance


class Ask(msgspec.Struct, frozen=True, tag_field="ask", tag="open"):
    """Open a problem; the first question. `problem` is PATH[:NAME]; `adapter` its format ("problem", "gpumode", …)."""

    problem: str
    adapter: str
    cases: tuple[str, ...] = ()
    """Names; empty: all, or only the smallest."""
    smallest: bool = False
    """Open only the case with the least inputs, if `cases` is empty."""
    sets_max: int = 8
    one_use: int = 8
    """The number of one-use input sets, besides `sets_max` repeated ones."""
    patience: float | None = None
    """If the fewest sets that tests of the time need take more seconds than this, no others are made. None: all are."""
    few_untimed: bool = False
    """Make only the fewest sets of cases whose times do not count (problem/ranking.py)."""
    pool_bytes: int = 1 << 30
    """Limit for each of: input sets, expected outputs, output slots."""
    seed: int | None = None
    """For tests; None: random."""
    device: str = "auto"
    """Where references are computed: auto, cpu, cuda."""
    adapter_options: dict[str, str] = {}
    rounds: int = 1
    """How often the secret inputs of a case may be asked for. Each round has output slots and results of its own."""
    others_every: int = 2
    """One of so many sets of each kind has another distribution than the problem's own."""
    submissions: tuple[str, ...] = ()
    """Paths of submissions, which the judge never imports."""
    locks: str = ""
    """The folder of the locks of all graders of the machine (ipc/claims.py); empty: others are ignored."""


class AskThrowaway(msgspec.Struct, frozen=True, tag_field="ask", tag="throwaway"):
    """Make two throw-away sets for each of the cases from `first` on, for the quarantine.

    Answered with Throwaway and one memfd. It has as many cases as fit BATCH_BYTES, but at least one.
    """

    first: int = 0


class AskSecrets(msgspec.Struct, frozen=True, tag_field="ask", tag="secrets"):
    """Make a case's secret input sets and references.

    Answered with the input pool's memfd, the output slots' memfd, and the replay's ends of the announcing and the
    releasing pipe. In a later round the inputs are those of the first. A case with `returns` has no slots before
    AskSlots: only the input pool's memfd is given.
    """

    case: int


class AskSlots(msgspec.Struct, frozen=True, tag_field="ask", tag="slots"):
    """Make output slots for results in the memory that a submission's call returned (problem/returned.py).

    For a case with `returns` only, and instead of the slots of AskSecrets. Answered with Slots, and with the memfd and
    the two pipe ends.
    """

    case: int
    returned: Returned


class AskExpected(msgspec.Struct, frozen=True, tag_field="ask", tag="expected"):
    """Give the expected outputs, for --inline only. Answered with a memfd: all sets, in the checked buffers' layout."""

    case: int


class AskChecked(msgspec.Struct, frozen=True, tag_field="ask", tag="checked"):
    """Give the results of a case, whose replay has ended.

    `in_a_row`: the number of the last outputs that belong to no sample, but to calls on the memory that the call before
    left.
    """

    case: int
    in_a_row: int = 0


Question: TypeAlias = Ask | AskThrowaway | AskSecrets | AskSlots | AskExpected | AskChecked


class Opened(msgspec.Struct, frozen=True, tag_field="answer", tag="opened"):
    name: str
    convention: str
    entry: str
    cases: tuple[CaseSpec, ...]
    tolerances: tuple[dict[str, Tolerance], ...]
    """For each case, by buffer."""
    init: tuple[Any, ...] = ()
    """As in problem/suite.py, with `tensors`."""
    tensors: bool = False

    files: dict[str, str] = {}
    """Paths of files, by name, that are placed beside the submission."""

    ranking: str = ""
    left_out: tuple[str, ...] = ()
    """Names of the cases that are larger than the smallest, if Ask wants only that."""

    own_checks: bool = False
    """Whether a check of the problem's own may reject outputs that are within the tolerances."""


class Throwaway(msgspec.Struct, frozen=True, tag_field="answer", tag="throwaway"):
    layouts: tuple[Layout, ...]
    offsets: tuple[int, ...]


class Secrets(msgspec.Struct, frozen=True, tag_field="answer", tag="secrets"):
    """`sets` input sets are in the pool, laid out by `inputs`; the last `one_use` of them are for one sample each.

    Slot n holds one sample's checked buffers, laid out by `outputs`. `distributions` names the distribution of each
    set; `own` is the problem's own.
    """

    inputs: Layout
    outputs: Layout
    sets: int
    one_use: int
    slots: int
    distributions: tuple[str, ...]
    own: str
    streamed: bool = False
    """One-use sets follow each other in the pool's last place (streaming.py). The pipe's end on which they are
    announced is the second descriptor."""
    zeros: tuple[str, ...] = ()
    """Inputs that are zeros in all sets."""


class Slots(msgspec.Struct, frozen=True, tag_field="answer", tag="slots"):
    outputs: Layout
    slots: int


class Expected(msgspec.Struct, frozen=True, tag_field="answer", tag="expected"):
    outputs: Layout
    factors: dict[str, float] = {}
    """As in Checked."""


class Mismatch(msgspec.Struct, frozen=True):
    """The first wrong element of a sample. `text` names index, expected and actual value."""

    sample: int
    set: int
    distribution: str
    buffer: str
    count: int
    """The number of wrong elements."""
    elements: int
    text: str


Cause: TypeAlias = Literal["zeros", "stored", "part", "order", "extremes", "selected"]
"""The cause of a narrower tolerance. The problem's would accept zeros (slack.py), one stored answer for all sets
(stored_answers.py), an answer from a part of the inputs, one without regard to the places of elements, one from all
elements but the largest (partial_answers.py), or numbers near those of the inputs (selected.py)."""


class Checked(msgspec.Struct, frozen=True, tag_field="answer", tag="checked"):
    """Results of one case: all elements of `samples` samples were compared, and `wrong` samples exceed a tolerance."""

    samples: int
    wrong: int
    first: Mismatch | None
    max_absolute_error: float
    max_relative_error: float
    """Over elements that are neither 0 nor tiny."""
    nondeterministic: int
    """The number of sets with two samples that differ bit by bit."""
    precision: str = ""
    """A note if errors look like those of a lower precision: "float32 output has the errors of float16"."""
    counts: tuple[tuple[int, int], ...] = ()
    """(set, number of samples), to be compared with the replay's own counts."""
    factors: dict[str, float] = {}
    """By buffer: how much wider its tolerance was than the problem's, at most over all sets (slack.py)."""
    causes: dict[str, Cause] = {}
    """Why a tolerance was narrower, by buffer."""
    own_verdict: bool = False
    """Whether the problem's own check decided, instead of tolerances."""
    stored: tuple[str, ...] = ()
    """Buffers for which one stored answer would pass in all sets (stored_answers.py)."""
    of_parts: tuple[str, ...] = ()
    """Buffers for which answers from a part of the inputs would pass (partial_answers.py)."""
    copied: dict[str, str] = {}
    """By buffer, the input that the right answer is within the tolerance of, in some own sets (copied.py)."""
    ignorable: tuple[str, ...] = ()
    """Inputs that hardly change the right answer (ignorable.py)."""
    refused: str = ""
    """Why the reference did not answer to changed inputs, so that `of_parts` may lack buffers; empty if it did."""
    refused_others: str = ""
    """Why sets have the problem's own distribution instead of another one: the reference does not run on that."""
    only_others: bool = False
    """Whether outputs are wrong for inputs of other distributions only."""
    unchanged: str = ""
    """Why nothing shows that the call computed its results: they are inputs that are right as they are."""
    of_other_inputs: str = ""
    """Why nothing shows that the call computed its results: they are as near to the answers to other inputs
    (other_inputs.py), or some are the same for all inputs (constants.py), or the problem's own check sees few of them
    (unseen.py)."""
    unseen: dict[str, float] = {}
    """By buffer, the share of numbers that are not right, and that the problem's own check does not see (unseen.py)."""
    in_a_row: Mismatch | None = None
    """The first wrong output of calls in a row (AskChecked). Only `counts` and this field include these calls."""
    decided_by_rounding: int = 0
    """The number of elements that are right for inputs a few roundings away only (nearby.py)."""
    undecided: tuple[str, ...] = ()
    """The distributions of sets that do not count, although their outputs are wrong (undecided.py)."""
    rounding_factor: float = 1.0
    """The largest factor of a tolerance that made an output right, in another distribution mostly (rounding.py)."""


class Trouble(msgspec.Struct, frozen=True, tag_field="answer", tag="trouble"):
    """The problem's code failed, or the question was invalid. `text` is one line: what, where, what to do."""

    text: str
    usage: bool = False
    crowded: bool = False
    """The machine's memory is the reason, and other graders use it."""


Answer: TypeAlias = Opened | Throwaway | Secrets | Slots | Expected | Checked | Trouble

encode = msgspec.json.Encoder().encode
decode_question = msgspec.json.Decoder(Question).decode
decode_answer = msgspec.json.Decoder(Answer).decode
