"""Medians, bit by bit those of numpy.median, whose first call imports numpy.ma: 0.06 s of each grade and each judge."""

from __future__ import annotations

import numpy as np

from .formats import Array


def median(values: Array) -> float:
    """The median of at least one value. NaN if one is NaN."""
    return float(medians(values))


def medians(rows: Array) -> Array:
    """The median of each row, which is along the last axis and has at least one value."""
    size = rows.shape[-1]
    middle = size // 2
    below = middle if size % 2 else middle - 1
    ordered = np.partition(rows, (below, middle, size - 1), axis=-1)
    found = ordered[..., below : middle + 1].mean(axis=-1)
    return np.asarray(np.where(np.isnan(ordered[..., -1]), np.nan, found))
