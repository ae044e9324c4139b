"""Output slots with a hostile replay: the judge reports invalid announcements and never hangs."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchguard.errors import BenchguardError
from benchguard.ipc.slots import ANNOUNCEMENT, SAMPLES_MAX, Announcements, SlotError, SlotPlan
from benchguard.judge.contract import Ask, AskChecked, Checked
from tests.conftest import ROOT
from tests.unit.judge.replaying import Replaying, honest, judge, secrets_of

F_SETPIPE_SZ = 1031  # linux/fcntl.h
PLAN = SlotPlan(sets=6, one_use=2, slots=4)
BEFORE = [(0, 0, 0), (1, 5, 1), (2, 0, 2)]
"""Slots 1 and 2 have not been given back after these."""


def announced(records: list[tuple[int, int, int]], held: set[int]) -> list[bool]:
    state = Announcements(PLAN)
    return [state.check(*record, held) for record in records]


def test_first_sample_of_each_set_recognised() -> None:
    assert announced([(0, 1, 0), (1, 1, 0), (2, 5, 3), (3, 0, 0), (4, 1, 0)], set()) == [
        True, False, True, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ((4, 0, 0), "sample 4 where sample 3 is due"),
        ((2, 0, 0), "sample 2 where sample 3 is due"),
        ((1 << 63, 0, 0), "more than"),
        ((3, 6, 0), "input set 6 of 6"),
        ((3, 0xFFFFFFFF, 0), "input set 4294967295"),
        ((3, 0, 4), "slot 4 of 4"),
        ((3, 0, 2), "slot 2, which the judge still holds"),
        ((3, 5, 0), "one-use input set 5 for a second sample"),
    ],
)
def test_invalid_announcement_refused(record: tuple[int, int, int], words: str) -> None:
    state = Announcements(PLAN)
    for each in BEFORE:
        state.check(*each, set())
    with pytest.raises(SlotError, match=words):
        state.check(*record, {1, 2})


@given(st.lists(st.tuples(*[st.integers(0, 8)] * 3), max_size=30))
def test_counts_cover_accepted_announcements_only(records: list[tuple[int, int, int]]) -> None:
    state = Announcements(PLAN)
    accepted = []
    for record in records:
        try:
            state.check(*record, frozenset())
        except SlotError:
            continue
        accepted.append(record)
    assert [sample for sample, _, _ in accepted] == list(range(len(accepted)))
    assert sum(state.by_set) == state.samples == len(accepted) < SAMPLES_MAX
    assert all(count <= 1 for count in state.by_set[4:])


def error_text(hostile: object) -> str:
    """The judge's message about a hostile replay."""
    with judge() as process:
        replaying = secrets_of(process, Ask("plain", "test"))
        for number in range(3):
            replaying.sample(number, honest)
        hostile(replaying)  # type: ignore[operator]
        process.ask(AskChecked(0))
        with pytest.raises(BenchguardError) as excinfo:
            process.answer(Checked)
        return str(excinfo.value)


def test_hostile_announcement_ends_case() -> None:
    def hostile(replaying: Replaying) -> None:
        replaying.announce(9, 0, replaying.free[-1])
        while replaying.take_back():  # the judge closes its end: who waits for slots does not wait for ever
            pass

    text = error_text(hostile)
    assert "n=1000: its samples: the replay announces sample 9 where sample 3 is due" in text


def test_incomplete_announcement_refused() -> None:
    assert "an incomplete announcement" in error_text(lambda r: os.write(r.descriptors[2], b"1234567"))


def test_slot_reuse_before_return_never_hangs() -> None:
    """The judge gives each back at once, so this one may or may not be told; it never hangs, and counts stay right."""
    with judge() as process:
        replaying = secrets_of(process, Ask("plain", "test"))
        honest_slot = replaying.free[-1]
        replaying.sample(0, honest)
        replaying.announce(1, 0, honest_slot)
        process.ask(AskChecked(0))
        try:
            checked, _ = process.answer(Checked)
        except BenchguardError as error:
            assert "still holds" in str(error)
        else:
            assert (checked.samples, checked.wrong) == (2, 0)


