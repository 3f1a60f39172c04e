"""A document as one HTML file: no script, nothing loaded from anywhere, every text escaped."""

from __future__ import annotations

from html import escape

from discreet.report.blocks import (
    DocumentBlock,
    DocumentContents,
    Figure,
    Grid,
    GridCell,
    Paragraph,
    Section,
)
from discreet.report.style import STYLE
from discreet.report.svg import to_svg

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
