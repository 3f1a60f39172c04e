"""Regions in plain words: "sex = 'Female' AND age > 20"."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from discreet.catalog.axes import NamedAxis, axis_print, is_table_axis, parse_axis, tables_on
from discreet.core.numbers import plain
from discreet.core.region import NULL, Positions, Region, Span
from discreet.core.schema import (
    BooleanDomain,
    CategoryDomain,
    Dataset,
    DateDomain,
    FiniteDomain,
    IdentifierDomain,
    IntegerDomain,
    NumberDomain,
    TextDomain,
    TimestampDomain,
)
from discreet.engine.dialect.names import text_constant
from discreet.errors import UnknownName

MAX_LISTED = 5
"""More values or ranges than this are counted, not listed."""


def describe(region: Region, datasets: Mapping[str, Dataset]) -> str:
    """Return `region` in plain words."""
    if region.empty:
        return "nobody"
    lists: list[str] = []  # sex = 'Female' reads better before age > 20
    ranges: list[str] = []
    places: list[str] = []
    parsed = {name: parse_axis(name) for name, _ in region.axes}
    tables = {(axis.dataset, axis.table) for axis in parsed.values() if axis is not None}
    prefixes = _prefixes(tables)
    for name, positions in region.axes:
        axis = parsed[name]
        if axis is None:
            places.extend(_place(name, positions, datasets))
        else:
            shown = prefixes[axis.dataset, axis.table] + axis.column
            domain = _domain(axis, datasets)
            earlier = f"{shown} as it was declared earlier"
            words = earlier if domain is None else _words(shown, domain, positions)
            listed = isinstance(domain, CategoryDomain | BooleanDomain)
            (lists if listed else ranges).append(words)
    condition = " AND ".join(part for part in (*lists, *ranges) if part)
    place = " or ".join(places)
    if place and condition:
        return f"in {place}: {condition}"
    return condition or (f"everyone in {place}" if place else "everyone")


def _place(name: str, positions: Positions, datasets: Mapping[str, Dataset]) -> list[str]:
    for dataset in datasets.values():
        if is_table_axis(dataset, name):
            return tables_on(dataset, positions)
    return []  # an earlier list of tables: the columns still say which rows are meant


def _prefixes(tables: Collection[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return what to write before a column: only as much as tells these tables apart."""
    if len(tables) == 1:
        return dict.fromkeys(tables, "")
    if len({dataset for dataset, _ in tables}) == 1:
        return {(dataset, table): f"{table}." for dataset, table in tables}
    return {(dataset, table): f"{dataset}.{table}." for dataset, table in tables}


def _domain(axis: NamedAxis, datasets: Mapping[str, Dataset]) -> FiniteDomain | None:
    """Return the declared domain of the axis, or None if it has changed since."""
    dataset = datasets.get(axis.dataset)
    for table in dataset.tables if dataset else ():
        if table.name != axis.table:
            continue
        try:
            column = table.column(axis.column)
        except UnknownName:
            return None
        for read in (column, column.by_day()):
            if axis.fingerprint in {axis_print(table, read), read.fingerprint}:
                domain = read.domain
                return None if isinstance(domain, IdentifierDomain | TextDomain) else domain
        return None
    return None


def _words(name: str, domain: FiniteDomain, positions: Positions) -> str:
    inside = positions & Positions.whole(domain.size)
    known = inside & Positions(((0, domain.size - 1),))
    unknown = NULL in inside
    if not known:
        return f"{name} is missing" if unknown else f"{name} is nothing that was declared"
    if len(known) == domain.size:
        return "" if unknown else f"{name} is known"
    if isinstance(domain, CategoryDomain | BooleanDomain):
        return _listed(name, domain, known, unknown=unknown)
    ranges = [_range(name, domain, span) for span in known.spans]
    if len(ranges) > MAX_LISTED:
        ranges = [f"{name} in {len(ranges):,} ranges"]
    if unknown:
        ranges.append("unknown")
    return ranges[0] if len(ranges) == 1 else f"({' or '.join(ranges)})"


def _listed(
    name: str, domain: CategoryDomain | BooleanDomain, known: Positions, *, unknown: bool
) -> str:
    left_out = known.complement(domain.size) & Positions(((0, domain.size - 1),))
    if unknown and len(left_out) < len(known):  # "other than" holds the missing by itself
        return f"{name} other than {_values(domain, left_out)}"
    equal = f"{name} = " if len(known) == 1 else f"{name} in "
    found = equal + _values(domain, known)
    return f"({found} or unknown)" if unknown else found


def _values(domain: CategoryDomain | BooleanDomain, positions: Positions) -> str:
    shown = [
        _quoted(domain.value(position))
        for low, high in positions.spans
        for position in range(low, min(high, low + MAX_LISTED) + 1)
    ]
    if len(positions) > MAX_LISTED:
        return f"({', '.join(shown[:MAX_LISTED])} and {len(positions) - MAX_LISTED:,} more)"
    return shown[0] if len(shown) == 1 else f"({', '.join(shown)})"


def _range(
    name: str, domain: IntegerDomain | NumberDomain | DateDomain | TimestampDomain, span: Span
) -> str:
    low, high = span
    if low == high:
        return f"{name} = {_shown(domain, low)}"
    if high == domain.size - 1:
        if isinstance(domain, IntegerDomain):
            return f"{name} > {_shown(domain, low - 1)}"
        return f"{name} >= {_shown(domain, low)}"
    if low == 0:
        return f"{name} <= {_shown(domain, high)}"
    return f"{name} {_shown(domain, low)} to {_shown(domain, high)}"


def _shown(
    domain: IntegerDomain | NumberDomain | DateDomain | TimestampDomain, position: int
) -> str:
    if isinstance(domain, NumberDomain):
        return plain(domain.value(position))
    return str(domain.value(position))


def _quoted(value: str | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return text_constant(value)
