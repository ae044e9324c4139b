"""The judge's process: its answers, and problems that print, raise, exit, crash or hang."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import numpy as np
import pytest

from benchguard import exit_status
from benchguard.errors import BenchguardError, UsageError
from benchguard.judge.contract import (
    Ask,
    AskChecked,
    AskExpected,
    AskSecrets,
    AskThrowaway,
    Checked,
    Expected,
    Opened,
    Secrets,
    Throwaway,
)
from benchguard.judge.process import JudgeProcess, command, judge_environment, last_words
from tests.conftest import ROOT
from tests.support.waiting import wait_until
from tests.unit.judge.problems import WORKER, Scale
from tests.unit.judge.replaying import Replaying, honest, judge, mapped, secrets_of, views

several_cores = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core: it has no workers")


def test_honest_replay_all_samples_right() -> None:
    with judge() as process:
        process.ask(Ask("plain", "test", one_use=4, sets_max=3))
        process.ask(AskThrowaway())
        process.ask(AskSecrets(0))
        opened, none = process.answer(Opened)
        assert opened.name == "scale" and none == []
        assert opened.cases == (Scale().spec,) and opened.tolerances == (Scale().tolerances,)
        throwaway, (inputs,) = process.answer(Throwaway)
        first = views(opened.cases[0].read, throwaway.layouts[0], mapped(inputs, False), 0)
        assert first["x"].dtype == np.float32 and first["w"][-1] == 2
        process.answer(Secrets)
        process.ask(AskChecked(0))
        assert process.answer(Checked)[0] == Checked(0, 0, None, 0.0, 0.0, 0)


def test_every_sample_compared() -> None:
    with judge() as process:
        replaying = secrets_of(process, Ask("plain", "test"))
        order = [*range(replaying.secrets.sets), *np.random.default_rng(0).integers(0, 8, 300).tolist()]
        for each in order:
            replaying.sample(each, honest)
        process.ask(AskChecked(0))
        checked, _ = process.answer(Checked)
        assert (checked.samples, checked.wrong, checked.nondeterministic) == (316, 0, 0)
        assert checked.counts == tuple(sorted((each, order.count(each)) for each in set(order)))
        assert 0 < checked.max_relative_error < 1e-7 and checked.precision == ""


def test_single_wrong_element_found() -> None:
    def once(inputs: object, outputs: object) -> None:
        honest(inputs, outputs)  # type: ignore[arg-type]
        outputs["y"][777] += 0.1  # type: ignore[index]

    with judge() as process:
        replaying = secrets_of(process, Ask("plain", "test"))
        for sample in range(100):
            replaying.sample(sample % 8, once if sample == 61 else honest)
        process.ask(AskChecked(0))
        checked, _ = process.answer(Checked)
        assert (checked.wrong, checked.nondeterministic) == (1, 1)
        assert checked.first is not None
        assert (checked.first.sample, checked.first.set, checked.first.buffer) == (61, 5, "y")
        assert (checked.first.count, checked.first.elements) == (1, 1000)
        assert checked.first.text.startswith("y[777] should be ")
        assert checked.first.distribution == replaying.secrets.distributions[5]


def test_samples_equal_to_wrong_sample_are_wrong() -> None:
    def zeros(_: object, outputs: object) -> None:
        outputs["y"][...] = 0  # type: ignore[index]
        outputs["signs"][...] = 0  # type: ignore[index]

    with judge() as process:
        replaying = secrets_of(process, Ask("plain", "test"))
        for sample in range(80):
            replaying.sample(sample % 8, zeros if sample % 8 == 3 else honest)
        process.ask(AskChecked(0))
        checked, _ = process.answer(Checked)
        assert (checked.wrong, checked.nondeterministic) == (10, 0)
        assert checked.first is not None and checked.first.sample == 3


def test_different_bits_within_tolerance_are_right() -> None:
    def up(inputs: object, outputs: object) -> None:
        honest(inputs, outputs)  # type: ignore[arg-type]
        outputs["y"][...] = np.nextafter(outputs["y"], np.float32(np.inf))  # type: ignore[index]

    with judge() as process:
        replaying = secrets_of(process, Ask("plain", "test"))
        for sample in range(80):
            replaying.sample(sample % 8, up if sample in {50, 58, 51} else honest)
        process.ask(AskChecked(0))
        checked, _ = process.answer(Checked)
        assert (checked.wrong, checked.nondeterministic) == (0, 2)


def test_large_outputs_compared_in_threads() -> None:
    def wrong(inputs: object, outputs: object) -> None:
        honest(inputs, outputs)  # type: ignore[arg-type]
        outputs["signs"][-1] = 5  # type: ignore[index]

    with judge() as process:
        ask = Ask(
            "plain", "test", sets_max=2, one_use=1, adapter_options={"n": "300000"}, pool_bytes=64 << 20
        )
        replaying = secrets_of(process, ask)
        assert replaying.secrets.slots < 64
        for sample in range(60):
            replaying.sample(2 if sample == 7 else sample % 2, wrong if sample in {30, 44} else honest)
        process.ask(AskChecked(0))
        checked, _ = process.answer(Checked)
        assert (checked.samples, checked.wrong, checked.nondeterministic) == (60, 2, 1)
        assert checked.first is not None and checked.first.sample == 30
        assert "signs[299999] should be " in checked.first.text


def test_expected_outputs_pass_comparison() -> None:
    with judge() as process:
        replaying = secrets_of(process, Ask("plain", "test", sets_max=2, one_use=1))
        process.ask(AskExpected(0))
        expected, (memory,) = process.answer(Expected)
        answers = mapped(memory, False)
        for number in range(3):
            right = views(replaying.spec.checked, expected.outputs, answers, number)

            def copy(_: object, outputs: object, right: object = right) -> None:
                for name in ("y", "signs"):
                    outputs[name][...] = right[name]  # type: ignore[index]

            replaying.sample(number, copy)
        process.ask(AskChecked(0))
        assert process.answer(Checked)[0].wrong == 0


def test_float16_precision_noted() -> None:
    def half(inputs: object, outputs: object) -> None:
        honest(inputs, outputs)  # type: ignore[arg-type]
        x, w = (inputs[name].astype(np.float16).astype(np.float32) for name in "xw")  # type: ignore[index]
        outputs["y"][...] = x * w  # type: ignore[index]

    with judge() as process:
        replaying = secrets_of(process, Ask("loose", "test"))
        for number in range(16):
            replaying.sample(number, half)
        process.ask(AskChecked(0))
        checked, _ = process.answer(Checked)
        assert checked.wrong == 0
        assert "float32 output has the errors of tf32 or float16" in checked.precision


def test_own_verdict_decides() -> None:
    def far(inputs: object, outputs: object) -> None:
        honest(inputs, outputs)  # type: ignore[arg-type]
        outputs["y"][...] += 5  # type: ignore[index]

    def signless(inputs: object, outputs: object) -> None:
        far(inputs, outputs)
        outputs["signs"][0] = 7  # type: ignore[index]

    with judge() as process:
        replaying = secrets_of(process, Ask("strict", "test"))
        for sample in range(40):
            replaying.sample(sample % 8, signless if sample in {2, 30} else far)
        process.ask(AskChecked(0))
        checked, _ = process.answer(Checked)
        assert checked.first is not None and checked.first.sample == 2
        assert checked.first.text == "signs are not those of x"
        assert checked.max_absolute_error > 4.9
        # Set 2's first sample is wrong and its four others differ; sample 30 is of set 6.
        assert (checked.wrong, checked.nondeterministic) == (2, 2)


def near(inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]) -> None:
    """Within the tolerances of the problem "exacting", whose own check rejects it."""
    honest(inputs, outputs)
    outputs["y"][...] *= np.float32(1.001)


@pytest.mark.parametrize(("bad", "wrong"), [((), 0), ((2,), 1), ((30,), 1), ((2, 30, 31), 3)])
def test_own_check_beside_tolerances_later_output_rejected(bad: tuple[int, ...], wrong: int) -> None:
    """A kernel that knows an input again could be exact the first time only."""

    def exact(inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]) -> None:
        honest(inputs, outputs)
        outputs["y"][...] = np.nextafter(outputs["y"], np.float32(np.inf))

    with judge() as process:
        replaying = secrets_of(process, Ask("exacting", "test"))
        for sample in range(40):
            replaying.sample(sample % 8, near if sample in bad else exact if sample % 3 else honest)
        process.ask(AskChecked(0))
        checked, _ = process.answer(Checked)
        assert checked.wrong == wrong
        if wrong:
            assert checked.first is not None
            assert (checked.first.sample, checked.first.text) == (bad[0], "y is not exact")


def test_same_seed_same_sets() -> None:
    pools = []
    for seed in (5, 5, None, None):
        with judge() as process:
            replaying = secrets_of(process, Ask("plain", "test", seed=seed, sets_max=2, one_use=0))
            pools.append((replaying.secrets.distributions, replaying.pool.tobytes()))
    assert pools[0] == pools[1]
    assert len({pool for _, pool in pools}) == 3


def trouble(
    problem: str, *, seconds: float = 30.0, adapter: str = "test", cases: tuple[str, ...] = ()
) -> str:
    """The message of the error."""
    with judge(seconds) as process:
        try:
            process.ask(Ask(problem, adapter, cases=cases))
            process.answer(Opened)
            process.ask(AskSecrets(0))
            replaying = process.answer(Secrets)
            assert replaying
            process.ask(AskChecked(0))
            process.answer(Checked)
        except BenchguardError as error:
            text = str(error)
            assert "\n" not in text and len(text) < 1000
            return text
    pytest.fail("there was no trouble")


def line_of(text: str) -> int:
    source = (ROOT / "tests" / "unit" / "judge" / "problems.py").read_text().splitlines()
    return next(number for number, line in enumerate(source, 1) if text in line)


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        ("raise", "ValueError: the answer is unknown at {file}:{raise ValueError}; fix"),
        ("exit", "it called exit() at {file}:{sys.exit(3)}"),
        ("seedless", "x is equal for 16 seeds"),
        ("new constant", "w is a constant but differs between two seeds"),
        ("dtype", "float64"),
        ("nan", "no finite number for y"),
        ("half", "values for signs that int32 cannot hold exactly"),
        ("same", "the reference returned the same result for all 16 input sets"),
        ("shape", "y has shape [999], but the case declares [1000]"),
    ],
)
def test_problem_faults_reported_with_place(problem: str, words: str) -> None:
    file = ROOT / "tests" / "unit" / "judge" / "problems.py"
    for key in ("raise ValueError", "sys.exit(3)"):
        words = words.replace("{" + key + "}", str(line_of(key)))
    text = trouble(problem)
    assert words.replace("{file}", str(file)) in text
    assert text.startswith("case n=1000: ")


def test_unreadable_problem_reported() -> None:
    assert "opening the problem: SyntaxError" in trouble("/some/problem.py", adapter="import")
    assert "/some/problem.py:5" in trouble("/some/problem.py", adapter="import")


def test_unknown_case_names_reported() -> None:
    expected = "has no case 'n=3'; its cases are n=1000; large tests need --adapter-option cases=all"
    assert expected in trouble("plain", cases=("n=3",))
    with judge() as process:
        process.ask(Ask("plain", "test", cases=("n=3",)))
        with pytest.raises(UsageError):
            process.answer(Opened)


def test_exception_of_own_verdict_reported() -> None:
    with judge() as process:
        replaying = secrets_of(process, Ask("verify raises", "test"))
        replaying.sample(0, honest)
        process.ask(AskChecked(0))
        with pytest.raises(
            BenchguardError, match=r"n=1000: its samples: KeyError: 'no' at .*problems.py:\d+"
        ):
            process.answer(Checked)


def test_case_without_own_check_not_asked() -> None:
    """`verify` raises, but the case says that it rejects nothing. Wrong outputs stay wrong."""
    ask = Ask("verify raises", "test", adapter_options={"without check": ""})
    with judge() as process:
        replaying = secrets_of(process, ask)
        for number in range(4):
            replaying.sample(number, wrong if number == 2 else honest)
        process.ask(AskChecked(0))
        checked, _ = process.answer(Checked)
        assert checked.first is not None and (checked.wrong, checked.first.sample) == (1, 2)


@pytest.mark.parametrize("problem", ["near", "near, wide"])
def test_own_check_asked_about_scaled_outputs_unless_near(problem: str) -> None:
    """The check raises for scaled outputs. Wider tolerances of a set do not make outputs near."""

    def beyond(inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]) -> None:
        honest(inputs, outputs)
        outputs["y"][...] *= np.float32(1 + 2e-5)

    for solve, is_near in ((honest, True), (beyond, False)):
        with judge() as process:
            replaying = secrets_of(process, Ask(problem, "test"))
            for number in range(4):
                replaying.sample(number, solve)
            process.ask(AskChecked(0))
            if is_near:
                checked, _ = process.answer(Checked)
                assert checked.wrong == 0
                assert (checked.factors.get("y", 1.0) > 2) is (problem == "near, wide")
            else:
                with pytest.raises(BenchguardError, match="KeyError: 'scaled outputs'"):
                    process.answer(Checked)


def test_dead_judge_reports_status_and_place() -> None:
    text = trouble("die")
    assert "exit status 7" in text and "last output: last words" in text
    text = trouble("crash")
    assert "SIGABRT" in text and f"problems.py:{line_of('os.abort()')}" in text


def test_hanging_problem_reports_place() -> None:
    text = trouble("hang", seconds=3.0)
    assert "did not answer within 3 s" in text
    assert f"problems.py:{line_of('time.sleep(600)')}" in text


@pytest.mark.parametrize(("share", "least"), [(0.0, "0.01"), (0.001, "0.06")])
def test_deadline_of_the_grade_shortens_the_wait_for_an_answer(
    monkeypatch: pytest.MonkeyPatch, share: float, least: str
) -> None:
    monkeypatch.setattr("benchguard.judge.process.LATE_SECONDS", 0.01)
    monkeypatch.setattr("benchguard.judge.process.LATE_SHARE", share)
    with JudgeProcess(60.0, left=lambda: 0.0, worker=WORKER) as process:
        process.ask(Ask("hang", "test"))
        with pytest.raises(BenchguardError, match=f"did not answer within {least} s") as caught:
            process.answer(Opened)
    assert caught.value.status == exit_status.TIMEOUT


def test_output_of_problem_not_taken_for_answer() -> None:
    with judge() as process:
        secrets_of(process, Ask("print", "test"))


def test_throwaway_sets_come_in_batches() -> None:
    options = {"n": "1000,2000,3000", "batch": "50000"}
    with judge() as process:
        process.ask(Ask("plain", "test", adapter_options=options))
        opened, _ = process.answer(Opened)
        sizes = []
        for first, count in ((0, 2), (2, 1)):
            process.ask(AskThrowaway(first))
            throwaway, (inputs,) = process.answer(Throwaway)
            assert len(throwaway.layouts) == len(throwaway.offsets) == count
            memory = mapped(inputs, False)
            sizes.append(len(memory))
            for case, layout, at in zip(
                opened.cases[first:], throwaway.layouts, throwaway.offsets, strict=False
            ):
                sets = [views(case.read, layout, memory[at:], number)["x"] for number in (0, 1)]
                assert len(sets[0]) == case.read[0].shape[0] and not np.array_equal(*sets)
            os.close(inputs)
        assert sizes[0] <= 50000


def test_failed_judge_fails_later_calls() -> None:
    with judge() as process:
        os.kill(process.pid, signal.SIGKILL)
        for _ in range(2):
            with pytest.raises(BenchguardError, match="SIGKILL"):
                process.answer(Opened)
        with pytest.raises(BenchguardError):
            process.ask(AskThrowaway())


def wrong(_: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]) -> None:
    outputs["y"][...] = 0
    outputs["signs"][...] = 0


def test_second_round_has_the_same_inputs_and_its_own_results() -> None:
    with judge() as process:
        first = secrets_of(process, Ask("plain", "test", rounds=2))
        inputs = {name: value.copy() for name, value in first.inputs(0).items()}
        first.sample(0, honest)
        process.ask(AskChecked(0))
        assert process.answer(Checked)[0].wrong == 0
        process.ask(AskSecrets(0))
        secrets, descriptors = process.answer(Secrets)
        second = Replaying(first.spec, secrets, descriptors)
        assert all((value == inputs[name]).all() for name, value in second.inputs(0).items())
        second.sample(0, wrong)
        process.ask(AskChecked(0))
        checked = process.answer(Checked)[0]
        assert (checked.samples, checked.wrong) == (1, 1)
        first.close()
        second.close()
        process.ask(AskSecrets(0))
        with pytest.raises(UsageError, match="requested too often"):
            process.answer(Secrets)


def test_outputs_that_were_right_in_an_earlier_round_are_right_again_and_others_are_compared() -> None:
    """The third round has the bits of the first one, and an output that only its comparison finds wrong."""
    with judge() as process:
        answer = secrets_of(process, Ask("plain", "test", rounds=4))
        found = []
        for number, work in enumerate((honest, wrong, honest, honest)):
            answer.sample(0, work)
            answer.sample(1, wrong if number == 3 else honest)
            process.ask(AskChecked(0))
            found.append(process.answer(Checked)[0])
            answer.close()
            if number < 3:
                process.ask(AskSecrets(0))
                answer = Replaying(answer.spec, *process.answer(Secrets))
    assert [each.wrong for each in found] == [0, 1, 0, 1]
    assert [each.samples for each in found] == [2] * 4
    assert found[0].max_absolute_error == found[2].max_absolute_error


def test_questions_out_of_turn_refused() -> None:
    with judge() as process:
        process.ask(AskSecrets(0))
        with pytest.raises(UsageError, match="no problem is open"):
            process.answer(Secrets)
        process.ask(Ask("plain", "test"))
        process.answer(Opened)
        for question, kind, words in (
            (AskSecrets(1), Secrets, "no case 1"),
            (AskChecked(0), Checked, "before its secret inputs"),
            (AskExpected(0), Expected, "before its secret inputs"),
            (Ask("plain", "test"), Opened, "a problem is open"),
        ):
            process.ask(question)
            with pytest.raises(UsageError, match=words):
                process.answer(kind)
        process.ask(AskSecrets(0))
        process.answer(Secrets)
        process.ask(AskSecrets(0))
        with pytest.raises(UsageError, match="requested too often"):
            process.answer(Secrets)


def children_of(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.fixture
def one_core() -> Iterator[None]:
    """For what is started meanwhile."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    yield
    os.sched_setaffinity(0, cores)


