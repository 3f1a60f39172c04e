"""Axes and regions by name: which column of which table, and a region in words ("sex = 'Female' AND age > 20").

An axis is named by its column, table, domain and snapshot. Two axes may share a name only if every unit has one and the
same position on both. So the name says everything on which the position depends; whatever changes makes a new axis, on
which old charges do not restrict anybody. That can only raise the bill (docs/notes/0013-catalog.md).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from discreet.base.event import EVERYONE, NULL, Positions, Region, Span
from discreet.base.numbers import plain
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    Column,
    Dataset,
    DateDomain,
    FiniteDomain,
    IdentifierDomain,
    IntegerDomain,
    NumberDomain,
    Table,
    TextDomain,
    TimestampDomain,
)
from discreet.data.engines.dialects import text_constant
from discreet.errors import UnknownName

LIVE = "live-"
"""Before the number of a version whose rows may change while it lasts."""


def is_frozen(snapshot: str) -> bool:
    """Return whether all that is read under this version is one state of its rows."""
    return not snapshot.startswith(LIVE)


@dataclass(frozen=True, slots=True)
class NamedAxis:
    """The parts of an axis name. `snapshot` is None where the column is immutable."""

    dataset: str
    table: str
    column: str
    fingerprint: str
    snapshot: str | None

    def __str__(self) -> str:
        name = f"{_part(self.dataset)}/{_part(self.table)}.{_part(self.column)}@{self.fingerprint}"
        return name if self.snapshot is None else f"{name}+{_part(self.snapshot)}"


def axis_name(dataset: Dataset, table: Table, column: Column, snapshot: str) -> str | None:
    """Return the axis of `column`, or None where it may not split the bill.

    Guarantee: equal names imply an equal position for every unit. Assumption: within one snapshot
        that is frozen the source does not change; where it may, only what is immutable splits the
        bill. A row has one value in each column; a person has one value only where the owner said
        `constant`, and the generated SQL enforces it.
    """
    if table.unit is None or isinstance(column.domain, IdentifierDomain | TextDomain):
        return None
    if not table.unit.is_row and not column.constant:
        return None
    if not (is_frozen(snapshot) or column.immutable):
        return None
    lasting = None if column.immutable else snapshot
    return str(NamedAxis(dataset.name, table.name, column.name, axis_print(table, column), lasting))


def axis_print(table: Table, column: Column) -> str:
    """Return what a position on the axis depends on: the domain, and for people who they are.

    A person sits at one point only as long as the same column, read in the same way, says who that is.
    """
    if table.unit is None or table.unit.column is None:
        return column.fingerprint
    named = table.unit.column
    read = next((c.fingerprint for c in table.columns if c.name.lower() == named.lower()), "")
    said = f"{column.fingerprint} {named} {read}"
    said += "" if table.path is None else f" {table.path!r}"
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def parse_axis(name: str) -> NamedAxis | None:
    """Return the parts of `name`, or None if it is the axis that tells tables apart."""
    head, _, tail = name.partition("@")
    if "#" in head:
        return None
    dataset, _, rest = head.partition("/")
    table, _, column = rest.partition(".")
    fingerprint, plus, snapshot = tail.partition("+")
    names = (unquote(dataset), unquote(table), unquote(column))
    return NamedAxis(*names, fingerprint, unquote(snapshot) if plus else None)


def in_every_version(region: Region) -> Region:
    """Return the region without the axes that hold in one version only.

    Guarantee: who lies outside of it lies outside of the region that is meant, in every version: an
        immutable column has one value for ever, whereas a row may be in another table tomorrow.
    """
    kept = {}
    for name, positions in region.axes:
        named = parse_axis(name)
        if named is not None and named.snapshot is None:
            kept[name] = positions
    return Region.of(kept)


def home(dataset: Dataset, table: Table, snapshot: str) -> Region:
    """Return the region on which every release of `table` lies in one version of its dataset.

    Guarantee: for row units, rows of different tables are different units as long as no row moves
        from one to another. So each table has its own position on an axis of this very version,
        in which all tables were read as one state, and of the list of tables and sources: bills of
        two versions add up. Where rows may move while the version lasts there is no such axis.
    """
    private = _private_tables(dataset)
    if table.unit is None or not table.unit.is_row or len(private) == 1:
        return EVERYONE
    if not is_frozen(snapshot):
        return EVERYONE
    position = [other.name for other in private].index(table.name)
    return Region.of({table_axis(dataset, snapshot): Positions.points([position])})


def table_axis(dataset: Dataset, snapshot: str) -> str:
    """Return the axis that tells the rows of different tables of one version of a dataset apart."""
    listed = repr([(table.name, table.source) for table in _private_tables(dataset)])
    digest = hashlib.sha256(listed.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{_part(dataset.name)}#table@{digest}+{_part(snapshot)}"


def is_table_axis(dataset: Dataset, name: str) -> bool:
    """Return whether an axis tells the tables of this dataset apart as they are declared now."""
    return name.rpartition("+")[0] == table_axis(dataset, "").rpartition("+")[0]


def tables_on(dataset: Dataset, positions: Positions) -> list[str]:
    """Return the names of the tables at these positions of `table_axis`."""
    return [table.name for i, table in enumerate(_private_tables(dataset)) if i in positions]


def _private_tables(dataset: Dataset) -> list[Table]:
    # Sorted, so that the order of tables in the file does not matter.
    return sorted((t for t in dataset.tables if t.unit is not None), key=lambda t: t.name)


def _part(text: str) -> str:
    """Return `text` with every separator escaped, so that the name can be read in one way only."""
    escaped = quote(text, safe="", errors="surrogatepass")
    return escaped.replace(".", "%2E")


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
