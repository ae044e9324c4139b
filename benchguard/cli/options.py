"""Options that several commands have, and options that an options dataclass has."""

from __future__ import annotations

import dataclasses
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from ..audit.parts import PART_BYTES_MIN
from ..errors import BenchguardError, UsageError
from .output import print_document

CUDA_DRIVERS = ("auto", "sim")
HIP_DRIVERS = ("hip", "hip-sim")
DRIVERS = (*CUDA_DRIVERS, *HIP_DRIVERS)

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class Flag:
    """How a field of an options dataclass appears on the command line: as --NAME, by default --FIELD-NAME."""

    help: str
    metavar: str | None = None
    name: str | None = None
    type: Any = None
    """A click type, where the field's own type is not enough."""


def options_of(kind: type[Any], flags: Mapping[str, str | Flag]) -> Callable[[Command], Command]:
    """An option for each field of a dataclass that `flags` names; types, choices and defaults are the dataclass's."""
    types, fields = get_type_hints(kind), {field.name: field for field in dataclasses.fields(kind)}

    def decorate(command: Command) -> Command:
        for name, flag in reversed(list(flags.items())):
            item = Flag(flag) if isinstance(flag, str) else flag
            option = _option(name, types[name], fields[name].default, item)
            command = option(command)
        return command

    return decorate


def _option(name: str, kind: Any, default: Any, flag: Flag) -> Callable[[Command], Command]:
    word = flag.name or name.replace("_", "-")
    settings: dict[str, Any] = {"help": flag.help, "metavar": flag.metavar}
    kind = (
        next((each for each in get_args(kind) if each is not NoneType), kind) if _is_optional(kind) else kind
    )
    if kind is bool:
        settings.update(is_flag=True, default=default, flag_value=not default)
        word = word if not default else f"no-{word}"
    elif get_origin(kind) is tuple:
        settings.update(multiple=True)
    elif get_origin(kind) is dict:
        settings.update(multiple=True, callback=lambda _, __, words: pairs(f"--{word}", words))
    else:
        settings.update(
            type=flag.type or _type_of(kind),
            default=default,
            show_default=default is not None and "[default:" not in flag.help,
        )
    return click.option(f"--{word}", name, **settings)


def _is_optional(kind: Any) -> bool:
    return get_origin(kind) is not Literal and NoneType in get_args(kind)


def _type_of(kind: Any) -> Any:
    return click.Choice(get_args(kind)) if get_origin(kind) is Literal else kind


def given_options(context: click.Context) -> set[str]:
    """The names of the options that the user gave, even if the value is the default."""
    return {
        name for name in context.params if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    }


