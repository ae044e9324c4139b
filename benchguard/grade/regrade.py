"""Verify a bundle: replay its captures as a grade does, and hold the result against the stored one."""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from .. import exit_status
from ..archive import Bundle, BundleError, find_bundles, open_bundle
from ..capture import Capture, CaptureError
from ..capture.layout import Vendor
from ..errors import BenchguardError, UsageError
from ..inline.supervise import Inline
from ..ipc.folders import temporary_folder
from ..ipc.json_text import UNREADABLE, unique
from ..ipc.text import one_line
from ..problem.returned import ReturnedError, replayed_cases
from ..problem.spec import Returned
from ..quarantine.contract import Audit, Cases, Language, Quarantined
from ..quarantine.reader import LIMITS, replayed_regions
from ..quarantine.submission import LANGUAGES, Submission
from ..replay.confined import WaitingReplay
from ..shim.driver import discover
from ..shim.vendors import Api
from .archive import result_bytes, source_sha256
from .grade import ReplayedRun, check_inputs, for_driver
from .opening import Opening
from .options import GradeOptions
from .problem_identity import sha256_of
from .progress import Report
from .provenance import searched
from .regrade_result import RegradeResult, compared
from .result import AuditBlock, GradeResult, read_result
from .stored_captures import examine_stored
from .vendor import api_in

NO_RUN = {
    "language": "the submission does not run again",
    "entry": "the submission does not run again",
    "convention": "the submission does not run again",
    "warm_up": "the submission does not run again",
    "network": "the submission does not run again",
    "policy": "the submission does not run again",
    "inline": "a regrade replays captures",
    "keep": "the captures are in the bundle",
}
"""Options of a grade that a regrade does not have, and the reason."""


@dataclass(frozen=True)
class Loaded:
    """A bundle whose parts were checked. `captures` are files of ours, by case. `api` is the vendor of all of them.

    `until`: the end of the regrade's time, of the monotonic clock.
    """

    bundle: Bundle
    result: GradeResult
    captures: Mapping[str, tuple[Path, Path]]
    api: Api
    until: float

    @property
    def language(self) -> Language:
        """The submission's language, as the result claims it. HIP is certain: its captures have another vendor."""
        languages: dict[str, Language] = {each: each for each in LANGUAGES.values()}
        return languages.get(self.result.submission.language, "python")


def bundles_named(
    path: str | os.PathLike[str], archive: str | os.PathLike[str] | None = None
) -> list[Bundle]:
    """The bundle at `path`; with an `archive`, those there that name the result in the file `path`.

    Raises UsageError, BundleError.
    """
    if archive is None:
        return [open_bundle(Path(path))]
    try:
        return find_bundles(Path(archive), result_bytes(read_result(Path(path))))
    except OSError as error:
        raise UsageError(f"the result {path} cannot be read: {error.strerror}; check the path") from error
    except UNREADABLE as error:
        raise UsageError(f"{path} is not a result of `grade --json`: {one_line(str(error), 200)}") from error


