"""Re-identification risk: prosecutor, journalist, marketer.

Prosecutor: knows that the person is in the file. Journalist: knows only that the person is in the
population. Marketer: matches everybody and counts hits. (docs/notes/0026)
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from discreet.anonymize.risk.class_sizes import ClassSizes
from discreet.anonymize.risk.uniqueness import UniquenessEstimate, estimates, mean_inverse_size

ASSUMED_PART = 0.01
"""The part of a population that a file is taken for where nobody says how large the population is."""
THRESHOLD = 0.2
"""A row counts as at high risk above this: fewer than five people look alike."""


@dataclass(frozen=True, slots=True)
class AgainstIntruder:
    """What one kind of intruder gets right: at the worst row, on average, and rows above 1 in 5."""

    highest: float
    average: float
    rows_above: float


@dataclass(frozen=True, slots=True)
class IntruderRisk:
    """All risks of one table, given how large the population is that its rows come from."""

    share_unique: float
    """The share of rows that nobody else in the file looks like."""
    prosecutor: AgainstIntruder
    journalist: AgainstIntruder
    marketer: float
    population: int
    assumed: bool
    population_uniques: tuple[UniquenessEstimate, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain objects."""
        return {
            "prosecutor": asdict(self.prosecutor),
            "journalist": asdict(self.journalist),
            "marketer": self.marketer,
            "sample_uniques": self.share_unique,
            "population": self.population,
            "population_assumed": self.assumed,
            "population_uniques": {each.name: each.share for each in self.population_uniques},
        }


def risk_of(sizes: ClassSizes, population: int | None = None) -> IntruderRisk:
    """Return the risks of a table with these classes, sampled from `population` people.

    Without a population the table is taken for one row in a hundred of it, and says so.
    """
    rows = sizes.rows
    people = max(rows, round(rows / ASSUMED_PART) if population is None else population)
    part = rows / people if people else 1.0
    return IntruderRisk(
        share_unique=sizes.share_unique,
        prosecutor=_against(sizes, [1 / int(size) for size in sizes.sizes]),
        journalist=_against(sizes, [mean_inverse_size(int(size), part) for size in sizes.sizes]),
        marketer=sizes.count / rows if rows else 0.0,
        population=people,
        assumed=population is None,
        population_uniques=estimates(sizes, people),
    )


def _against(sizes: ClassSizes, chances: list[float]) -> AgainstIntruder:
    """Return the risk where a row in a class of the i-th size is named with the i-th chance."""
    rows = sizes.rows
    if not rows:
        return AgainstIntruder(0.0, 0.0, 0.0)
    held = [int(s) * int(c) for s, c in zip(sizes.sizes, sizes.classes, strict=True)]
    hits = sum(n * chance for n, chance in zip(held, chances, strict=True))
    above = sum(n for n, chance in zip(held, chances, strict=True) if chance > THRESHOLD)
    # A mean is at most the greatest, also after rounding.
    return AgainstIntruder(max(chances), min(max(chances), hits / rows), above / rows)
