"""One-use input sets that are drawn one at a time, where memory is short."""

from __future__ import annotations

import os
import select
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from benchguard.judge.contract import Ask, AskChecked, AskSecrets, Checked, Secrets
from benchguard.judge.process import JudgeProcess
from benchguard.judge.secret_sets import SecretSets
from benchguard.problem.errors import ProblemError
from benchguard.problem.spec import Buffer
from tests.unit.judge.replaying import SECONDS, Replaying, honest, judge, mapped, secrets_of

N = 1000
SHORT = {"memory": str(2 * (90 + 16) * N)}
"""Half of it holds three sets (of 28 N bytes, or 24 N with references in float32) and two output slots (of 8 N)."""


class Streaming(Replaying):
    """A replay that waits for each streamed set."""

    def __post_init__(self) -> None:
        assert self.secrets.streamed
        self.ready = self.descriptors.pop(1)
        super().__post_init__()
        self.first = self.secrets.sets - self.secrets.one_use

    def inputs(self, number: int) -> dict[str, np.ndarray]:
        return super().inputs(min(number, self.first))

    def wait(self) -> bool:
        """Wait for the next set; False if the judge has closed the pipe."""
        poll = select.poll()
        poll.register(self.ready, select.POLLIN)
        assert poll.poll(SECONDS * 1000), "no set was drawn"
        return bool(os.read(self.ready, 1))


def streaming(process: JudgeProcess, problem: str = "plain", rounds: int = 1) -> Streaming:
    ask = Ask(problem, "test", adapter_options=SHORT, one_use=12, rounds=rounds)
    return secrets_of(process, ask, kind=Streaming)


def replayed(replaying: Streaming, solve: Callable[[int], Any] = lambda _: honest) -> list[bytes]:
    """Repeated sets between streamed ones; the inputs of the streamed ones."""
    items = []
    for number in range(replaying.first, replaying.secrets.sets):
        assert replaying.wait()
        replaying.sample(0, solve(0))
        items.append(replaying.inputs(number)["x"].tobytes())
        replaying.sample(number, solve(number))
    return items


def checked(process: JudgeProcess) -> Checked:
    process.ask(AskChecked(0))
    return process.answer(Checked)[0]


def test_streamed_sets_differ_and_are_checked() -> None:
    with judge() as process:
        replaying = streaming(process)
        assert (replaying.first, replaying.secrets.one_use) == (2, 8)
        assert replaying.pool.nbytes == 3 * replaying.secrets.inputs.stride
        items = replayed(replaying)
        found = checked(process)
    assert len({*items, replaying.inputs(0)["x"].tobytes()}) == 9
    assert (found.samples, found.wrong, found.first) == (16, 0, None)
    assert found.counts == ((0, 8), *((number, 1) for number in range(2, 10)))


@pytest.mark.parametrize("wrong", [2, 5, 9])
def test_wrong_output_of_a_streamed_set_is_found(wrong: int) -> None:
    def solve(number: int) -> Any:
        def once(inputs: Any, outputs: Any) -> None:
            honest(inputs, outputs)
            outputs["y"][777] += 0.1 * (number == wrong)

        return once

    with judge() as process:
        replayed(streaming(process), solve)
        found = checked(process)
    assert found.wrong == 1 and found.first is not None
    assert (found.first.set, found.first.buffer) == (wrong, "y")


def test_rounds_stream_the_same_sets() -> None:
    with judge() as process:
        replaying = streaming(process, rounds=2)
        items = replayed(replaying)
        assert checked(process).wrong == 0
        process.ask(AskSecrets(0))
        secrets, descriptors = process.answer(Secrets)
        assert replayed(Streaming(replaying.spec, secrets, descriptors)) == items
        assert checked(process).wrong == 0


def test_streamed_set_before_its_turn_is_refused() -> None:
    with judge() as process:
        replaying = streaming(process)
        replaying.announce(0, 4, 0)
        with pytest.raises(ProblemError, match="input set 4 before it was drawn"):
            checked(process)


def test_own_check_of_the_problem_sees_the_inputs_of_streamed_sets() -> None:
    def solve(number: int) -> Any:
        def once(inputs: Any, outputs: Any) -> None:
            honest(inputs, outputs)
            if number == 4:
                outputs["signs"][...] *= -1

        return once

    with judge() as process:
        replayed(streaming(process, "strict"), solve)
        found = checked(process)
    assert found.wrong == 1 and found.first is not None
    assert (found.first.set, found.first.text) == (4, "signs are not those of x")


@pytest.mark.parametrize("wrong", [0, 4])
def test_own_check_beside_tolerances_streamed_output_rejected(wrong: int) -> None:
    def solve(number: int) -> Any:
        def once(inputs: Any, outputs: Any) -> None:
            honest(inputs, outputs)
            if number == wrong and number:
                outputs["y"][...] *= np.float32(1.001)

        return once

    with judge() as process:
        replayed(streaming(process, "exacting"), solve)
        found = checked(process)
    assert found.wrong == (wrong > 0)
    if wrong:
        assert found.first is not None
        assert (found.first.set, found.first.text) == (4, "y is not exact")


def test_inputs_that_the_replay_changed_are_not_used() -> None:
    """The memory of streamed sets cannot be sealed. The problem's own check would see the changed inputs."""
    with judge() as process:
        replaying = streaming(process, "strict")
        assert replaying.wait()
        mapped(replaying.descriptors[0], writable=True)[
            replaying.first * replaying.secrets.inputs.stride
        ] ^= 1
        replaying.sample(replaying.first, honest)
        with pytest.raises(ProblemError, match="the replay changed x of input set 2"):
            checked(process)


def test_problem_that_fails_for_a_later_set_ends_the_replay() -> None:
    with judge() as process:
        replaying = streaming(process, "fails later")
        assert replaying.wait()
        replaying.sample(replaying.first, honest)
        assert not replaying.wait()
        with pytest.raises(ProblemError, match="no more sets"):
            checked(process)


def test_streamed_inputs_are_copied_when_they_are_asked_for() -> None:
    data = np.arange(16, dtype=np.uint8)
    case: Any = SimpleNamespace(
        spec=SimpleNamespace(read=(Buffer("x", "uint8", (8,)), Buffer("w", "uint8", (8,))))
    )
    checks: list[str] = []
    sets = SecretSets.__new__(SecretSets)
    sets.case, sets.memory = case, data
    sets.supply = cast(Any, SimpleNamespace(check=lambda _, name, __: checks.append(name)))
    places = {"x": (0, 8), "w": (8, 8)}
    sets.layout = cast(Any, SimpleNamespace(place=lambda name, _: places[name]))
    sets.plan = cast(Any, SimpleNamespace(place_of=lambda _: 0))
    arrays = sets.arrays_of(0)
    assert list(arrays) == ["x", "w"] and len(arrays) == 2 and not checks
    first = arrays["w"]
    data[:] = 0
    assert arrays["w"] is first and first.tolist() == list(range(8, 16)) and checks == ["w"]
    with pytest.raises(KeyError):
        arrays["y"]
