"""Kernels are instrumented while their program runs as before, on the CPU driver."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchguard.probe.counted import read_lists
from benchguard.probe.engine import Request, write_answer
from benchguard.probe.engines.count.build import build
from benchguard.probe.engines.count.read import read_counts
from benchguard.probe.pipeline.cache import Cache
from benchguard.probe.pipeline.engine import Job, cache_key, find_engine
from benchguard.probe.trace_file import read_traces
from tests.conftest import ROOT
from tests.integration.apis import Api, both_apis
from tests.integration.support import PROGRAMS

ENTRIES = PROGRAMS / "engines" / "entries.py"
LOADS = PROGRAMS / "engines" / "loads.py"
LARGE = PROGRAMS / "engines" / "large.py"
FORMS = ("plain", "packed", "configured", "cooperative", "empty", "beside")
LACKING = {"cuda": (), "hip": ("cooperative",)}
"""Forms that HIP 5.2 has for host stubs alone."""


@dataclass(frozen=True)
class Probed:
    status: int
    stdout: str
    stderr: str
    folder: Path

    @property
    def traces(self) -> list[dict[str, object]]:
        index = self.folder / "traces.jsonl"
        return [json.loads(line) for line in index.read_text().splitlines()] if index.exists() else []

    @property
    def decisions(self) -> list[tuple[str, str, str]]:
        lines = map(json.loads, (self.folder / "audit.jsonl").read_text().splitlines())
        return [(each["name"], each["outcome"], each["reason"]) for each in lines if each["kind"] == "probe"]


Probe = Callable[..., Probed]


@pytest.fixture
def probe(tmp_path: Path, api: Api) -> Probe:
    def run(engine: str, command: list[str | Path], *options: str, out: str = "out") -> Probed:
        words = [sys.executable, "-m", "benchguard", "probe", engine, "--driver", api.driver, "--out", out]
        base = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
        environment = {**base, "PYTHONPATH": str(ROOT)}
        result = subprocess.run(
            [*words, "--cache", tmp_path / "cache", *options, "--", *map(str, command)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=1500,
            check=False,
        )
        return Probed(result.returncode, result.stdout, result.stderr, tmp_path / out)

    return run


@pytest.fixture
def plain(program: Callable[[str], Path], api: Api) -> Callable[..., str]:
    """Run the program without probes, and return its output."""

    def run(*modes: str) -> str:
        environment = {
            **os.environ,
            "LD_LIBRARY_PATH": str(api.folder),
            "NEUTRINO_BRIDGE_DRIVER": str(api.folder / api.soname),
        }
        return subprocess.run(
            [program("probed"), *modes],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout

    return run


def first_words(path: Path) -> list[int]:
    """The 32-bit numbers of a trace's only map."""
    data = path.read_bytes()
    *_, maps = struct.unpack_from("<8I", data)
    size, _, at = struct.unpack_from("<IIQ", data, 32)
    assert (maps, size) == (1, 4)
    return [word for (word,) in struct.iter_unpack("<I", data[at:])]


@both_apis
def test_probed_launches_of_every_form_keep_results_and_leave_traces(
    program: Callable[[str], Path], plain: Callable[..., str], probe: Probe, api: Api
) -> None:
    """Constant and global variable are those of the program's own module, before, in and after the launches."""
    forms = [form for form in FORMS if form not in LACKING[api.name]]
    outcome = probe(str(ENTRIES), [program("probed"), *forms])
    assert (outcome.status, outcome.stdout) == (0, plain(*forms)), outcome.stderr
    assert outcome.decisions == [("add", "probed", ""), ("empty", "probed", "")]
    assert [each["kernel"] for each in outcome.traces] == ["add"] * (len(forms) - 2) + ["empty", "add"]
    words = [first_words(outcome.folder / str(each["file"])) for each in outcome.traces]
    assert words == [list(range(1, 129))] * (len(forms) - 2) + [list(range(1, 7)), list(range(1, 129))]
    assert f"2 kernels probed, {len(forms)} traces" in outcome.stderr


@both_apis
def test_captured_launch_is_probed_as_a_node_of_its_graph(
    program: Callable[[str], Path], plain: Callable[..., str], probe: Probe
) -> None:
    outcome = probe(str(ENTRIES), [program("probed"), "captured", "plain"])
    assert (outcome.status, outcome.stdout) == (0, plain("captured", "plain")), outcome.stderr
    assert outcome.decisions == [("add", "probed", "")]
    traces = [first_words(outcome.folder / str(each["file"])) for each in outcome.traces]
    assert traces == [list(range(1, 129))] * 3


