"""The error of a value that was chosen, not measured: how many ranks it is off, and whether that is any use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self

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
