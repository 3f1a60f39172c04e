"""Canonical relations: every cell in its declared domain, every row told whose it is.

Engines are handed what is written here: one text for all engines. DuckDB stores its result once for each content of
a source; on other engines it is the innermost SELECT of every question. Nothing above it sees a source's own columns.

Every derivation starts from the canonical relations, as the catalog declares them. A canonical relation holds the
declared columns as c0, c1, ... (each value inside its domain, or NULL; numbers as whole steps), for people also the
unit `u`, never NULL, and where it is stored the rank `r` of a row among its unit's rows. `w` is never below `r`, and
`g3` is the text of the category `c3`, or the number `c3` in 8 bits. Columns declared constant carry one value for
each unit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from discreet.base.event import EVERYONE, Positions, Region
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    Column,
    Dataset,
    DateDomain,
    Domain,
    FiniteDomain,
    IdentifierDomain,
    IntegerDomain,
    NumberDomain,
    Table,
    TextDomain,
)
from discreet.data.engines.base import Capabilities
from discreet.data.engines.dialects import DIALECTS
from discreet.data.engines.functions import function
from discreet.errors import CatalogError
from discreet.privacy.kernel.cells import (
    LONGEST_CELL,
    check_readable,
    constant,
    enum_type,
    is_whole,
    plain_cell,
)
from discreet.privacy.kernel.functions import Value, ValueKind, integer
from discreet.privacy.kernel.nodes import Derived, Name, SelectNode, StoredScan, Unfit
from discreet.privacy.kernel.rows import Base, BilledAxis, Rows
from discreet.privacy.kernel.sources import PlainSource, followed_path, unit_column

FORMAT = "5"
"""Changes whenever the same declarations would give other canonical rows."""
MOST_GROUPED = 8
"""So many categories, and so many small numbers, are stored once more: a text takes an eighth of a second for a million rows."""

_INTEGER = "0|-?[1-9][0-9]{0,18}"
"""How an integer is spelled that is stored as one; every other spelling is another person."""

MOST_SORTED = 16
"""So many numbers: of more the rows that lack the same ones are too few to fill a block."""


def stored_columns(table: Table) -> dict[int, Column]:
    """Return the columns that canonical rows have as c0, c1, ..., by their place in the table.

    Hidden columns are not among them, nor those that wait for review. A person column that only
    identifies has no second copy beside the unit. A timestamp is its day; the second of the day
    stands behind all declared columns, as many places further on as there are.
    """
    unit = unit_column(table)
    found = {
        i: column
        for i, column in enumerate(table.columns)
        if not column.hidden
        and column.reviewed
        and not (column is unit and isinstance(column.domain, IdentifierDomain | TextDomain))
    }
    clocks = {i + len(table.columns): column.clock() for i, column in found.items()}
    return found | {i: clock for i, clock in clocks.items() if clock is not None}


def grouped_columns(table: Table) -> frozenset[int]:
    """Return the columns that DuckDB stores once more to be grouped by (g3 for c3), by their place.

    The first categories, as texts, and the first whole numbers of 8 bits without a sign, as such.
    """
    columns = stored_columns(table)
    texts = [i for i, column in columns.items() if isinstance(column.domain, CategoryDomain)]
    small = [i for i, column in columns.items() if is_tiny(column.domain)]
    return frozenset([*texts[:MOST_GROUPED], *small[:MOST_GROUPED]])


def is_tiny(domain: Domain) -> bool:
    """Return whether a domain's whole numbers have 8 bits and no sign."""
    return isinstance(domain, IntegerDomain) and domain.lower >= 0 and domain.upper < 2**8


def _told(table: Table) -> dict[int, Column]:
    """Return the columns whose cells the owner is told about: those that were declared."""
    return {i: column for i, column in stored_columns(table).items() if column.moment is None}


