"""A report: sections of words, figures and grids, as one HTML file that loads nothing, as JSON, and onto the disk."""

from __future__ import annotations

import json
import math
import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import Any, TypeAlias

from discreet.base.display import ShownInLines, ShownLines, framed_page
from discreet.base.packages import needs
from discreet.errors import InternalError, InvalidInput
from discreet.show.charts import CHART, LIGHT, STYLE

GridCell: TypeAlias = str | int | float | None
"""One field of a grid; None is shown as a dash."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph. A warning is set apart by a rule and the word "Note"."""

    text: str
    warning: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart as a Vega-Lite specification; the caption says in words what it shows."""

    title: str
    spec: dict[str, Any]
    caption: str


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of text and numbers; `shares` names the columns shown as a percentage."""

    headers: tuple[str, ...]
    rows: tuple[tuple[GridCell, ...], ...]
    caption: str
    shares: frozenset[int] = field(default_factory=frozenset)

    def __post_init__(self) -> None:
        if any(len(row) != len(self.headers) for row in self.rows):
            raise InternalError("a row of a grid has more or fewer cells than there are headers")

    @classmethod
    def of(
        cls,
        headers: Sequence[str],
        rows: Sequence[Sequence[GridCell]],
        caption: str,
        *,
        shares: Sequence[int] = (),
    ) -> Grid:
        """Return a grid of any sequences."""
        return cls(tuple(headers), tuple(tuple(row) for row in rows), caption, frozenset(shares))


DocumentBlock: TypeAlias = Paragraph | Figure | Grid


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it."""

    title: str
    blocks: tuple[DocumentBlock, ...]


@dataclass(frozen=True, slots=True, repr=False)
class DocumentContents:
    """A title and sections. `warning` is repeated on every page and above every section."""

    title: str
    subtitle: str
    warning: str | None
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Document(DocumentContents, ShownInLines):
    """A whole report. `warning` is repeated on every page and above every section.

    >>> Document("Town", "one row each", None, ()).title
    'Town'
    """

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        warning = [] if self.warning is None else [("warning", self.warning)]
        sections = ", ".join(section.title for section in self.sections)
        return [("report", self.title), ("about", self.subtitle), *warning, ("sections", sections)]

    def write(self, path: str | Path) -> Path:
        """Return the path after writing it there, as a .html or .json file."""
        return write(self, path)

    def _repr_html_(self) -> str:
        return framed_page(to_html(self))


_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""A second wall behind the escaping: the file may run and load nothing."""


def to_html(document: DocumentContents) -> str:
    """Return the whole document as a page that needs nothing besides itself."""
    title = escape(document.title)
    mark = "" if document.warning is None else f"{escape(document.warning)} · "
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{mark}{title}</title><style>{STYLE}</style></head><body>"
        f"<main>{_banner(document)}<h1>{title}</h1>"
        f'<p class="quiet">{escape(document.subtitle)}</p>{_sections(document)}</main>'
        "</body></html>\n"
    )


def to_fragment(document: DocumentContents) -> str:
    """Return the sections alone, for a page that brings its own headline and style sheet."""
    return f'<article class="report">{_banner(document)}{_sections(document)}</article>'


def _banner(document: DocumentContents) -> str:
    if document.warning is None:
        return ""
    return f'<p class="mark" role="note"><strong>{escape(document.warning)}</strong></p>'


def _sections(document: DocumentContents) -> str:
    return "".join(_section(section, document.warning) for section in document.sections)


def _section(section: Section, warning: str | None) -> str:
    again = "" if warning is None else f'<p class="again">{escape(warning)}</p>'
    blocks = "".join(_block(block) for block in section.blocks)
    return f"<section><h2>{escape(section.title)}</h2>{again}{blocks}</section>"


def _block(block: DocumentBlock) -> str:
    match block:
        case Paragraph():
            return _words(block)
        case Figure():
            return _figure(block)
        case Grid():
            return _grid(block)


def _words(words: Paragraph) -> str:
    if words.warning:
        return f'<p class="note"><b>Note.</b> {escape(words.text)}</p>'
    return f"<p>{escape(words.text)}</p>"


def _figure(figure: Figure) -> str:
    heading = f"<h3>{escape(figure.title)}</h3>" if figure.title else ""
    label = escape(f"{figure.title}. {figure.caption}", quote=True)
    return (
        f'{heading}<figure><div class="wide" role="img" tabindex="0" aria-label="{label}">{to_svg(figure.spec)}</div>'
        f"<figcaption>{escape(figure.caption)}</figcaption></figure>"
    )


def _grid(grid: Grid) -> str:
    numbers = [
        all(isinstance(row[i], int | float | None) for row in grid.rows) and bool(grid.rows)
        for i in range(len(grid.headers))
    ]
    kinds = [' class="number"' if number else "" for number in numbers]
    head = "".join(
        f'<th scope="col"{kind}>{escape(header)}</th>'
        for kind, header in zip(kinds, grid.headers, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{kinds[i]}>{escape(shown(cell, share=i in grid.shares))}</td>"
            for i, cell in enumerate(row)
        )
        + "</tr>"
        for row in grid.rows
    )
    # Focusable, because a region that scrolls must be reachable by keyboard.
    label = escape(grid.caption, quote=True)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{label}"><table>'
        f"<caption>{escape(grid.caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def shown(cell: GridCell, *, share: bool = False) -> str:
    """Return a cell as text: thousands apart, three significant figures, a dash for nothing."""
    if cell is None or cell != cell:  # noqa: PLR0124  # NaN is the one value unlike itself
        return "-"
    if isinstance(cell, str):
        return cell
    if share:
        return f"{100 * cell:.2f}%" if abs(cell) < 0.1 else f"{100 * cell:.1f}%"
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:,.0f}" if abs(cell) >= 1000 else f"{cell:.3g}"


