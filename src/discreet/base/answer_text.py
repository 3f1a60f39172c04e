"""An answer as a plain table and as HTML, with the noise beside each value, and the error of ranks in words.

A value that was chosen, not measured, has another error: how many ranks it is off, and whether that is any use.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any, Self

from discreet.base.display import visible

USEFUL = 4
"""A rank that may be off by more than one part in so many of the rows says nothing."""


@dataclass(frozen=True, slots=True)
class RankError:
    """How many rows the rank of a quantile, MIN or MAX is off by at most, at 95%, and among how many rows.

    `error`: None where an earlier version did not keep it. `rows`: a count that was paid for in the same
    answer, or a number that somebody named; None where there is neither. `largest`: of the most frequent
    value, how many rows fewer it has than the one that has the most. `computed`: of what the cell was
    computed from. `ranged`: of the range of values whose middle is shown. `beyond`: of a group that is shown for its
    noisy number of rows, how many rows "more" or "fewer" any group that is left out has.
    """

    error: int | None
    rows: int | None = None
    largest: bool = False
    computed: bool = False
    ranged: bool = False
    beyond: str = ""

    @property
    def shown(self) -> int | None:
        """Return the error, never more than the number of rows: there, nothing is known of the rank."""
        if self.error is None or self.rows is None:
            return self.error
        return min(self.error, self.rows)

    @property
    def too_noisy(self) -> bool | None:
        """Return whether it is more than a quarter of the rows; None where that is not known.

        Of no rows nothing is known, also where `error` was read from JSON, which has no more than the rows.
        """
        if self.error is None or self.rows is None:
            return None
        return not self.rows or self.error * USEFUL > self.rows

    @property
    def words(self) -> str:
        """Return it as people read it."""
        if self.error is None:
            return "rank error not kept"
        if self.beyond:
            rows = "row" if self.error == 1 else "rows"
            return f"groups left out have at most {self.error:,} {rows} {self.beyond}"
        of = "" if self.rows is None else f" of {self.rows:,}"
        size = f"{self.shown:,}{of} {'row' if (self.rows or self.shown) == 1 else 'rows'}"
        rank = "rank of its range" if self.ranged else "rank"
        found = f"{size} or fewer behind the most frequent" if self.largest else f"{rank} ± {size}"
        if self.computed:
            found = f"computed from a value with {found}"
        if self.rows is None:
            return f"{found}, number of rows unknown"
        return f"too noisy to use: {found}" if self.too_noisy else found

    def to_json(self) -> dict[str, Any]:
        """Return plain values, the words among them."""
        return asdict(self) | {
            "error": self.shown,
            "too_noisy": self.too_noisy,
            "words": self.words,
        }

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        """Return what `to_json` wrote, here or in an earlier version."""
        return cls(**{each.name: found[each.name] for each in fields(cls) if each.name in found})


Ranks = tuple[tuple[RankError | None, ...], ...]
"""One for each cell of an answer that was chosen."""


def worst(found: Iterable[RankError | None], *, computed: bool) -> RankError | None:
    """Return the least useful of several, for a cell that depends on all of them; None where there is none."""
    known = [each for each in found if each is not None]
    if not known:
        return None

    def useless(each: RankError) -> tuple[bool, bool, float]:
        error = 0 if each.error is None else each.error
        share = error if each.rows is None else error / max(each.rows, 1)
        return each.error is None, each.too_noisy is True, share

    least = max(known, key=useless)
    return replace(least, computed=least.computed or computed)


def ranks_json(ranks: Ranks) -> list[list[dict[str, Any] | None]]:
    """Return plain lists."""
    return [[None if each is None else each.to_json() for each in row] for row in ranks]


def ranks_from_json(found: Iterable[Iterable[Mapping[str, Any] | None]]) -> Ranks:
    """Return what `ranks_json` wrote."""
    return tuple(
        tuple(None if each is None else RankError.from_json(each) for each in row) for row in found
    )


_SHOWN_ROWS = 60
_SAID_ERRORS = 3


@dataclass(frozen=True, slots=True)
class PrintedTable:
    """The cells of an answer as texts, which columns hold numbers, and how many rows are left out."""

    header: list[str]
    body: list[list[str]]
    numeric: list[bool]
    more: str
    errors: list[tuple[str, list[str]]]
    """What is said of the error of each noisy column, row by row."""

    @classmethod
    def of(
        cls,
        columns: tuple[str, ...],
        rows: tuple[tuple[Any, ...], ...],
        errors: tuple[tuple[Any, ...], ...],
        intervals: tuple[tuple[Any, ...], ...] = (),
        ranks: Ranks = (),
        *,
        noisy: tuple[int, ...],
    ) -> PrintedTable:
        """Return the first rows with the noise beside each noisy value."""
        header: list[str] = []
        numeric: list[bool] = []
        for i, name in enumerate(columns):
            header.append(visible(name))
            numeric.append(all(isinstance(row[i], int | float | None) for row in rows))
            if i in noisy:
                header.append("error" if any(row[i] for row in ranks) else "noise ±")
                numeric.append(True)
        nothing = ((None,) * len(columns),) * len(rows)
        every = list(zip(rows, errors, intervals or nothing, ranks or nothing, strict=True))
        body: list[list[str]] = []
        for row, error, pairs, chosen in every[:_SHOWN_ROWS]:
            line: list[str] = []
            for i, value in enumerate(row):
                line.append(shown(value))
                if i in noisy:
                    line.append(_noise(error[i], pairs[i], chosen[i]))
            body.append(line)
        left = len(rows) - _SHOWN_ROWS
        said = [
            (
                visible(columns[i]),
                [_said(e[i], pairs[i], chosen[i]) for _, e, pairs, chosen in every],
            )
            for i in noisy
        ]
        return cls(header, body, numeric, f"… {left:,} more rows" if left > 0 else "", said)

    def error_lines(self) -> list[str]:
        """Return a sentence for each noisy column: its errors at 95%, the different ones."""
        found = []
        for name, errors in self.errors:
            different = list(dict.fromkeys(errors))
            said = "; ".join(different[:_SAID_ERRORS])
            more = len(different) - _SAID_ERRORS
            rest = f"; and {more:,} others" if more > 0 else ""
            found.append(f"{name}: {said}{rest} (95%)")
        return found

    def as_text(self, footer: str) -> str:
        """Return a table for a terminal, numbers to the right."""
        every = [self.header, *self.body]
        widths = [max(len(line[i]) for line in every) for i in range(len(self.header))]

        def line(cells: list[str]) -> str:
            placed = [
                cell.rjust(width) if right else cell.ljust(width)
                for cell, width, right in zip(cells, widths, self.numeric, strict=True)
            ]
            return "  ".join(placed).rstrip()

        lines = [line(self.header), "  ".join("─" * width for width in widths)]
        lines += [line(cells) for cells in self.body]
        return "\n".join([*lines, *([self.more] if self.more else []), footer])

    def as_html(self, footer: str) -> str:
        """Return an HTML table for a notebook; every cell is escaped."""

        def row(cells: list[str], tag: str) -> str:
            styled = [
                f'<{tag} style="text-align:{"right" if right else "left"}">{html.escape(cell)}</{tag}>'
                for cell, right in zip(cells, self.numeric, strict=True)
            ]
            return f"<tr>{''.join(styled)}</tr>"

        more = f"{self.more}. " if self.more else ""
        lines = "".join(row(cells, "td") for cells in self.body)
        return (
            f"<table><thead>{row(self.header, 'th')}</thead><tbody>{lines}</tbody></table>"
            f"<p>{html.escape(more + footer)}</p>"
        )


def _noise(error: Any, ends: Any, rank: RankError | None) -> str:
    """Return the noise of a cell in words: its size, or what else is known."""
    if rank is not None:
        return rank.words
    if error is not None:
        return shown_up(error)
    if ends is None:
        return "unknown"
    if not all(map(math.isfinite, ends)):
        return "unbounded"
    return f"{shown(ends[0])} to {shown(ends[1])}"


def _said(error: Any, ends: Any, rank: RankError | None) -> str:
    """Return the noise of a cell as a sentence has it."""
    words = _noise(error, ends, rank)
    return words if rank is not None else f"± {words}" if error is not None else f"noise {words}"


def shown_up(size: float) -> str:
    """Return the size of noise the way people read it, rounded up: too large perhaps, never too small.

    >>> shown_up(2.9957323), shown_up(0.1), shown_up(1234.561)
    ('2.99574', '0.1', '1,234.57')
    """
    if not math.isfinite(size):
        return "unbounded"
    if size == int(size):
        return shown(size)
    near = Decimal(f"{size:.12g}")
    if size >= 1000:
        return shown(float(near.quantize(Decimal("0.01"), rounding=ROUND_CEILING)))
    return shown(float(near.normalize(Context(prec=6, rounding=ROUND_CEILING))))


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