def canonical_select(
    table: Table,
    columns: Iterable[int],
    engine_types: Mapping[str, str],
    dialect: str,
    relation: str,
    *,
    whole: bool = False,
) -> str:
    """Return the SELECT of a table's canonical rows: c3 AS the fourth column, u AS the unit.

    `engine_types` are the columns of `relation` as the engine spells them; `whole` is told by
    `units_are_whole`.

    Guarantee: each row depends on one row of the source, and in columns declared constant on the
        rows of its unit; every cell is in its declared domain or NULL; rows without a unit are left
        out. The text depends on declarations and on the source's schema, never on its rows.
    """
    readable = stored_columns(table)
    wanted = {i: readable[i] for i in sorted(set(columns))}
    source = PlainSource(table, wanted, engine_types, dialect, relation)
    unit = source.unit(whole=whole)
    cells = [f"{source.cell(i)} AS c{i}" for i in wanted]
    if unit is None:
        return f"SELECT {', '.join(cells) or '1 AS c'} FROM {source.rows}"
    inner = f"{', '.join([*cells, f'{unit} AS u'])} FROM {source.rows}"
    rows = f"SELECT {inner} WHERE {unit} IS NOT NULL"
    fixed = {i for i, column in wanted.items() if column.constant}
    if not fixed:
        return rows
    outer = [
        f"{_least(wanted[i], f's.c{i}', dialect)} AS c{i}" if i in fixed else f"s.c{i} AS c{i}"
        for i in wanted
    ]
    return f"SELECT {', '.join([*outer, 's.u AS u'])} FROM ({rows}) AS s"


def ranked_select(
    table: Table,
    engine_types: Mapping[str, str],
    dialect: str,
    relation: str,
    *,
    whole: bool = False,
) -> str:
    """Return the canonical rows of people with `r`, each row's place among those of its unit.

    Guarantee: which rows come first depends on what the unit's own rows say and on nothing else:
        neither on other people nor on the order in which they lie, on no engine.
    """
    columns = stored_columns(table)
    rows = canonical_select(table, columns, engine_types, dialect, relation, whole=whole)
    order = content_order([f"b.c{i}" for i in columns], dialect)
    number = f"ROW_NUMBER() OVER (PARTITION BY b.u ORDER BY {order})"
    cells = [f"b.c{i} AS c{i}" for i in columns]
    return f"SELECT {', '.join([*cells, 'b.u AS u', f'{number} AS r'])} FROM ({rows}) AS b"


def content_order(values: Sequence[str], dialect: str) -> str:
    """Return what rows are ordered by: a hash of all they say, then what they say."""
    texts = [f"COALESCE({function('text_of_any', dialect, value)}, '')" for value in values]
    said = f" || {constant('|', dialect)} || ".join(texts) if texts else "''"
    # Two rows may say the same in one breath ('a|' and 'b', 'a' and '|b'), so the columns
    # themselves come last; rows that are still equal are interchangeable.
    # Where NULL stands by itself differs between engines.
    return ", ".join([function("hash60", dialect, said), *(f"{v} NULLS FIRST" for v in values)])


def units_are_whole(tables: Iterable[Table], types: Mapping[str, Mapping[str, str]]) -> bool:
    """Return whether people go by integers: every table in `types` stores them so.

    `types` are the engine's types by table and column; what the owner spelled is read as a text. One answer for all tables of a dataset, so
    that a person who is 7 in one of them is not '7' in another.
    """
    units = {table.name: unit for table in tables if (unit := unit_column(table)) is not None}
    return all(
        units[name].spelling.plain and is_whole(found.get(units[name].name.lower(), ""))
        for name, found in types.items()
        if name in units
    )


class _Sources(Protocol):
    """Knows which columns sources have."""

    @property
    def capabilities(self) -> Capabilities: ...

    def has(self, name: str) -> bool: ...

    def columns(self, name: str) -> list[tuple[str, str]]: ...


def column_types(dataset: Dataset, table: Table, engine: _Sources) -> tuple[dict[str, str], bool]:
    """Return the engine's types of a table, and whether its people go by integers.

    They never do where types follow from rows: rows that are stored are read beside others for long.
    """
    if DIALECTS[engine.capabilities.dialect].types_follow_rows:
        columns = engine.columns(f"{dataset.name}.{table.name}")
        return {c.lower(): kind for c, kind in columns}, False
    found = {}
    for other in dataset.tables:
        name = f"{dataset.name}.{other.name}"
        if other is table or (unit_column(other) is not None and engine.has(name)):
            found[other.name] = {c.lower(): kind for c, kind in engine.columns(name)}
    return found[table.name], units_are_whole(dataset.tables, found)


