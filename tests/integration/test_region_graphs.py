"""Graphs in a region: their nodes and edges as they are at each launch, and what is refused."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.apis import both_apis
from tests.integration.raw_capture import NOTHING, RawCapture, read_raw_captures
from tests.integration.support import Observe

COOPERATIVE, DISABLED, NODE_PRIORITIES = 1, 2, 4
ATTRIBUTE_COOPERATIVE, ATTRIBUTE_PRIORITY = 2, 8
Record = Callable[[str], tuple[list[RawCapture], dict[str, int]]]
CHANGED = (
    "launches a graph with a changed node that the shim cannot identify "
    "(after cuGraphExecUpdate or cuGraphExecChildGraphNodeSetParams)"
)


@pytest.fixture
def record(observe: Observe, program: Callable[[str], Path], tmp_path: Path) -> Record:
    """The regions of a program, and what it printed: "name number" a line."""

    def run(name: str) -> tuple[list[RawCapture], dict[str, int]]:
        folder = tmp_path / "raw_captures"
        folder.mkdir()
        variables = [f"NEUTRINO_CAPTURE={folder}", "NEUTRINO_REGION=program"]
        observed = observe(["env", *variables, program(name)])
        assert observed.status == 0, observed.stdout + observed.stderr
        lines = [line.split() for line in observed.stdout.splitlines()]
        return read_raw_captures(folder), {name: int(number) for name, number in lines}

    return run


def nodes_of(region: RawCapture, graph: int) -> list[dict[str, Any]]:
    return [operation for operation in region.operations if operation.get("graph") == graph]


def launched(region: RawCapture) -> list[int]:
    """The graphs that are launched, in order."""
    return [operation["launched"] for operation in region.operations if operation["kind"] == "graph"]


def stored(operation: dict[str, Any]) -> int:
    """The value that a node of the store kernel writes."""
    return int(struct.unpack_from("<QI", operation["parameters"])[1])


def edges_of(region: RawCapture, graph: int) -> set[tuple[int, int]]:
    """By positions among the graph's nodes."""
    places = [i for i, operation in enumerate(region.operations) if operation.get("graph") == graph]
    edges = [edge for edge in region.edges if edge[0] in places]
    assert all(rest == (0, 0, 0) for _, _, rest in edges)
    assert len(set(edges)) == len(edges)
    return {(places.index(source), places.index(to)) for source, to, _ in edges}


def test_nodes_of_a_destroyed_graph_are_recorded(record: Record) -> None:
    """Instantiated before the region, its graph destroyed: each kind of node with its parameters and edges."""
    (region, _), values = record("region_graph_nodes")
    memory = values["memory"]
    first, set_, copy, upload, empty, last = nodes_of(region, 1)
    assert [operation["stream"] for operation in nodes_of(region, 1)] == [NOTHING] * 6
    assert (first["kind"], first["kernel"], first["grid"], first["block"], first["attributes"]) == (
        "launch", 0, (1, 1, 1), (11, 1, 1), {},
    )  # fmt: skip
    assert struct.unpack_from("<QI", first["parameters"]) == (memory, 10)
    fields = ("kind", "address", "width", "height", "value", "element_bytes")
    assert tuple(set_[field] for field in fields) == ("set", memory + 64, 5, 1, 11, 4)
    assert tuple(copy[field] for field in ("kind", "to", "source", "width")) == (
        "copy", memory + 128, memory, 12,
    )  # fmt: skip
    assert (upload["kind"], upload["to"], upload["content"]) == ("upload", memory + 256, b"\1\2\3")
    assert (empty["kind"], last["kind"], stored(last)) == ("empty", "launch", 13)
    assert edges_of(region, 1) == {(0, 1), (0, 2), (2, 3), (1, 4), (3, 4), (4, 5)}
    assert region.kernels == [("store", 0)]
    assert region.refusals == []


@both_apis
def test_graph_is_written_once_per_state(record: Record) -> None:
    """The second launch finds it as it was; at the third, the host's memory that it copies is another's."""
    (region, again), _ = record("region_graph_nodes")
    assert launched(region) == [1, 1, 2]
    assert nodes_of(region, 2)[3]["content"] == b"\1\x14\3"
    assert edges_of(region, 2) == edges_of(region, 1)
    assert launched(again) == [1]
    assert nodes_of(again, 1)[3]["content"] == b"\1\x14\3"


