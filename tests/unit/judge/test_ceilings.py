"""Rates and floors, compared with values computed by hand."""

from __future__ import annotations

import pytest

from benchguard.judge.ceilings import Rates, floor_us, rates_of
from benchguard.judge.ceilings import ceilings_of as of

H200 = "NVIDIA H200"


def test_rates_and_shares() -> None:
    rates = rates_of(100.0, 79_800_000_000, 215_000_000, H200)
    assert rates.gflops == pytest.approx(798_000)
    assert rates.gbytes_per_s == pytest.approx(2150)
    assert rates.share_of_compute == pytest.approx(1.0)
    assert rates.share_of_memory == pytest.approx(0.5)
    assert rates.impossible == ""


def test_unmeasured_device_has_rates_without_shares() -> None:
    rates = rates_of(1.0, 10**15, 10**12, "sim")
    assert rates == Rates(gflops=1e12, gbytes_per_s=1e9, is_counted=True)


def test_missing_counts_give_no_rates() -> None:
    assert rates_of(5.0, None, None, H200) == Rates()
    assert rates_of(None, 10**9, None, H200).gflops is None
    assert rates_of(0.0, 10**9, None, H200).gflops is None


def test_floor_ignores_bytes_that_caches_hide() -> None:
    ceilings = of(H200)
    assert floor_us(None, 60 << 20, ceilings) == 0.0
    assert floor_us(None, (60 << 20) + 4_300_000_000, ceilings) == pytest.approx(1000.0)
    assert floor_us(1979 * 10**9, 1, ceilings) == pytest.approx(1000.0)


@pytest.mark.parametrize(("time", "false"), [(840.0, False), (830.0, True)])
def test_time_below_floor_is_impossible(time: float, false: bool) -> None:
    rates = rates_of(time, None, (60 << 20) + 4_300_000_000, H200)
    assert bool(rates.impossible) is false
    if false:
        assert "830 us is less than the 1000 us" in rates.impossible


def test_measured_cublas_is_possible() -> None:
    """shared/design.md: bf16 4096 cubed in 166.1 us."""
    rates = rates_of(166.1, 2 * 4096**3, 3 * 2 * 4096**2, H200)
    assert rates.impossible == "" and rates.share_of_compute == pytest.approx(1.037, abs=0.001)
