"""The reader's numbers are those of hook/core/wire/record.h."""

from __future__ import annotations

import subprocess
from pathlib import Path

from benchguard.audit import layout

HERE = Path(__file__).parent
HOOK = HERE.parents[2] / "hook"


def numbers(folder: Path) -> list[tuple[str, int]]:
    program = folder / "print_layout"
    subprocess.run(["cc", f"-I{HOOK}", str(HERE / "print_layout.c"), "-o", str(program)], check=True)
    out = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return [(name, int(value)) for name, value in (line.split() for line in out.splitlines())]


def test_layout_constants_match_header(tmp_path: Path) -> None:
    result = numbers(tmp_path)
    header = layout.RECORD.size
    expected = {
        "session.image_next": layout.SESSION_COUNTERS_AT,
        "session.nonce": layout.SESSION.size - 8 - 16,
        "session.image_bytes": layout.SESSION.size - 8 - 16 - 8,
        "session.policy_offset": layout.SESSION_POLICY_AT,
        "session": layout.SESSION_OMITTED_AT + layout.SESSION_OMITTED.size,
        "session.omitted_offset": layout.SESSION_OMITTED_AT,
        "session.probe_offset": layout.SESSION_PROBE_AT,
        "probe_area.answer_next": layout.PROBE_COUNTERS_AT,
        "probe_area": layout.PROBE_COUNTERS_AT + layout.PROBE_COUNTERS.size,
        "probe_answer.map_count": layout.PROBE_ANSWER_AT,
        "probe_answer": layout.PROBE_ANSWER_AT + layout.PROBE_ANSWER.size,
        "probe_map": layout.PROBE_MAP.size,
        "probe": header + layout.PROBE.size,
        "ring": layout.RING_BYTES,
        "ring.tail": layout.RING_TAIL_AT,
        "ring.state": layout.RING_IDENTITY_AT,
        "ring.in_flight_since": layout.RING_PRODUCER.size - 24,
        "ring.ahead": layout.RING_PRODUCER.size - 16,
        "ring.omitted": layout.RING_PRODUCER.size - 8,
        "ring.attached_ns": layout.RING_IDENTITY_AT + layout.RING_IDENTITY.size - 8,
        "record": header,
        "record.count": header - 4,
        "repeated": header + layout.REPEATED.size,
        "process": header + layout.PROCESS.size,
        "image": header + layout.IMAGE.size,
        "image.stored_at": header + 24,
        "kernel": header + layout.KERNEL.size,
        "kernel.name_bytes": header + layout.KERNEL.size - 4,
        "attribute": layout.ATTRIBUTE.size,
        "attribute.value": 8,
        "launch": header + layout.LAUNCH.size,
        "launch.kept_bytes": header + layout.LAUNCH.size - 4,
        "unmapped": header + layout.UNMAPPED.size,
        "graph": header + layout.GRAPH.size,
        "graph_node": header + layout.GRAPH_NODE.size,
        "graph_launch": header + layout.GRAPH_LAUNCH.size,
        "launch_time": header + layout.LAUNCH_TIME.size,
        "phase_mark": header + layout.PHASE_MARK.size,
        "decision": header + layout.DECISION.size,
        "decision.image": header + layout.DECISION.size - 32,
        **{state.name: state.value for state in layout.RingState},
    }
    for name, value in result:
        if name == "kind":
            continue
        assert value == (expected[name] if name in expected else getattr(layout, name)), name
    assert [value for name, value in result if name == "kind"] == [kind.value for kind in layout.RecordKind]
