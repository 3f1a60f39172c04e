"""A table in a bare file: uses the discreet.toml beside it, or writes one that says nothing of rows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path

from discreet.base.numbers import Delta, Epsilon
from discreet.base.schema import IntegerDomain, NumberDomain, Table, TextDomain
from discreet.data.catalog.catalog import Catalog
from discreet.data.catalog.edits import ColumnSettings, with_columns, with_section
from discreet.data.catalog.policy_file import FILE_NAME, load, loads
from discreet.data.catalog.profile import columns_that_read
from discreet.data.catalog.proposal import InitRequest, propose_file
from discreet.data.catalog.sources import check_file, find_sources, numbered
from discreet.data.catalog.toml_text import (
    Setting,
    columns_lines,
    comment,
    composed,
    engine_and_ledger,
    heading,
    settings_lines,
)
from discreet.data.catalog.writer import (
    bytes_of,
    change_file,
    declared_in,
    fill_in,
    find_declared,
    first_budget,
    put_back_file,
    unit_lines,
)
from discreet.data.engines.base import Engine
from discreet.data.engines.column_types import ColumnKind, Storage, storage
from discreet.data.engines.connect import connect
from discreet.data.engines.files import PARQUET_FILES
from discreet.errors import InvalidInput, NotReviewed

_FIRST, _LAST = dt.date(1800, 1, 1), dt.date(2199, 12, 31)

_WIDEST: Mapping[Storage, Mapping[str, Setting]] = {
    Storage.INTEGER: {"type": "integer", "lower": -(10**15), "upper": 10**15, "missing": True},
    Storage.NUMBER: {
        "type": "number",
        "lower": -(10**12),
        "upper": 10**12,
        "step": Decimal("0.0001"),
        "missing": True,
    },
    Storage.BOOLEAN: {"type": "boolean", "missing": True},
    Storage.DATE: {"type": "date", "lower": _FIRST, "upper": _LAST, "missing": True},
    Storage.TIMESTAMP: {
        "type": "timestamp",
        "lower": dt.datetime.combine(_FIRST, dt.time()),
        "upper": dt.datetime.combine(_LAST, dt.time(23, 59, 59)),
        "missing": True,
    },
    Storage.TEXT: {"type": "text"},
    Storage.OTHER: {"type": "text", "hidden": True},
}

HEAD = (
    "Written for a command on a bare file. Names and types of the columns count as public; the "
    "ranges below are as wide as the types, so no value here was read from the rows. Declare "
    "what is public knowledge (bounds, lists of values) and nothing need be learned with budget."
)


@dataclass(frozen=True, slots=True)
class BareTable:
    """Where the table of a bare file is declared: the discreet.toml, and dataset and name in it.

    `before` and `after` are the bytes of the discreet.toml as it was found (None: there was none)
    and as it was left.
    """

    config: Path
    dataset: str
    name: str
    created: bool
    before: bytes | None = None
    after: bytes | None = None

    @property
    def table(self) -> str:
        """Return dataset.table, as people write it."""
        return f"{self.dataset}.{self.name}"

    def declared(self) -> Table:
        """Return the table as it is declared now."""
        return load(self.config).table(self.name, self.dataset)


def bare_table(
    path: Path,
    *,
    config: Path | None = None,
    epsilon: Epsilon | None = None,
    delta: Delta | None = None,
    unit: str = "row",
    accept: bool = False,
    untyped: bool = False,
) -> BareTable:
    """Return where the table in `path` is declared, writing the discreet.toml beside it if needed.

    `untyped`: columns of a text file are declared as text, since only its rows say what they hold;
    `retype` writes what was paid for.

    A new one promises (epsilon, 2 delta) in all: the ledger keeps two books and gives each half of
    delta, so a first run with all of epsilon and `delta` just fits.
    """
    check_file(path)
    place = path.parent / FILE_NAME if config is None else config
    before = bytes_of(place)
    found = _found_or_written(path, place, (epsilon, delta, unit), accept=accept, untyped=untyped)
    return replace(found, before=before, after=bytes_of(place))


def put_back(bare: BareTable) -> None:
    """Take back what `bare_table` wrote, unless somebody has changed it since."""
    put_back_file(bare.config, before=bare.before, after=bare.after)


def _found_or_written(
    path: Path,
    place: Path,
    budget: tuple[Epsilon | None, Delta | None, str],
    *,
    accept: bool,
    untyped: bool,
) -> BareTable:
    epsilon, delta, unit = budget
    if place.is_file():
        if epsilon is not None:
            fill_in(place, path, epsilon=epsilon, delta=_doubled(delta), unit=unit)
        known = _declared(load(place), path)
        if known is not None:
            return BareTable(place, *known, created=False)
    if epsilon is None:
        raise InvalidInput(
            f"'{path.name}' has no budget yet: say how much with --epsilon.",
            hint="For example --epsilon 1 --delta 1e-9.",
        )
    if accept:
        return _accepted(path, place, epsilon, _doubled(delta), unit)
    as_text = untyped and path.suffix.lower() not in PARQUET_FILES
    return _written(path, place, epsilon, _doubled(delta), unit, as_text=as_text)


def is_untyped(bare: BareTable) -> bool:
    """Return whether the table's columns are all declared as bare text, as `untyped` writes them."""
    table = bare.declared()
    unit = None if table.unit is None else table.unit.column
    columns = [column for column in table.columns if column.name != unit]
    return Path(table.source).suffix.lower() not in PARQUET_FILES and all(
        isinstance(column.domain, TextDomain) and not column.hidden for column in columns
    )


def retype(bare: BareTable, types: Mapping[str, Storage]) -> None:
    """Write types that were paid for in the place of bare text."""
    _rewrite(bare, {name: partial(_as_type, kind) for name, kind in types.items()})


