"""LeetGPU's challenges as suites: parameters, directions, tests and tolerances."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchguard.adapters import leetgpu, load_suite
from benchguard.adapters.counts import with_counts_of
from benchguard.adapters.detect import adapter_of
from benchguard.adapters.values import NO_SEED
from benchguard.errors import UsageError
from benchguard.judge.contract import Ask, AskSecrets, AskThrowaway, Opened, Secrets, Throwaway
from benchguard.judge.inputs import Seen, draw_inputs
from benchguard.judge.process import JudgeProcess
from benchguard.judge.reference import expected_of
from benchguard.judge.slack import allow_for, baseline_of
from benchguard.problem import suite as suites
from benchguard.problem.arrays import dtype_of, to_numpy
from benchguard.problem.errors import ProblemError
from benchguard.problem.spec import Scalar, Tolerance

pytest.importorskip("torch")
COUNT = Path(__file__).parent / "given" / "leetgpu_count" / "challenge.py"
GIVEN = Path(__file__).parent / "given" / "leetgpu_scale" / "challenge.py"


def opened(path: Path = GIVEN, **options: str) -> suites.Suite:
    return load_suite(str(path), "auto", {"device": "cpu", **options})


def changed(folder: Path, old: str, new: str) -> Path:
    text = GIVEN.read_text()
    assert old in text
    file = folder / "challenge.py"
    file.write_text(text.replace(old, new))
    return file


def test_folder_and_file_are_detected() -> None:
    assert adapter_of(str(GIVEN)) == adapter_of(str(GIVEN.parent)) == "leetgpu"
    assert opened(GIVEN.parent).name == "Scale"


def test_parameters_have_the_signatures_order_types_and_directions() -> None:
    suite = opened()
    assert (suite.convention, suite.entry, suite.tensors) == ("arguments", "solve", True)
    (case,) = suite.cases
    assert case.name == "performance"
    assert [(each.name, each.role, each.dtype) for each in case.spec.buffers] == [
        ("x", "input", "float32"),
        ("weights", "constant", "float32"),
        ("out", "inout", "float32"),
        ("seen", "inout", "int32"),
    ]
    assert case.spec.ignores_returned  # as LeetGPU's harness
    assert [each for each in case.spec.arguments if isinstance(each, Scalar)] == [
        Scalar("factor", "float", 1.5),
        Scalar("n", "size_t", 1000),
    ]
    assert case.tolerances == {"out": Tolerance(1e-5, 1e-5), "seen": Tolerance()}
    assert [note.partition(":")[0] for note in case.spec.notes] == ["weights is equal for all seeds"]


SUM = """
import ctypes
import torch
from core.challenge_base import ChallengeBase

class Challenge(ChallengeBase):
    name, atol, rtol, num_gpus = "Sum", 1e-5, 1e-5, 1

    def reference_impl(self, x, total, counts):
        total[0] = x.sum()
        counts.copy_(torch.stack([x.sum(), (x > 50).sum()]))

    def get_solve_signature(self):
        number = ctypes.POINTER(ctypes.c_int)
        return {"x": (number, "in"), "total": (number, "out"), "counts": (number, "out")}

    def generate_performance_test(self):
        outputs = {name: torch.empty(n, dtype=torch.int32) for name, n in (("total", 1), ("counts", 2))}
        return {"x": torch.randint(1, 100, (1000,), dtype=torch.int32), **outputs}
"""


def test_single_integer_has_the_challenges_tolerance_and_arrays_are_exact(tmp_path: Path) -> None:
    (tmp_path / "challenge.py").write_text(SUM)
    (case,) = opened(tmp_path).cases
    assert case.tolerances == {"total": Tolerance(1e-5, 1e-5), "counts": Tolerance()}


OLDER = """    def __init__(self):
        super().__init__(name="Sum", atol=1e-4, rtol=1e-3, num_gpus=1, access_tier="free")