class OutputPath(click.Path):
    """A file that the command writes when its work is done: a path that cannot be written is a usage error."""

    def __init__(self, *, allow_dash: bool = False) -> None:
        super().__init__(dir_okay=False, writable=True, allow_dash=allow_dash, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path: Any = super().convert(value, param, ctx)
        is_dash = str(path) == "-"
        if is_dash and not self.allow_dash:
            self.fail(
                "- would be standard output, which has other text here; name a file, or ./-", param, ctx
            )
        reason = "" if is_dash else unwritable(path)
        return self.fail(reason, param, ctx) if reason else path


class OutputFolder(click.Path):
    """A folder that the command makes and fills: a folder that cannot be made is a usage error."""

    def __init__(self) -> None:
        super().__init__(file_okay=False, writable=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path: Any = super().convert(value, param, ctx)
        existing = next(each for each in (path, *path.absolute().parents) if each.exists())
        if not existing.is_dir():
            self.fail(f"{existing} is not a folder; name another", param, ctx)
        if not os.access(existing, os.W_OK):
            self.fail(f"{existing} is not writable; name another folder", param, ctx)
        return path


def unwritable(path: Path) -> str:
    """Why a file cannot be written at this path; empty if it probably can."""
    folder = path.parent
    if path.is_dir():
        return f"{path} is a folder; name a file"
    if not folder.is_dir():
        return f"{folder} is not a folder; create it or name another"
    if not os.access(path if path.exists() else folder, os.W_OK):
        return f"{path} is not writable; name another file"
    return ""


class LineSpan(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic in new versions of click
    """Lines of a log: the first and the last, or None for the end. A negative first line counts from the end."""

    name = "lines"
    _FORM = re.compile(r"([0-9]{1,15})?(?:(:)([0-9]{1,15})?)?|(-[0-9]{1,15}):", re.ASCII)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int | None]:
        if isinstance(value, tuple):
            return value
        first, last = 0, None
        if match := self._FORM.fullmatch(value):
            first = int(match[4] or match[1] or bool(match[2]))
            last = int(match[3]) if match[3] else None if match[2] or match[4] else first
        if first == 0 or (last is not None and last < first):
            self.fail(
                f"{value!r} is not a span of lines; give 7, 7:9, 7: or -5:, and count from 1", param, ctx
            )
        return first, last


class Size(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic in new versions of click
    """Bytes, as 512M or 16G."""

    name = "size"

    def __init__(self, least: int = 0) -> None:
        self._least = least

    _SCALES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}  # noqa: RUF012
    _FORM = re.compile(r"([0-9]{1,12})([KMGT]?)(?:i?B)?", re.IGNORECASE)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        match = self._FORM.fullmatch(value.strip())
        if match is None:
            self.fail(f"{value!r} is not a size; give bytes, or a number with K, M, G or T", param, ctx)
        size = int(match[1]) * self._SCALES[match[2].upper()]
        if size < self._least:
            self.fail(f"{value!r} is too small; give at least {self._least >> 10}K", param, ctx)
        return size


class FiniteRange(click.FloatRange):
    """A number in a range. click accepts NaN in every range, because no comparison with NaN is true."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number; give one in digits", param, ctx)
        return number


def complete_driver(words: Sequence[str]) -> Callable[..., list[CompletionItem]]:
    """Shell completion of --driver: these words, or files if no word fits."""

    def complete(ctx: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:  # noqa: ARG001
        fitting = [CompletionItem(word) for word in words if word.startswith(typed)]
        return fitting or [CompletionItem(typed, type="file")]

    return complete


driver_option = click.option(
    "--driver",
    default="auto",
    shell_complete=complete_driver(DRIVERS),
    metavar="auto|sim|hip|hip-sim|PATH",
    show_default=True,
    help="Driver to run on: this machine's (auto: CUDA, else HIP, else the CPU driver), the CPU driver (sim), this "
    "machine's HIP driver, the CPU driver as a HIP driver (hip-sim), or a driver library.",
)

cuda_driver_option = click.option(
    "--driver",
    default="auto",
    shell_complete=complete_driver(CUDA_DRIVERS),
    metavar="auto|sim|PATH",
    show_default=True,
    help="CUDA driver to run on: this machine's (auto; the CPU driver if it has none), the CPU driver (sim), or a "
    "driver library.",
)

policy_option = click.option(
    "--policy",
    metavar="FILE|NAME",
    shell_complete=lambda ctx, parameter, typed: complete_policy(typed),  # noqa: ARG005
    help="Log or deny driver calls by the rules of this policy: a file, or observe, grading, quarantine or strict.",
)

log_size = Flag(
    "Continue the log in PATH.2, PATH.3, ... when a file has this size: 100M.",
    "SIZE",
    type=Size(least=PART_BYTES_MIN),
)

log_size_option = click.option(
    "--log-size", "part_bytes", type=log_size.type, metavar=log_size.metavar, help=log_size.help
)

gpu_time_option = click.option(
    "--gpu-time",
    is_flag=True,
    help="Time each launch on the GPU by two events around it, which slow the program. Not for HIP programs.",
)


def check_gpu_time(gpu_time: bool, driver: str, option: str = "--gpu-time") -> None:
    """Raises UsageError if the option is given with a HIP driver, which is named by an option or an API."""
    if gpu_time and driver in HIP_DRIVERS:
        raise UsageError(f"{option} measures launches of CUDA programs; leave it out for a HIP driver")


def complete_policy(typed: str) -> list[CompletionItem]:
    """Shell completion of --policy: names, or files if no name fits."""
    from ..policy import NAMES

    fitting = [CompletionItem(name) for name in NAMES if name.startswith(typed)]
    return fitting or [CompletionItem(typed, type="file")]


timeout_option = click.option(
    "--timeout",
    type=FiniteRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Kill the command and its child processes after this time, and exit with 124.",
)

json_option = click.option(
    "--json",
    "json_path",
    type=OutputPath(allow_dash=True),
    metavar="PATH",
    help="Write the result as JSON; - is standard output.",
)


class FailOn(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic in new versions of click
    """Ids of findings and severities, separated by commas."""

    name = "findings"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        from ..findings.checks import RULES
        from ..findings.rules import Severity

        if isinstance(value, tuple):
            return value
        words = tuple(word.strip() for word in value.split(","))
        known = [*Severity.__members__, *RULES]
        unknown = [word for word in words if word not in known]
        if unknown:
            self.fail(
                f"{unknown[0]!r} is neither a finding nor a severity; give some of {', '.join(known)}",
                param,
                ctx,
            )
        return words

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        from ..findings.checks import RULES
        from ..findings.rules import Severity

        before, comma, word = incomplete.rpartition(",")
        names = [*Severity.__members__, *RULES]
        return [CompletionItem(before + comma + each) for each in names if each.startswith(word)]


fail_on_option = click.option(
    "--fail-on",
    type=FailOn(),
    default=(),
    metavar="ID,...|SEVERITY",
    help="Exit with 3 if there is one of these findings, or one of this severity (info, warning, error) or worse.",
)

quiet_option = click.option("--quiet", "-q", is_flag=True, help="Print only errors.")


def pairs(option: str, words: Sequence[str]) -> dict[str, str]:
    """A dictionary from repeated NAME=VALUE words. Raises UsageError."""
    items = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals):
            raise UsageError(f"{option} {word!r} is not NAME=VALUE")
        if name in items:
            raise UsageError(f"{option} {name} is given twice")
        items[name] = value
    return items


def write_text(path: Path, text: str) -> None:
    """Write a text file. Raises BenchguardError if that fails, and for a pipe that nobody reads."""
    try:
        with open(path, "w", encoding="utf-8", opener=_open_at_once) as file:
            file.write(text)
    except OSError as error:
        raise BenchguardError(f"cannot write {path}: {error.strerror}; name another file") from error


def _open_at_once(path: str, flags: int) -> int:
    """Without a wait for the reader of a pipe: it would not end."""
    descriptor = os.open(path, flags | os.O_NONBLOCK, 0o666)
    os.set_blocking(descriptor, True)
    return descriptor


def check_distinct(output: Path | None, *others: Path | None) -> None:
    """Raises UsageError for an output that would replace another file of the command."""
    if output is None or is_stdout(output) or (output.exists() and not output.is_file()):
        return
    for other in others:
        if other is not None and os.path.realpath(other) == os.path.realpath(output):
            raise UsageError(f"{output} is named twice; name another file for the output")


def is_stdout(path: Path | None) -> bool:
    return path is not None and str(path) == "-"


def check_output(path: Path | None, *submissions: str | Path) -> None:
    """Raises UsageError for a document's path in a submission."""
    if path is None or is_stdout(path):
        return
    from ..quarantine.submission import check_outside

    check_outside(path, submissions)


def write_json(path: Path | None, text: str) -> None:
    """Print a JSON document, write it to a file, or do nothing without a path."""
    if is_stdout(path):
        print_document(text)
    elif path is not None:
        write_text(path, text + "\n")