def _least(column: Column, value: str, dialect: str) -> str:
    # PostgreSQL has no least truth value.
    named = DIALECTS[dialect].truth if isinstance(column.domain, BooleanDomain) else {}
    return f"{named.get('MIN', 'MIN')}({value}) OVER (PARTITION BY s.u)"


@dataclass(frozen=True, slots=True)
class CanonicalRecipe:
    """How one table becomes canonical: for `Engine.hold`, which knows SQL but no declarations."""

    dataset: Dataset
    table: Table
    owner: str = ""

    @property
    def copy(self) -> bool:
        """Return whether the owner lets a database or cluster store the canonical rows."""
        return self.table.copied

    @property
    def version(self) -> str | None:
        """Return the owner's word for the source's content, where there is one."""
        return self.table.version

    @property
    def declared(self) -> str:
        """Return everything that canonical rows depend on besides the source's content."""
        unit = unit_column(self.table)
        columns = [
            (i, column.name, column.fingerprint, column.constant)
            for i, column in stored_columns(self.table).items()
        ]
        said: tuple[object, ...] | None = None
        if unit is not None:
            within = self.table.max_rows if self.table.bounded else None
            said = (unit.name, isinstance(unit.domain, IntegerDomain), within)
            said += () if unit.spelling.plain else (unit.spelling,)
        return repr((FORMAT, self.table.source, said, columns, *self._path()))

    def _path(self) -> tuple[object, ...]:
        if self.table.path is None:
            return ()
        by_name = {table.name.lower(): table for table in self.dataset.tables}
        return (self.table.path, followed_path(self.dataset.name, self.table, by_name))

    @property
    def private(self) -> str | None:
        """Return the dataset whose people's rows these are; None for a public table."""
        return None if self.table.public else self.dataset.name

    @property
    def people(self) -> tuple[str, ...]:
        """Return the engine's names of all tables that hold the same people; their types count."""
        if unit_column(self.table) is None:
            return ()
        tables = [table for table in self.dataset.tables if unit_column(table) is not None]
        return tuple(f"{self.dataset.name}.{table.name}" for table in tables)

    @property
    def people_declared(self) -> str:
        """Return how the tables of `people` are declared to name them, and where each lies."""
        if unit_column(self.table) is None:
            return ""
        named = [(table, unit_column(table)) for table in self.dataset.tables]
        found = [(t.name, t.source, c.name, c.fingerprint) for t, c in named if c is not None]
        return repr(sorted(found))

    def whole(self, types: Mapping[str, Mapping[str, str]]) -> bool:
        """Return whether these people go by integers, from the types of `people`."""
        own = {name.split(".", 1)[1]: found for name, found in types.items()}
        return units_are_whole(self.dataset.tables, own)

    def check(self, types: Mapping[str, str]) -> None:
        """Refuse what the source cannot give: a column that it lacks, or a type nobody can read."""
        place = f"table '{self.table.name}' of dataset '{self.dataset.name}'"
        unit = unit_column(self.table)
        wanted = [*_told(self.table).values(), *([] if unit is None else [unit])]
        for column in wanted:
            if column.name.lower() not in types:
                raise CatalogError(
                    f"{place}: the source has no column '{column.name}'.",
                    hint="Compare discreet.toml with the names of the source's columns.",
                )
            _, kind = plain_cell(column, "c", types[column.name.lower()], "duckdb")
            check_readable(column, kind, place)

    def stored(
        self, types: Mapping[str, str], relation: str, *, salt: str, fits: bool = True
    ) -> str:
        """Return the SELECT that DuckDB stores: categories as ENUM and as text, people as numbers, sorted.

        Guarantee: a person has one number in every table, whatever it is stored as here or elsewhere; so
            nothing of a snapshot follows from other tables. An integer is its own number, of 64 bits; every
            other text has one beyond these that nobody without `salt` can foresee. Two of those share one
            with a chance of n^2 / 2^121: for a thousand million people below 10^-18.

        Several categories are grouped by their ENUMs, one by its text, of which each block has a list: that
        takes half the time, and functions of the text read the list alone. Small numbers are grouped by
        as such.

        Rows within the declared bound come first: whole blocks are then known to be kept or left out. Where
        every question keeps that bound, w says so: the bound itself for rows within it, and the place of the
        row for those beyond. It is the same number in whole blocks, which are counted without reading it.

        Rows that lack the same numbers lie together, so that most blocks of a column are whole: these are
        computed with in two thirds of the time. Not where rows are bounded for each question anew, which
        goes by person and takes ten times as long as all else; nor where they do not fit into memory to be
        sorted so (`fits`).
        """
        columns = stored_columns(self.table)
        gaps = _gaps(self.table) if fits else []
        if unit_column(self.table) is None:
            rows = canonical_select(self.table, columns, types, "duckdb", relation)
            last = f" ORDER BY {', '.join(gaps)}" if gaps else ""
            return f"SELECT {_typed(self.table) or 'c'} FROM ({rows}) AS n{last}"
        whole = self._stored_whole(types)
        rows = ranked_select(self.table, types, "duckdb", relation, whole=whole)
        unit = "n.u" if whole or self._declared_whole() else _numbered(salt)
        places = [f"{unit} AS u", "CAST(n.r AS INTEGER) AS r"]
        if self.table.bounded:
            places.append(f"CAST(GREATEST(n.r, {self.table.max_rows}) AS BIGINT) AS w")
        cells = ", ".join([*filter(None, [_typed(self.table)]), *places])
        order = [] if self.table.max_rows is None else [f"n.r > {self.table.max_rows}"]
        order += [*(gaps if self.table.bounded else []), "u", "r"]
        return f"SELECT {cells} FROM ({rows}) AS n ORDER BY {', '.join(order)}"

    def foreseen(self, stored: str) -> dict[str, str]:
        """Return the SELECTs of one number that are counted once for each content, by how they are asked.

        How many rows there are, and how many of them count: a count of everything need not read anything.
        """
        asked = f'SELECT COUNT(*) AS r0 FROM canon."{self.dataset.name}.{self.table.name}" AS t0'
        if not self.table.bounded:
            return {asked: f"SELECT COUNT(*) FROM {stored}"}
        within = f"w <= {self.table.max_rows}"
        return {f"{asked} WHERE t0.{within}": f"SELECT COUNT(*) FROM {stored} WHERE {within}"}

    def copied(self, types: Mapping[str, str], relation: str, dialect: str, *, whole: bool) -> str:
        """Return the SELECT that other engines store: texts as they are, sorted by person."""
        columns = stored_columns(self.table)
        if unit_column(self.table) is None:
            return canonical_select(self.table, columns, types, dialect, relation)
        rows = ranked_select(self.table, types, dialect, relation, whole=whole)
        return f"SELECT n.* FROM ({rows}) AS n ORDER BY n.u, n.r"

    def _stored_whole(self, types: Mapping[str, str]) -> bool:
        """Return whether this table, read alone, stores people as integers of 64 bits."""
        return units_are_whole([self.table], {self.table.name: types})

    def _declared_whole(self) -> bool:
        unit = unit_column(self.table)
        return unit is not None and isinstance(unit.domain, IntegerDomain)

    def dropped(self, types: Mapping[str, str], relation: str, *, stored: str) -> str:
        """Return the SELECT of what the declarations leave out: rows, people, cells by column.

        Cells are those of rows that are somebody's. What is left of a column is counted in the rows that are `stored` already: reading the cells
        of a text file a second time would take as long as the first. A constant column says
        there what other rows of its unit say, so its own cells are read again.
        """
        columns = _told(self.table)
        source = PlainSource(self.table, columns, types, "duckdb", relation, counted=True)
        unit = source.unit(whole=self._stored_whole(types))
        counts = ["COUNT(*) AS rows", f"COUNT(*) - COUNT({unit or 1}) AS without_unit"]
        left = ["COUNT(*) AS kept"]
        whose = "" if unit is None else f" FILTER (WHERE {unit} IS NOT NULL)"
        for i, column in columns.items():
            held = source.present(i)
            if column.constant:
                counts.append(f"COUNT({held}){whose} - COUNT({source.cell(i)}){whose} AS c{i}")
                left.append(f"0 AS c{i}")
            else:
                counts.append(f"COUNT({held}){whose} AS c{i}")
                left.append(f"COUNT(k.c{i}) AS c{i}")
        found = [f"a.c{i} - k.c{i} AS c{i}" for i in columns]
        return (
            f"SELECT {', '.join(['a.rows AS rows', 'a.without_unit AS without_unit', *found])} "
            f"FROM (SELECT {', '.join(counts)} FROM {source.rows}) AS a, "
            f"(SELECT {', '.join(left)} FROM {stored} AS k) AS k"
        )