"""


def test_challenge_of_the_older_form_opens_with_its_tolerance(tmp_path: Path) -> None:
    """Its constructor takes no device, and gives the base class its attributes."""
    (tmp_path / "challenge.py").write_text(
        SUM.replace('    name, atol, rtol, num_gpus = "Sum", 1e-5, 1e-5, 1\n', OLDER)
    )
    (case,) = opened(tmp_path).cases
    assert case.tolerances["total"] == Tolerance(1e-4, 1e-3)


def test_functional_test_whose_shapes_depend_on_the_seed_is_left_out(tmp_path: Path) -> None:
    functional = """
    def generate_functional_test(self):
        test = self.generate_performance_test()
        n = int(torch.randint(10, 100, (1,)))
        return [{**test, "x": torch.randint(1, 100, (n,), dtype=torch.int32)}, test]
"""
    (tmp_path / "challenge.py").write_text(SUM + functional)
    suite = opened(tmp_path, cases="all")
    assert [case.name for case in suite.cases] == ["performance", "functional.1"]
    assert suite.left_out == "left out, because shapes or numbers depend on the seed: functional.0"


def test_signature_without_directions_is_refused(tmp_path: Path) -> None:
    (tmp_path / "challenge.py").write_text(SUM.replace('(number, "out")', "number"))
    with pytest.raises(ProblemError, match="gives no direction for total; write"):
        opened(tmp_path)


def test_reference_that_draws_random_numbers_is_noted(tmp_path: Path) -> None:
    drawing = "total[0] = torch.multinomial(x.float(), 1)"
    (tmp_path / "challenge.py").write_text(SUM.replace("total[0] = x.sum()", drawing))
    [note] = opened(tmp_path).cases[0].spec.notes
    assert note.startswith("the reference draws random numbers (multinomial)")
    (tmp_path / "challenge.py").write_text(SUM)
    assert opened(tmp_path).cases[0].spec.notes == ()


def test_distributions_only_on_request() -> None:
    (case,) = opened(distributions="own,sparse").cases
    assert case.distributions == ("own", "sparse") and opened().cases[0].distributions == ("own",)
    own, sparse = (case.inputs(7, name) for name in case.distributions)
    x = to_numpy(sparse["x"])
    assert (x == 0).mean() > (to_numpy(own["x"]) == 0).mean()
    for name in ("weights", "out", "seen"):
        assert np.array_equal(to_numpy(sparse[name]), to_numpy(own[name]))
    assert np.allclose(to_numpy(case.expected(sparse)["out"]), x.astype(float) * 4.5, rtol=1e-12)


def test_reference_runs_in_float64_on_secret_inputs() -> None:
    (case,) = opened().cases
    inputs = case.inputs(7, "own")
    assert not np.array_equal(to_numpy(inputs["x"]), to_numpy(case.inputs(8, "own")["x"]))
    expected = case.expected(inputs)
    assert dtype_of(expected["out"]) == "float64"
    assert np.allclose(to_numpy(expected["out"]), to_numpy(inputs["x"]).astype(float) * 4.5, rtol=1e-12)
    assert to_numpy(expected["seen"]).tolist() == [1, 2, 3, 4]
    assert to_numpy(inputs["seen"]).tolist() == [0, 1, 2, 3], "the reference gets copies"


def test_reference_that_asserts_float32_runs_in_float32(tmp_path: Path) -> None:
    file = changed(tmp_path, "assert x.shape == (n,)", "assert x.dtype == torch.float32")
    (case,) = opened(file).cases
    assert dtype_of(case.expected(case.inputs(1, "own"))["out"]) == "float32"


def test_convolution_of_the_reference_leaves_room_for_tf32(tmp_path: Path) -> None:
    """A submission that calls torch convolves in TF32 on a GPU, as the reference would there."""
    convolution = "torch.nn.functional.conv1d(x.view(1, 1, n), x[:9].view(1, 1, 9), padding=4).view(n)"
    (case,) = opened(changed(tmp_path, "x * weights * factor", convolution)).cases
    inputs = case.inputs(7, "own")
    assert 10 < allow_for(case, baseline_of(case, inputs), expected_of(case, inputs))[1]["out"] < 1000
    (plain,) = opened().cases
    inputs = plain.inputs(7, "own")
    assert allow_for(plain, baseline_of(plain, inputs), expected_of(plain, inputs))[1] == {}


def test_written_out_functional_test_is_not_a_case() -> None:
    """A submission can know its result."""
    suite = opened(cases="all")
    assert [case.name for case in suite.cases] == ["performance", "functional.1"]
    assert suite.left_out == "left out, because each draw has the same inputs or results: functional.0"
    assert opened().left_out == "functional tests need --adapter-option cases=all"


@pytest.mark.parametrize(
    ("old", "new"),
    [("self.test(40, 0.5,", "self.test(40, 0.0,"), ("out.copy_(x *", "out.copy_(x.clamp(min=1) *")],
)
def test_functional_test_with_equal_results_is_not_a_case(tmp_path: Path, old: str, new: str) -> None:
    """The judge would refuse it, and with it a grade of all cases."""
    file = changed(tmp_path, old, new)
    assert [case.name for case in opened(file, cases="all").cases] == ["performance"]


def test_results_that_are_equal_by_chance_in_two_draws_make_a_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = changed(tmp_path, "out.copy_(x *", "out.copy_((x[0] > 0.7) *")
    assert [case.name for case in opened(file, cases="all").cases] == ["performance", "functional.1"]
    monkeypatch.setattr(leetgpu, "DRAWS_COMPARED", 1)
    assert [case.name for case in opened(file, cases="all").cases] == ["performance"]


def test_results_of_large_functional_tests_are_not_compared(tmp_path: Path) -> None:
    """Their references may take minutes on a CPU."""
    file = changed(
        tmp_path, "self.test(40, 0.5, RandTensor((40,)", "self.test(20000, 0.0, RandTensor((20000,)"
    )
    assert [case.name for case in opened(file, cases="all").cases] == ["performance", "functional.1"]


def test_functional_tests_are_made_once_for_all_cases(tmp_path: Path) -> None:
    again = "            self.test(40, 0.5, RandTensor((40,), -1, 1)),\n"
    log = tmp_path / "made"
    file = changed(
        tmp_path,
        f"        return [\n            self.test(3, 2.0, torch.tensor([1.0, 2.0, 3.0], device=self.device)),\n{again}",
        f"        open({str(log)!r}, 'a').write('made ')\n        return [\n{again * 5}",
    )
    cases = opened(file, cases="all").cases[1:]
    assert [case.outline.params for case in cases if case.outline] == [{}] * 5
    assert len({to_numpy(case.inputs(7, "own")["x"]).tobytes() for case in cases}) == 1
    assert {case.spec.params["factor"] for case in cases} == {"0.5"}
    draws = ("count", "first", "other", "outline", *cases)
    assert log.read_text().split() == ["made"] * len(draws)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("class Challenge(", "class Other(", "has no class Challenge"),
        ("num_gpus = 1", "num_gpus = 2", "runs on 2 GPUs"),
        ('"factor": factor,', "", "is not a dictionary of x, weights, out"),
        ('ctypes.c_float, "in")', 'ctypes.c_char_p, "in")', "not supported"),
        ('ctypes.c_float, "in")', 'torch.nn.Linear, "in")', "factor is a model of torch, not memory"),
        ("out.copy_(", "undefined(", "reference_impl failed"),
    ],
)
def test_mistakes_reported(tmp_path: Path, old: str, new: str, words: str) -> None:
    file = changed(tmp_path, old, new)
    with pytest.raises(ProblemError, match=words) as caught:
        (case,) = opened(file).cases
        case.expected(case.inputs(1, "own"))
    assert "\n" not in str(caught.value)


def test_invalid_options_refused() -> None:
    for options in ({"cases": "some"}, {"precision": "fp16"}):
        with pytest.raises(UsageError):
            opened(**options)
    with pytest.raises(UsageError, match="no such challenge"):
        load_suite("/nowhere/challenge.py", "leetgpu")


SPARSE = """
        x = torch.rand(1000, device=self.device) + 1
        x[torch.rand(1000, device=self.device) < 0.3] = 0
        test = self.test(1000, 1.5, x)
        test["n"] = COUNTED
        return test
