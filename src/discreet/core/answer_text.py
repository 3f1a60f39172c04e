"""An answer as a plain table and as HTML, with the noise beside each value."""

from __future__ import annotations

import html
from typing import Any

from discreet.core.visible import visible

_SHOWN_ROWS = 60


def _cells(
    columns: tuple[str, ...],
    rows: tuple[tuple[Any, ...], ...],
    errors: tuple[tuple[Any, ...], ...],
    noisy: tuple[int, ...],
) -> tuple[list[str], list[list[str]], list[bool]]:
    """Return header, rows of text, and which columns hold numbers."""
    header: list[str] = []
    numeric: list[bool] = []
    for i, name in enumerate(columns):
        header.append(visible(name))
        numeric.append(all(isinstance(row[i], int | float | None) for row in rows))
        if i in noisy:
            header.append("noise ±")
            numeric.append(True)
    body: list[list[str]] = []
    for row, error in zip(rows[:_SHOWN_ROWS], errors[:_SHOWN_ROWS], strict=True):
        line: list[str] = []
        for i, value in enumerate(row):
            line.append(shown(value))
            if i in noisy:
                line.append("unknown" if error[i] is None else shown(error[i]))
        body.append(line)
    return header, body, numeric


def shown(value: Any) -> str:
    """Return a value the way people read it: thousands grouped, six digits of a fraction."""
    if value is None:
        return "NULL"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return visible(str(value))
    if isinstance(value, int) or (value == int(value) and abs(value) < 1e15):
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.2f}"
    return f"{value:.6g}"


def as_text(
    columns: tuple[str, ...],
    rows: tuple[tuple[Any, ...], ...],
    errors: tuple[tuple[Any, ...], ...],
    *,
    noisy: tuple[int, ...],
    footer: str,
) -> str:
    """Return a table for a terminal, numbers to the right."""
    header, body, numeric = _cells(columns, rows, errors, noisy)
    widths = [max(len(line[i]) for line in [header, *body]) for i in range(len(header))]

    def line(cells: list[str]) -> str:
        placed = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(cells, widths, numeric, strict=True)
        ]
        return "  ".join(placed).rstrip()

    lines = [line(header), "  ".join("─" * width for width in widths)]
    lines += [line(cells) for cells in body]
    if len(rows) > _SHOWN_ROWS:
        lines.append(f"… {len(rows) - _SHOWN_ROWS:,} more rows")
    return "\n".join([*lines, footer])


def as_html(
    columns: tuple[str, ...],
    rows: tuple[tuple[Any, ...], ...],
    errors: tuple[tuple[Any, ...], ...],
    *,
    noisy: tuple[int, ...],
    footer: str,
) -> str:
    """Return an HTML table for a notebook; every cell is escaped."""
    header, body, numeric = _cells(columns, rows, errors, noisy)

    def row(cells: list[str], tag: str) -> str:
        styled = [
            f'<{tag} style="text-align:{"right" if right else "left"}">{html.escape(cell)}</{tag}>'
            for cell, right in zip(cells, numeric, strict=True)
        ]
        return f"<tr>{''.join(styled)}</tr>"

    more = f"… {len(rows) - _SHOWN_ROWS:,} more rows. " if len(rows) > _SHOWN_ROWS else ""
    lines = "".join(row(cells, "td") for cells in body)
    return (
        f"<table><thead>{row(header, 'th')}</thead><tbody>{lines}</tbody></table>"
        f"<p>{html.escape(more + footer)}</p>"
    )