def _as_type(kind: Storage, _settings: ColumnSettings) -> ColumnSettings:
    return widest(kind)


def rebound(bare: BareTable, bounds: Mapping[str, IntegerDomain | NumberDomain]) -> None:
    """Write ranges that were paid for in the place of those of a type."""
    _rewrite(bare, {name: partial(_with_ends, domain) for name, domain in bounds.items()})


def _with_ends(domain: IntegerDomain | NumberDomain, settings: ColumnSettings) -> ColumnSettings:
    ends = {"lower": _number(domain.lower), "upper": _number(domain.upper)}
    if isinstance(domain, NumberDomain):
        ends["step"] = _number(domain.step)
    return {**settings, **ends}


def _number(value: int | Fraction) -> Setting:
    if isinstance(value, int):
        return value
    return Decimal(value.numerator) / Decimal(value.denominator)


def _rewrite(
    bare: BareTable, changes: Mapping[str, Callable[[ColumnSettings], ColumnSettings]]
) -> None:
    change_file(bare.config, lambda text: with_columns(text, bare.dataset, bare.name, changes))


def recorded_table(
    path: Path, *, config: Path | None = None, opened: tuple[Engine, str] | None = None
) -> BareTable:
    """Return where the table in `path` is declared, finished or not; writes what is missing.

    For commands that spend nothing but must be remembered: a new declaration has no budget yet, and
    the first command that brings one fills it in. `opened` is an engine that has the table already.
    """
    check_file(path)
    place = path.parent / FILE_NAME if config is None else config
    if place.is_file():
        known = find_declared(place, path)
        if known is not None:
            return BareTable(place, *known, created=False)
    return _written(path, place, None, None, None, opened=opened)


def _doubled(delta: Delta | None) -> Delta | None:
    return None if delta is None else Delta.of(delta.value * 2)


def _declared(catalog: Catalog, path: Path) -> tuple[str, str] | None:
    """Return dataset and name of the table whose source is this file."""
    wanted = path.resolve()
    for dataset in catalog.datasets.values():
        for table in dataset.tables:
            if (catalog.base / table.source).resolve() == wanted:
                return dataset.name, table.name
    for sentence in catalog.unfinished.values():
        # The file may be one of these; a second declaration would forget what was spent.
        raise NotReviewed(sentence)
    return None


def _accepted(
    path: Path, place: Path, epsilon: Epsilon, delta: Delta | None, unit: str
) -> BareTable:
    request = InitRequest.of(path, out=place, epsilon=epsilon, delta=delta, unit=unit, accept=True)
    if place.exists():
        raise InvalidInput(
            f"'{place.name}' is there already and does not list '{path.name}'.",
            hint="Declare the file there, or move it to a folder of its own.",
        )
    proposal = propose_file(request)
    return BareTable(place, proposal.dataset, proposal.tables[0].name, created=True)


def _written(
    path: Path,
    place: Path,
    epsilon: Epsilon | None,
    delta: Delta | None,
    unit: str | None,
    *,
    opened: tuple[Engine, str] | None = None,
    as_text: bool = False,
) -> BareTable:
    base = place.parent
    found = find_sources((str(path),), base=base)
    ((name, source),) = found.tables.items()
    if opened is not None:
        columns, numbers = _facts(*opened)
    else:
        opening = connect(found.engine_url, found.tables, base=base, encodings=found.encodings)
        with closing(opening) as engine:
            columns, numbers = _names(engine, name) if as_text else _facts(engine, name)
    known = {column.lower() for column, _ in columns}
    if unit not in (None, "row") and str(unit).lower() not in known:
        raise InvalidInput(
            f"'{path.name}' has no column '{unit}', which --unit names.",
            hint="Write --unit row if every row is another person.",
        )
    facts = {
        column: widest(Storage.NUMBER if column in numbers else storage(kind))
        for column, kind in columns
        if column != unit
    }
    dataset = name

    def edit(before: str) -> str:
        nonlocal dataset
        start = before or composed(comment(HEAD), engine_and_ledger())
        if before:
            if declared_in(before, place, path) is not None:
                raise InvalidInput(
                    f"'{path.name}' was just declared in '{place.name}' by another command.",
                    hint="Give the command again: it will use that declaration.",
                )
            names = loads(before, base=base)
            dataset = numbered(name, (*names.datasets, *names.unfinished))
        added = composed(
            [heading("datasets", dataset), *first_budget(epsilon, delta)],
            [
                heading("datasets", dataset, "tables", name),
                *settings_lines({"source": source, "encoding": found.encodings.get(name)}),
                *unit_lines(unit),
            ],
            columns_lines(dataset, name, facts),
        )
        return with_section(start, added)

    change_file(place, edit, start="")
    return BareTable(place, dataset, name, created=True)


def _names(engine: Engine, name: str) -> tuple[list[tuple[str, str]], set[str]]:
    """Return the columns as texts: the heading is public, what stands under it is not."""
    return [(column, "VARCHAR") for column, _ in engine.columns(name)], set()


def _facts(engine: Engine, name: str) -> tuple[list[tuple[str, str]], set[str]]:
    """Return the columns with their types, and those texts that all read as numbers."""
    columns = engine.columns(name)
    texts = [each for each in columns if storage(each[1]) is Storage.TEXT]
    return columns, columns_that_read(engine, name, texts, ColumnKind.NUMBER)


def widest(kind: Storage) -> Mapping[str, Setting]:
    """Return the declaration that says nothing but a column's type."""
    return _WIDEST[Storage.NUMBER if kind is Storage.DECIMAL else kind]