def _typed(table: Table) -> str:
    cells, grouped = [], grouped_columns(table)
    for i, column in stored_columns(table).items():
        own, beside = f"n.c{i}", f"CAST(n.c{i} AS UTINYINT)"
        if isinstance(column.domain, CategoryDomain):
            own, beside = f"CAST(n.c{i} AS {enum_type(column.domain)})", f"n.c{i}"
        cells += [f"{own} AS c{i}", *([f"{beside} AS g{i}"] if i in grouped else [])]
    return ", ".join(cells)


def _gaps(table: Table) -> list[str]:
    """Return what tells apart rows that lack different numbers."""
    columns = stored_columns(table).items()
    numbers = [
        i for i, column in columns if isinstance(column.domain, IntegerDomain | NumberDomain)
    ]
    return [f"n.c{i} IS NULL" for i in numbers[:MOST_SORTED]]


def _numbered(salt: str) -> str:
    """Return a person's text as a number: an integer as itself, others beyond 64 bits."""
    hashed = f"CAST('0x' || substr(sha256('{salt}' || n.u), 1, 30) AS HUGEINT) + {2**64}"
    own = f"CASE WHEN regexp_full_match(n.u, '{_INTEGER}') THEN TRY_CAST(n.u AS BIGINT) END"
    return f"COALESCE(CAST({own} AS HUGEINT), {hashed})"


