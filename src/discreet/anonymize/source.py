"""The table that is anonymized or measured: a bare file, or a table of a catalog; `--where` is allow-listed and written anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from discreet.base.schema import Dataset, Table
from discreet.data.catalog.catalog import Catalog, engine_name
from discreet.data.catalog.policy_file import (
    FILE_NAME,
    HIDDEN_COLUMN,
    PERSON_COLUMN,
    hidden_from_file,
    load,
)
from discreet.data.catalog.sources import check_file, check_table
from discreet.data.engines.base import Engine, EngineLimits, open_exact
from discreet.data.engines.connect import connect, kind_of
from discreet.data.engines.dialects import quoted
from discreet.data.engines.files import READABLE
from discreet.errors import EngineFailed, InvalidInput, UnknownName
from discreet.privacy.kernel.sources import PlainSource, followed_paths

PATIENCE = 3600.0
"""Seconds for one pass over the rows: the owner waits for it, nobody else does."""
STATE = ".discreet"
_NAME = "rows"


@dataclass(frozen=True, slots=True)
class AnonymizeSource:
    """An open table: where its rows are, its columns, and which of its rows are kept.

    `hidden` columns are never copied, for the reasons beside them: a discreet.toml hides them, or they
    name the person. `declared` is the table as the catalog has it, which says how people are read.
    """

    engine: Engine
    table: str
    label: str
    columns: tuple[str, ...]
    condition: str | None = None
    hidden: Mapping[str, str] = field(default_factory=dict)
    declared: Table | None = None

    def column(self, written: str) -> str:
        """Return the name of a column as the table spells it, without regard to case."""
        for name in self.columns:
            if name.lower() == written.strip().lower():
                return name
        raise InvalidInput(
            f"'{self.label}' has no column '{written.strip()}'.",
            hint=f"There are: {', '.join(self.columns)}.",
        )

    def named(self, written: Sequence[str]) -> tuple[str, ...]:
        """Return several columns as the table spells them; none may be written twice."""
        found = tuple(self.column(word) for word in written)
        for name in found:
            if found.count(name) > 1:
                raise InvalidInput(f"The column '{name}' is named twice.")
        return found

    def cell(self, column: str) -> str:
        """Return a column as an identifier of the engine's dialect."""
        return quoted(column, self.engine.capabilities.dialect)

    @property
    def relation(self) -> str:
        """Return what stands after FROM: the rows that are kept."""
        return f"{self._rows} AS kept_rows"

    @property
    def _rows(self) -> str:
        whole = self.engine.relation(self.table)
        if self.condition is None:
            return whole
        return f"(SELECT * FROM {whole} AS w WHERE {self.condition})"

    def run(self, sql: str) -> pa.Table:
        """Return the result of a query of ours; it is exact, and stays in this package."""
        try:
            return open_exact(self.engine.owner_reader().run(sql, seconds=PATIENCE))
        except EngineFailed:
            raise EngineFailed(
                f"The rows of '{self.label}' could not be read.",
                hint="Check that every line has as many cells as the first, that the file is "
                "whole, and that a condition compares numbers with numbers.",
            ) from None

    def repeats_people(self) -> bool:
        """Return whether somebody has several of the rows, as the catalog reads who is somebody."""
        if self.declared is None or self.declared.unit is None:
            return False
        types = {name.lower(): kind for name, kind in self.engine.columns(self.table)}
        dialect = self.engine.capabilities.dialect
        plain = PlainSource(self.declared, {}, types, dialect, self._rows)
        person = plain.unit(whole=False)
        if person is None:
            return False
        counts = f"COUNT({person}) AS n, COUNT(DISTINCT {person}) AS p"
        found = self.run(f"SELECT {counts} FROM {plain.rows}")
        return bool(found.column("n")[0].as_py() > found.column("p")[0].as_py())

    def rows(self) -> int:
        """Return how many rows are kept; a table without any is refused."""
        found = int(self.run(f"SELECT COUNT(*) AS n FROM {self.relation}").column("n")[0].as_py())
        if not found:
            raise InvalidInput(
                f"'{self.label}' has no rows"
                + ("." if self.condition is None else " that --where keeps.")
            )
        return found


def is_file(written: str) -> bool:
    """Return whether the user means a file, not a table of the catalog."""
    path = Path(written)
    return path.exists() or path.suffix.lower() in READABLE


@contextmanager
def open_source(
    written: str, *, config: Path | None = None, where: str | None = None, keep: bool = False
) -> Iterator[AnonymizeSource]:
    """Yield the table that `written` means, and give its engine back afterwards.

    `keep` leaves the snapshot of a CSV file in the folder beside it, where the curator would put it.
    """
    if is_file(written):
        path = Path(written)
        check_file(path)
        base = path.resolve().parent
        file = connect(
            "duckdb:",
            {_NAME: path.name},
            base=base,
            state=base / STATE if keep else None,
            limits=EngineLimits(workers=1),
        )
        with closing(file) as engine:
            source = narrowed(engine, _NAME, path.name, where=where)
            yield replace(source, hidden=_hidden_from_file(source, path, config))
        return
    place = Path(FILE_NAME) if config is None else config
    if not place.exists():
        raise UnknownName(
            f"There is no file '{written}', and no {FILE_NAME} that lists such a table.",
            hint="Name a .csv or .parquet file, or say where discreet.toml is with --config.",
        )
    catalog = load(place)
    owner, table = catalog.named(written)
    with closing(_declared_engine(catalog, owner, table, keep=keep)) as engine:
        yield declared_source(engine, owner, table, where=where)


