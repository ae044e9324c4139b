"""The attacks by class of the threat notes, honest look-alikes, and controls."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

HERE = Path(__file__).parent
ATTACKS, HONEST, KIT = HERE / "attacks", HERE / "honest", HERE / "kit"
PROBLEMS = HERE / "problems.py"

Where = Literal["both", "sim", "gpu", "torch"]
"""Where it runs: on both; on the CPU driver alone; on a GPU; on a GPU with torch."""

Naive = Literal["fast", "wrong", "passes", "next", "none"]
"""The expected result against the naive grader. fast: the attack passes, in less than half of the control's time.
wrong: it passes with outputs outside the problem's tolerance. passes: it passes, and the problem forbids the method.
next: the wrong control passes after it. none: the attack targets a part that a naive grader does not have."""

Check = Literal["", "no processes", "no files", "warm", "host", "unrestored"]
"""A further check after our grade. unrestored: a pass says that memory may not have been restored."""

STOPPED = frozenset({"wrong", "violation", "unreplayable", "failed"})
"""Not `error`: a grader that is broken gives that to every submission."""

OWN_TESTS = {
    "11_event_shift.py": "test_cordon.py",
    "25_library_code.py": "test_provenance.py",
    "34_nameless_file.py": "test_scratch_disk.py",
    "36_archaeology.py": "test_archaeology.py",
}
"""Attacks that need a library or a folder of their own, and the tests beside this file that run them."""

CONTROLS = {
    "Mix": "mix.py",
    "MixInPlace": "in_place.py",
    "MixTies": "mix.py",
    "MixShort": "mix.py",
    "MixBoth": "mix_both.py",
    "Repeats": "repeats.py",
    "RowMean": "row_mean.py",
    "RowMeanCoarse": "row_mean.py",
    "RowMeanOrdered": "row_mean.py",
    "RowMeanChecked": "row_mean.py",
    "RowMeanUnits": "row_mean.py",
    "Largest": "largest.cu",
    "Maximum": "maximum.cu",
    "Scale": "scale.cu",
    "Shares": "shares.cu",
    "SharesReversed": "shares_reversed.cu",
    "MeanBeside": "mean_beside.cu",
    "ColumnMeans": "column_means.cu",
    "MeanOfBytes": "mean_of_bytes.cu",
    "MeanOfQuantised": "mean_of_quantised.cu",
    "ScaledByMean": "scaled_by_mean.cu",
    "Gradient": "gradient.cu",
    "GradientShort": "gradient.cu",
    "Product": "product.py",
    "ProductNear": "product_near.cu",
    "ProductNearTransposed": "product_near_transposed.cu",
    "MeanSquare": "mean_square.cu",
}
"""The honest submission to each problem, whose time is the true one."""


@dataclass(frozen=True)
class Attack:
    """`number` is the class; 33: against the recorder, 34: against the machine, 35: against --inline. `verdicts` are
    all that are acceptable but a pass; with `true_time` a pass is, too, if its time is the control's: what was
    tampered with is not there in a replay."""

    number: int
    file: str
    title: str
    level: str
    naive: Naive = "fast"
    verdicts: frozenset[str] = STOPPED
    true_time: bool = False
    problem: str = "Mix"
    where: Where = "both"
    naive_options: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    check: Check = ""
    small: str = "small"
    large: str = "large"
    """The case on the CPU driver, and on a GPU."""
    tag: str = ""
    """Tells two entries with one file apart."""
    control: str = ""
    """Another honest submission, in honest/, than the problem's control."""

    @property
    def path(self) -> Path:
        return ATTACKS / self.file

    @property
    def name(self) -> str:
        return self.path.stem + self.tag


@dataclass(frozen=True)
class LookAlike:
    """Honest, and like an attack in what it does. It has to pass."""

    file: str
    like: str
    problem: str = "Mix"
    where: Where = "both"
    options: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        return HONEST / self.file

    @property
    def name(self) -> str:
        return self.path.stem


def only(*verdicts: str) -> frozenset[str]:
    return frozenset(verdicts)


TAMPERED = {"verdicts": frozenset[str](), "true_time": True}
"""Honest work, in a process whose clocks lie: a replay has its true time."""

INLINE = ("--inline",)