@pytest.mark.usefixtures("one_core")
@pytest.mark.full
def test_judge_on_one_core_forks_no_workers() -> None:
    with judge() as process:
        secrets_of(process, Ask("plain", "test"))
        assert children_of(process.pid) == []
    text = trouble("raise")
    assert f"ValueError: the answer is unknown at {ROOT / 'tests/unit/judge/problems.py'}:" in text
    assert f"problems.py:{line_of('time.sleep(600)')}" in trouble("hang", seconds=3.0)


@several_cores
def test_workers_end_with_judge() -> None:
    with judge() as process:
        secrets_of(process, Ask("plain", "test"))
        workers = children_of(process.pid)
        assert len(workers) == min(16, len(os.sched_getaffinity(0)))
        for each in workers:
            assert Path(f"/proc/{each}/mem").stat().st_uid == 0
        os.kill(process.pid, signal.SIGKILL)
        wait_until(lambda: not any(Path(f"/proc/{each}").exists() for each in workers))


@several_cores
def test_dead_worker_ends_judge() -> None:
    with judge() as process:
        process.ask(Ask("plain", "test"))
        process.answer(Opened)
        for each in children_of(process.pid):
            os.kill(each, signal.SIGKILL)
        process.ask(AskSecrets(0))
        with pytest.raises(BenchguardError, match="killed by SIGKILL"):
            process.answer(Secrets)