_ACTIVE = re.compile(r"<(script|image|a|foreignObject|style|use)[\s>/]", re.IGNORECASE)
_COLOURED = re.compile(r'\b(fill|stroke)="(#[0-9a-fA-F]{3,6})"')
_ROOM = {"left": 28, "right": 12, "top": 6, "bottom": 20}
"""Around the chart, since the reader's font may be wider than the one that was measured."""
_BY_COLOUR = {colour: name for name, colour in LIGHT.items()}


def to_svg(spec: dict[str, Any]) -> str:
    """Return the chart as SVG whose colours are the variables --ink, --accent and so on."""
    whole = {
        **spec,
        "config": {**CHART, **spec.get("config", {})},
        "background": None,
        "padding": _ROOM,
    }
    drawn = str(_converter().vegalite_to_svg(json.dumps(whole), allowed_base_urls=[]))
    if _ACTIVE.search(drawn):
        # The text of labels is escaped, so this is a mark that a report must not use.
        raise InternalError("a figure of a report may hold shapes and text only")
    return _COLOURED.sub(_variable, drawn)


def _variable(found: re.Match[str]) -> str:
    name = _BY_COLOUR.get(found[2].lower())
    return found[0] if name is None else f'{found[1]}="var(--{name})"'


def _converter() -> Any:
    with needs("vl-convert-python", extra="plot"):
        import vl_convert
    return vl_convert


REPORT_FILES = (".html", ".json")
OWN_FILES = (".toml", ".db")
"""What declarations and ledgers are called."""


def to_json(document: DocumentContents) -> dict[str, Any]:
    """Return the document as plain objects; every block says its kind."""
    return {
        "title": document.title,
        "subtitle": document.subtitle,
        "warning": document.warning,
        "sections": [
            {"title": section.title, "blocks": [_block_json(block) for block in section.blocks]}
            for section in document.sections
        ],
    }


def _block_json(block: DocumentBlock) -> dict[str, Any]:
    match block:
        case Paragraph():
            return {"kind": "words", **asdict(block)}
        case Figure():
            return {"kind": "figure", **asdict(block)}
        case Grid():
            return {
                "kind": "grid",
                "headers": list(block.headers),
                "rows": [[_finite(cell) for cell in row] for row in block.rows],
                "caption": block.caption,
            }


def _finite(cell: GridCell) -> GridCell:
    """JSON has no infinity and no NaN."""
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def check_target(
    path: str | Path, endings: Sequence[str] = (), *, apart: Iterable[str | Path | None] = ()
) -> Path:
    """Return the path if a file can be written there; refuse it before anything is paid or recorded.

    `endings` are those that the file may have, in any case; none: what it is called does not matter.
    `apart` are files of the same command that must stay: what is read, and what else is written.
    A declaration or a database (a ledger is one) is never replaced.
    """
    target = Path(path)
    _check_ending(target, endings)
    if target.is_dir():
        raise InvalidInput(f"'{target}' is a folder.")
    if any(other is not None and _same_file(target, Path(other)) for other in apart):
        raise InvalidInput(
            f"'{target}' is named twice: it would be replaced.", hint="Name another file to write."
        )
    # A ledger may not be there yet: it is made when the first charge is.
    if target.suffix.lower() in OWN_FILES or _is_database(target):
        raise InvalidInput(
            f"'{target}' is a declaration or a database, and is not replaced.",
            hint="Name another file to write.",
        )
    if target.exists():
        if not os.access(target, os.W_OK):
            raise InvalidInput(f"The file '{target}' cannot be written.")
        return target
    if not target.parent.is_dir():
        raise InvalidInput(f"There is no folder '{target.parent}' to write to.")
    try:
        tempfile.TemporaryFile(dir=target.parent).close()
    except OSError:
        raise InvalidInput(f"Nothing can be written to the folder '{target.parent}'.") from None
    return target


def _same_file(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve() or (
        one.exists() and other.exists() and one.samefile(other)
    )


def _is_database(target: Path) -> bool:
    try:
        with target.open("rb") as file:
            head = file.read(16)
    except OSError:
        return False
    return head == b"SQLite format 3\x00" or head[8:12] == b"DUCK"


def _check_ending(target: Path, endings: Sequence[str]) -> None:
    if not endings or target.suffix.lower() in endings:
        return
    *some, last = (f"a {ending}" for ending in endings)
    kinds = f"neither {', '.join(some)} nor {last}" if some else f"not {last}"
    known = " or ".join([", ".join(endings[:-1]), endings[-1]] if some else endings)
    raise InvalidInput(f"'{target.name}' is {kinds} file.", hint=f"Use {known}.")


def write(document: DocumentContents, path: str | Path) -> Path:
    """Return the path of the report after writing it; its ending says how.

    A document with a warning is for its writer alone: nobody else on the machine may read the file.
    """
    target = Path(path)
    _check_ending(target, REPORT_FILES)
    if target.suffix.lower() == ".json":
        text = json.dumps(to_json(document), indent=1, allow_nan=False) + "\n"
    else:
        text = to_html(document)
    try:
        _write(target, text, private=document.warning is not None)
    except OSError as error:
        raise InvalidInput(
            f"The report cannot be written to '{target}': {error.strerror}."
        ) from None
    return target


def _write(target: Path, text: str, *, private: bool) -> None:
    if private:
        target.unlink(missing_ok=True)  # an old file would keep its old permissions
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    handle = os.open(target, flags, 0o600 if private else 0o666)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