def regrade(
    bundle: str | os.PathLike[str],
    problem: str | os.PathLike[str],
    options: GradeOptions = GradeOptions(),  # noqa: B008 - frozen
    *,
    archive: str | os.PathLike[str] | None = None,
    within: float | None = None,
    progress: Report | None = None,
    **changes: Any,
) -> RegradeResult:
    """Verify a stored grade: replay its captures on new secret inputs, and compare verdict and times.

    The submission's source does not run. Every byte of the bundle is treated as hostile.

    Args:
        bundle: path of a bundle, ARCHIVE/bundles/SHA256.json; with `archive`, path of a result of `grade --json`.
        problem: PATH or PATH:NAME of the problem. Its SHA-256 must be the one in the bundle.
        options: how to grade. Options about running a submission have no effect and are refused.
        archive: folder with the bundle of a result.
        within: ratio of the times, in either direction, beyond which the stored time is not confirmed. None: 1.1 on a
            GPU of the same model and driver; elsewhere times are shown only.
        progress: called with each phase of each case.
        changes: fields of GradeOptions by name, in place of those in `options`.

    Returns:
        Whether the stored result is confirmed, both times of each case, what differs, and the new result.

    Raises:
        UsageError: an option is invalid, the problem is another one, or the bundle has nothing to replay.
        BundleError: the bundle is damaged or was changed.
        ProblemError: as grade().
        BenchguardError: as grade().
    """
    options = replace(options, **changes)
    for name, why in NO_RUN.items():
        if getattr(options, name) != getattr(GradeOptions(), name):
            raise UsageError(f"{name.replace('_', '-')} has no effect on a regrade: {why}")
    if within is not None and not 1 <= within <= 1e6:
        raise UsageError(f"within is {within:g}; give a ratio of 1 or more")
    options = options.limited(str(problem))
    check_inputs(options, problem)
    bundles = bundles_named(bundle, archive)
    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder("neutrino-regrade-"))
        stored, loaded = loaded_first(bundles, str(problem), folder, time.monotonic() + options.seconds)
        api_in(options, [loaded.language])
        if options.forbid_library or options.allow_images:
            searched(options.forbid_library, options.allow_images)
        driver = discover(options.driver, api=loaded.api)
        options = for_driver(options, driver)
        smallest = driver.is_sim and not options.cases
        run = RegradeRun(loaded, str(problem), stored.path, options, progress, stack, (), smallest)
        result = run.run()
    return compared(stored.id, loaded.result, result, (stored.manifest.options, options.changed()), within)


def loaded_first(
    bundles: Sequence[Bundle], problem: str, folder: Path, until: float
) -> tuple[Bundle, Loaded]:
    """The first bundle that is about the problem and fits its result. Others may name a result that is not theirs.

    Raises the error of the first bundle, if there is no other, and BenchguardError at the time `until`.
    """
    digest, first = sha256_of(problem), None
    for number, bundle in enumerate(bundles):
        place = folder / str(number)
        place.mkdir()
        try:
            _check_problem(bundle, problem, digest)
            return bundle, load(bundle, place, until)
        except (BundleError, UsageError) as error:
            first = first or error
            shutil.rmtree(place)
    assert first is not None
    raise first


def _check_problem(bundle: Bundle, problem: str, digest: str) -> None:
    identity = bundle.manifest.problem
    if identity.sha256 != digest:
        raise UsageError(
            f"the bundle was graded with another problem, {one_line(identity.name, 200)} of SHA-256 {identity.sha256}, "
            f"and {problem} has {digest}; give that problem"
        )


def load(bundle: Bundle, folder: Path, until: float) -> Loaded:
    """Check every part of a bundle, and write its captures into `folder`.

    Raises BundleError, UsageError, and BenchguardError at the time `until`.
    """
    manifest = bundle.manifest

    def check() -> None:
        if time.monotonic() > until:
            late = BenchguardError(f"{bundle.path}: not read before the time-out; raise --timeout")
            late.status = exit_status.TIMEOUT
            raise late

    try:
        result = msgspec.json.decode(unique(bundle.read(manifest.result)), type=GradeResult)
    except UNREADABLE as error:
        raise _changed(bundle, f"its result cannot be read: {one_line(str(error), 200)}") from error
    for part in manifest.submission.files.values():
        check()
        bundle.read(part)
    if source_sha256(manifest.submission.files) != result.submission.sha256:
        raise _changed(bundle, "its result is about another submission than the stored one")
    if result.trust != "replayed":
        raise UsageError(
            f"{bundle.path}: timed with --inline, so there is no capture; grade its source again"
        )
    if not manifest.cases:
        raise UsageError(
            f"{bundle.path}: the verdict {result.verdict} came before a capture; grade its source again"
        )
    if twice := [name for name, count in Counter(each.name for each in result.cases).items() if count > 1]:
        raise _changed(bundle, f"its result has case {one_line(twice[0], 100)} twice")
    captures = _written(bundle, folder, check)
    api: Api = "hip" if result.submission.language == "hip" else "cuda"
    names = {}
    for name, paths in captures.items():
        check()
        names[name] = _names(bundle, paths, api)
    for graded in result.cases:
        if graded.name not in captures:
            raise _changed(
                bundle, f"its result has case {one_line(graded.name, 100)}, of which it has no capture"
            )
        if graded.capture and graded.capture not in names[graded.name]:
            raise _changed(
                bundle,
                f"its result is about another capture of case {one_line(graded.name, 100)} than the stored ones",
            )
    return Loaded(bundle, result, captures, api, until)