def test_judge_ends_with_supervisor_while_busy() -> None:
    """It is in the problem's code when the socket's other end goes."""
    process = judge()
    with process:
        process.ask(Ask("hang", "test"))
        process.answer(Opened)
        process.ask(AskSecrets(0))
        time.sleep(0.2)
        pid = process.pid
    assert not Path(f"/proc/{pid}").exists()


def test_exception_leaves_no_process() -> None:
    with pytest.raises(msgspec.MsgspecError), judge() as process:
        pid = process.pid
        raise msgspec.MsgspecError
    assert not Path(f"/proc/{pid}").exists()


def test_shared_memory_sealed() -> None:
    with judge() as process:
        replaying = secrets_of(process, Ask("plain", "test"))
        pool, outputs = replaying.descriptors[:2]
        with pytest.raises(PermissionError):
            os.pwrite(pool, b"x", 0)
        with pytest.raises(PermissionError):
            mapped(pool, writable=True)
        for each in (pool, outputs):
            for size in (0, 1 << 30):
                with pytest.raises(PermissionError):
                    os.ftruncate(each, size)


def test_judge_memory_unreadable_for_others() -> None:
    """Not even to a process of the same user, unless that is root."""
    with judge() as process:
        process.ask(Ask("plain", "test"))
        process.answer(Opened)
        assert Path(f"/proc/{process.pid}/mem").stat().st_uid == 0
        if os.getuid() != 0:
            with pytest.raises(PermissionError):
                list(Path(f"/proc/{process.pid}/fd").iterdir())


