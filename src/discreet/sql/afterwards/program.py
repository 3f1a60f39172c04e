"""A statement in two steps: private questions, and SQL over their noisy results and public tables."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from discreet.core.schema import Dataset, Table

ROW = "_row"
"""The column of a result that numbers its rows, so that a cell finds its error bar again."""


@dataclass(frozen=True, slots=True)
class Program:
    """Private questions in order, public tables, and one SELECT over both.

    In `after` the results are tables r0, r1, ... with columns c0, c1, ..., the public tables p0, p1,
    ... with the columns that they are declared with; there are no others. `columns` are the names to
    show. `bars` gives, where each row of the outcome is one row of a single result, that result and
    the column that each output passes on unchanged (None: a computed one); its last output is then
    the number of that row.
    """

    parts: tuple[exp.Select, ...]
    public: tuple[tuple[Dataset, Table], ...]
    after: exp.Query
    columns: tuple[str, ...]
    bars: Bars | None = None


@dataclass(frozen=True, slots=True)
class Bars:
    """Which result's rows the outcome shows, and which of its columns each output is."""

    part: int
    columns: tuple[int | None, ...]