_OWN = re.compile("c[0-9]*|u|r")
SCHEMA = "canon"
"""Where an engine keeps canonical relations; no user can write this name into generated SQL."""


@dataclass(frozen=True, slots=True)
class Declared:
    """One table of the catalog, and whether the engine keeps its canonical relation.

    `view` makes the tree of the canonical view with these columns, with or without a rank, for engines
    that keep no canonical relation.
    """

    dataset: Dataset
    table: Table
    view: Callable[[tuple[int, ...], bool], SelectNode] | None = None


@dataclass(frozen=True, slots=True)
class CatalogScans:
    """Judges scans by the catalog. `tables` is by the engine's names."""

    tables: Mapping[str, Declared]

    def stored(self, source: StoredScan) -> Rows:
        """Return what holds of a canonical relation that the engine keeps."""
        if len(source.path) != 2 or source.path[0] != SCHEMA:
            raise Unfit("a table that is no canonical relation")
        declared = self.tables.get(source.path[1])
        if declared is None or declared.view is not None:
            raise Unfit("a table that the catalog does not declare as kept")
        columns = stored_columns(declared.table)
        found = _rows(source.path[1], declared, source.alias, tuple(columns), ranked=True)
        values, axes, numbers = dict(found.values), dict(found.axes), dict(found.numbers)
        for rank in found.numbers if declared.table.bounded else ():
            within = Name(source.alias, "w")
            # No row has a w below its r, so w <= m leaves no more rows of a unit than r <= m.
            values[within], numbers[within] = values[rank], numbers[rank]
        for i in grouped_columns(declared.table):
            own, grouped = Name(source.alias, f"c{i}"), Name(source.alias, f"g{i}")
            values[grouped] = values[own]  # a category as its text
            if values[own].kind is ValueKind.INTEGER:
                values[grouped] = integer(*values[own].bounded, wide=False, narrow=True)
            if own in axes:
                axes[grouped] = axes[own]
        for i, column in columns.items():
            if isinstance(column.domain, CategoryDomain):
                # Stored as one of its declared list, in that order.
                values[Name(source.alias, f"c{i}")] = _listed(column.domain)
        return replace(found, values=values, axes=axes, numbers=numbers)

    def view(self, source: Derived) -> Rows | None:
        """Return what holds of a canonical view; None where the subquery is not exactly that."""
        names = [name for name, _ in source.select.outputs]
        if not all(_OWN.fullmatch(name) for name in names):
            return None
        places = tuple(int(name[1:]) for name in names if name[1:])
        for name, declared in self.tables.items():
            readable = set(places) <= stored_columns(declared.table).keys()
            if declared.view is None or not readable:
                continue
            if declared.view(places, "r" in names) == source.select:
                return _rows(name, declared, source.alias, places, ranked="r" in names)
        return None


