"""Input sets made in this process and in workers: equal results, distinct sets, and failures."""

from __future__ import annotations

import mmap
import os
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from benchguard.errors import BenchguardError, UsageError
from benchguard.ipc.shared_memory import SharedMemory
from benchguard.judge import making, workers
from benchguard.judge.inputs import BYTES_FEW, Seen
from benchguard.judge.making import Failed, Here, Made, Maker, Order, Source
from benchguard.judge.reference import SpillError
from benchguard.judge.troubles import FaultError, error_text
from benchguard.judge.workers import Workers, can_fork
from benchguard.problem.errors import ProblemError
from benchguard.problem.spec import Buffer, layout_of
from benchguard.problem.threads import _blas, threads
from benchguard.problem.turns import Turns, others_turn
from tests.support.waiting import wait_until
from tests.unit.judge.problems import Scale

COUNT = 3
makers = pytest.mark.parametrize("kind", ["here", "workers"])


class Making:
    """One case, a maker of either kind, and a pool."""

    def __init__(self, kind: str, case: Any) -> None:
        self.spec = case.spec
        self.layout = layout_of(case.spec.read)
        self.pool = SharedMemory("pool", 64 * self.layout.stride)
        here = Here([case], Turns())
        self.maker: Maker = Workers([case], COUNT, here) if kind == "workers" else here
        self.source = Source(self.maker, Seen(case.spec), random.Random(1), self.pool)

    def __enter__(self) -> Making:
        return self

    def __exit__(self, *_: object) -> None:
        if isinstance(self.maker, Workers):
            self.maker.close()
        self.pool.close()

    def orders(self, names: Sequence[str], **wishes: bool) -> list[Order]:
        starts = range(0, self.pool.size, self.layout.stride)
        return [
            Order(0, name, self.source.seed(), at, **wishes) for name, at in zip(names, starts, strict=False)
        ]

    def sets(self, names: Sequence[str], **wishes: bool) -> list[Made]:
        orders = self.orders(names, **wishes)
        return self.source.all_settled(orders, iter(self.maker.make(orders, self.pool)))

    def results(self, names: Sequence[str], **wishes: bool) -> list[Made | Failed]:
        return self.maker.make(self.orders(names, **wishes), self.pool)

    def inputs(self, number: int) -> bytes:
        start = number * self.layout.stride
        return self.pool.view()[start : start + self.layout.stride].tobytes()


def children() -> set[str]:
    """Zombies too; other tests may have left some of their own."""
    items = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue  # it has ended
        if parent == os.getpid():
            items.add(path.parent.name)
    return items


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    before = children()
    yield
    assert children() <= before


NAMES = ("normal", "ties", "large") * 4


def test_workers_make_same_sets_as_one_process() -> None:
    result = []
    for kind in ("here", "workers"):
        with Making(kind, Scale(1000)) as making:
            made = making.sets(NAMES, answers=True)
            result.append(([making.inputs(each) for each in range(12)], made))
    (inputs, here), (others, there) = result
    assert inputs == others and len(set(inputs)) == 12
    for one, other in zip(here, there, strict=True):
        assert one.digests == other.digests and list(one.answers) == list(other.answers) == ["y", "signs"]
        for name, values in one.answers.items():
            assert values.dtype == other.answers[name].dtype
            np.testing.assert_array_equal(values, other.answers[name])
    assert here[0].answers["y"].dtype == np.float64


@makers
def test_throwaway_sets_have_no_answers(kind: str) -> None:
    with Making(kind, Scale(100, what="raise")) as making:
        assert all(each.answers == {} for each in making.sets(NAMES))


@makers
def test_answers_stored_narrow(kind: str) -> None:
    with Making(kind, Scale(100, what="loose")) as making:
        [sets] = making.sets(["normal"], answers=True, spill=True)
        assert sets.answers["y"].dtype == np.float32
    with Making(kind, Scale(100)) as making:
        [failed] = making.results(["normal"], answers=True, spill=True)
        assert isinstance(failed, Failed) and isinstance(failed.error, SpillError)