@both_apis
@pytest.mark.parametrize("engine", [str(ENTRIES), "bounds", str(LOADS)], ids=["entries", "bounds", "loads"])
def test_nodes_of_a_graph_are_probed_at_each_launch_until_the_program_changes_them(
    program: Callable[[str], Path], plain: Callable[..., str], probe: Probe, engine: str
) -> None:
    """Three launches of two nodes, one of the node that is left, none after an update. Streams differ."""
    outcome = probe(engine, [program("probed"), "graphs", "plain"])
    assert (outcome.status, outcome.stdout) == (0, plain("graphs", "plain")), outcome.stderr
    assert outcome.decisions == [
        ("add", "probed", ""),
        ("add", "skipped", "the program changed its node of a graph"),
    ]
    assert len(outcome.traces) == 3 * 2 + 1 + 1
    assert len({each["stream"] for each in outcome.traces}) == 3
    if engine == str(ENTRIES):
        traces = [first_words(outcome.folder / str(each["file"])) for each in outcome.traces]
        assert traces == [list(range(1, 129))] * 8
    if engine == "bounds":
        assert "no violation" in outcome.stderr


@both_apis
@pytest.mark.parametrize("engine", [str(ENTRIES), "bounds"], ids=["entries", "bounds"])
def test_nodes_of_child_graphs_are_probed_until_the_program_changes_the_child(
    program: Callable[[str], Path], plain: Callable[..., str], probe: Probe, engine: str
) -> None:
    """Two launches of three nodes, one of the node outside the child, and three of an own executable graph."""
    outcome = probe(engine, [program("probed"), "children", "plain"])
    assert (outcome.status, outcome.stdout) == (0, plain("children", "plain")), outcome.stderr
    assert outcome.decisions == [
        ("add", "probed", ""),
        ("add", "skipped", "the program changed its child graph"),
    ]
    assert len(outcome.traces) == 2 * 3 + 1 + 3 + 1
    if engine == str(ENTRIES):
        traces = [first_words(outcome.folder / str(each["file"])) for each in outcome.traces]
        assert traces == [list(range(1, 129))] * 11
    if engine == "bounds":
        assert "no violation" in outcome.stderr


def test_kernels_in_conditional_nodes_are_probed_and_counts_add_up(
    program: Callable[[str], Path], plain: Callable[..., str], probe: Probe
) -> None:
    """Each launch of the graph runs one node three times, and the other not at all."""
    outcome = probe("count", [program("probed"), "conditional", "plain"])
    assert (outcome.status, outcome.stdout) == (0, plain("conditional", "plain")), outcome.stderr
    assert sorted(outcome.decisions) == [("add", "probed", ""), ("count_down", "probed", "")]
    totals = sorted(
        sum(read_counts(trace.maps[0]).classes.values())
        for line, trace in read_traces(outcome.folder)
        if line.kernel == "add"
    )
    once = totals[2]
    assert totals == [0, 0, once, 3 * once, 3 * once] and once > 0


@pytest.mark.parametrize("node", ["cooperative-node", "cluster-node"])
def test_node_whose_blocks_run_together_and_fit_is_probed(
    program: Callable[[str], Path], plain: Callable[..., str], probe: Probe, node: str
) -> None:
    outcome = probe(str(ENTRIES), [program("probed"), node])
    assert (outcome.status, outcome.stdout) == (0, plain(node)), outcome.stderr
    assert outcome.decisions == [("add", "probed", "")]
    assert [first_words(outcome.folder / str(each["file"])) for each in outcome.traces] == [
        list(range(1, 129))
    ]


@pytest.mark.parametrize(
    ("engine", "outcome"), [(ENTRIES, "probed"), (LARGE, "skipped")], ids=["fits", "large"]
)
def test_cooperative_node_that_does_not_fit_with_a_probe_runs_the_original(
    program: Callable[[str], Path], plain: Callable[..., str], probe: Probe, engine: Path, outcome: str
) -> None:
    """The node has as many blocks as the device holds. LARGE adds shared memory, so that it would hold fewer."""
    ran = probe(str(engine), [program("probed"), "full-cooperative-node"])
    assert (ran.status, ran.stdout) == (0, plain("full-cooperative-node")), ran.stderr
    assert [each[:2] for each in ran.decisions][-1] == ("add", outcome)
    assert len(ran.traces) == (outcome == "probed")
    if outcome == "skipped":
        assert "whose blocks must run together, and are too large with a probe" in ran.decisions[-1][2]