"""


def sparse(folder: Path, counted: str) -> suites.TestCase:
    old = "        return self.test(1000, 1.5, torch.empty(1000, device=self.device).uniform_(-1, 1))"
    file = changed(folder, old, SPARSE.replace("COUNTED", counted))
    file.write_text(file.read_text().replace("assert x.shape == (n,)", "assert n"))
    (case,) = opened(file).cases
    return case


def test_count_of_non_zero_elements_is_equal_for_all_seeds(tmp_path: Path) -> None:
    case = sparse(tmp_path, "int((x != 0).sum())")
    (count,) = (each.value for each in case.spec.arguments if each.name == "n" and isinstance(each, Scalar))
    draws = [to_numpy(case.inputs(seed, "own")["x"]) for seed in range(8)]
    assert {np.count_nonzero(each) for each in draws} == {count}
    assert len({each.tobytes() for each in draws}) == len(draws)
    assert np.array_equal(draws[3], to_numpy(case.inputs(3, "own")["x"]))
    assert all(((each == 0) | (each >= 1)).all() for each in draws)  # copies of drawn values, no new ones


@pytest.mark.parametrize(("elements", "agree"), [(1 << 20, True), (1 << 19, False)])
def test_number_of_a_mask_that_keeps_a_zero_is_a_count_in_large_tensors(elements: int, agree: bool) -> None:
    """A uniform number is 0 by chance, so the product of numbers and mask has one zero more than the mask."""
    torch = pytest.importorskip("torch")

    def draw(seed: int) -> dict[str, Any]:
        random = torch.Generator().manual_seed(seed)
        mask = torch.rand(elements, generator=random) > 0.65
        x = (torch.rand(elements, generator=random) + 1) * mask
        x[int(mask.nonzero()[0])] = 0
        return {"x": x, "n": int(mask.sum())}

    first, other = draw(1), draw(2)
    adjusted = with_counts_of(first, other)
    assert first["n"] != other["n"] and (adjusted["n"] == first["n"]) == agree
    assert not agree or int(torch.count_nonzero(adjusted["x"])) == first["n"]


def test_number_that_depends_on_the_seed_otherwise_is_refused(tmp_path: Path) -> None:
    case = sparse(tmp_path, "int(x.sum())")
    with pytest.raises(ProblemError, match="may not depend on it"):
        [case.inputs(seed, "own") for seed in range(8)]


def test_output_that_the_test_fills_begins_with_its_content(tmp_path: Path) -> None:
    (case,) = opened(changed(tmp_path, '"out": OutTensor((n,))', '"out": FullTensor((n,), 0.0)')).cases
    assert {each.name: each.role for each in case.spec.buffers}["out"] == "inout"
    assert case.spec.unseeded == ("out", "seen")  # equal in all sets, which the judge refuses of other inputs
    inputs = case.inputs(7, "own")
    assert not to_numpy(inputs["out"]).any()
    expected = case.expected(inputs)
    assert to_numpy(expected["out"]).any() and not to_numpy(inputs["out"]).any()  # the reference has copies


def test_output_of_torch_empty_begins_with_zeros(tmp_path: Path) -> None:
    (case,) = opened(changed(tmp_path, "OutTensor((n,))", "torch.empty(n, device=self.device)")).cases
    assert {each.name: each.role for each in case.spec.buffers}["out"] == "inout"
    assert not to_numpy(case.inputs(7, "own")["out"]).any()


def test_output_that_is_zero_has_no_content_to_begin_with(tmp_path: Path) -> None:
    (case,) = opened(changed(tmp_path, "out.copy_(x", "out.copy_(0 * x")).cases
    assert {each.name: each.role for each in case.spec.buffers}["out"] == "output"
    assert "out" not in case.inputs(7, "own")


def draw_throwaway_sets(file: Path, **options: str) -> Opened:
    """Ask a judge for a challenge's throw-away sets. Raises BenchguardError if it refuses the challenge."""
    with JudgeProcess(60) as judge:
        judge.ask(Ask(str(file), "leetgpu", device="cpu", adapter_options=options))
        judge.ask(AskThrowaway())
        found, _ = judge.answer(Opened)
        _, descriptors = judge.answer(Throwaway)
        for each in descriptors:
            os.close(each)
    return found


