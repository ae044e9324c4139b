"""Policy files: the message of each mistake has its line, and a table has what the file says.

files/expected.txt has the messages; it is refreshed by `python tests/unit/policy/test_file.py`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchguard.audit import layout
from benchguard.audit.layout import Action, PolicySubject, PolicyTest
from benchguard.errors import UsageError
from benchguard.policy import compile_policy, load_policy
from benchguard.policy.file import NAMES, Policy, parse_policy
from benchguard.shim.surface import DriverFacts, Export, HeaderFacts, Parameter, Surface

FILES = Path(__file__).parent / "files"
EXPECTED = FILES / "expected.txt"
HEAD = 'format = "neutrino-bench/policy/1"\nname = "test"\n'


def export(name: str, *words: str, kind: str = "recorded", base: str = "") -> Export:
    parameters = tuple(Parameter(*word.split("=")) for word in words)
    return Export(name, kind, "memory", parameters, base or name, True)


EXPORTS = (
    export("cuInit", "Flags=flags"),
    export("cuMemAlloc_v2", "dptr=out:device_pointer", "bytesize=bytes", base="cuMemAlloc"),
    export("cuProfilerStart", kind="pass"),
    export("cuModuleLoadData", "module=out:module", "image=pointer"),
    export("cuLaunchKernel", "f=function", "gridDimX=grid", "hStream=stream"),
    export("cuEventRecord", "hEvent=event", "hStream=stream"),
    export("cuStreamSetAttribute_v2", kind="untyped", base="cuStreamSetAttribute"),
)
SURFACE = Surface(
    "neutrino-bench/surface/1", DriverFacts("libcuda.so.1", None, 7), HeaderFacts(13000, "test"), EXPORTS
)


def messages() -> str:
    lines = []
    for path in sorted(FILES.glob("*.toml")):
        try:
            compile_policy(parse_policy(path.read_text(), path.name), SURFACE)
            lines.append(f"{path.name}: accepted")
        except UsageError as error:
            lines.append(str(error))
    return "\n".join(lines) + "\n"


def test_messages_of_invalid_files_match_golden_file() -> None:
    assert messages() == EXPECTED.read_text()


def policy(text: str) -> Policy:
    return parse_policy(HEAD + text, "test.toml")


def test_table_has_rules_entries_and_facts() -> None:
    text = """
[[rule]]
name = "sizes"
action = "deny"
code = 2
phase = ["setup", "timing"]
call = ["cuMemAlloc", "hipMalloc"]
where = { size = [{ min = 4096 }, 7] }

[[rule]]
name = "kernels"
action = "log"
once = "context"
call = ["cuLaunch*"]
unless = { kernel = ["a*", "b"] }
"""
    cordon = compile_policy(policy(text), SURFACE)
    assert (cordon.name, cordon.rules) == ("test", ("sizes", "kernels"))
    magic, flags, rules, facts, values, entries, text_bytes = layout.POLICY.unpack_from(cordon.table)
    assert (magic, flags, rules, facts, values, entries) == (layout.POLICY_MAGIC, 0, 2, 2, 4, 2)
    at = layout.POLICY.size
    assert layout.POLICY_RULE.unpack_from(cordon.table, at) == (Action.DENY, 0b01010, 0, 2)
    assert layout.POLICY_RULE.unpack_from(cordon.table, at + 16) == (Action.LOG, 0b11111, 2, 800)
    at += 2 * layout.POLICY_RULE.size
    assert layout.POLICY_FACT.unpack_from(cordon.table, at) == (
        PolicySubject.WORD, 1, PolicyTest.RANGE, 0, 0, 2,
    )  # fmt: skip
    assert layout.POLICY_FACT.unpack_from(cordon.table, at + 24) == (
        PolicySubject.KERNEL, 0, PolicyTest.GLOB, 1, 2, 2,
    )  # fmt: skip
    at += 2 * layout.POLICY_FACT.size
    pairs = [layout.POLICY_VALUE.unpack_from(cordon.table, at + 16 * index) for index in range(4)]
    assert pairs == [(4096, (1 << 64) - 1), (7, 7), (0, 2), (3, 1)]
    at += 4 * layout.POLICY_VALUE.size
    assert layout.POLICY_ENTRY.unpack_from(cordon.table, at) == (1, 0, 0, 1)
    assert layout.POLICY_ENTRY.unpack_from(cordon.table, at + 16) == (4, 1, 1, 1)
    assert cordon.table[at + 32 :] == b"a*\0b\0" and text_bytes == 5


def test_rule_with_facts_leaves_out_newer_form_and_says_so() -> None:
    rule = '[[rule]]\nname = "a"\naction = "deny"\ncall = ["cuStreamSetAttribute"]\n'
    cordon = compile_policy(policy(rule + "where = { attribute = 1 }\n"), SURFACE)
    assert cordon.uncovered == ("cuStreamSetAttribute_v2: a",)
    assert layout.POLICY.unpack_from(cordon.table)[5] == 0
    every = compile_policy(policy(rule), SURFACE)
    assert every.uncovered == () and layout.POLICY.unpack_from(every.table)[5] == 1


def test_rule_of_the_other_vendor_has_no_entries() -> None:
    cordon = compile_policy(
        policy('[[rule]]\nname = "a"\naction = "deny"\ncall = ["hipInit", "hipNone"]\n'), SURFACE
    )
    assert layout.POLICY.unpack_from(cordon.table)[5] == 0


def test_negative_number_is_compared_as_the_word_of_the_record() -> None:
    cordon = compile_policy(
        policy('[[rule]]\nname = "a"\naction = "deny"\ncall = ["cuInit"]\nwhere = { Flags = -1 }\n'), SURFACE
    )
    at = layout.POLICY.size + layout.POLICY_RULE.size + layout.POLICY_FACT.size
    assert layout.POLICY_VALUE.unpack_from(cordon.table, at) == ((1 << 64) - 1, (1 << 64) - 1)


def test_table_over_the_limit_is_refused() -> None:
    hashes = ", ".join(f'"{number:064x}"' for number in range(90_000))
    text = '[[rule]]\nname = "a"\naction = "deny"\ncall = ["cuModuleLoadData"]\n'
    with pytest.raises(UsageError, match=r"test.toml:1: the policy has \d+ KiB as a table, more than 4096"):
        compile_policy(policy(f"{text}unless = {{ image = [{hashes}] }}\n"), SURFACE)


@pytest.mark.parametrize("name", NAMES)
def test_named_policy_is_named_as_its_file(name: str) -> None:
    assert load_policy(name).name == name


def test_policy_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_bytes(b"\xff")
    for spec, reason in (("x.toml", "it is not UTF-8"), ("", "Is a directory")):
        with pytest.raises(UsageError, match=f"cannot read the policy .*: {reason}; name another file"):
            load_policy(str(tmp_path / spec))


def test_pipe_is_refused_at_once(tmp_path: Path) -> None:
    """To open it would wait for a writer."""
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(UsageError, match="is not a regular file"):
        load_policy(str(tmp_path / "pipe.toml"))


if __name__ == "__main__":
    EXPECTED.write_text(messages())