SOON = ("--timeout", "10")
TOO_MUCH = only("failed", "timeout")
"""Work for the supervisor: it has to refuse it, or to end in time."""

REMEMBERS = {
    "options": ("--samples", "40"),
    "true_time": True,
    "verdicts": only("violation"),
    "small": "deep",
    "large": "deep",
}
"""With samples enough for inputs that come again."""

UNRESTORED = {
    "true_time": True,
    "verdicts": only("violation"),
    "check": "unrestored",
    "small": "deep",
    "large": "deep",
}
"""With memory that no replay can restore: the time is that of one-use inputs, and the result says why."""

ATTACK_LIST = (
    Attack(1, "01_timer_patch.py", "patched event class", "Python", **TAMPERED),
    Attack(1, "01_statistics_patch.py", "patched median", "Python", **TAMPERED),
    Attack(2, "02_expected_by_frames.py", "expected values from frames", "Python", verdicts=only("wrong")),
    Attack(2, "02_expected_by_gc.py", "expected values altered, by gc", "Python", verdicts=only("wrong")),
    Attack(2, "02_checker_patch.py", "patched allclose", "Python", verdicts=only("wrong")),
    Attack(3, "03_current_stream.py", "another stream left current", "stream", true_time=True, where="torch"),
    Attack(4, "04_lazy_output.py", "output that computes when looked at", "Python", true_time=True),
    Attack(5, "05_forged_line.py", "result printed, process ended", "IPC", verdicts=only("failed")),
    Attack(5, "05_forged_at_exit.py", "result printed at exit", "IPC", verdicts=only("wrong")),
    Attack(5, "05_forged_events.py", "our messages to every descriptor", "IPC", verdicts=only("failed")),
    Attack(
        6, "06_pickle.py", "pickled payload to the parent", "IPC",
        verdicts=only("failed"), naive_options=("--isolated",),
    ),
    Attack(
        7, "07_poison.py", "grader rewritten, files dropped", "files", "next", only("wrong"),
        check="no files",
    ),
    Attack(8, "08_known_seed.py", "problem and seed from the command line", "files", verdicts=only("wrong")),
    Attack(9, "09_inline_patch.py", "driver's code overwritten", "native", **TAMPERED),
    Attack(9, "09_proc_self_mem.py", "the same by /proc/self/mem", "native", **TAMPERED),
    Attack(  # failed: in a full sandbox a process cannot open its own /proc/self/mem
        10, "10_memory_scan.py", "expected values searched in memory", "native", verdicts=only("wrong", "failed")
    ),
    Attack(11, "11_events_again.py", "harness's events recorded again", "driver", **TAMPERED),
    Attack(
        11, "11_event_times.py", "start event's time overwritten by a kernel", "device",
        verdicts=only("violation"), true_time=True, small="deep", large="deep",
    ),
    Attack(
        11, "11_event_times.py", "the same, with fewer samples than the tests of the time need", "device",
        verdicts=only("violation"), true_time=True, small="deep", large="deep",
        options=("--samples", "5"), tag="_of_five_samples",
    ),
    Attack(
        11, "11_event_times_most.cu", "the same, in most samples", "device", verdicts=only("violation"), true_time=True,
        small="deep", large="deep", options=("--samples", "60"),
    ),
    Attack(
        11, "11_event_times_few.cu", "the same, in the few samples that make the time", "device",
        verdicts=only("violation"), true_time=True, problem="MixTies", small="deep", large="deep",
        options=("--samples", "26"),
    ),
    Attack(
        12, "12_device_scan.py", "expected values searched on the device", "driver",
        verdicts=only("wrong"),
    ),
    Attack(
        13, "13_uninitialised.py", "memory that the reference gave back", "semantics",
        verdicts=only("wrong"),
    ),
    Attack(
        13, "13_torch_empty.py", "torch.empty returned", "semantics", verdicts=only("wrong"),
        where="torch",
    ),
    Attack(14, "14_unjoined_stream.py", "stream that is not joined", "stream", true_time=True),
    Attack(
        15, "15_host_function.py", "computed by a host function, later", "stream",
        verdicts=only("unreplayable"),
    ),
    Attack(15, "15_gate.py", "work that waits for a thread", "stream", verdicts=only("unreplayable", "timeout")),
    Attack(16, "16_cache_by_pointer.py", "cache by pointer", "semantics", verdicts=only("wrong")),
    Attack(16, "16_cached_output.py", "first answer copied", "semantics", verdicts=only("wrong")),
    Attack(
        16, "16_filled_output.cu", "nothing to do where the output is as in the capture", "device", "none",
        true_time=True, small="deep", large="deep",
    ),
    Attack(17, "17_by_content_host.py", "cache by content, host", "semantics", verdicts=only("unreplayable")),
    Attack(17, "17_by_content_spare.py", "cache by content, spare memory", "device", **REMEMBERS),
    Attack(17, "17_by_content_global.cu", "cache by content, module's global", "device", **REMEMBERS),
    Attack(17, "17_by_content_constant.cu", "cache by content, constant memory", "device", **REMEMBERS),
    Attack(17, "17_by_content_mapped.py", "cache by content, memory mapped by the program", "device", **REMEMBERS),
    Attack(17, "17_by_content_emptied.py", "cache by content, a global that is not listed", "files", **REMEMBERS),
    Attack(
        17, "17_by_content_emptied.py", "the same, memory for two input sets", "files", tag="-short",
        problem="MixShort", **REMEMBERS,
    ),
    Attack(
        17, "17_by_content_heap.cu", "malloc's heap, memory for two input sets", "device", tag="-short",
        problem="MixShort", **REMEMBERS,
    ),
    Attack(17, "17_by_content_comment.py", "a function's variable, behind comments", "device", **UNRESTORED),
    Attack(17, "17_by_content_spaceless.py", "a function's variable, no space", "device", **UNRESTORED),
    Attack(
        17, "17_by_content_line.py", "a function's variable, behind .loc", "device", where="gpu", **UNRESTORED,
    ),
    Attack(
        17, "17_by_content_aligned.py", "memory between aligned globals", "device", where="gpu", **UNRESTORED,
    ),
    Attack(
        17, "17_by_content_escape.py", "a global between ambiguous strings", "device",
        verdicts=only("unreplayable"), small="deep", large="deep",
    ),
    Attack(
        17, "17_by_content_fatbin.py", "a global behind useless machine code", "device", where="sim",
        true_time=True, verdicts=only("violation"), small="deep",
    ),
    Attack(17, "17_by_content_temporary.py", "cache by content, pool's memory", "device", where="gpu", **REMEMBERS),
    Attack(
        17, "17_by_content_surface.cu", "cache by content, array behind a surface", "device", "fast",
        only("unreplayable", "violation", "failed"), true_time=True, where="gpu", large="deep",
    ),
    Attack(17, "17_by_content_freed.py", "cache by content, freed memory", "device", where="sim"),
    Attack(
        17, "17_by_content_beyond.py", "cache by content, behind an allocation", "device", where="sim",
        **REMEMBERS,
    ),
    Attack(
        17, "17_by_content_some_replays.cu", "the same, in every other replay", "device", "none", only("violation"),
        true_time=True, problem="MixTies", where="sim", small="deep", options=("--samples", "40", "--placements", "3"),
    ),
    Attack(
        17, "17_by_content_heap.cu", "cache by content, malloc's heap", "device", **REMEMBERS,
    ),
    Attack(
        17, "17_by_content_heap.cu", "the same, few samples", "device", true_time=True, tag="-few",
        verdicts=only("violation"), small="deep", large="deep", options=("--samples", "26"),
    ),
    Attack(
        17, "17_by_content_heap_shy.cu", "the same, seldom much slower", "device", true_time=True,
        verdicts=only("violation"), small="deep", large="deep", options=("--samples", "100"),
    ),
    Attack(
        17, "17_by_content_heap_ties.cu", "the same, and fast on few values", "device", true_time=True,
        verdicts=only("violation"), small="deep", large="deep", options=("--samples", "100"),
    ),
    Attack(
        17, "17_by_content_runtime_heap.py", "cache by content, heap of the device runtime", "device", where="sim",
        **UNRESTORED,
    ),
    Attack(
        17, "17_by_content_local.cu", "cache by content, local memory", "device", where="gpu",
        **REMEMBERS,
    ),
    Attack(
        18, "18_super_batch.py", "one call computes all", "semantics", verdicts=only("wrong",
        "unreplayable"),
    ),
    Attack(19, "19_host_counter.py", "honest in the first call", "semantics", verdicts=only("wrong")),
    Attack(
        19, "19_one_region.py", "honest in one of two captures", "semantics",
        verdicts=only("unreplayable", "wrong"), true_time=True,
    ),
    Attack(
        19, "19_host_decides.py", "the host chooses the work by the inputs", "semantics", "none",
        only("unreplayable"),
    ),
    Attack(19, "19_device_counter.py", "the device counts launches", "device", true_time=True),
    Attack(19, "19_globaltimer.cu", "honest for a fifth of a second", "device", verdicts=only("wrong")),
    Attack(
        19, "19_placement.cu", "honest on one multiprocessor, in one slot of time", "device", "none",
        only("wrong", "unreplayable"),
    ),
    Attack(19, "19_environment.py", "honest where recorded", "semantics", verdicts=only("wrong")),
    Attack(
        19, "19_first_inputs.cu", "honest on the first inputs of a process", "device", "none", only("wrong"),
        small="deep", large="deep",
    ),
    Attack(20, "20_input_mutation.py", "input cleared after use", "semantics", true_time=True),
    Attack(
        21, "21_second_output.py", "only the first output", "semantics", "wrong", only("wrong"), problem="MixBoth"
    ),
    Attack(21, "21_not_a_number.py", "all NaN", "semantics", "none", only("wrong"), problem="RowMean"),
    Attack(
        21, "21_same_memory.py", "one array for two outputs", "semantics", "none", only("failed", "violation"),
        problem="MixBoth",
    ),
    Attack(
        22, "22_half_precision.py", "float16 for float32", "semantics", "wrong", only("wrong"),
        problem="Product",
    ),
    Attack(
        22, "22_oracle_numerics.py", "numpy's means less precise for all", "semantics", "wrong", only("wrong"),
        problem="RowMean",
    ),
    Attack(
        23, "23_constant.py", "a half for every mean", "semantics", "fast", only("wrong"),
        problem="RowMean",
    ),
    Attack(23, "23_subset.py", "every other value", "semantics", "wrong", only("wrong"), problem="RowMean"),
    Attack(
        23, "23_prefix.cu", "the first quarter of a row", "semantics", "fast", only("wrong"), problem="RowMeanCoarse"
    ),
    Attack(
        23, "23_prefix.cu", "the same, with a wide check of the problem's own", "semantics", "none", only("wrong"),
        problem="RowMeanChecked", tag="_checked",
    ),
    Attack(
        23, "23_prefix_units.cu", "the same, in rows of small values beside large ones", "semantics", "none",
        only("wrong"), problem="RowMeanUnits",
    ),
    Attack(
        23, "23_ties.cu", "fast on few values, which half of the sets have", "semantics", "none", only(),
        true_time=True, problem="MixTies", small="deep", large="deep", options=("--samples", "40"),
    ),
    Attack(
        23, "23_ties.cu", "the same, inline", "semantics", "none", only(), true_time=True, tag="-inline",
        problem="MixTies", small="deep", large="deep", options=INLINE,
    ),
    Attack(
        23, "23_prefix_chosen.cu", "the same, if the first values look random", "semantics", "fast", only("wrong"),
        problem="RowMeanOrdered",
    ),
    Attack(
        23, "23_sample.cu", "a quarter of all numbers, of a size that differs", "semantics", "fast", only("wrong"),
        problem="MeanSquare",
    ),
    Attack(
        23, "23_candidates.cu", "too few candidates of each thread", "semantics", "none", only("wrong"),
        problem="Largest",
    ),
    Attack(
        23, "23_maximum_of_part.cu", "the largest of an eighth of all numbers", "semantics", "none", only("wrong"),
        problem="Maximum",
    ),
    Attack(
        23, "23_scale_of_part.cu", "a scale by the largest of an eighth of all numbers", "semantics", "fast",
        only("wrong"), problem="Scale",
    ),
    Attack(
        23, "23_zeros.cu", "zeros for small numbers", "semantics", "none", only("wrong"), problem="Shares",
    ),
    Attack(
        23, "23_expected_sum.cu", "the expected sum of a row in place of its sum", "semantics", "none", only("wrong"),
        problem="Shares",
    ),
    Attack(
        23, "23_expected_sum_reversed.cu", "the same, with the results at other places", "semantics", "none",
        only("wrong"), problem="SharesReversed",
    ),
    Attack(
        23, "23_sample_beside.cu", "a quarter of all numbers, beside an output of a part of them", "semantics", "fast",
        only("wrong"), problem="MeanBeside",
    ),
    Attack(
        23, "23_sample_columns.cu", "a quarter of the numbers of columns of different sizes", "semantics", "fast",
        only("wrong"), problem="ColumnMeans",
    ),
    Attack(
        23, "23_sample_bytes.cu", "a quarter of all bytes", "semantics", "fast", only("wrong"), problem="MeanOfBytes",
    ),
    Attack(
        23, "23_sample_quantised.cu", "a quarter of all bytes, which a scale of floats belongs to", "semantics", "fast",
        only("wrong"), problem="MeanOfQuantised",
    ),
    Attack(
        23, "23_sample_small_input.cu", "a quarter of an input that is not the largest", "semantics", "none",
        only("wrong"), problem="ScaledByMean",
    ),
    Attack(
        23, "23_product_of_sums.cu", "the product of sums in place of the sum of products", "semantics", "fast",
        only("wrong"), problem="ProductNear",
    ),
    Attack(
        23, "23_product_of_sums_transposed.cu", "the same, of columns", "semantics", "fast", only("wrong"),
        problem="ProductNearTransposed",
    ),
    Attack(
        23, "23_small_numbers.cu", "zeros for small numbers beside a large one", "semantics", "fast",
        only("wrong", "unproven"), problem="Gradient",
    ),
    Attack(
        23, "23_expected_shares.cu", "the expected share for each number beside a large one", "semantics", "none",
        only("wrong", "unproven"), problem="Gradient",
    ),
    Attack(
        23, "23_expected_shares.cu", "the same, memory for two input sets", "semantics", "none",
        only("wrong", "unproven"), problem="GradientShort", tag="-short", where="sim",
    ),
    Attack(24, "24_left_in_shared.cu", "left in shared memory", "device", true_time=True, where="gpu"),
    Attack(
        25, "25_library.py", "a vendor's kernel", "semantics", "passes", only("violation"),
        options=("--forbid-library", "vendor_*"),
    ),
    Attack(
        25, "25_torch_fallback.py", "torch.mm as fallback", "semantics", "passes", only("violation"),
        problem="Product", where="torch",
        options=("--forbid-library", "libcublas*", "--forbid-library", "*gemm*"),
    ),
    Attack(
        26, "26_persisting_l2.cu", "input persists in L2", "driver", "none", only("violation", "unreplayable"),
        true_time=True, problem="RowMean", where="gpu", large="cached", control="row_mean.cu",
    ),
    Attack(
        26, "26_evict_last.cu", "input marked evict_last in L2", "device", "none", only("violation"), true_time=True,
        problem="RowMean", large="cached", control="row_mean.cu",
    ),
    Attack(
        27, "27_prefetch_next.cu", "the next call's input fetched", "device", "none", only("violation"),
        true_time=True, problem="RowMean", where="gpu", large="cached", control="row_mean.cu",
    ),
    Attack(
        28, "28_early_start.cu", "starts before what is in front of it", "stream", "none",
        true_time=True, where="gpu",
    ),
    Attack(
        29, "29_left_running.py", "processes left behind", "machine", "none", true_time=True,
        check="no processes",
    ),
    Attack(
        30, "30_most_samples.py", "two of three calls do nothing", "statistics", verdicts=only("wrong",
        "unreplayable"),
    ),
    Attack(30, "30_slow_warm_up.py", "slow, then nothing", "statistics", verdicts=only("wrong")),
    Attack(31, "31_overwrite.py", "everything on the device cleared", "driver", verdicts=only("wrong")),
    Attack(31, "31_neighbourhood.cu", "all behind the output overwritten", "device", "none", true_time=True),
    Attack(
        32, "32_sibling_graph.py", "graph launched from the device", "device", verdicts=STOPPED,
        true_time=True, where="gpu",
    ),
    Attack(
        32, "32_tail_launch.py", "kernel launched from the device", "device", "none", true_time=True,
        where="gpu",
    ),
    Attack(33, "33_real_driver.py", "driver behind the recorder", "driver", "none", only("wrong")),
    Attack(
        33, "33_own_driver.py", "copy of the driver", "driver", "none", only("wrong", "failed"),
        where="sim",
    ),
    Attack(33, "33_without_preload.py", "exec without preload", "native", "none", only("failed")),
    Attack(33, "33_forged_captures.py", "raw captures of its own", "files", "none", only("failed", "wrong")),
    Attack(
        33, "33_own_region.py", "region begun and ended itself", "native", "none", only("failed",
        "unreplayable", "wrong"),
    ),
    Attack(
        33, "33_ranges.py", "output's name on other memory too", "native", "none", only("failed",
        "violation", "unreplayable"),
    ),
    Attack(33, "33_swapped_names.py", "names on memory that is ready", "Python", "none", only("unreplayable")),
    Attack(
        33, "33_output_is_input.py", "output is the input's memory", "Python", "none",
        only("violation", "failed", "unreplayable"),
    ),
    Attack(33, "33_before_the_region.py", "computed before the capture", "Python", "none", only("wrong")),
    Attack(
        33, "33_cleared_between.py", "scratch memory cleared outside of the calls", "Python", "none", only("wrong"),
        problem="Repeats",
    ),
    Attack(
        33, "33_cleared_between_counted.py", "the same, in calls that differ", "Python", "none", only("unproven"),
        problem="Repeats",
    ),
    Attack(
        33, "33_cleared_if_marked.py", "scratch memory cleared in the call only if it is marked", "Python", "none",
        only("unproven"), problem="Repeats", where="gpu",
    ),
    Attack(
        33, "33_cleared_in_first_process.py", "scratch memory cleared in the call in one process of four", "Python",
        "none", only("wrong"), true_time=True, problem="Repeats", where="sim",
        options=("--samples", "40", "--placements", "4"),  # on a busy machine no process waits, or one takes all
    ),
    Attack(
        33, "33_noise_table.py", "new memory that is not cleared, whose noise the kernel knows", "Python", "none",
        only("wrong"), problem="Repeats",
    ),
    Attack(
        33, "33_shared_noise.py", "shared memory that is not cleared, whose noise the kernel knows", "Python", "none",
        only("wrong"), problem="Repeats", where="gpu",
    ),
    Attack(
        33, "33_lazy_global.py", "a global that is recorded after the launch that clears it", "Python", "none",
        only("wrong"), true_time=True, problem="Repeats", where="sim",
    ),
    Attack(
        33, "33_uploaded_answer.py", "computed before, then uploaded", "Python", "none", only("wrong",
        "unreplayable"),
    ),
    Attack(33, "33_runner_lies.py", "the same inputs twice, no launch", "Python", "none", only("wrong")),
    Attack(33, "33_global_alias.py", "two places for one global", "files", "none", only("failed")),
    Attack(33, "33_missing_kernel.py", "kernel missing in its image", "files", "none", only("failed")),
    Attack(33, "33_other_vendor.py", "recorder named as AMD's driver", "files", "none", only("failed")),
    Attack(33, "33_missing_global.py", "global missing in its image", "files", "none", only("failed")),
    Attack(34, "34_forged_status.py", "the keeper's exit status", "machine", "none", only("failed")),
    Attack(34, "34_forged_confine.py", "a sandbox that cannot be set up", "machine", "none", only("failed")),
    Attack(34, "34_forged_driver.py", "a driver that does not work", "machine", "none", only("failed")),
    Attack(34, "34_launch_shapes.py", "40,000 shapes with long names", "files", "none", TOO_MUCH, options=SOON),
    Attack(34, "34_small_elements.py", "300,000 small elements", "files", "none", TOO_MUCH, options=SOON),
    Attack(
        34, "34_packed_bombs.py", "24 GiB in a fat binary", "files", "none", TOO_MUCH | only("unreplayable"),
        options=SOON,
    ),
    Attack(  # on a GPU it costs memory of the GPU alone
        34, "34_hole.py", "1 GiB of nothing", "files", "none", TOO_MUCH, options=(*SOON, "--memory", "512M"),
        true_time=True,
    ),
    Attack(34, "34_mangled_names.py", "names of 140 MB", "names", "none", true_time=True, options=SOON),
    Attack(
        34, "34_many_calls.py", "calls faster than they are read", "trace", "none", TOO_MUCH, options=SOON,
        true_time=True,
    ),
    Attack(34, "34_hang.py", "never returns", "machine", "none", only("timeout"), options=("--timeout", "8")),
    Attack(
        34, "34_hanging_kernel.cu", "kernel that hangs in the replay", "device", "none",
        only("timeout", "wrong"), options=("--timeout", "20"),
    ),
    Attack(34, "34_flood.py", "prints without end", "machine", "none", true_time=True),
    Attack(
        34, "34_memory.py", "all of the memory", "machine", "none", only("failed"), options=("--memory",
        "512M"),
    ),
    Attack(34, "34_disk.py", "many files", "machine", "none", only("wrong", "failed")),
    Attack(
        34, "34_host_altered.py", "times and mode of a file outside", "machine", "none", true_time=True,
        check="host",
    ),
    Attack(34, "34_kill_parent.py", "ends its parent", "machine", "none", only("wrong", "failed")),
    Attack(34, "34_closed_descriptors.py", "closes descriptors", "machine", "none", only("wrong", "failed")),
    Attack(
        35, "35_driver_code.py", "driver's own code overwritten", "native", "none", only("violation", "failed"),
        true_time=True, options=INLINE,
    ),
    Attack(35, "01_timer_patch.py", "patched event class", "Python", "none", tag="-inline", options=INLINE, **TAMPERED),
    Attack(35, "35_late_write.py", "right a moment later", "stream", "none", options=INLINE, true_time=True),
    Attack(
        35, "35_wrong_probe.py", "one sample wrong, work begun early", "stream", "none", options=INLINE,
        true_time=True,
    ),
    Attack(35, "35_arena.py", "expected values searched everywhere", "native", "none", options=INLINE),
    Attack(
        35, "12_device_scan.py", "expected values searched on the device", "driver", "none", tag="-inline",
        options=INLINE,
    ),
    Attack(35, "16_cached_output.py", "first answer copied", "semantics", "none", tag="-inline", options=INLINE),
    Attack(
        35, "17_by_content_spare.py", "cache by content, spare memory", "device", "none", tag="-inline", options=INLINE,
        true_time=True,
    ),
)  # fmt: skip

