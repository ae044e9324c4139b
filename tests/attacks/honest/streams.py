"""Halves on two streams of its own, forked from the default one by an event and joined to it."""

import kit

streams, events = [], []


def solution(x, y, n, rounds):
    if not streams:
        streams.extend(kit.new_stream() for _ in range(2))
        events.extend(kit.new_event() for _ in range(3))
    begin, *ends = events
    half = n // 2
    kit.check("cuEventRecord", begin, None)
    for number, (stream, end) in enumerate(zip(streams, ends, strict=True)):
        kit.check("cuStreamWaitEvent", stream, begin, 0)
        at = 4 * half * number
        kit.mix(x.data_ptr() + at, y.data_ptr() + at, half, rounds, stream)
        kit.check("cuEventRecord", end, stream)
        kit.check("cuStreamWaitEvent", None, end, 0)