def test_launch_that_fails_without_a_probe_too_does_not_end_probing(
    program: Callable[[str], Path], plain: Callable[..., str], probe: Probe
) -> None:
    outcome = probe(str(ENTRIES), [program("probed"), "refused", "plain"])
    assert (outcome.status, outcome.stdout) == (0, plain("refused", "plain")), outcome.stderr
    assert outcome.decisions == [("add", "probed", "")]
    assert len(outcome.traces) == 1


def forms_of(outcome: Probed) -> Counter[tuple[int, str]]:
    """The number of launches of each grid that ran in each form."""
    lines = map(json.loads, (outcome.folder / "audit.jsonl").read_text().splitlines())
    return Counter(
        (each["grid"][0], each.get("form", "original")) for each in lines if each["kind"] == "launch"
    )


def test_benchmark_times_each_shape_in_each_form_and_runs_no_launch_twice(
    program: Callable[[str], Path], plain: Callable[..., str], probe: Probe
) -> None:
    """The kernel works in place, so a launch too many would change its results."""
    outcome = probe("count", [program("probed"), "turns60"], "--benchmark")
    assert (outcome.status, outcome.stdout) == (0, plain("turns60")), outcome.stderr
    forms = forms_of(outcome)
    assert sum(forms.values()) == 60
    assert sorted(forms) == [(grid, form) for grid in (4, 8) for form in ("original", "probed", "pruned")]
    assert forms[4, "probed"] + forms[8, "probed"] == len(outcome.traces) == 20
    lines = map(json.loads, (outcome.folder / "benchmark.jsonl").read_text().splitlines())
    found = {
        (line["grid"][0], form): line[form]["launches"]
        for line in lines
        for form in ("original", "pruned", "probed")
        if line[form]["min_ns"] > 0
    }
    assert found.keys() == forms.keys() and all(found[key] <= forms[key] for key in forms)
    assert outcome.stderr.count("times as long with probes") == 2


def test_benchmark_of_an_engine_without_a_pruned_kernel_has_two_forms(
    program: Callable[[str], Path], plain: Callable[..., str], probe: Probe
) -> None:
    outcome = probe(str(ENTRIES), [program("probed"), "turns60"], "--benchmark")
    assert (outcome.status, outcome.stdout) == (0, plain("turns60")), outcome.stderr
    forms = forms_of(outcome)
    assert {form for _, form in forms} == {"original", "probed"} and len(outcome.traces) == 20
    assert "pruned" not in (outcome.folder / "benchmark.jsonl").read_text()


def test_pruned_image_that_the_driver_refuses_leaves_the_original(
    program: Callable[[str], Path], plain: Callable[..., str], probe: Probe, tmp_path: Path
) -> None:
    engine = tmp_path / "engine.py"
    engine.write_text(f"{ENTRIES.read_text()}\n(folder / 'pruned.bin').write_text('no image')\n")
    outcome = probe(str(engine), [program("probed"), "turns6"], "--benchmark")
    assert (outcome.status, outcome.stdout) == (0, plain("turns6")), outcome.stderr
    [(name, form, reason)] = outcome.decisions
    assert (name, form) == ("add", "original") and "image of the kernel without probes" in reason
    assert forms_of(outcome).keys() == {(4, "original"), (8, "original")}


@pytest.mark.parametrize("api", ["hip"], indirect=True)
def test_benchmark_refuses_a_hip_driver(probe: Probe) -> None:
    outcome = probe("count", ["true"], "--benchmark")
    assert outcome.status == 2 and "--benchmark measures launches of CUDA programs" in outcome.stderr
    assert not outcome.folder.exists()


@both_apis
def test_first_launch_by_eight_threads_asks_once(
    program: Callable[[str], Path], plain: Callable[..., str], probe: Probe
) -> None:
    outcome = probe(str(ENTRIES), [program("probed"), "threads"])
    assert (outcome.status, outcome.stdout) == (0, plain("threads")), outcome.stderr
    assert outcome.decisions == [("add", "probed", "")]
    assert len(outcome.traces) == 8


