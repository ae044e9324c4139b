"""The maps that launches read without a lock."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
HOOK = HERE.parents[2] / "hook"


@pytest.mark.parametrize("sanitizer", ["thread", "address,undefined"])
def test_readers_see_only_values_of_their_handle(tmp_path: Path, sanitizer: str) -> None:
    """Three readers beside a writer that adds and removes 20,000 handles: no wrong and no lost value."""
    program = tmp_path / "race"
    sources = [str(HERE / "programs" / "handle_map_race.c"), str(HOOK / "core" / "base" / "handle_map.c")]
    flags = ["-std=gnu11", "-g", "-O1", f"-fsanitize={sanitizer}", "-fno-sanitize-recover", f"-I{HOOK}"]
    subprocess.run(["cc", *flags, *sources, "-pthread", "-o", str(program)], check=True)
    environment = {"ASAN_OPTIONS": "detect_leaks=0"}  # outgrown tables are kept for their readers, by design
    result = subprocess.run(
        [program], capture_output=True, text=True, timeout=120, check=False, env=environment
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout == "wrong 0 lost 0\n"
