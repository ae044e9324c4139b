"""Cache options, and the description of caches in a result."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from benchguard.errors import UsageError
from benchguard.replay.caches import Caches, caches_of, data_text, icache_text
from benchguard.replay.options import ReplayOptions
from tests.unit.replay.fake_engine import PREPARED


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({}, Caches("flush", 0, False, False)),
        ({"cold": "remap"}, Caches("remap", 0, False, False)),
        ({"cold": "rotate"}, Caches("rotate", 0, False, False)),
        ({"cold": "warm", "strict": True}, Caches("flush", 0, False, False, warm=True)),
        ({"rotating_count": 3}, Caches("rotate", 3, False, False)),
        ({"rotating_count": 1}, Caches("flush", 0, False, False)),
        ({"rotating_count": 1, "cold": "none"}, Caches("none", 0, False, False)),
        ({"rotating_count": 1, "cold": "rotate"}, Caches("rotate", 1, False, False)),
        ({"icache": "cold"}, Caches("flush", 0, True, False)),
        ({"flush_cache": True}, Caches("flush", 0, True, False)),
        ({"flush_cache": True, "rotating_count": 5}, Caches("rotate", 5, True, False)),
    ],
)
def test_cache_options_on_cuda_select_engine_options(asked: dict[str, Any], told: Caches) -> None:
    assert caches_of("cuda", ReplayOptions(**asked)) == told


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"icache": "cold"}, Caches("flush", 0, True, False)),
        ({"flush_cache": True}, Caches("flush", 0, False, True)),
        ({"flush_cache": True, "icache": "cold"}, Caches("flush", 0, True, True)),
        ({"flush_cache": True, "rotating_count": 2}, Caches("rotate", 2, False, True)),
    ],
)
def test_cache_options_on_hip_select_engine_options(asked: dict[str, Any], told: Caches) -> None:
    assert caches_of("hip", ReplayOptions(**asked)) == told


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"cold": "hot"}, "cold is 'hot'; give flush, memset, none, remap, rotate, warm"),
        ({"icache": "hot"}, "icache is 'hot'; give warm or cold"),
        (
            {"rotating_count": 0},
            "the rotating count is 0; give 1 for no copies, or up to 1048576",
        ),
        (
            {"rotating_count": (1 << 20) + 1},
            "the rotating count is 1048577; give 1 for no copies, or up to",
        ),
        (
            {"rotating_count": 3, "cold": "flush"},
            "a rotating count has no effect with cold 'flush'; give rotate, or leave",
        ),
        (
            {"rotating_count": 3, "cold": "warm"},
            "a rotating count has no effect with cold 'warm'",
        ),
        (
            {"rotating_count": 3, "strict": True},
            "cold 'rotate' keeps copies of the state that kernels can reach",
        ),
        (
            {"cold": "remap", "strict": True},
            "cold 'remap' keeps copies of the state that kernels can reach",
        ),
    ],
)
def test_contradicting_cache_options_are_refused(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        caches_of("cuda", ReplayOptions(**asked))
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize(
    ("done", "said"),
    [
        ({}, "warm"),
        ({"code_copies": 8}, "cold (8 copies of the code in turn)"),
        (
            {"flush_blocks": 6240, "flushed": 1},
            "flushed (s_icache_inv, 6240 blocks of 64 threads before each sample)",
        ),
        ({"flush_blocks": 6240}, "not flushed (no s_icache_inv on this device)"),
        (
            {"flush_blocks": 60, "code_copies": 8},
            "not flushed (no s_icache_inv on this device); cold (8 copies of the code in turn)",
        ),
    ],
)
def test_instruction_cache_text_states_what_was_done(done: dict[str, int], said: str) -> None:
    assert icache_text(msgspec.structs.replace(PREPARED, **done)) == said


def test_rotation_text_states_the_number_of_copies() -> None:
    assert data_text("rotate", PREPARED) == "rotate (3 in turn)"
    assert data_text("flush", PREPARED) == "flush"
