"""Cooperative groups: blocks, tiles, coalesced lanes, and the whole grid."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.corpus.case import Array, Case, In, Out, blocks, random, wrapped

N = 256


def cases() -> list[Case]:
    values = random("groups").integers(0, 100, N).astype(np.int32)
    n = np.arange(N)
    ranks = np.stack([n % 64, n % 8, n % 64 // 8, np.full(N, 8), n, np.full(N, N)], 1).astype(np.int32)
    warps = values.reshape(-1, 32).astype(np.int64)
    running = warps.cumsum(1)
    total, largest = (np.repeat(result, 32) for result in (warps.sum(1), warps.max(1)))
    reduced = np.stack([total, largest, running.ravel(), (running - warps).ravel()], 1).astype(np.int32)
    return [
        Case("group_ranks", [Out(ranks)], **blocks(N)),
        Case("tile_collectives", [In(values), Out(_tiles(values))], **blocks(N)),
        Case("tile_reduce", [In(values), Out(reduced)], **blocks(N)),
        Case("coalesced", [In(values), Out(_coalesced(values))], **blocks(N)),
        Case("labeled", [In(values), Out(_labeled(values))], **blocks(N)),
        Case(
            "warp_aggregated",
            [In(values), Out(np.array([(values % 2).sum()], np.int32))],
            **blocks(N),
        ),
        _grid_barrier(values),
    ]


def _tiles(values: Array) -> Array:
    rows = []
    for tile in values.reshape(-1, 16).tolist():
        odd = sum(1 << k for k, v in enumerate(tile) if v % 2)
        votes = any(v > 90 for v in tile) + 2 * all(v > 3 for v in tile)
        for lane, value in enumerate(tile):
            same = sum(1 << k for k, v in enumerate(tile) if v % 3 == value % 3)
            up, down = tile[max(lane - 2, 0)], tile[lane + 2 if lane < 14 else lane]
            rows.append([tile[3], value if lane < 2 else up, down, tile[lane ^ 5], odd, votes, same, 16])
    return np.array(rows, np.int32)


def _warps(values: Array) -> Iterator[list[int]]:
    yield from values.reshape(-1, 32).tolist()


def _coalesced(values: Array) -> Array:
    out = []
    for warp in _warps(values):
        chosen = [v for v in warp if v % 3 == 0]
        rank = 0
        for v in warp:
            out.append(rank + 100 * len(chosen) + 10000 * chosen[0] if v % 3 == 0 else -1)
            rank += v % 3 == 0
    return np.array(out, np.int32)


def _labeled(values: Array) -> Array:
    out = []
    for warp in _warps(values):
        for lane, v in enumerate(warp):
            alike = [k for k, other in enumerate(warp) if other % 4 == v % 4]
            votes = any(warp[k] > 90 for k in alike)
            out.append(alike.index(lane) + 100 * len(alike) + 10000 * votes)
    return np.array(out, np.int32)


def _grid_barrier(values: Array) -> Case:
    n, middle = np.arange(N), values.astype(np.int64)
    for _ in range(3):
        middle = middle[(n + 37) % N] + middle[N - 1 - n]
    out = wrapped(middle, np.int32)
    return Case(
        "grid_barrier",
        [In(values), Out(out), Out(out + 1), np.int32(3)],
        cooperative=True,
        **blocks(N),
    )