def test_replay_that_takes_back_no_slots_refused() -> None:
    def flood(replaying: Replaying) -> None:
        """As many as the pipe of slots holds, and more; the pipe of announcements closes when that is full."""
        sample, slots = 3, replaying.secrets.slots
        fcntl.fcntl(replaying.descriptors[3], F_SETPIPE_SZ, 4096)
        os.set_blocking(replaying.descriptors[2], True)
        solved = list(range(slots))
        while sample < 20_000:
            try:
                os.write(
                    replaying.descriptors[2],
                    b"".join(ANNOUNCEMENT.pack(sample + i, 0, solved[i % 32 + 3]) for i in range(32)),
                )
            except BrokenPipeError:
                return
            sample += 32
            time.sleep(0)

    text = error_text(flood)
    assert "announces" in text


def test_replay_in_another_process_checked() -> None:
    """Two processes, the slots between them: what is written there is seen here."""
    script = (
        "import sys, json, numpy as np, msgspec\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from tests.unit.judge.replaying import Replaying, honest\n"
        "from benchguard.judge.contract import Secrets\n"
        "from benchguard.problem.spec import CaseSpec\n"
        "spec = msgspec.json.decode(sys.argv[2], type=CaseSpec)\n"
        "secrets = msgspec.json.decode(sys.argv[3], type=Secrets)\n"
        "replaying = Replaying(spec, secrets, json.loads(sys.argv[4]))\n"
        "for sample in range(2000):\n"
        "    replaying.sample(sample % 8, honest)\n"
    )
    import msgspec

    with judge() as process:
        replaying = secrets_of(process, Ask("plain", "test"))
        words = [str(ROOT), *(msgspec.json.encode(x).decode() for x in (replaying.spec, replaying.secrets))]
        subprocess.run(
            [sys.executable, "-c", script, *words, str(replaying.descriptors)],
            pass_fds=replaying.descriptors,
            check=True,
            timeout=240,
        )
        process.ask(AskChecked(0))
        checked, _ = process.answer(Checked)
        assert (checked.samples, checked.wrong, checked.nondeterministic) == (2000, 0, 0)


def test_slot_overwritten_after_its_return_leaves_results_unchanged() -> None:
    """The judge returns a slot only when it has read the slot for the last time."""
    with judge() as process:
        ask = Ask("plain", "test", sets_max=2, one_use=0, adapter_options={"n": "200000"})
        replaying = secrets_of(process, ask)
        for sample in range(40):
            replaying.sample(sample % 2, honest)
            while len(replaying.free) < replaying.secrets.slots:
                replaying.take_back()
            replaying.outputs[:] = sample
        process.ask(AskChecked(0))
        checked, _ = process.answer(Checked)
        assert (checked.samples, checked.wrong, checked.first) == (40, 0, None)


def test_slot_overwritten_before_its_announcement_is_wrong() -> None:
    """The control of the test above."""
    with judge() as process:
        replaying = secrets_of(process, Ask("plain", "test", sets_max=2, one_use=0))

        def scribbled(inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]) -> None:
            honest(inputs, outputs)
            replaying.outputs[:] = 0x7F

        for sample in range(4):
            replaying.sample(sample % 2, scribbled)
        process.ask(AskChecked(0))
        checked, _ = process.answer(Checked)
        assert (checked.samples, checked.wrong) == (4, 4)


def test_closed_writers_do_not_fail_case() -> None:
    with judge() as process:
        replaying = secrets_of(process, Ask("plain", "test"))
        replaying.sample(0, honest)
        replaying.take_back()
        replaying.close()
        time.sleep(0.1)
        process.ask(AskChecked(0))
        assert process.answer(Checked)[0].samples == 1