def _rows(
    name: str, declared: Declared, alias: str, places: tuple[int, ...], *, ranked: bool
) -> Rows:
    table = declared.table
    columns = stored_columns(table)
    domains = {i: column.by_day().domain for i, column in columns.items()}
    values = {Name(alias, f"c{i}"): canonical_value(domains[i]) for i in places}
    if table.unit is None:
        return Rows(values, rows=None)
    axes = {
        Name(alias, f"c{i}"): BilledAxis((name, i), domain)
        for i in places
        if (table.unit.is_row or columns[i].constant)
        and columns[i].moment is None  # a time of day splits no bill
        and (domain := finite(domains[i])) is not None
    }
    if table.unit.is_row:
        return Rows(values, private=(name,), axes=axes)
    unit, rank = Name(alias, "u"), Name(alias, "r")
    values[unit] = Value(ValueKind.UNIT)
    numbers = {}
    if ranked:
        values[rank] = Value(ValueKind.INTEGER, 1, 2**62)  # 32 bits on some engines
        numbers[rank] = frozenset({unit})
    return Rows(
        values,
        private=(name,),
        units=frozenset({unit}),
        rows=None,
        rank=frozenset({rank}) if ranked else None,
        axes=axes,
        numbers=numbers,
    )


def finite(domain: Domain) -> FiniteDomain | None:
    """Return a domain that has positions, None for identifiers and free text."""
    return None if isinstance(domain, IdentifierDomain | TextDomain) else domain


def canonical_value(domain: Domain) -> Value:
    """Return what is known of a canonical column: its kind, and the range of whole numbers."""
    match domain:
        case IntegerDomain(lower=lower, upper=upper):
            return Value(ValueKind.INTEGER, lower, upper, wide=True, canonical=True)
        case NumberDomain(lower=lower, upper=upper, step=step):
            low, high = int(lower / step), int(upper / step)
            return Value(ValueKind.INTEGER, low, high, wide=True, canonical=True)
        case BooleanDomain():
            return Value(ValueKind.BOOLEAN)
        case DateDomain():
            return Value(ValueKind.DATE)
        case CategoryDomain(values=values):
            return Value(ValueKind.TEXT, length=max(map(len, values), default=0))
        case _:
            return Value(ValueKind.TEXT, length=LONGEST_CELL)


def _listed(domain: CategoryDomain) -> Value:
    return replace(canonical_value(domain), low=0, high=domain.size - 1)


class ReadScope(Protocol):
    """What a statement was found to read."""

    @property
    def private(self) -> tuple[str, ...]:
        """Return the private tables."""
        ...

    @property
    def region(self) -> Mapping[Base, Positions]:
        """Return where units with rows in it must sit."""
        ...


def dataset_of(facts: ReadScope, tables: Mapping[str, Declared]) -> Dataset:
    """Return the one dataset whose people a statement reads."""
    datasets = {tables[name].dataset.name: tables[name].dataset for name in facts.private}
    if len(datasets) != 1:
        raise Unfit("private tables of two datasets in one statement")
    (dataset,) = datasets.values()
    return dataset


def region_of(
    facts: ReadScope,
    tables: Mapping[str, Declared],
    axis: Callable[[Dataset, Table, int], str | None],
    home: Callable[[Dataset, Table], Region],
) -> Region:
    """Return the region that is billed, from the SQL's own filters.

    Guarantee: a unit outside the region contributes no row: each restriction is a filter in the final
        relation, over a column that is constant for the unit.
    """
    dataset = dataset_of(facts, tables)
    region = EVERYONE
    for name in facts.private:
        region &= home(dataset, tables[name].table)
    for (name, place), positions in facts.region.items():
        found = axis(dataset, tables[name].table, place)
        if found is not None:
            region &= Region.of({found: positions})
    return region
