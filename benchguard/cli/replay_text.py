"""The result of a replay as tables and lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from ..audit.demangle import readable_names
from ..quarantine.contract import missing_features
from ..replay.caches import data_text
from ..replay.clocks import Clocks, Spread
from ..replay.evidence import Evidence
from ..replay.result import ReplayResult
from .table import Column, console_for, print_lines, table

ROWS_MAX = 20


def render(result: ReplayResult, output: TextIO) -> None:
    """Print the tables and the closing lines."""
    console, terminal = console_for(output), output.isatty()
    if result.time_us is not None:
        title = f"time of region {result.region or '?'}, us"
        console.print(table(title, _TIME_COLUMNS, [_time_row(result)], console.width, terminal))
    if result.kernels:
        console.print(table("kernels", _KERNEL_COLUMNS, _kernel_rows(result), console.width, terminal))
    if result.differences:
        title = "memory that differs from the capture"
        rows = _difference_rows(result)
        console.print(table(title, _DIFFERENCE_COLUMNS, rows, console.width, terminal))
    print_lines(console, closing_lines(result))


def closing_lines(result: ReplayResult) -> Iterator[str]:
    """The lines below the tables."""
    settings = result.settings
    if result.device is not None:
        device = result.device
        yield (
            f"device {device.name}, compute {device.compute_major}.{device.compute_minor}; "
            f"driver {settings.driver}, {settings.api.upper()} {device.driver_version}"
        )
    primed = "primed" if settings.prime else "not primed"
    sets = f"; {settings.input_sets} input sets, seed {settings.seed}" if settings.input_sets else ""
    cold, icache = settings.cold, settings.icache
    if result.prepared is not None:
        cold, icache = data_text(cold, result.prepared), result.icache
    yield f"cold {cold}, icache {icache}, {primed}, until {settings.until}{sets}"
    if result.overhead is not None:
        overhead = result.overhead
        yield (
            f"events: tick {overhead.tick_us:.3g} us, empty pair {overhead.empty_pair_us:.3g} us, empty kernel "
            f"{overhead.empty_kernel_us:.3g} us; not subtracted from the times"
        )
    if result.warm_us is not None:
        yield f"with warm caches: {us(result.warm_us)} us, median of {len(result.warm)} samples"
    if result.evidence:
        yield evidence_text(result.evidence)
    if result.time_us is not None:
        yield clock_text(result.clocks)
    if result.verified is not None:
        count = result.difference_count
        exact = "verified: memory equals the captured memory, byte for byte"
        yield (
            exact
            if result.verified
            else f"verified: memory differs from the captured memory in {count} places"
        )
    if result.prepared is not None:
        prepared = result.prepared
        yield (
            f"prepared in {prepared.total_ms:.0f} ms (context {prepared.context_ms:.0f}, memory "
            f"{prepared.memory_ms:.0f}, code {prepared.modules_ms:.0f}); {prepared.restored_bytes} bytes "
            f"restored before each sample; {result.warm_up_samples} warm-up samples"
        )
    if result.confinement:
        missing = missing_features(result.confinement, network=False)
        yield f"sandbox: partial ({missing})" if missing else "sandbox: full"
    yield from (f"note: {note}" for note in result.notes)
    yield f"capture {result.path}, SHA-256 {result.capture}; {result.verdict} in {result.wall_s:.2f} s"


def evidence_text(evidence: Sequence[Evidence]) -> str:
    """All checks by their states, and why a check did not hold."""
    held = [each.check for each in evidence if each.state == "held"]
    others = [f"{each.state}: {each.check} ({each.text})" for each in evidence if each.state != "held"]
    return "; ".join([f"checks held: {', '.join(held) or 'none'}", *others])


def clock_text(clocks: Clocks) -> str:
    if clocks.unavailable:
        return f"clocks not available: {clocks.unavailable}"
    parts = [
        f"SM {_spread(clocks.sm_mhz)} MHz",
        f"memory {_spread(clocks.memory_mhz)} MHz",
        f"{_spread(clocks.celsius)} C",
        f"{_spread(clocks.watts)} W",
    ]
    throttle = ", ".join(f"{name} ({count} readings)" for name, count in (clocks.throttle or {}).items())
    return f"clocks: {', '.join(parts)}; {f'throttled by {throttle}' if throttle else 'not throttled'}"


def _spread(spread: Spread | None) -> str:
    if spread is None:
        return "?"
    if spread.min == spread.max:
        return f"{spread.median:.0f}"
    return f"{spread.median:.0f} ({spread.min:.0f} to {spread.max:.0f})"


def us(value: float) -> str:
    """About five digits: a tick of an event is 0.03 us."""
    return f"{value:.3f}" if value < 100 else f"{value:.2f}" if value < 10_000 else f"{value:.1f}"


_TIME_COLUMNS = tuple(
    Column(heading, right=True)
    for heading in ("median", "95 % interval", "", "min", "p5", "p95", "trimmed mean", "MAD", "n")
)


def _time_row(result: ReplayResult) -> list[str]:
    time = result.time_us
    assert time is not None
    interval, width = "too few", ""
    if time.ci95 is not None:
        low, high = time.ci95
        interval = f"{us(low)} to {us(high)}"
        width = f"±{(high - low) / 2 / time.median:.2%}" if time.median > 0 else ""
    rest = (time.min, time.p5, time.p95, time.trimmed_mean, time.mad)
    return [us(time.median), interval, width, *map(us, rest), str(time.n)]


_KERNEL_COLUMNS = (
    Column("kernel", rest=True),
    Column("launches", right=True),
    Column("grid"),
    Column("block"),
    Column("registers", right=True),
    Column("shared", right=True),
    Column("image"),
)


def _kernel_rows(result: ReplayResult) -> list[list[str]]:
    rows, kernels = [], result.kernels[:ROWS_MAX]
    names = readable_names(use.name for use in kernels)
    for use in kernels:
        shape = ["x".join(map(str, use.grid)), "x".join(map(str, use.block))]
        sizes = [str(use.registers), str(use.shared_bytes)]
        rows.append([names[use.name], str(use.launches), *shape, *sizes, use.image_sha256[:12]])
    more = len(result.kernels) - ROWS_MAX
    if more > 0:
        rows.append([f"... {more} more kernels", "", "", "", "", "", ""])
    return rows


_DIFFERENCE_COLUMNS = (
    Column("memory", rest=True),
    Column("address"),
    Column("bytes", right=True),
    Column("differ", right=True),
    Column("first at", right=True),
    Column("captured"),
    Column("replayed"),
    Column("repeatable"),
)


def _difference_rows(result: ReplayResult) -> list[list[str]]:
    rows = []
    for each in result.differences[:ROWS_MAX]:
        sizes = [str(each.bytes), str(each.differing), f"{each.first_offset:#x}"]
        same = "no" if each.again else "yes"
        cells = [each.expected[:16], each.actual[:16]]
        rows.append([each.memory, f"{each.address:#x}", *sizes, *cells, same])
    more = result.difference_count - len(rows)
    if more > 0:
        rows.append([f"... {more} more", "", "", "", "", "", "", ""])
    return rows
