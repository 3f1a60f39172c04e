"""One anonymization: count, search, recode, and measure what came out. Records and writes nothing."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.anonymize.check import NO_GUARANTEE, MeasuredTable
from discreet.anonymize.criteria.diversity import Diversity, diversity_of
from discreet.anonymize.criteria.measures import make_histogram
from discreet.anonymize.groups import Groups, Sensitive, group_table
from discreet.anonymize.hierarchy.levels import Hierarchy, read_hierarchies
from discreet.anonymize.read_groups import read_groups
from discreet.anonymize.recode import fetch, recoded
from discreet.anonymize.request import AnonymizeRequest
from discreet.anonymize.risk.class_sizes import ClassSizes
from discreet.anonymize.risk.intruder import risk_of
from discreet.anonymize.search.cheapest import Progress, silent
from discreet.anonymize.search.optimal import Missing, SearchResult, anonymize
from discreet.anonymize.source import PATIENCE, AnonymizeSource
from discreet.errors import InternalError, InvalidInput

TELLING = 0.5
"""A column that is kept as it is and has another value in more than this share of rows is noted."""


@dataclass(frozen=True, slots=True, eq=False)
class Anonymized:
    """The copy, how it was found, and what it looks like before and after. Its repr shows no row."""

    label: str
    wish: AnonymizeRequest
    table: pa.Table = field(repr=False)
    result: SearchResult
    before: MeasuredTable = field(repr=False)
    after: MeasuredTable = field(repr=False)
    kept: tuple[str, ...] = ()
    redacted: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the object that `discreet anonymize --json` prints."""
        result = self.result
        return {
            "k": result.k,
            "rows": result.rows,
            "suppressed": result.suppressed,
            "classes": result.classes,
            "levels": result.levels,
            "discernibility": result.costs.discernibility,
            "average_class_size": result.costs.average_class_size,
            "height": result.costs.height,
            "loss": result.costs.loss,
            "entropy": result.costs.entropy,
            "optimal": result.optimal,
            "bound": result.bound,
            "cost": result.cost.value,
            "method": result.method.value,
            "conditions": result.conditions,
            "sensitive": {each.column: each.to_json() for each in self.after.diversity},
            "risk": self.after.risk.to_json() | {"before": self.before.risk.to_json()},
            "columns": self.table.column_names,
            "redacted": list(self.redacted),
            "seconds": round(self.seconds, 3),
            "notices": list(self.notices),
            "says": NO_GUARANTEE,
        }


def run(
    source: AnonymizeSource, wish: AnonymizeRequest, *, progress: Progress = silent
) -> Anonymized:
    """Return the anonymized copy of a table. Nothing is recorded or written: the caller's to do.

    Guarantee: none about persons. What is checked, on the copy itself, is that no class of it is
        smaller than k (where missing is a value of its own); otherwise nothing is returned.
    """
    started = time.monotonic()
    quasi = source.named(wish.quasi)
    redacted = _redacted(source, wish, quasi)
    sensitive = None if wish.sensitive is None else source.column(wish.sensitive)
    if sensitive in redacted:
        raise InvalidInput(f"'{sensitive}' cannot be sensitive and redacted at once.")
    hierarchies = hierarchies_of(source, wish)
    weights = {source.column(name): weight for name, weight in wish.weights.items()}
    progress(0, 1, "counting")
    groups = groups_of(source, wish)
    result = anonymize(
        searched(groups, wish),
        hierarchies,
        k=wish.k,
        suppress=wish.suppress,
        cost=wish.cost,
        models=wish.models,
        method=wish.method,
        weights=weights,
        missing=wish.missing,
        seconds=wish.seconds,
        progress=progress,
    )
    progress(0, 1, "recoding the rows")
    names = [name for name in source.columns if name not in redacted]
    untouched = {name for name, level in (result.levels or {}).items() if level == 0}
    copy = recoded(fetch(source, names), groups, result.recoding, untouched=untouched)
    progress(0, 1, "measuring the copy")
    after = measured(group_table(copy, quasi, sensitive=sensitive), wish.population)
    _verify(result, wish, copy, after)
    kept = tuple(name for name in names if name not in quasi and name != sensitive)
    return Anonymized(
        label=source.label,
        wish=wish,
        table=copy,
        result=result,
        before=measured(groups, wish.population),
        after=after,
        kept=kept,
        redacted=redacted,
        notices=_notices(copy, kept, result),
        seconds=time.monotonic() - started,
    )


