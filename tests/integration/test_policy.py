"""Policies: each rule of `grading` stops its attack without effect, and the honest call beside it passes."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.apis import Api, both_apis
from tests.integration.support import PROGRAMS, Observe, Observed, Record

Program = Callable[[str], Path]
PTX = (
    "\n.version 7.5\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n  ret;\n}\n"
    ".visible .entry something()\n{\n  ret;\n}\n"
)

ATTACKS = {
    "launch_host_func": "host callbacks",
    "stream_callback": "host callbacks",
    "host_node": "host callbacks",
    "any_host_node": "host nodes of any graph",
    "ipc": "memory of other processes",
    "profiler": "profiler",
    "persisting_limit": "limit of persisting L2",
    "heap_limit": "limits of the context",
    "reset_l2": "reset of persisting L2",
    "stream_window": "access policies of streams and nodes",
    "launch_window": "access policies of launches",
    "many_attributes": "access policies of launches",
    "event_elsewhere": "timing events on other streams",
    "per_thread_event": "timing events on other streams",
    "event_node": "timing events in graphs",
    "any_event_node": "timing events in nodes of any graph",
    "external_event": "timing events in captured graphs",
    "peer_copy": "copies between devices",
    "stream_priority": "priority of streams and nodes",
    "launch_priority": "priority of launches",
    "graph_upload": "graph upload",
    "instantiate_upload": "graph instantiation with upload",
    "peer": "peer access",
    "reset": "device reset",
    "context": "further contexts",
}
GPU_ATTACKS = {"context_event": "timing events of contexts"}
"""Calls that the CPU driver lacks."""
WITHOUT_SIM = {"ipc": 801, "peer": 217}
"""Calls that the CPU driver refuses by itself, and its code."""
HONEST = (
    "honest_node",
    "honest_stream_attribute",
    "honest_launch",
    "honest_event",
    "honest_legacy_event",
    "honest_event_node",
    "honest_external_event",
    "honest_untimed_event",
    "honest_instantiate",
    "honest_graph_launch",
    "honest_stream",
    "stream_with_priority",
)
HONEST_BEFORE_TIMING = (
    "profiler",
    "heap_limit",
    "reset_l2",
    "stream_priority",
    "launch_priority",
    "graph_upload",
    "instantiate_upload",
    "context",
)
HIP_ATTACKS = {
    "callback": "host callbacks",
    "host_node": "host callbacks",
    "profiler": "profiler",
    "reset": "device reset",
    "context": "further contexts",
    "event_elsewhere": "timing events on other streams",
}


def decisions(observed: Observed) -> list[tuple[str, str]]:
    return [(line["action"], line["rule"]) for line in observed.of_kind("decision")]


@pytest.mark.parametrize("attack", ATTACKS)
def test_attack_works_without_policy_and_has_no_effect_under_grading(
    observe: Observe, program: Program, attack: str
) -> None:
    calls = program("policy_calls")
    free = observe([calls, attack])
    assert free.status == 0, free.stderr
    code = int(free.stdout.split()[0])
    assert code == WITHOUT_SIM.get(attack, 0), free.stderr
    observed = observe([calls, attack], "--policy", "grading")
    assert (observed.status, observed.stdout) == (0, "800 0\n"), observed.stderr
    assert decisions(observed) == [("deny", ATTACKS[attack])]
    (line,) = observed.of_kind("decision")
    assert line["phase"] == "timing" and line["result"] == 800
    assert line["origin"].endswith("policy_calls")
    assert observed.lines[-1]["denied"] == 1
    assert "calls that the policy denied: 1\n" in observed.stderr


@pytest.mark.parametrize("call", HONEST)
def test_honest_call_passes_while_timed(observe: Observe, program: Program, call: str) -> None:
    observed = observe([program("policy_calls"), call], "--policy", "grading")
    assert observed.status == 0, observed.stderr
    assert observed.stdout.split()[0] == "0"
    assert all(action == "log" for action, _ in decisions(observed))


@pytest.mark.parametrize("call", HONEST_BEFORE_TIMING)
def test_call_that_only_timing_forbids_passes_in_setup(observe: Observe, program: Program, call: str) -> None:
    observed = observe([program("policy_calls"), call, "setup"], "--policy", "grading")
    assert observed.status == 0, observed.stderr
    assert observed.stdout.split()[0] == "0"
    assert decisions(observed) == []


@pytest.mark.parametrize("call", ["ipc", "export_table", "launch_host_func", "reset"])
def test_observe_policy_logs_and_denies_nothing(observe: Observe, program: Program, call: str) -> None:
    calls = program("policy_calls")
    free, observed = observe([calls, call]), observe([calls, call], "--policy", "observe")
    assert observed.stdout == free.stdout
    assert {action for action, _ in decisions(observed)} == {"log"}


def test_strict_policy_denies_export_tables_and_priorities(observe: Observe, program: Program) -> None:
    for call in ("export_table", "stream_with_priority"):
        observed = observe([program("policy_calls"), call], "--policy", "strict")
        assert observed.stdout == "800 0\n", observed.stderr


@pytest.mark.parametrize("api", ["hip"], indirect=True)
@pytest.mark.parametrize("attack", HIP_ATTACKS)
def test_hip_attack_works_without_policy_and_has_no_effect_under_grading(
    observe: Observe, api: Api, attack: str
) -> None:
    command = [sys.executable, PROGRAMS / "policy_hip.py", attack]
    free = observe(command)
    assert free.stdout.split()[0] == "0", free.stderr
    observed = observe(command, "--policy", "grading")
    assert (observed.status, observed.stdout) == (0, "801 0\n"), observed.stderr
    (line,) = observed.of_kind("decision")
    assert line["rule"] == HIP_ATTACKS[attack] and line["call"].startswith(api.name)


@pytest.mark.parametrize("api", ["hip"], indirect=True)
def test_hip_timing_events_on_one_stream_pass(observe: Observe, api: Api) -> None:
    command = [sys.executable, PROGRAMS / "policy_hip.py", "honest_event"]
    observed = observe(command, "--policy", "grading")
    assert observed.stdout == "0 0\n", (api, observed.stderr)


def rules_file(folder: Path, *rules: str, head: str = "") -> str:
    path = folder / "policy.toml"
    text = "\n".join(f'[[rule]]\nname = "rule {number}"\n{rule}' for number, rule in enumerate(rules))
    path.write_text(f'format = "neutrino-bench/policy/1"\nname = "test"\n{head}\n{text}\n')
    return str(path)


def returned(observed: Observed) -> list[str]:
    assert observed.status == 0, observed.stderr
    return observed.stdout.splitlines()


@both_apis
def test_allocation_is_denied_by_size(observe: Observe, program: Program, api: Api, tmp_path: Path) -> None:
    policy = rules_file(
        tmp_path,
        'action = "deny"\ncode = "out-of-memory"\ncall = ["cuMemAlloc", "hipMalloc"]\n'
        "where = { size = { min = 1000 } }",
    )
    observed = observe([program("policy_rules"), "allocate:999", "allocate:1000"], "--policy", policy)
    assert returned(observed) == ["allocate:999 0", "allocate:1000 2"]
    (line,) = observed.of_kind("decision")
    assert 1000 in line["arguments"].values() and line["call"].startswith(api.call("cuMemAlloc"))


@both_apis
def test_kernels_are_allowed_by_name(observe: Observe, program: Program, api: Api, tmp_path: Path) -> None:
    policy = rules_file(
        tmp_path,
        'action = "deny"\ncall = ["cuLaunchKernel", "hipModuleLaunchKernel"]\nunless = { kernel = ["noth*"] }',
    )
    steps = ("load", "launch:nothing", "launch:something", "launch:nothing")
    observed = observe([program("policy_rules"), *steps], "--policy", policy)
    code = {"cuda": 800, "hip": 801}[api.name]
    assert returned(observed)[1:] == ["launch:nothing 0", f"launch:something {code}", "launch:nothing 0"]
    (line,) = observed.of_kind("decision")
    assert line["kernel"] == "something"
    assert observed.launches == observed.driver_launches
    assert sum(observed.launches.values()) == 2


@both_apis
def test_kernels_of_graphs_are_decided_at_their_launch(
    observe: Observe, program: Program, api: Api, tmp_path: Path
) -> None:
    """Also after a change of a node; the kernels of a child graph that was replaced are not known."""
    policy = rules_file(tmp_path, 'action = "deny"\ncall = ["launches"]\nunless = { kernel = ["noth*"] }')
    allowed = ("load", "launch:nothing", "graph:nothing", "swap:nothing")
    denied = ("launch:something", "graph:something", "swap:something", "child:something")
    code = {"cuda": 800, "hip": 801}[api.name]
    free = observe([program("policy_rules"), *allowed, *denied])
    assert returned(free) == [f"{step} 0" for step in (*allowed, *denied)]
    observed = observe([program("policy_rules"), *allowed, *denied], "--policy", policy)
    assert returned(observed) == [*(f"{step} 0" for step in allowed), *(f"{step} {code}" for step in denied)]
    assert [line["kernel"] for line in observed.of_kind("decision")] == [
        "something",
        "something",
        "something",
        None,
    ]
    assert {name for name, *_ in observed.driver_launches} == {"nothing"}


@pytest.mark.quick
def test_images_are_allowed_by_hash_in_memory_and_in_files(
    observe: Observe, program: Program, tmp_path: Path
) -> None:
    """The hash is the one that the audit log shows."""
    for name, text in (("a.ptx", PTX), ("b.ptx", PTX + "// other\n")):
        (tmp_path / name).write_text(text)
    program_path = program("policy_rules")
    steps = ("load", f"loadfile:{tmp_path}/a.ptx", f"loadfile:{tmp_path}/b.ptx")
    hashes = [line["sha256"] for line in observe([program_path, *steps]).of_kind("image")]
    assert hashes[1] == hashlib.sha256(PTX.encode()).hexdigest()
    calls = '"cuModuleLoad", "cuModuleLoadData"'
    policy = rules_file(
        tmp_path, f'action = "deny"\ncall = [{calls}]\nunless = {{ image = ["{hashes[0]}", "{hashes[1]}"] }}'
    )
    observed = observe([program_path, *steps], "--policy", policy)
    assert [line.split()[1] for line in returned(observed)] == ["0", "0", "800"]
    (line,) = observed.of_kind("decision")
    assert line["image"] == hashes[2]


@pytest.mark.quick
def test_first_call_of_process_is_decided_even_if_it_is_only_passed_through(
    observe: Observe, program: Program, tmp_path: Path
) -> None:
    policy = rules_file(tmp_path, 'action = "deny"\ncode = 999\ncall = ["cuProfilerStart"]')
    observed = observe([program("policy_rules"), "first", "profiler"], "--policy", policy)
    assert returned(observed) == ["profiler 999"]
    assert decisions(observed) == [("deny", "rule 0")]


@pytest.mark.quick
def test_forked_child_obeys_the_policy(observe: Observe, program: Program, tmp_path: Path) -> None:
    policy = rules_file(tmp_path, 'action = "deny"\ncall = ["cuProfilerStart"]')
    observed = observe([program("policy_rules"), "profiler", "fork"], "--policy", policy)
    assert returned(observed) == ["profiler 800", "fork 800"]
    assert len({line["process"] for line in observed.of_kind("decision")}) == 2


def test_rule_once_per_process_holds_once(observe: Observe, program: Program, tmp_path: Path) -> None:
    policy = rules_file(
        tmp_path,
        'action = "log"\nonce = "process"\ncall = ["cuMemAlloc"]',
        'action = "deny"\ncall = ["cuMemAlloc"]',
    )
    observed = observe([program("policy_rules"), "allocate:1", "context", "allocate:2"], "--policy", policy)
    assert returned(observed) == ["allocate:1 0", "context 0", "allocate:2 800"]


def test_rule_once_per_context_holds_in_each(observe: Observe, program: Program, tmp_path: Path) -> None:
    policy = rules_file(
        tmp_path,
        'action = "allow"\nonce = "context"\ncall = ["cuMemAlloc"]',
        'action = "deny"\ncall = ["cuMemAlloc"]',
    )
    steps = ("allocate:1", "allocate:2", "context", "allocate:3", "allocate:4")
    observed = observe([program("policy_rules"), *steps], "--policy", policy)
    assert [line.split()[1] for line in returned(observed)] == ["0", "800", "0", "0", "800"]


@both_apis
def test_phase_of_timing_lies_between_two_timing_events(
    observe: Observe, program: Program, api: Api, tmp_path: Path
) -> None:
    policy = rules_file(
        tmp_path,
        'action = "deny"\nphase = ["timing"]\ncall = ["cuMemAlloc", "hipMalloc"]',
        head="windows = true",
    )
    steps = ("allocate:1", "load", "timing", "allocate:2", "launch:nothing", "timing", "allocate:3")
    observed = observe([program("policy_rules"), *steps], "--policy", policy)
    code = {"cuda": "800", "hip": "801"}[api.name]
    assert [line.split()[1] for line in returned(observed)] == ["0", "0", "0", code, "0", "0", "0"]
    marks = [(line["phase"], line["source"]) for line in observed.of_kind("phase")]
    assert marks == [("timing", "events"), ("before", "events")]


def test_rule_for_a_library_spares_other_callers(observe: Observe, program: Program, tmp_path: Path) -> None:
    calls = program("policy_rules")
    for pattern, code in ((f"*/{calls.name}", "800"), ("*/libother.so", "0")):
        policy = rules_file(
            tmp_path, f'action = "deny"\ncall = ["cuProfiler*"]\nwhere = {{ library = "{pattern}" }}'
        )
        assert returned(observe([calls, "profiler"], "--policy", policy)) == [f"profiler {code}"]


@pytest.mark.quick
def test_policy_with_unknown_call_is_refused_with_its_line(observe: Observe, tmp_path: Path) -> None:
    policy = rules_file(tmp_path, 'action = "deny"\ncall = ["cuMemAlok"]')
    observed = observe(["true"], "--policy", policy)
    assert observed.status == 2 and observed.lines == []
    assert f"{policy}:7: rule 'rule 0': the driver has no call cuMemAlok" in observed.stderr


def test_word_that_is_no_call_is_refused(observe: Observe, tmp_path: Path) -> None:
    policy = rules_file(tmp_path, 'action = "deny"\ncall = ["LaunchKernel"]')
    observed = observe(["true"], "--policy", policy)
    assert observed.status == 2
    assert (
        f"{policy}:7: rule 'rule 0': driver calls begin with cu or hip, unlike LaunchKernel"
        in observed.stderr
    )


def test_policy_of_unknown_name_is_refused(observe: Observe) -> None:
    observed = observe(["true"], "--policy", "grade")
    assert observed.status == 2
    assert (
        "no policy file grade, and no policy has this name; give a path, or one of grading" in observed.stderr
    )


def test_record_obeys_the_policy(program: Program, record: Record, tmp_path: Path) -> None:
    policy = rules_file(tmp_path, 'action = "deny"\ncall = ["cuProfilerStart"]')
    result = record([program("policy_rules"), "profiler"], "--policy", policy)
    assert result.stdout == "profiler 800\n"


def test_policy_of_a_program_without_driver_calls_costs_nothing(observe: Observe) -> None:
    assert observe(["true"], "--policy", "strict").status == 0


def test_process_with_an_invalid_table_gets_no_call_through(
    program: Program, observe: Observe, tmp_path: Path
) -> None:
    """A process that overwrites the table locks out those that attach after it: it cannot free them of the rules."""
    policy = rules_file(tmp_path, 'action = "deny"\ncall = ["cuProfilerStart"]')
    breaker = """