def test_judge_imports_nothing_from_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("numpy", "msgspec", "benchguard", "torch"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a trap')")
    (tmp_path / "problem.py").write_text("")
    monkeypatch.chdir(tmp_path)
    assert "" not in [str(each) for each in command()[2:]]
    with JudgeProcess(30.0) as process:
        process.ask(Ask("nowhere.py", "problem"))
        with pytest.raises(UsageError, match=r"no such problem: nowhere\.py"):
            process.answer(Opened)


def test_environment() -> None:
    result = judge_environment(
        {
            "LD_PRELOAD": "x",
            "LD_LIBRARY_PATH": "y",
            "NEUTRINO_RING": "3",
            "HOME": "/h",
            "NVIDIA_TF32_OVERRIDE": "1",
            "ONEDNN_DEFAULT_FPMATH_MODE": "BF16",
            "DNNL_DEFAULT_FPMATH_MODE": "BF16",
            "CUBLAS_EMULATION_STRATEGY": "eager",
        }
    )
    assert result == {
        "LD_LIBRARY_PATH": "y", "HOME": "/h", "NVIDIA_TF32_OVERRIDE": "0", "CUDA_CACHE_DISABLE": "1",
        "ONEDNN_DEFAULT_FPMATH_MODE": "STRICT",
        "MALLOC_MMAP_THRESHOLD_": "16777216", "MALLOC_TRIM_THRESHOLD_": "67108864",
    }  # fmt: skip


def test_last_words_name_crash_and_place() -> None:
    assert last_words("") == ""
    assert last_words("one\ntwo\n\n") == "two"
    dump = 'noise\nFatal Python error: Segmentation fault\n\n  File "/p/x.py", line 7 in f\n\nExtension modules: a'
    assert last_words(dump) == "Fatal Python error: Segmentation fault at /p/x.py:7"
