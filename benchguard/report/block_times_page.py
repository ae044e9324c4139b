"""A page with the blocks of a launch: a lane for each place of an SM, occupancy over time, the tail."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from ..probe.engines.block_times.read import BlockTime, Schedule
from .page import PALETTE, Badge, Chart, Column, Page, Section, first_rows, number, render, text

LANES_SHOWN = 64
BOXES_SHOWN = 20_000


def block_times_page(kernel: str, schedule: Schedule) -> str:
    """Render a schedule.

    Args:
        kernel: The name of the kernel.
        schedule: The blocks of one launch.

    Returns:
        The page.

    Raises:
        UsageError: A package of the extra `report` is missing.
    """
    warnings = []
    if schedule.missing:
        warnings.append(
            f"{schedule.missing:,} blocks have no time: the launch did not end, or left them out."
        )
    if schedule.impossible:
        warnings.append(f"{schedule.impossible:,} blocks have impossible times and are left out.")
    sections = [_facts(schedule)]
    if schedule.blocks:
        sections += [_schedule(schedule), _occupancy(schedule), _blocks(schedule)]
    badge = Badge(f"{len(schedule.blocks):,} blocks on {len(schedule.sms):,} SMs")
    return render(Page(f"Blocks of {kernel}", [badge], warnings, sections))


def _facts(schedule: Schedule) -> Section:
    duration = schedule.end - schedule.begin
    most = max((resident for _, resident in schedule.occupancy()), default=0)
    share = schedule.tail / duration if duration else 0.0
    return Section(
        "launch",
        "Launch",
        notes=[
            "The tail begins when the first SM has run its last block. SMs that ran no block are not known here.",
            "The probe adds instructions to the kernel: compare blocks with each other, not with unprobed runs.",
        ],
        facts=[
            ("first begin to last end", f"{duration:,} ns"),
            ("resident blocks, at most", f"{most:,}"),
            ("tail", f"{schedule.tail:,} ns, {share:.1%}"),
            ("SM time without a block", f"{schedule.idle_share:.1%}"),
        ],
    )


def place_blocks(blocks: Sequence[BlockTime]) -> list[tuple[int, int]]:
    """Give each block the lowest place of its SM that is free.

    Args:
        blocks: By begin.

    Returns:
        SM and place of each block, in the order given.
    """
    free: dict[int, list[int]] = {}
    busy: dict[int, list[tuple[int, int]]] = {}
    used: dict[int, int] = {}
    places = []
    for one in blocks:
        ends, open_places = busy.setdefault(one.sm, []), free.setdefault(one.sm, [])
        while ends and ends[0][0] <= one.begin:
            heapq.heappush(open_places, heapq.heappop(ends)[1])
        if open_places:
            place = heapq.heappop(open_places)
        else:
            place = used.get(one.sm, 0)
            used[one.sm] = place + 1
        heapq.heappush(ends, (one.end, place))
        places.append((one.sm, place))
    return places


def _schedule(schedule: Schedule) -> Section:
    shown = schedule.blocks[:BOXES_SHOWN]
    places = place_blocks(shown)
    lanes = sorted(set(places))
    row = {lane: at for at, lane in enumerate(lanes[:LANES_SHOWN])}
    drawn = [(one, row[place]) for one, place in zip(shown, places, strict=True) if place in row]
    turns, passed = [], [0] * LANES_SHOWN
    for _, lane in drawn:  # neighbours of a lane get two colors
        turns.append(passed[lane] % 2)
        passed[lane] += 1
    notes = []
    if len(lanes) > LANES_SHOWN or len(shown) < len(schedule.blocks):
        notes.append(
            f"{len(drawn):,} of {len(schedule.blocks):,} blocks are drawn: the first {LANES_SHOWN} of "
            f"{len(lanes):,} lanes."
        )
    data = {
        "kind": "timeline",
        "lanes": [f"SM {sm}, place {place}" for sm, place in lanes[:LANES_SHOWN]],
        "groups": [
            {"name": f"{name} block of a lane", "color": PALETTE[at]}
            for at, name in enumerate(("1st, 3rd, ...", "2nd, 4th, ..."))
        ],
        "names": [f"block {one.block:,}" for one, _ in drawn],
        "range": [0, max(schedule.end - schedule.begin, 1)],
        "boxes": {
            "begin": [one.begin - schedule.begin for one, _ in drawn],
            "end": [one.end - schedule.begin for one, _ in drawn],
            "lane": [lane for _, lane in drawn],
            "group": turns,
            "count": [1] * len(drawn),
            "failed": [0] * len(drawn),
            "names": [[[at, 1]] for at in range(len(drawn))],
        },
    }
    label = "A lane for each place of an SM, a box for each block from its begin to its end."
    return Section("schedule", "Schedule", notes=notes, charts=[Chart("schedule", label, data)])


def _occupancy(schedule: Schedule) -> Section:
    steps = schedule.occupancy()
    if len(steps) > BOXES_SHOWN:
        steps = steps[:: len(steps) // BOXES_SHOWN + 1]
    most = max(resident for _, resident in steps)
    ticks = sorted({0, most // 4, most // 2, 3 * most // 4, most})
    data = {
        "kind": "lines",
        "unit": "blocks",
        "curves": [
            {
                "name": "resident blocks",
                "color": PALETTE[0],
                "time": [time - schedule.begin for time, _ in steps],
                "bytes": [resident for _, resident in steps],
            }
        ],
        "ticks": ticks,
        "range": [0, max(schedule.end - schedule.begin, 1)],
    }
    label = "The number of resident blocks over time."
    return Section("occupancy", "Occupancy", charts=[Chart("occupancy", label, data)])


def _blocks(schedule: Schedule) -> Section:
    longest = sorted(schedule.blocks, key=lambda one: one.begin - one.end)
    rows = [
        [
            number(one.block),
            number(one.sm),
            number(one.begin - schedule.begin),
            number(one.end - one.begin, f"{one.end - one.begin:,}"),
            text(f"{one.begin}"),
        ]
        for one in longest
    ]
    columns = [
        Column("block", True),
        Column("SM", True),
        Column("begin, ns", True),
        Column("duration, ns", True),
        Column("%globaltimer"),
    ]
    return Section("blocks", "Blocks", tables=[first_rows("Blocks", columns, rows, "longest first")])