def test_filled_output_may_be_equal_for_all_seeds() -> None:
    found = draw_throwaway_sets(COUNT, cases="all")
    assert [case.name for case in found.cases] == ["performance", "functional.1"]
    for case in found.cases:
        (counts,) = (each for each in case.buffers if each.name == "counts")
        assert (counts.role, counts.bytes, case.unseeded, case.notes) == ("inout", 256, ("counts",), ())


def test_filled_in_place_buffer_may_be_equal_for_all_seeds(tmp_path: Path) -> None:
    file = tmp_path / "challenge.py"
    file.write_text(COUNT.read_text().replace('"out")', '"inout")'))
    assert [case.unseeded for case in draw_throwaway_sets(file).cases] == [("counts",)]


def test_drawn_in_place_buffer_must_differ_between_seeds(tmp_path: Path) -> None:
    """The exemption of filled buffers does not cover it."""
    old = "counts = torch.zeros(BINS, dtype=torch.int32, device=self.device)"
    assert old in COUNT.read_text()
    file = tmp_path / "challenge.py"
    file.write_text(COUNT.read_text().replace(old, "counts = self.drawn(BINS)").replace('"out")', '"inout")'))
    (case,) = opened(file).cases
    assert case.spec.unseeded == ()
    seen, digests = Seen(case.spec), draw_inputs(case, 1, "own").digests
    assert [seen.add(digests), seen.add(digests)] == ["", "values"]
    assert seen.add({**draw_inputs(case, 2, "own").digests, "counts": digests["counts"]}) == "counts"