import mmap, os, struct, subprocess, sys
descriptor = int(os.environ["NEUTRINO_RING"].split(":")[0])
with mmap.mmap(descriptor, 4096) as header:
    at, size = struct.unpack_from("<QQ", header, 96)
assert size
with mmap.mmap(descriptor, 4096, offset=at) as table:
    table[0] ^= 1
sys.exit(subprocess.run(sys.argv[1:], pass_fds=[descriptor]).returncode)
"""
    observed = observe(["python3", "-c", breaker, program("policy_rules"), "profiler"], "--policy", policy)
    assert observed.status == 1, observed.stdout
    assert "the policy in the session memory is invalid, so every driver call is refused" in observed.stderr


def test_named_policies_compile_for_both_drivers(native: Path) -> None:
    from benchguard.policy import NAMES, compile_policy, load_policy
    from benchguard.shim.interposer import interposer_for

    assert NAMES == ("grading", "observe", "quarantine", "strict")
    drivers = ["sim", *(["hip-sim"] if (native / "hip" / "libamdhip64.so.5").exists() else [])]
    for driver in drivers:
        surface = interposer_for(driver)[0].surface
        for name in NAMES:
            assert compile_policy(load_policy(name), surface).name == name


def test_program_under_no_supervisor_is_free(program: Program, native: Path) -> None:
    result = subprocess.run(
        [program("policy_rules"), "profiler"],
        capture_output=True,
        text=True,
        check=True,
        env={"LD_LIBRARY_PATH": str(native / "sim")},
    )
    assert result.stdout == "profiler 0\n"