def _hidden_from_file(source: AnonymizeSource, path: Path, config: Path | None) -> dict[str, str]:
    """Return the columns of a file that the discreet.toml beside it, here, or named, hides."""
    folders = (path.parent, path.resolve().parent, Path())
    places = [*(folder / FILE_NAME for folder in folders), *([] if config is None else [config])]
    told: dict[str, str] = {}
    for place in {each.resolve(): each for each in places if each.is_file()}.values():
        told |= hidden_from_file(path, place=place)
    return {name: told[name.lower()] for name in source.columns if name.lower() in told}


def _declared_engine(catalog: Catalog, owner: Dataset, table: Table, *, keep: bool) -> Engine:
    """Return an engine with one table of a catalog, and those over which it reaches people."""
    steps = () if table.path is None else table.path.steps
    on_the_way = [catalog.table(step.table, owner.name) for step in steps]
    names = [engine_name(owner, each) for each in (table, *on_the_way)]
    paths = followed_paths(owner.name, owner.tables, kind_of(catalog.engine_url).dialect.name)
    return connect(
        catalog.engine_url,
        {name: catalog.sources[name] for name in names},
        encodings={n: e for n, e in catalog.encodings.items() if n in names},
        paths={n: path for n, path in paths.items() if n == names[0]},
        base=catalog.base,
        state=catalog.base / STATE if keep else None,
        limits=EngineLimits(workers=1),
        allow_superuser=catalog.allow_superuser,
    )


def declared_source(
    engine: Engine, owner: Dataset, table: Table, *, where: str | None = None
) -> AnonymizeSource:
    """Return a table of the catalog as a source; refuse it where its columns are not as declared."""
    check_table(owner, table, engine)
    name, hidden = engine_name(owner, table), hidden_columns(table)
    opened = narrowed(engine, name, table.name, where=where, hidden=hidden)
    return replace(opened, declared=table)


def hidden_columns(table: Table) -> dict[str, str]:
    """Return the columns that no copy shows, and why: hidden ones, and the one that names the person."""
    person = None if table.unit is None else table.unit.column
    named = {} if person is None else {person: PERSON_COLUMN}
    return named | {column.name: HIDDEN_COLUMN for column in table.columns if column.hidden}


def narrowed(
    engine: Engine,
    table: str,
    label: str,
    *,
    where: str | None = None,
    hidden: Mapping[str, str] = MappingProxyType({}),
) -> AnonymizeSource:
    """Return a table of an open engine as a source, with the rows that `where` keeps."""
    columns = tuple(name for name, _ in engine.columns(table))
    condition = None
    if where is not None:
        condition = condition_sql(where, columns, dialect=engine.capabilities.dialect)
    return AnonymizeSource(engine, table, label, columns, condition, dict(hidden))


_ALLOWED = (
    exp.And,
    exp.Or,
    exp.Not,
    exp.Paren,
    exp.EQ,
    exp.NEQ,
    exp.LT,
    exp.LTE,
    exp.GT,
    exp.GTE,
    exp.Is,
    exp.In,
    exp.Between,
    exp.Column,
    exp.Identifier,
    exp.Literal,
    exp.Null,
    exp.Boolean,
    exp.Neg,
)
_HINT = "Write for example \"age >= 18 AND region IN ('North', 'South')\"."


def condition_sql(written: str, columns: Sequence[str], *, dialect: str) -> str:
    """Return the condition in the engine's dialect; only comparisons of columns with constants.

    Guarantee: the text is parsed and regenerated from an allow-list of node types with every
        identifier quoted, so nothing but a comparison reaches the engine.
    """
    try:
        tree = sqlglot.parse_one(written, into=exp.Condition)
    except SqlglotError:
        raise InvalidInput("The condition of --where cannot be read.", hint=_HINT) from None
    names = {name.lower(): name for name in columns}
    if not isinstance(tree, exp.Predicate | exp.Connector | exp.Not | exp.Paren):
        raise InvalidInput("The condition of --where is no comparison.", hint=_HINT)
    for node in tree.walk():
        if not isinstance(node, _ALLOWED):
            raise InvalidInput(
                f"--where compares columns with constants; it cannot use {node.key.upper()}.",
                hint=_HINT,
            )
        if isinstance(node, exp.Column):
            if node.table or node.name.lower() not in names:
                raise InvalidInput(
                    f"--where names '{node.name}', which is no column of this table.",
                    hint=f"There are: {', '.join(columns)}.",
                )
            node.set("this", exp.to_identifier(names[node.name.lower()], quoted=True))
    return tree.sql(dialect=dialect, comments=False)