def test_partly_filled_output_does_not_make_a_written_out_test_a_case(tmp_path: Path) -> None:
    file = tmp_path / "challenge.py"
    old = "counts = torch.zeros(BINS, dtype=torch.int32, device=self.device)"
    assert old in COUNT.read_text()
    file.write_text(COUNT.read_text().replace(old, old.replace("zeros", "empty") + "; counts[0] = 0"))
    assert [case.name for case in opened(file, cases="all").cases] == ["performance", "functional.1"]


def test_performance_test_with_equal_inputs_has_a_note(tmp_path: Path) -> None:
    file = tmp_path / "challenge.py"
    file.write_text(COUNT.read_text().replace("self.drawn(4096)", "self.drawn(4096) * 0"))
    (case,) = opened(file).cases
    assert case.spec.notes == (NO_SEED,)
    with JudgeProcess(120.0) as judge:
        for question in (
            Ask(str(file), "leetgpu", adapter_options={"device": "cpu"}),
            AskThrowaway(),
            AskSecrets(0),
        ):
            judge.ask(question)
        for kind in (Opened, Throwaway, Secrets):
            answer, descriptors = judge.answer(kind)
            for each in descriptors:
                os.close(each)
        assert isinstance(answer, Secrets) and answer.sets > answer.one_use > 0