@both_apis
def test_unloaded_module_takes_its_probed_kernels_along(
    program: Callable[[str], Path], plain: Callable[..., str], probe: Probe
) -> None:
    """The driver may give the new kernel the handle of the old one: its variables are the new module's."""
    outcome = probe(str(ENTRIES), [program("probed"), "reloaded"])
    assert (outcome.status, outcome.stdout) == (0, plain("reloaded")), outcome.stderr
    assert outcome.decisions == [("add", "probed", "")] * 2
    assert len(outcome.traces) == 2


@both_apis
def test_context_that_is_made_again_gets_memory_of_its_own(
    program: Callable[[str], Path], plain: Callable[..., str], probe: Probe
) -> None:
    outcome = probe(str(ENTRIES), [program("probed"), "reset"])
    assert (outcome.status, outcome.stdout) == (0, plain("reset")), outcome.stderr
    assert outcome.decisions == [("add", "probed", "")] * 3
    assert len(outcome.traces) == 3


@pytest.mark.parametrize(("mode", "is_input"), [("one", True), ("library", False)])
def test_kernel_of_a_link_product_is_probed_by_the_only_ptx_that_was_linked(
    program: Callable[[str], Path], probe: Probe, mode: str, is_input: bool
) -> None:
    """The link state and the text are gone at the first launch.

    A GPU's product is machine code. The CPU driver's is PTX without the comment before .version. With two inputs,
    neither has the whole kernel.
    """
    outcome = probe("count", [program("linked_kernel"), mode])
    assert (outcome.status, outcome.stdout) == (0, "0 31 96\n"), outcome.stderr
    assert outcome.decisions == [("add", "probed", "")] and len(outcome.traces) == 3
    [image] = (outcome.folder / "kernel").glob("*/original.bin")
    assert image.read_bytes().startswith(b"// the program's text") == is_input


@pytest.mark.parametrize(
    ("mode", "api"),
    [
        ("unloaded-at-once", "cuda"),
        ("destroyed-at-once", "cuda"),
        ("reset-at-once", "cuda"),
        ("unloaded-at-once", "hip"),
        ("reset-at-once", "hip"),
    ],
    indirect=["api"],
)
def test_traces_outlive_a_module_or_context_that_ends_before_a_wait(
    program: Callable[[str], Path], plain: Callable[..., str], probe: Probe, mode: str
) -> None:
    """Engines with maps on the device, and with maps on the host (`bounds`)."""
    for engine in (str(ENTRIES), "bounds"):
        outcome = probe(engine, [program("probed"), mode, "plain", mode], out=Path(engine).stem)
        assert (outcome.status, outcome.stdout) == (0, plain(mode, "plain", mode)), outcome.stderr
        assert {each[1:] for each in outcome.decisions} == {("probed", "")}
        assert len(outcome.traces) == 3
        if engine != "bounds":
            traces = [first_words(outcome.folder / str(each["file"])) for each in outcome.traces]
            assert traces == [list(range(1, 129))] * 3


def loads_of(outcome: Probed) -> list[list[tuple[int, list[int]]]]:
    """For each trace and block: the number of loads, and the addresses that the trace has, from the first of all."""
    found = []
    for _, trace in read_traces(outcome.folder):
        lists = read_lists(trace.maps[0], trace.grid[0], 8)
        addresses = [sorted(int.from_bytes(entry, "little") for entry in each.entries) for each in lists]
        begin = min([address for each in addresses for address in each], default=0)
        found.append(
            [
                (each.needed, [address - begin for address in places])
                for each, places in zip(lists, addresses, strict=True)
            ]
        )
    return found


NEEDED = [32, 32, 32, 4]
"""Loads of each block of the kernel `add`."""


@both_apis
def test_map_of_counted_size_is_measured_by_a_launch_and_has_room_from_then_on(
    program: Callable[[str], Path], plain: Callable[..., str], probe: Probe
) -> None:
    """The size is kept for later runs, too."""
    all_of_them = [(count, [128 * block + 4 * i for i in range(count)]) for block, count in enumerate(NEEDED)]
    outcome = probe(str(LOADS), [program("probed"), "plain", "plain"])
    assert (outcome.status, outcome.stdout) == (0, plain("plain", "plain")), outcome.stderr
    assert loads_of(outcome) == [[(count, []) for count in NEEDED], all_of_them]
    assert loads_of(probe(str(LOADS), [program("probed"), "plain"], out="again")) == [all_of_them]