def groups_of(source: AnonymizeSource, wish: AnonymizeRequest) -> Groups:
    """Return the rows of a table as the wish's quasi-identifiers tell them apart."""
    source.rows()  # refuses a table without any
    return read_groups(
        source.engine,
        source.table,
        source.named(wish.quasi),
        sensitive=None if wish.sensitive is None else source.column(wish.sensitive),
        condition=source.condition or "",
        seconds=PATIENCE,
    )


def searched(groups: Groups, wish: AnonymizeRequest) -> Groups:
    """Return the groups as the search needs them: a column that is only measured is a burden."""
    needed = any(model.needs_sensitive for model in wish.models)
    return groups if needed else replace(groups, sensitive=None)


def hierarchies_of(source: AnonymizeSource, wish: AnonymizeRequest) -> Mapping[str, Hierarchy]:
    """Return the hierarchies that were given, as texts or in a folder; others are built."""
    quasi = source.named(wish.quasi)
    given = {source.column(name): hierarchy for name, hierarchy in wish.given.items()}
    unused = [name for name in given if name not in quasi]
    if unused:
        raise InvalidInput(f"'{unused[0]}' has a hierarchy but is no quasi-identifier.")
    read = {} if wish.hierarchies is None else read_hierarchies(wish.hierarchies, quasi)
    return {**read, **given}


def _redacted(
    source: AnonymizeSource, wish: AnonymizeRequest, quasi: tuple[str, ...]
) -> tuple[str, ...]:
    asked = source.named(wish.redact)
    both = [name for name in asked if name in quasi]
    if both:
        raise InvalidInput(
            f"'{both[0]}' is redacted, so it cannot be a quasi-identifier.",
            hint="Leave it out of --quasi: what is not published need not be coarsened.",
        )
    told = {name.lower() for name in (*quasi, wish.sensitive or "")}
    hidden = [name for name in source.hidden if name.lower() not in told and name not in asked]
    return (*asked, *(name for name in source.columns if name in hidden))


def measured(groups: Groups, population: int | None) -> MeasuredTable:
    """Return sizes, risks and diversity of rows that were counted already."""
    sizes = ClassSizes.of(groups.rows)
    sensitive = groups.sensitive
    found = () if sensitive is None else (_varied(groups, sensitive),)
    return MeasuredTable(groups.quasi, sizes, risk_of(sizes, population), found)


def _varied(groups: Groups, sensitive: Sensitive) -> Diversity:
    values = len(sensitive.values)
    whole = np.bincount(sensitive.codes, weights=sensitive.rows, minlength=values)
    histogram = make_histogram(
        sensitive.group,
        sensitive.codes,
        sensitive.rows,
        classes=groups.combinations,
        whole=whole / whole.sum(),
    )
    known = [value for value in sensitive.values if value is not None]
    return diversity_of(
        sensitive.column, histogram, ordered=not any(isinstance(v, str | bool) for v in known)
    )


def _verify(
    result: SearchResult, wish: AnonymizeRequest, copy: pa.Table, after: MeasuredTable
) -> None:
    if copy.num_rows != result.rows - result.suppressed:
        raise InternalError("the copy has another number of rows than was found")
    if wish.missing is Missing.VALUE and after.sizes.k < wish.k:
        raise InternalError("the copy is not k-anonymous; nothing was written")


def _notices(copy: pa.Table, kept: tuple[str, ...], result: SearchResult) -> tuple[str, ...]:
    found = []
    telling = [
        name
        for name in kept
        if not pa.types.is_nested(copy.schema.field(name).type)
        and pc.count_distinct(copy.column(name)).as_py() > TELLING * copy.num_rows
    ]
    if telling:
        found.append(
            f"Nearly every row has another value of {', '.join(telling)}: who knows it finds the "
            "row. Redact such a column, or make it a quasi-identifier."
        )
    if not result.optimal and result.bound is not None and result.levels is not None:
        found.append(
            f"The search ran out of time: a better copy may exist, but none with "
            f"{result.cost.value} below {result.bound:,.6g}."
        )
    return tuple(found)
