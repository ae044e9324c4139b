"""Boxes of a timeline, at most a given number: neighbours of a lane are merged while there are more."""

from __future__ import annotations

from dataclasses import dataclass, field

LANES_MAX = 64
NAMES_MAX = 8
TIME_MAX = 1 << 53
"""JavaScript's numbers are exact below. In nanoseconds this is 104 days."""


@dataclass(frozen=True)
class Lane:
    """A row of a timeline. `stream` is None for calls that are not launches; process 0 is the lane of the rest."""

    process: int
    thread: int
    stream: int | None


@dataclass
class Box:
    """Neighbouring events of a lane, in nanoseconds. `names` counts events by name, for at most NAMES_MAX names."""

    begin: int
    end: int
    count: int
    failed: int
    names: dict[int, int]


@dataclass
class Timeline:
    """Collects events in boxes.

    Attributes:
        limit: number of boxes that remain at the end.
        end: time of the log's end in nanoseconds, after which no event can begin; None if it is unknown.
        lanes: the boxes of each lane.
        events: number of events that the boxes hold.
        misplaced: number of events whose time is impossible. They are in no box.
        joined: lanes that are part of the lane `rest`, because there are more than LANES_MAX.
    """

    limit: int
    end: int | None = None
    lanes: dict[Lane, list[Box]] = field(default_factory=dict)
    events: int = 0
    misplaced: int = 0
    joined: set[Lane] = field(default_factory=set)
    _boxes: int = 0
    _width: int = 1

    def add(
        self, lane: Lane, rest: Lane, begin: int, duration: int, name: int, failed: bool, count: int = 1
    ) -> None:
        """Add `count` equal events to a lane, or to the lane `rest` if there are too many lanes."""
        last = TIME_MAX if self.end is None else self.end
        if not (0 <= begin <= last and 0 <= duration < TIME_MAX):
            self.misplaced += count
            return
        if lane not in self.lanes and len(self.lanes) >= LANES_MAX:
            self.joined.add(lane)
            lane = rest
        self.lanes.setdefault(lane, []).append(
            Box(begin, begin + duration, count, count * failed, {name: count})
        )
        self.events += count
        self._boxes += 1
        if self._boxes >= 2 * self.limit:
            self._merge()

    @property
    def boxes(self) -> int:
        return self._boxes

    def finish(self) -> None:
        """Merge until no more than `limit` boxes are left, each lane in the order of time."""
        for boxes in self.lanes.values():
            boxes.sort(key=lambda box: box.begin)
        if self._boxes > self.limit:
            self._merge()

    def _merge(self) -> None:
        begin = min(box.begin for boxes in self.lanes.values() for box in boxes)
        end = max(box.end for boxes in self.lanes.values() for box in boxes)
        self._width = max(self._width, (end - begin) // self.limit)
        while True:
            self.lanes = {lane: _merged(boxes, self._width) for lane, boxes in self.lanes.items()}
            self._boxes = sum(map(len, self.lanes.values()))
            if self._boxes <= max(self.limit, len(self.lanes)):
                return
            self._width *= 2


def _merged(boxes: list[Box], width: int) -> list[Box]:
    """Merge the boxes that begin in the same interval of `width` nanoseconds."""
    results: list[Box] = []
    interval = -1
    for box in sorted(boxes, key=lambda box: box.begin):
        if box.begin // width == interval:
            last = results[-1]
            last.end = max(last.end, box.end)
            last.count += box.count
            last.failed += box.failed
            for name, count in box.names.items():
                if name in last.names or len(last.names) < NAMES_MAX:
                    last.names[name] = last.names.get(name, 0) + count
        else:
            interval = box.begin // width
            results.append(box)
    return results