def test_map_of_counted_size_keeps_what_the_limit_allows_and_counts_all(
    program: Callable[[str], Path], plain: Callable[..., str], probe: Probe
) -> None:
    options = ["--option", "bytes=1024", "--max-map-bytes", "64K"]  # 3 entries of 4 blocks fit into a quarter
    outcome = probe(str(LOADS), [program("probed"), "plain", "plain"], *options)
    assert (outcome.status, outcome.stdout) == (0, plain("plain", "plain")), outcome.stderr
    traces = [read_lists(trace.maps[0], 4, 1024) for _, trace in read_traces(outcome.folder)]
    assert [[each.needed for each in lists] for lists in traces] == [NEEDED, NEEDED]
    assert [[len(each.entries) for each in lists] for lists in traces] == [[0, 0, 0, 0], [3, 3, 3, 3]]


BROKEN = {
    "crash": ("import os\nos.abort()", "the engine ended with status -6"),
    "hang": ("import time\ntime.sleep(600)", "the engine took more than 3 s"),
    "nothing": ("pass", "the engine wrote no kernel.info"),
    "garbage": (
        "(w / 'probed.bin').write_bytes(bytes(range(256)) * 99)\n(w / 'kernel.info').write_text('add\\n2\\n0\\n')",
        "the driver refuses the engine's image",
    ),
    "another kernel's image": (
        "t = (w / 'original.ptx').read_text().replace('.entry add', '.entry other')\n"
        "(w / 'probed.bin').write_text(t)\n(w / 'kernel.info').write_text('add\\n2\\n0\\n')",
        "the engine's image lacks the kernel",
    ),
    "another name": (
        "(w / 'kernel.info').write_text('other\\n2\\n0\\n')\n(w / 'probed.bin').write_text('x')",
        "describes another kernel: other",
    ),
    "huge file": ("(w / 'probed.bin').open('wb').truncate(1 << 40)", "status 1"),
    "a link": ("(w / 'kernel.info').symlink_to('/etc/passwd')", "the engine wrote no kernel.info"),
    "huge map": (
        "(w / 'probed.bin').write_text((w / 'original.ptx').read_text())\n"
        "(w / 'kernel.info').write_text('add\\n2\\n1\\n0,1000000000\\n')",
        "its maps exceed --max-map-bytes",
    ),
    "flood": ("while True:\n    print('x' * (1 << 20))", "the engine ended with status"),
    "forks": ("import os, time\nwhile True:\n    os.fork() or time.sleep(600)", "the engine "),
    "process left behind": (
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(600)",
        "the engine wrote no kernel.info",
    ),
    "missing variable": (
        "(w / 'probed.bin').write_text((w / 'original.ptx').read_text())\n"
        "(w / 'kernel.info').write_text('add\\n2\\n0\\naddress total missing\\n')",
        "a global of the original module cannot be shared",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_engine_leaves_the_program_as_it_was(
    program: Callable[[str], Path], plain: Callable[..., str], probe: Probe, tmp_path: Path, name: str
) -> None:
    body, said = BROKEN[name]
    engine = tmp_path / "broken.py"
    engine.write_text(f"import sys\nfrom pathlib import Path\nw = Path(sys.argv[1])\n{body}\n")
    outcome = probe(str(engine), [program("probed"), "plain"], "--engine-timeout", "3")
    assert (outcome.status, outcome.stdout) == (0, plain("plain")), outcome.stderr
    assert any(said in reason for _, _, reason in outcome.decisions), outcome.decisions
    assert outcome.traces == []


def test_outcome_of_an_earlier_run_is_used_again(
    program: Callable[[str], Path], probe: Probe, tmp_path: Path
) -> None:
    """Success and failure: the second run does not start the engine, which would now say something else."""
    engine = tmp_path / "once.py"
    engine.write_text("import sys\nprint('no such probe')\nsys.exit(3)\n")
    said = "the engine ended with status 3: no such probe"
    assert probe(str(engine), [program("probed"), "plain"], out="1").decisions == [("add", "original", said)]
    (log,) = (tmp_path / "1" / "kernel").glob("*/process.log")
    assert log.read_text() == "no such probe\n"
    assert probe(str(engine), [program("probed"), "plain"], out="2").decisions == [("add", "original", said)]
    assert len(list((tmp_path / "cache").iterdir())) == 1
    engine.write_text("import sys\nprint('now another one')\nsys.exit(3)\n")
    (decision,) = probe(str(engine), [program("probed"), "plain"], out="3").decisions
    assert decision[2].endswith("now another one")


def test_thousand_kernels_are_probed(program: Callable[[str], Path], probe: Probe, tmp_path: Path) -> None:
    """Their outcomes are in the cache, since a thousand processes of an engine need minutes."""
    engine, cache = find_engine("count", {}), Cache(tmp_path / "cache")
    for number in range(1000):
        name = f"kernel_{number}"
        text = f".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry {name}()\n{{\n  ret;\n}}\n"
        write_answer(tmp_path, name, build(Request(name, text)))
        files = {file: (tmp_path / file).read_bytes() for file in ("kernel.info", "probed.bin")}
        job = Job(text.encode() + b"\0", name, "cuda", 90, 1.0)
        cache.put(cache_key(engine, job), "", {**files, "original.ptx": text.encode()}, "")
    outcome = probe("count", [program("probed"), "many1000", "many1000", "plain"])
    assert outcome.status == 0, outcome.stderr
    assert [each[1] for each in outcome.decisions] == ["probed"] * 2001
    assert len(outcome.traces) == 2001
    assert "kernel_999: 2 launches, 2 instructions" in outcome.stderr.splitlines()
    assert len(list(cache.folder.iterdir())) == 1001


def test_each_kernel_of_a_process_is_asked_for_once(program: Callable[[str], Path], probe: Probe) -> None:
    number = 50
    outcome = probe("true", [program("probed"), f"many{number}", f"many{number}", "plain"])
    assert outcome.status == 0, outcome.stderr
    assert len(outcome.decisions) == 2 * number + 1
    assert f"{2 * number + 1} kernels not probed: the engine wrote no kernel.info" in outcome.stderr
    assert len(list((outcome.folder / "kernel").iterdir())) == number + 1


def test_maps_beyond_the_limit_leave_the_original(program: Callable[[str], Path], probe: Probe) -> None:
    outcome = probe(str(ENTRIES), [program("probed"), "plain"], "--max-map-bytes", "100")
    assert outcome.decisions == [("add", "probed", ""), ("add", "skipped", "its maps exceed --max-map-bytes")]


def test_callback_gets_each_trace(program: Callable[[str], Path], probe: Probe) -> None:
    outcome = probe(str(ENTRIES), [program("probed"), "plain", "empty"], "--callback", "wc -c")
    assert sorted(line.split()[0] for line in outcome.stdout.splitlines() if ".bin" in line) == ["560", "72"]


REPORTS = {
    "block-times": "add: 4 blocks on ",
    "count": "add: 5 launches, ",
    "memory": "atomic 4 B",
}


@pytest.mark.parametrize("engine", REPORTS)
def test_engine_of_ours_keeps_results_and_reports(
    program: Callable[[str], Path], plain: Callable[..., str], probe: Probe, engine: str
) -> None:
    outcome = probe(engine, [program("probed"), *FORMS])
    assert (outcome.status, outcome.stdout) == (0, plain(*FORMS)), outcome.stderr
    assert {each[1] for each in outcome.decisions} == {"probed"}
    with_maps = [form for form in FORMS if (engine, form) != ("memory", "empty")]  # it accesses none
    assert len(outcome.traces) == len(with_maps)
    assert REPORTS[engine] in outcome.stderr
    assert len(list(outcome.folder.glob("blocks-*.html"))) == (6 if engine == "block-times" else 0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["no-such-engine", "--", "true"], "no such engine: no-such-engine"),
        (["true"], "write the command after --"),
        (["true", "--option", "x", "--", "true"], "--option 'x' is not NAME=VALUE"),
        (["true", "--option", "x=1", "--option", "x=2", "--", "true"], "given twice"),
        (["true", "--out", ".", "--", "true"], "is not empty"),
        (["true", "--cache", "c", "--no-cache", "--", "true"], "exclude each other"),
        (["'true", "--", "true"], "is not a command"),
    ],
)
@pytest.mark.quick
def test_usage_error_is_one_line(tmp_path: Path, words: list[str], said: str) -> None:
    (tmp_path / "something").touch()
    result = subprocess.run(
        [sys.executable, "-m", "benchguard", "probe", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (result.returncode, len(result.stderr.splitlines())) == (2, 1), result.stderr
    assert said in result.stderr
