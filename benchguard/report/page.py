"""A report as one HTML page, without network. Every text in it may be hostile.

Jinja escapes every text, and characters that are not drawn as themselves are written as escape sequences. The page's
content security policy allows the scripts of this package and of Plotly by their SHA-256, and no other script, request
or form.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from .. import __version__
from ..errors import UsageError
from ..ipc.json_text import json_line
from ..ipc.text import printable

ROWS_MAX = 500
WEB = Path(__file__).parent / "web"
PALETTE = ("#4c78a8", "#e08214", "#3f9b4b", "#9467bd", "#17a2a8", "#b5651d", "#d468a8", "#8c8f12", "#5b6abf")
OTHER_COLOR, FAILED_COLOR = "#8b949e", "#d93025"


@dataclass(frozen=True)
class Column:
    heading: str
    number: bool = False


@dataclass(frozen=True)
class Cell:
    """`value` sorts the column, in place of the text. `code` is a short identifier that does not wrap."""

    text: str
    value: float | None = None
    code: bool = False


Row: TypeAlias = Sequence[Cell]


@dataclass(frozen=True)
class Table:
    """The first ROWS_MAX rows are shown. `order` says by which order they are the first."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    omitted: int = 0
    order: str = ""


@dataclass(frozen=True)
class Chart:
    """`data` is what the function `data["kind"]` of web/charts.js draws; `label` describes the chart in words."""

    name: str
    label: str
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Badge:
    text: str
    tone: Literal["", "good", "bad"] = ""


@dataclass(frozen=True)
class Section:
    id: str
    title: str
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    charts: Sequence[Chart] = ()
    tables: Sequence[Table] = ()


@dataclass(frozen=True)
class Page:
    title: str
    badges: Sequence[Badge]
    warnings: Sequence[str]
    sections: Sequence[Section]
    footer: str = f"neutrino-bench {__version__}"

    @property
    def has_charts(self) -> bool:
        return any(section.charts for section in self.sections)


def first_rows(title: str, columns: Sequence[Column], rows: Sequence[Row], order: str) -> Table:
    """A table of the first ROWS_MAX rows."""
    return Table(title, columns, rows[:ROWS_MAX], max(0, len(rows) - ROWS_MAX), order)


def number(value: float, text: str | None = None) -> Cell:
    return Cell(f"{value:,}" if text is None else text, value)


def text(value: str) -> Cell:
    return Cell(value)


def render(page: Page) -> str:
    """The page as HTML. Raises UsageError if a package of the extra `report` is missing."""
    jinja, plotly = _packages()
    environment = jinja.Environment(
        loader=jinja.FileSystemLoader(WEB),
        autoescape=True,
        undefined=jinja.StrictUndefined,
        finalize=lambda value: printable(value, "\n") if type(value) is str else value,
    )
    own = ["tables.js", *(["charts.js"] if page.has_charts else [])]
    scripts = [*([plotly()] if page.has_charts else []), *(_read(name) for name in own)]
    for each in scripts:
        if "</script" in each.lower() or "<!--" in each or "\r" in each:
            raise UsageError("the installed plotly cannot be put into a page; install plotly 6 or newer")
    data = {chart.name: chart.data for section in page.sections for chart in section.charts}
    return str(
        environment.get_template("page.html").render(
            page=page,
            policy=_policy(scripts),
            style=jinja.utils.markupsafe.Markup(_read("page.css")),
            data=jinja.utils.markupsafe.Markup(script_data(data)),
            scripts=[jinja.utils.markupsafe.Markup(each) for each in scripts],
        )
    )


def script_data(value: Any) -> str:
    """JSON that cannot end the script element around it."""
    encoded = json_line(value).decode()
    return "".join(f"\\u{ord(each):04x}" if each in "<>&" else each for each in encoded)


def _policy(scripts: Sequence[str]) -> str:
    hashes = " ".join(f"'sha256-{_digest(each)}'" for each in scripts)
    return f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _read(name: str) -> str:
    return (WEB / name).read_text(encoding="utf-8")


def _packages() -> tuple[Any, Any]:
    try:
        import jinja2  # noqa: PLC0415 - an extra
        from plotly.offline import get_plotlyjs  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(
            f"a page needs the package {error.name}; install it with `pip install 'neutrino-bench[report]'`"
        ) from error
    return jinja2, get_plotlyjs
