"""The prose lint finds the constructions that it names, and passes plain sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.prose import findings_in, main

FORBIDDEN = {
    "a.py": [
        "# What patches timers is removed.\n",
        "# What `find` returned.\n",
        "# Of `early` launches, the time is longer.\n",
        "# What PTX declares.\n",
        '"""Nobody reads this."""\n',
        'raise UsageError("the answer is no message that a reader expects")\n',
        'text = f"{path}: whose problem it is"\n',
        "def what_it_holds() -> None: ...\n",
        "def test_a_program_is_recorded() -> None: ...\n",
    ],
    "a.c": [
        "/* Of a graph, nothing is known. */\n",
        'nb_log("there are locks of which each of which waits");\n',
    ],
    "a.md": ["As nb_enter, after an end.\n", "- The lock is nobody's.\n"],
    "a.toml": ["# One that has nothing before it.\n"],
}
ALLOWED = {
    "a.py": [
        "# The replay process never runs code that patches timers.\n",
        '"""What does the cache hold?"""\n',
        'raise UsageError("there is no adapter x; give gpumode, kernelbench or pygpubench")\n',
        "whose = 1\n",
        "def hip_allocation_results_unchanged_by_recording() -> None: ...\n",
    ],
    "a.c": ["/* Skip redundant joins. */\n", 'call("what");\n'],
    "a.md": ["The lock protects the ring.\n", "```\nWhat a program prints stays as it is.\n```\n"],
    "a.toml": ["# Role by C type.\n", 'what = "What is a value"\n'],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name in FORBIDDEN for text in FORBIDDEN[name]])
def test_forbidden_construction_is_found_on_its_line(name: str, text: str) -> None:
    result = findings_in(Path(name), "\n" + text)
    assert [finding.line for finding in result] == [2]


@pytest.mark.parametrize(("name", "text"), [(name, text) for name in ALLOWED for text in ALLOWED[name]])
def test_plain_sentence_passes(name: str, text: str) -> None:
    assert findings_in(Path(name), text) == []


def test_planted_sentence_fails_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text("The first line.\nNobody reads the second.\n")
    assert main([str(page)]) == 1
    assert f"{page}:2: Nobody reads the second." in capsys.readouterr().out
    page.write_text("The first line.\n")
    assert main([str(page)]) == 0
