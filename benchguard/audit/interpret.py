"""Turn records into log lines: resolve handles, kernel numbers and ticks for each process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from ..ipc.json_text import json_line
from ..shim.surface import Surface
from . import decode, entries
from .calls import UNLOADS
from .choice import ALL_CALLS, CallChoice
from .demangle import Demangler
from .drain import Chunk, Ended, Identity, Item, Waiting
from .floats import float_words, floats_of
from .images import ImageFolder
from .known import (
    UNKNOWN_KERNEL,
    KnownKernel,
    KnownProcess,
    Pending,
    Totals,
    graph_kernel,
    launch_attributes,
    name_of,
    phase_name,
    plausible_layout,
    split_parameters,
)
from .layout import Action, ImageFormat, LaunchFlag, LayoutSource, PhaseSource, ProbeStage, ProbeState
from .probe_area import ProbeListener
from .session import Session

# Limit of launches that wait for their kernel's record. Further launches are written without a name.
PENDING_MAX = 100_000
# Plain numbers: `&` with a member of an enum makes a new member, which was a fifth of the time of a launch here.
_CAPTURED, _COOPERATIVE = int(LaunchFlag.CAPTURED), int(LaunchFlag.COOPERATIVE)
_FORMS = {int(LaunchFlag.PRUNED): b',"form":"pruned"', int(LaunchFlag.PROBED): b',"form":"probed"'}
_FORM = sum(_FORMS)
# A graph with more nodes continues in another line, because readers refuse lines longer than chain.LINE_MAX.
GRAPH_LINE_BYTES = 1 << 20

_encode = json_line


class Interpreter:
    """Takes the drain's items, and gives log lines, without their `previous`, in the order of time."""

    def __init__(
        self,
        session: Session,
        surface: Surface,
        started_ns: int,
        keep_images: Path | None = None,
        probes: ProbeListener | None = None,
        choice: CallChoice = ALL_CALLS,
    ) -> None:
        self.totals = Totals()
        self._left_out = {slot for slot, export in enumerate(surface.exports) if not choice.has(export)}
        self._session = session
        self._exports = surface.exports
        self._calls = [_encode(export.name) for export in surface.exports]
        self._unloads = {slot for slot, export in enumerate(surface.exports) if export.name in UNLOADS}
        self._floats = float_words(surface.exports)
        self._started_ns = started_ns
        self.images = ImageFolder(keep_images)
        self._rules = session.cordon.rules if session.cordon is not None else ()
        self._demangler = Demangler()
        self._probes = probes
        self._processes: dict[tuple[int, int], KnownProcess] = {}
        self._pending: list[Pending] = []
        self._corrupt: set[Identity] = set()
        self._lines: list[tuple[int, bytes]] = []

    @property
    def helper(self) -> int | None:
        """The demangler's process, which is not part of the command; None if it never ran."""
        return self._demangler.process

    def feed(self, items: Sequence[Item]) -> list[bytes]:
        """Interpret one pass of the drain. Records of a thread stay in order; threads are merged by time."""
        for item in items:
            if isinstance(item, Ended):
                self._ended(item)
            elif isinstance(item, Waiting):
                self._waiting(item)
            else:
                self._chunk(item)
        self._settle_pending(len(self._pending) > PENDING_MAX)
        return self._take_lines()

    def skip(self, items: Sequence[Item]) -> None:
        """Count the bytes of items that the deadline leaves uninterpreted."""
        for item in items:
            if isinstance(item, Chunk):
                self.totals.unread_bytes += len(item.data)
            elif isinstance(item, Ended):
                self._ended(item)

    def finish(self) -> list[bytes]:
        """Write launches that still wait for their kernel's record."""
        self._settle_pending(True)
        self._demangler.close()
        return self._take_lines()

    def _take_lines(self) -> list[bytes]:
        lines = [line for _, line in sorted(self._lines, key=lambda timed: timed[0])]
        self._lines.clear()
        return lines

    def _process(self, identity: Identity) -> KnownProcess:
        key = identity.process, identity.started
        process = self._processes.get(key)
        if process is None:
            process = self._processes[key] = KnownProcess()
        process.clock.add(identity.tsc, identity.nanoseconds)
        return process

    def _chunk(self, chunk: Chunk) -> None:
        identity = chunk.identity
        if identity in self._corrupt:
            return
        process = self._process(identity)
        records, corrupt = decode.decode(chunk.data, len(self._exports))
        for record in records:
            if isinstance(record, decode.Clock):
                process.clock.add(record.begin, record.nanoseconds)
            elif isinstance(record, decode.Process):
                for ticks, nanoseconds in record.pairs:
                    process.clock.add(ticks, nanoseconds)
        for record in records:
            if isinstance(record, decode.Launch):
                self._launch(identity, process, record)
            elif isinstance(record, decode.Call):
                self._call(identity, process, record)
            elif isinstance(record, decode.LaunchTime):
                self._launch_time(identity, process, record)
            else:
                self._rare(identity, process, record)
        if corrupt is not None:
            self._corrupt.add(identity)
            self._lost(identity, 0, corrupt)

    def _add(self, time_ns: int, entry: entries.Entry) -> None:
        self._lines.append((time_ns, _encode(entry)))

    def _time(self, process: KnownProcess, ticks: int) -> int:
        return process.clock.nanoseconds(ticks) - self._started_ns

    def _span(self, process: KnownProcess, record: decode.Record) -> tuple[int, int]:
        begin = process.clock.nanoseconds(record.begin)
        return begin - self._started_ns, process.clock.nanoseconds(record.end) - begin

    def _launch(self, identity: Identity, process: KnownProcess, record: decode.Launch) -> None:
        kernel = process.kernels.get(record.kernel)
        if kernel is None:
            self._pending.append(Pending(identity, record))
        else:
            self._write_launch(identity, process, record, kernel)

    def _write_launch(
        self, identity: Identity, process: KnownProcess, record: decode.Launch, kernel: KnownKernel
    ) -> None:
        time_ns, duration_ns = self._span(process, record)
        captured = record.flags & _CAPTURED
        self.totals.launches += not captured
        attributes = (
            _encode(launch_attributes(record)) if record.attributes else b'{"cluster":null,"others":[]}'
        )
        line = (
            b'{"kind":"launch","time_ns":%d,"duration_ns":%d,"process":%d,"thread":%d,"call":%b,"stream":%d,'
            b'"kernel":%d,%b,"grid":[%d,%d,%d],"block":[%d,%d,%d],"shared_bytes":%d,"cooperative":%b,'
            b'"captured":%b,"attributes":%b,"parameters":%b,"parameter_bytes":%d,"result":%d%b%b}'
        ) % (
            time_ns,
            duration_ns,
            identity.process,
            identity.thread,
            self._calls[record.slot],
            record.stream,
            record.kernel,
            kernel.fragment,
            *record.grid,
            *record.block,
            record.shared_bytes,
            b"true" if record.flags & _COOPERATIVE else b"false",
            b"true" if captured else b"false",
            attributes,
            _encode(split_parameters(record.parameters, kernel.layout)),
            record.parameter_bytes,
            record.result,
            b',"number":%d' % record.number if record.number else b"",
            _FORMS.get(record.flags & _FORM, b""),
        )
        self._lines.append((time_ns, line))

    def _launch_time(self, identity: Identity, process: KnownProcess, record: decode.LaunchTime) -> None:
        if record.kernel and record.kernel not in process.kernels:
            self._pending.append(Pending(identity, record))
        else:
            self._write_launch_time(identity, process, record)

    def _write_launch_time(
        self, identity: Identity, process: KnownProcess, record: decode.LaunchTime
    ) -> None:
        kernel = process.kernels.get(record.kernel, UNKNOWN_KERNEL)
        time_ns = self._time(process, record.begin)
        self._add(
            time_ns,
            entries.LaunchTimeEntry(
                time_ns,
                identity.process,
                record.thread,
                record.number,
                record.stream,
                record.kernel or None,
                None if record.kernel else record.graph,
                kernel.name or None,
                kernel.demangled,
                kernel.image,
                record.nanoseconds,
                record.is_early,
            ),
        )

    def _call(self, identity: Identity, process: KnownProcess, record: decode.Call) -> None:
        if record.slot in self._left_out and record.result == 0:
            self.totals.left_out += record.repeats if isinstance(record, decode.Repeated) else 1
        else:
            self._write_call(identity, process, record)
        if record.slot in self._unloads and record.result == 0 and record.arguments:
            stored = process.stored.pop(record.arguments[0], None)
            if stored is not None:
                self._session.forget_image(*stored)

    def _write_call(self, identity: Identity, process: KnownProcess, record: decode.Call) -> None:
        export = self._exports[record.slot]
        time_ns, duration_ns = self._span(process, record)
        names = [parameter.name for parameter in export.parameters]
        floats = self._floats.get(record.slot)
        entry = entries.CallEntry(
            time_ns,
            duration_ns,
            identity.process,
            identity.thread,
            export.name,
            export.group,
            dict(zip(names, record.arguments, strict=False)),
            record.result,
            msgspec.UNSET if floats is None else floats_of(floats, record.arguments),
        )
        if isinstance(record, decode.Repeated) and record.repeats > 1:
            self.totals.calls += record.repeats
            self._add(time_ns, msgspec.structs.replace(entry, repeats=record.repeats))
        else:
            self.totals.calls += 1
            self._add(time_ns, entry)

    def _rare(self, identity: Identity, process: KnownProcess, record: decode.Record) -> None:
        match record:
            case decode.Kernel():
                self._kernel(identity, process, record)
            case decode.Image():
                self._image(identity, process, record)
            case decode.Process():
                self._introduced(identity, process, record)
            case decode.Unmapped():
                self._unmapped(identity, process, record)
            case decode.GraphNode():
                process.nodes.setdefault(record.graph, {})[record.position] = record
            case decode.Graph():
                self._graph(identity, process, record)
            case decode.GraphLaunch():
                self._graph_launch(identity, process, record)
            case decode.Note():
                time_ns = self._time(process, record.begin)
                self._add(time_ns, entries.NoteEntry(time_ns, identity.process, identity.thread, record.text))
            case decode.PhaseMark():
                self._phase(identity, process, record)
            case decode.Decision():
                self._decision(identity, process, record)
            case decode.Probe():
                self._probe(identity, process, record)
            case _:
                pass  # a clock pair: used already

    def _introduced(self, identity: Identity, process: KnownProcess, record: decode.Process) -> None:
        time_ns = self._time(process, record.begin)
        self.totals.processes += 1
        self._add(
            time_ns,
            entries.ProcessEntry(
                time_ns, identity.process, identity.thread, record.parent, record.executable, record.driver
            ),
        )

    def _phase(self, identity: Identity, process: KnownProcess, record: decode.PhaseMark) -> None:
        time_ns = self._time(process, record.begin)
        self._add(
            time_ns,
            entries.PhaseEntry(
                time_ns,
                identity.process,
                identity.thread,
                phase_name(record.phase),
                name_of(PhaseSource, record.source),
                record.label,
                record.origin,
            ),
        )

    def _probe(self, identity: Identity, process: KnownProcess, record: decode.Probe) -> None:
        time_ns = self._time(process, record.begin)
        if self._probes is None:
            return
        self._probes.take(identity.process, identity.started, time_ns, record)
        if record.stage not in (ProbeStage.DECIDED, ProbeStage.SKIPPED):
            return
        refused = record.stage == ProbeStage.DECIDED and record.at == ProbeState.REFUSED
        reason = self._probes.reason(record.answer) if refused and not record.text else record.text
        outcome = "skipped" if record.stage == ProbeStage.SKIPPED else "original" if refused else "probed"
        name = process.kernels.get(record.kernel, UNKNOWN_KERNEL).name or ""
        self._add(
            time_ns,
            entries.ProbeEntry(
                time_ns, identity.process, identity.thread, record.kernel, name, outcome, reason
            ),
        )

    def _decision(self, identity: Identity, process: KnownProcess, record: decode.Decision) -> None:
        export = self._exports[record.slot]
        time_ns = self._time(process, record.begin)
        names = [parameter.name for parameter in export.parameters]
        self.totals.denied += record.action == Action.DENY
        self._add(
            time_ns,
            entries.DecisionEntry(
                time_ns,
                identity.process,
                identity.thread,
                export.name,
                name_of(Action, record.action),
                self._rules[record.rule] if record.rule < len(self._rules) else f"rule {record.rule}",
                phase_name(record.phase),
                dict(zip(names, record.arguments, strict=False)),
                record.origin,
                record.kernel or None,
                record.image,
                record.result,
            ),
        )

    def _image(self, identity: Identity, process: KnownProcess, record: decode.Image) -> None:
        content = self._session.image(record.stored_at, record.bytes) if record.stored else None
        digest = self.images.digest(content) if content is not None else None
        if digest is not None:
            process.stored[record.handle] = record.stored_at, record.bytes
        process.images[record.image] = digest
        time_ns = self._time(process, record.begin)
        self.totals.images += 1
        self._add(
            time_ns,
            entries.ImageEntry(
                time_ns,
                identity.process,
                identity.thread,
                record.image,
                digest,
                record.bytes,
                name_of(ImageFormat, record.format),
                record.origin,
                self._exports[record.slot].name,
                record.note or None,
            ),
        )

    def _kernel(self, identity: Identity, process: KnownProcess, record: decode.Kernel) -> None:
        image = process.images.get(record.image)
        demangled = self._demangler.demangle(record.name)
        fragment = b'"name":%b,"demangled":%b,"image":%b' % (
            _encode(record.name),
            _encode(demangled),
            _encode(image),
        )
        process.kernels[record.kernel] = KnownKernel(
            record.name, demangled, image, plausible_layout(record.layout), fragment
        )
        time_ns = self._time(process, record.begin)
        self.totals.kernels += 1
        self._add(
            time_ns,
            entries.KernelEntry(
                time_ns,
                identity.process,
                identity.thread,
                record.kernel,
                record.name,
                demangled,
                image,
                record.registers,
                record.static_shared_bytes,
                record.local_bytes,
                record.constant_bytes,
                record.max_threads,
                record.binary_version,
                name_of(LayoutSource, record.layout_source),
                list(record.layout),
            ),
        )

    def _unmapped(self, identity: Identity, process: KnownProcess, record: decode.Unmapped) -> None:
        time_ns = self._time(process, record.begin)
        self.totals.unmapped += 1
        self._add(
            time_ns,
            entries.UnmappedEntry(
                time_ns, identity.process, identity.thread, record.name, record.asked_version, record.flags
            ),
        )

    def _graph(self, identity: Identity, process: KnownProcess, record: decode.Graph) -> None:
        nodes = process.nodes.get(record.graph, {})
        if any(node.kernel not in process.kernels for node in nodes.values()):
            self._pending.append(Pending(identity, record))
        else:
            self._write_graph(identity, process, record)

    def _write_graph(self, identity: Identity, process: KnownProcess, record: decode.Graph) -> None:
        process.graphs[record.graph] = record.kernels
        nodes = process.nodes.get(record.graph, {})
        kernels = [nodes[position] for position in sorted(nodes) if position < record.kernels]
        known = [(process.kernels.get(node.kernel, UNKNOWN_KERNEL), node) for node in kernels]
        time_ns, first = self._time(process, record.begin), 0
        for part in _graph_parts(known):
            self._add(
                time_ns,
                entries.GraphEntry(
                    time_ns,
                    identity.process,
                    identity.thread,
                    record.graph,
                    record.nodes,
                    record.opaque,
                    [graph_kernel(kernel, node) for kernel, node in part],
                    first,
                ),
            )
            first += len(part)

    def _graph_launch(self, identity: Identity, process: KnownProcess, record: decode.GraphLaunch) -> None:
        time_ns, duration_ns = self._span(process, record)
        self.totals.graph_launches += 1
        self._add(
            time_ns,
            entries.GraphLaunchEntry(
                time_ns,
                duration_ns,
                identity.process,
                identity.thread,
                self._exports[record.slot].name,
                record.graph,
                record.stream,
                process.graphs.get(record.graph),
                record.result,
                record.number or msgspec.UNSET,
            ),
        )

    def _settle_pending(self, give_up: bool) -> None:
        waiting, self._pending = self._pending, []
        for item in waiting:
            process = self._process(item.identity)
            if isinstance(item.record, decode.Graph):
                if give_up:
                    self._write_graph(item.identity, process, item.record)
                else:
                    self._graph(item.identity, process, item.record)
            elif isinstance(item.record, decode.LaunchTime):
                if give_up:
                    self._write_launch_time(item.identity, process, item.record)
                else:
                    self._launch_time(item.identity, process, item.record)
            elif give_up:
                kernel = process.kernels.get(item.record.kernel, UNKNOWN_KERNEL)
                self._write_launch(item.identity, process, item.record, kernel)
            else:
                self._launch(item.identity, process, item.record)

    def _waiting(self, call: Waiting) -> None:
        if call.slot < len(self._exports):
            process = self._process(call.identity)
            time_ns = self._time(process, call.since)
            name = self._exports[call.slot].name
            self._add(
                time_ns,
                entries.WaitingEntry(time_ns, call.identity.process, call.identity.thread, name),
            )

    def _ended(self, ring: Ended) -> None:
        process = self._process(ring.identity)
        self._corrupt.discard(ring.identity)
        self.totals.left_out += ring.omitted
        if ring.dropped or ring.corrupt is not None:
            self._lost(ring.identity, ring.dropped, ring.corrupt)
        if 0 <= ring.in_flight < len(self._exports):
            time_ns = self._time(process, ring.in_flight_since)
            self._add(
                time_ns,
                entries.InFlightEntry(
                    time_ns,
                    ring.identity.process,
                    ring.identity.thread,
                    self._exports[ring.in_flight].name,
                    time_ns,
                ),
            )

    def _lost(self, identity: Identity, records: int, corrupt: str | None) -> None:
        self.totals.dropped += records
        self.totals.corrupt_rings += corrupt is not None
        time_ns = max([time for time, _ in self._lines], default=0)
        self._add(time_ns, entries.LostEntry(time_ns, identity.process, identity.thread, records, corrupt))


def _graph_parts(
    known: list[tuple[KnownKernel, decode.GraphNode]],
) -> Iterator[list[tuple[KnownKernel, decode.GraphNode]]]:
    """Split a graph's kernels into parts of one line each; one empty part for a graph without kernels."""
    part: list[tuple[KnownKernel, decode.GraphNode]] = []
    size = 0
    for kernel, node in known:
        cost = len(kernel.fragment) + 2 * len(node.parameters) + 3 * len(kernel.layout) + 200
        if part and size + cost > GRAPH_LINE_BYTES:
            yield part
            part, size = [], 0
        part.append((kernel, node))
        size += cost
    yield part