@both_apis
def test_child_graphs_are_flattened(record: Record) -> None:
    """Edges go from the last and to the first nodes of a contained graph; an empty one is a node without work."""
    (region,), _ = record("region_graph_children")
    nodes = nodes_of(region, 1)
    assert [stored(node) if node["kind"] == "launch" else node["kind"] for node in nodes] == [
        1, 2, 3, "empty", 4,
    ]  # fmt: skip
    assert edges_of(region, 1) == {(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)}
    assert region.refusals == []


def test_changes_of_an_executable_graph_are_recorded(record: Record) -> None:
    """Each way to change one, and a launch after it; a node that is switched off, and on again."""
    (region, _), values = record("region_graph_updates")
    memory = values["memory"]
    assert region.refusals == []
    assert launched(region) == [1, 2, 3, 4, 5, 6, 7, 8, 8, 9]
    states = []
    for graph in range(1, 10):
        kernel, set_, copy, contained = nodes_of(region, graph)
        value = set_["value"] if set_["kind"] == "set" else None
        assert kernel["block"] == (stored(kernel) % 32 + 1, 1, 1)
        states.append(
            (
                stored(kernel),
                kernel.get("flags", 0),
                value,
                copy["source"] - memory,
                stored(contained),
            )
        )
        assert edges_of(region, graph) == {(0, 1), (1, 2), (2, 3)}
    assert states == [
        (3, 0, 4, 0, 1),
        (13, 0, 4, 0, 1),
        (13, 0, 14, 0, 1),
        (13, 0, 14, 15, 1),
        (13, 0, 14, 15, 2),
        (23, 0, 14, 15, 2),
        (23, DISABLED, None, 15, 2),
        (23, 0, 14, 15, 2),
        (3, 0, 4, 0, 1),
    ]


def test_update_from_another_graph_is_refused(record: Record) -> None:
    """After an update from another graph, no one says which of its nodes is which."""
    (_, region), _ = record("region_graph_updates")
    assert region.refusals == [(0, "cuGraphLaunch", CHANGED)]
    assert region.operations == []


def test_unreplayable_nodes_are_refused(record: Record) -> None:
    """Where the graph is launched, not where it is made; a node that is switched off does nothing."""
    (region, clean), _ = record("region_graph_refused")
    assert [(before, reason) for before, call, reason in region.refusals if call == "cuGraphLaunch"] == [
        (0, "launches a graph that calls a host function; a replay runs no code of the program"),
        (
            2,
            "copies 8 bytes of device memory to the host in a graph; what the program does next may depend on them",
        ),
        (4, "launches a graph that records an event or waits for one, which is not recorded"),
        (6, "launches a graph that allocates or frees memory, which is not recorded"),
        (8, "launches a graph with stream memory operations, which are not recorded"),
        (10, "sets managed memory, which a capture cannot contain"),
        (12, "launches a graph with a conditional node, which is not recorded"),
    ]
    assert {operation["kind"] for operation in region.operations} == {"empty", "graph"}
    assert clean.refusals == []
    assert [operation["kind"] for operation in clean.operations] == ["empty", "graph"]


def test_graph_from_stream_capture_is_recorded(record: Record) -> None:
    """Edges between its branches, kernels' attributes, and that their priorities count."""
    (region,), values = record("region_graph_captured")
    nodes = nodes_of(region, 1)
    assert [stored(node) for node in nodes] == [1, 2, 3, 4]
    assert edges_of(region, 1) == {(0, 1), (0, 2), (1, 3), (2, 3)}
    assert [node["flags"] for node in nodes] == [COOPERATIVE] * 4
    priorities = [node["attributes"].get(ATTRIBUTE_PRIORITY, bytes(64)) for node in nodes]
    assert [struct.unpack_from("<i", value)[0] for value in priorities] == [0, values["priority"], 0, 0]
    assert all(node["attributes"][ATTRIBUTE_COOPERATIVE][0] == 1 for node in nodes)
    (launch,) = (operation for operation in region.operations if operation["kind"] == "graph")
    assert launch["flags"] == NODE_PRIORITIES
    assert region.refusals == []