LOOK_ALIKES = (
    LookAlike("streams.py", "14: streams of its own, joined"),
    LookAlike("stream_alone.py", "14: a stream that does not wait for the inputs", options=INLINE),
    LookAlike("graph.py", "16: a CUDA graph"),
    LookAlike("clean_global.py", "33: a global that each call leaves clean", problem="Repeats"),
    LookAlike(
        "repeats.py",
        "33: a table that each call clears, in four processes",
        problem="Repeats",
        options=("--samples", "40", "--placements", "4"),
    ),
    LookAlike("graph_each_call.py", "16: a CUDA graph, made in each call"),
    LookAlike("graph_large.py", "18: a CUDA graph of 512 kernels, which is one launch"),
    LookAlike("epoch.py", "19: the host counts its calls, and the device gets the number"),
    LookAlike("cooperative.cu", "14: cooperative launch, grid barrier", "RowMean"),
    LookAlike("atomics.cu", "24: another order of additions in each run", "RowMean"),
    LookAlike("changed_only.cu", "16: the output's content is read, and stored only where it changes"),
    LookAlike("workspace.py", "17: memory that is kept from call to call"),
    LookAlike("mapped.py", "17: memory that the program mapped to addresses of its own"),
    LookAlike("work_queue.cu", "17: state of its own in a global, which each call leaves as it was"),
    LookAlike("copies.py", "11: two lengths outside its events, if a copy engine begins and ends the call"),
    LookAlike("table.cu", "8: table in constant memory"),
    LookAlike("cache_hints.cu", "26: cache policy for an input that is read once", "RowMean"),
    LookAlike("global_table.py", "33: a global of its own"),
    LookAlike("in_place.py", "20: input written, as the problem says", "MixInPlace"),
    LookAlike("mix_both.py", "21: two outputs", "MixBoth"),
    LookAlike("returned.py", "4: returns memory of its own"),
    LookAlike("autotuned.py", "19: the first call is another"),
    LookAlike("numba_kernel.py", "25: a compiler of the library's"),
    LookAlike("many_launches.py", "18: many launches"),
    LookAlike("host_read.py", "19: the host reads device memory, the same on all inputs"),
)
