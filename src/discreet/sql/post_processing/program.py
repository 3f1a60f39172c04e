"""A statement in two steps: private questions, and SQL over their noisy results and public tables."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp

from discreet.core.schema import Dataset, Table

ROW = "_row"
"""The column of a result that numbers its rows, so that a cell finds its error bar again."""
_OURS = re.compile(rf"(?:{ROW}|[kga][0-9]+)(_*)")


def unwritten(tree: exp.Expr) -> str:
    """Return an ending that makes our own names such as no identifier of a statement is.

    Guarantee: `_row`, and k0, g0, a0 and the like, with this ending are written nowhere in `tree`, so
        nothing that somebody wrote can mean them: not a column of a subquery, not one from outside.
    """
    words = (node.name.lower() for node in tree.find_all(exp.Identifier))
    found = [len(match[1]) + 1 for word in words if (match := _OURS.fullmatch(word))]
    return "_" * max(found, default=0)


@dataclass(frozen=True, slots=True)
class LaterSelection:
    """How the steps after a private query may select among its cells by noise: its error bars allow for it.

    `most_rows`: above how many of its rows they may select some by any of their noisy values; None where never.
    `columns`: of how many columns of private queries one column may show errors, as a UNION or GREATEST does.
    """

    most_rows: int | None = None
    columns: int = 1


NO_STEPS = LaterSelection()


@dataclass(frozen=True, slots=True)
class Program:
    """Private questions in order, public tables, and one SELECT over both.

    In `after` the results are tables r0, r1, ... with columns c0, c1, ..., the public tables p0, p1,
    ... with the columns that they are declared with; there are no others. `columns` are the names to
    show. `bars` gives, where each row of the outcome is one row of a single result, that result and
    the column that each output passes on unchanged (None: a computed one); its last output is then
    the number of that row. `mark` ends the names of keys and aggregates that steps read (`unwritten`).
    """

    parts: tuple[exp.Select, ...]
    public: tuple[tuple[Dataset, Table], ...]
    after: exp.Query
    columns: tuple[str, ...]
    bars: ErrorBarSources | None = None
    mark: str = ""


@dataclass(frozen=True, slots=True)
class ErrorBarSources:
    """Which result's rows the outcome shows, and which of its columns each output is.

    `deciding`: the result's columns by which steps select among its rows, None where it may be any. `limit`:
    above how many rows a LIMIT leaves some out.
    """

    part: int
    columns: tuple[int | None, ...]
    deciding: frozenset[int] | None
    limit: int | None = None