class Zeroed(Scale):
    """An output that begins as zeros in all sets, and an input of ones."""

    def __post_init__(self) -> None:
        super().__post_init__()
        x, _, y, *rest = self.spec.arguments
        both = (Buffer("ones", "float32", (self.n,)), replace(y, role="inout"))
        self.spec = replace(self.spec, arguments=(x, *both, *rest), unseeded=("y", "ones"))

    def inputs(self, seed: int, distribution: str) -> dict[str, Any]:
        drawn = super().inputs(seed, distribution)
        return {"x": drawn["x"], "ones": np.ones(self.n, np.float32), "y": np.zeros(self.n, np.float32)}

    def expected(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        return super().expected({**inputs, "w": inputs["ones"]})


@makers
def test_zeros_of_all_sets_are_not_written(kind: str) -> None:
    count = 1 << 20
    with Making(kind, Zeroed(count)) as making:
        made = making.sets(["normal", "ties"], answers=True)
        assert [each.zeros for each in made] == [frozenset({"y"})] * 2
        written = 512 * os.fstat(making.pool.descriptor).st_blocks
        assert written == 2 * 2 * 4 * count
        at, size = making.layout.place("y", 0)
        assert not any(making.inputs(0)[at : at + size])


class Overflowing(Scale):
    """Numbers of the distribution `large` overflow in float32. With `what` "lost", nothing is left of them there."""

    def expected(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        results = super().expected(inputs)
        return {**results, "y": results["y"] * 1e35}

    def native(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        results = self.expected(inputs)
        with np.errstate(all="ignore"):
            y = results["y"].astype(np.float32)
            return {**results, "y": y - y + y if self.what == "lost" else y}

    def verify(
        self, inputs: Mapping[str, Any], expected: Mapping[str, Any], actual: Mapping[str, Any]
    ) -> str | None:
        del inputs
        with np.errstate(all="ignore"):
            return None if np.array_equal(expected["y"].astype(np.float32), actual["y"]) else "y differs"


@makers
@pytest.mark.parametrize(("what", "drawn"), [("lost", "normal"), ("", "large")])
def test_distribution_that_leaves_the_reference_wrong_is_not_drawn(kind: str, what: str, drawn: str) -> None:
    with Making(kind, Overflowing(1000, what=what, own_verdict=True)) as making:
        [first, second] = making.sets(["normal", "large"], answers=True)
        assert (first.distribution, second.distribution) == ("normal", drawn)
        largest = np.abs(second.answers["y"]).max()
        assert (largest > np.finfo(np.float32).max) == (drawn == "large")
        assert np.abs(np.frombuffer(making.inputs(1), np.float32)[:1000]).max() > 100 or drawn == "normal"
        [again] = making.results(["large"], answers=False)
        assert isinstance(again, Made) and again.distribution == "large"


class Singular(Scale):
    """The reference fails on numbers of the distribution `large`, or has no number for them (`what` "NaN")."""

    def expected(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        results = super().expected(inputs)
        if np.abs(inputs["x"]).max() < 100:
            return results
        if self.what == "NaN":
            return {**results, "y": results["y"] * np.nan}
        raise ProblemError("Singular matrix")


@makers
@pytest.mark.parametrize(("what", "reason"), [("", "Singular matrix"), ("NaN", "no finite number for y")])
def test_distribution_that_the_reference_fails_on_is_not_drawn_and_the_reason_kept(
    kind: str, what: str, reason: str
) -> None:
    with Making(kind, Singular(1000, what=what)) as making:
        [first, second] = making.sets(["normal", "large"], answers=True)
        assert (first.distribution, second.distribution) == ("normal", "normal")
        assert not first.refused and second.refused.startswith("large: ") and reason in second.refused


LACKS = (
    "[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes.",
    "DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes.",
    "CUDA error: out of memory",
    "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
)
"""torch's errors for a lack of memory that are plain exceptions."""


class Starved(Scale):
    """The reference lacks memory for numbers of the distribution `large`."""

    def expected(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        if np.abs(inputs["x"]).max() < 100:
            return super().expected(inputs)
        raise ProblemError("the reference failed") from RuntimeError(self.what)


@pytest.mark.parametrize("text", LACKS)
def test_distribution_for_which_the_reference_lacks_memory_is_not_left_out(text: str) -> None:
    with Making("here", Starved(1000, what=text)) as making:
        first, second = making.results(["normal", "large"], answers=True)
        assert isinstance(first, Made) and isinstance(second, Failed)


class Vanishing(Overflowing):
    """Numbers of the distribution `large` have factors so small that float32 loses them."""

    def expected(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        results = super().expected(inputs)
        return {**results, "y": 1e-38 / (1 + np.abs(results["y"] / 1e35))}

    def native(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        results = self.expected(inputs)
        y = results["y"].astype(np.float32)
        return {**results, "y": y * np.float32(np.nan) if self.what == "lost" else y}


@makers
@pytest.mark.parametrize(("what", "drawn"), [("lost", "normal"), ("", "large")])
def test_distribution_with_vanishing_numbers_that_leaves_the_reference_wrong_is_not_drawn(
    kind: str, what: str, drawn: str
) -> None:
    with Making(kind, Vanishing(1000, what=what, own_verdict=True)) as making:
        [_, second] = making.sets(["normal", "large"], answers=True)
        assert second.distribution == drawn


class Seldom(Scale):
    def inputs(self, seed: int, distribution: str) -> dict[str, Any]:
        return super().inputs(seed % 3, distribution)


@makers
def test_duplicate_set_made_again(kind: str) -> None:
    with Making(kind, Seldom(100)) as making:
        sets = making.sets(["normal"] * 3, answers=True)
        assert len({making.inputs(number) for number in range(3)}) == 3
        assert len({each.answers["y"].tobytes() for each in sets}) == 3
        with pytest.raises(FaultError, match="x is equal for 16 seeds"):
            making.sets(["normal"])


@makers
def test_small_buffers_may_repeat(kind: str) -> None:
    with Making(kind, Scale(BYTES_FEW // 4, what="seedless")) as making:
        assert len(making.sets(["normal"] * 3)) == 3


@makers
def test_missing_buffer_refused(kind: str) -> None:
    class Less(Scale):
        def inputs(self, seed: int, distribution: str) -> dict[str, Any]:
            return {"x": super().inputs(seed, distribution)["x"]}

    wrong = pytest.raises(FaultError, match=r"inputs\(\) gives x; the case reads w, x")
    with Making(kind, Less(100)) as making, wrong:
        making.sets(["normal"])


class Faulty(Scale):
    """One distribution raises."""

    error: BaseException = ValueError("no\nsuch")

    def inputs(self, seed: int, distribution: str) -> dict[str, Any]:
        if distribution == "large":
            raise self.error
        time.sleep(0.05)
        return super().inputs(seed, distribution)


@makers
@pytest.mark.parametrize(
    ("error", "kept"),
    [
        (ValueError("no"), FaultError),
        (SystemExit(3), FaultError),
        (UsageError("not so"), UsageError),
        (MemoryError(), FaultError),
    ],
)
def test_making_stops_at_first_failure(kind: str, error: BaseException, kept: type) -> None:
    case = Faulty(100)
    case.error = error
    with Making(kind, case) as making:
        for names, count in ((NAMES, 3), (("large",) * 9, 1)):
            results = making.results(names)
            assert [type(each) for each in results] == [Made] * (count - 1) + [Failed]
            last = results[-1]
            assert isinstance(last, Failed)
            assert isinstance(last.error, kept if kind == "workers" else type(error))
            assert error_text(last.error).startswith(error_text(error).split(" at ")[0].split(";")[0])
            if not isinstance(error, BenchguardError):
                assert __file__ in error_text(last.error)
        assert len(making.results(["normal"] * 5)) == 5  # and none is lost


@pytest.mark.parametrize("gives_up", [True, False])
def test_sets_made_at_once_where_the_case_gives_up_its_turn(
    monkeypatch: pytest.MonkeyPatch, gives_up: bool
) -> None:
    """Otherwise the author's code would run in two threads."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(COUNT)))
    inside: list[int] = []
    most: list[int] = []

    class Slow(Scale):
        def inputs(self, seed: int, distribution: str) -> dict[str, Any]:
            with others_turn() if gives_up else nullcontext():
                inside.append(seed)
                if gives_up:
                    wait_until(lambda: len(most) or len(inside) > 1)  # never, if one runs at a time
                time.sleep(0.01)
                most.append(len(inside))
                inside.remove(seed)
            return super().inputs(seed, distribution)

    with Making("here", Slow(100)) as making:
        assert len(making.sets(["normal"] * COUNT)) == COUNT
    assert (max(most) > 1) == gives_up


@dataclass
class Settings(Scale):
    """Keeps the settings of the threads that draw its inputs."""

    seen: list[str] = field(default_factory=list)

    def inputs(self, seed: int, distribution: str) -> dict[str, Any]:
        self.seen.append(np.geterr()["divide"])
        return super().inputs(seed, distribution)


def test_set_made_with_the_settings_of_the_thread_that_opened_the_problem() -> None:
    case = Settings(100)
    with np.errstate(divide="raise"):
        made = Making("here", case)
    with made:
        made.sets(["normal"] * 2)
    assert case.seen == ["raise"] * 2


class OutOfMemoryError(RuntimeError):
    """torch's error of this name derives from RuntimeError, too."""


@pytest.mark.parametrize("is_enough_for_one", [True, False])
def test_sets_that_lack_memory_made_again_one_at_a_time(
    monkeypatch: pytest.MonkeyPatch, is_enough_for_one: bool
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(COUNT)))
    inside: list[int] = []

    class Large(Scale):
        def inputs(self, seed: int, distribution: str) -> dict[str, Any]:
            inside.append(seed)
            try:
                with others_turn():
                    time.sleep(0.05)
                    if len(inside) > 1 or not is_enough_for_one:
                        raise UsageError("no") from OutOfMemoryError("CUDA out of memory")
            finally:
                inside.remove(seed)
            return super().inputs(seed, distribution)

    with Making("here", Large(100)) as making:
        results = making.results(["normal"] * 5)
        assert [type(each) for each in results] == ([Made] * 5 if is_enough_for_one else [Failed])


def test_workers_make_inputs_at_the_same_time() -> None:
    with mmap.mmap(-1, 4096) as turn:  # shared with the workers

        class Meeting(Scale):
            def inputs(self, seed: int, distribution: str) -> dict[str, Any]:
                turn[os.getpid() % 4096] = 1
                wait_until(lambda: sum(turn[:]) > 1)  # never, for a lone worker
                result = super().inputs(seed, distribution)
                result["x"][0] = os.getpid()
                return result

        with Making("workers", Meeting(100)) as making:
            making.sets(["normal"] * COUNT)
            first = {np.frombuffer(making.inputs(number)[:4], np.float32)[0] for number in range(COUNT)}
            assert len(first) > 1 and float(os.getpid()) not in first


def test_low_memory_uses_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    class Whose(Scale):
        def inputs(self, seed: int, distribution: str) -> dict[str, Any]:
            result = super().inputs(seed, distribution)
            result["x"][0] = os.getpid()
            return result

    monkeypatch.setattr(making, "available_bytes", lambda: 0)
    with Making("workers", Whose(100)) as sets:
        sets.sets(["normal"] * 6)
        ours = np.float32(os.getpid()).tobytes()
        assert {sets.inputs(number)[:4] for number in range(6)} == {ours}


@pytest.mark.parametrize(("cores", "share"), [(1, 1), (2, 1), (7, 2), (16, 5)])
def test_workers_share_threads(monkeypatch: pytest.MonkeyPatch, cores: int, share: int) -> None:
    """BLAS's limit is compared, not its threads: after a fork OpenBLAS starts all of them, and leaves some idle."""

    class Tell(Scale):
        def inputs(self, seed: int, distribution: str) -> dict[str, Any]:
            result = super().inputs(seed, distribution)
            square = np.ones((600, 600))
            assert (square @ square)[0, 0] == 600
            result["x"][:2] = threads(), blas_limit()
            return result

    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)))
    before = threads(), blas_limit()
    with Making("workers", Tell(100)) as making:
        making.sets(["normal"] * COUNT)
        shares = [np.frombuffer(making.inputs(number)[:8], np.float32).tolist() for number in range(COUNT)]
    assert shares == [[share, share]] * COUNT
    assert (threads(), blas_limit()) == before


def blas_limit() -> int:
    """The number of threads that numpy's BLAS may use."""
    limits = [get() for get, _ in _blas()]
    if not limits:
        pytest.skip("numpy's BLAS is not OpenBLAS or MKL")
    return limits[0]


@pytest.mark.parametrize("driver", ["libcuda.so.580.1", "libamdhip64.so.6.2.41134"])
def test_process_with_loaded_driver_not_forked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, driver: str
) -> None:
    maps = tmp_path / "maps"
    monkeypatch.setattr(workers, "MAPS", maps)
    maps.write_text("7f00-7f01 r-xp 00000000 00:00 1 /usr/lib/x86_64-linux-gnu/libcudart.so.13\n")
    assert can_fork()
    maps.write_text(f"7f00-7f01 r-xp 00000000 00:00 1 /usr/lib/x86_64-linux-gnu/{driver}\n")
    assert not can_fork()