def _written(bundle: Bundle, folder: Path, check: Callable[[], None]) -> dict[str, tuple[Path, Path]]:
    """The captures in files of `folder`, by case. Raises BundleError, UsageError, and what `check` raises."""
    captures = {}
    for number, case in enumerate(bundle.manifest.cases):
        paths = folder / f"{number}-0.ncap", folder / f"{number}-1.ncap"
        for parts, path in zip(case.captures, paths, strict=True):
            try:
                bundle.write(parts, path, check)
            except OSError as error:
                raise UsageError(
                    f"cannot write to {folder}: {error.strerror}; name another in TMPDIR"
                ) from error
        captures[case.name] = paths
    return captures


def _names(bundle: Bundle, paths: Sequence[Path], api: Api) -> set[str]:
    """The names of a case's captures. Raises BundleError if one was recorded on another vendor's driver than `api`."""
    names = set()
    vendor = Vendor.HIP if api == "hip" else Vendor.CUDA
    for path in paths:
        try:
            with Capture.open(path, LIMITS) as capture:
                if capture.device.vendor is not vendor:
                    raise _changed(bundle, "a capture is from another vendor's driver than its result")
                names.add(capture.name)
        except CaptureError as error:
            raise _changed(bundle, f"a capture cannot be used: {one_line(str(error), 300)}") from error
    return names


def _changed(bundle: Bundle, why: str) -> BundleError:
    return BundleError(f"{bundle.path}: {why}; get the bundle again from where it was graded")


class RegradeRun(ReplayedRun):
    """A grade whose captures come from a bundle. No code of the submission runs on the host."""

    calls_submission = False

    def __init__(self, loaded: Loaded, *arguments: Any) -> None:
        self._loaded = loaded  # before api() is asked
        super().__init__(*arguments)
        self._started = loaded.until - self.options.seconds

    def api(self) -> Api:
        return self._loaded.api

    def submission(self, opening: Opening) -> Submission:
        del opening
        stored = self._loaded.result.submission
        files = tuple(sorted(self._loaded.bundle.manifest.submission.files))
        return Submission(
            Path(stored.path),
            self._loaded.language,
            one_line(stored.entry, 200),
            "arguments",
            stored.sha256,
            files,
            "",
        )

    def quarantine(
        self,
        submission: Submission,
        opening: Opening,
        inline: Inline | None = None,
        replay: WaitingReplay | None = None,
    ) -> Quarantined:
        del inline, replay
        self.report("examining the captures")
        cases, loaded = opening.find(), self._loaded
        absent = [each.name for each in cases.cases if each.name not in loaded.captures]
        if absent:
            raise UsageError(
                f"the bundle has no capture of case {absent[0]}; give --case for those that it has: "
                f"{one_line(', '.join(loaded.captures), 200)}"
            )
        pairs = tuple(loaded.captures[each.name] for each in cases.cases)
        returned = _returned(loaded.result, cases)
        with self.timed("examination"):
            try:
                specs, trouble = replayed_cases(cases.cases, returned), ""
            except ReturnedError as error:
                specs, trouble = (), str(error)
            found = examine_stored(pairs[: len(specs)], specs, self.options, max(1.0, self.left()))
        return Quarantined(
            captures=pairs,
            confinement=found.features,
            submission_sha256=submission.sha256,
            altered=False,
            status=0,
            timed_out=found.timed_out,
            broke=None,
            seconds={},
            wall_s=0.0,
            audit=Audit("", "", 0, 0, True),
            output="",
            trouble=trouble or found.trouble,
            examined=tuple(found.examined),
            returned=returned,
            replayed=replayed_regions(len(pairs)),
        )

    def _audit(self, quarantined: Quarantined) -> AuditBlock | None:
        del quarantined
        return None


def _returned(stored: GradeResult, cases: Cases) -> dict[int, Returned]:
    """The results of the submission's calls, as the stored result claims them. replayed_cases() checks them."""
    known = {each.name: each.returned for each in stored.cases}
    found = {number: known.get(spec.name) for number, spec in enumerate(cases.cases)}
    return {number: each for number, each in found.items() if each is not None}
