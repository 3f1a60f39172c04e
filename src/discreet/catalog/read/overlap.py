"""Refuse declarations under which one person's loss would be counted in two places, or in none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path

from discreet.catalog.catalog import Catalog
from discreet.catalog.read.reach import file_of, files_of, reach_of
from discreet.core.schema import Dataset, Table
from discreet.engine.kinds import kind_of
from discreet.errors import CatalogError


def check_budgets(datasets: Mapping[str, Dataset]) -> None:
    """Refuse mixed units under one budget.

    Guarantee: all private tables that one budget pays for have rows as units, or all have people,
        so that the sum of each dataset's worst bill bounds what one of these units can lose.
    """
    kinds: dict[str, tuple[bool, str]] = {}
    for dataset in datasets.values():
        for table in dataset.tables:
            if table.unit is None:
                continue
            place = f"table '{table.name}' of dataset '{dataset.name}'"
            is_row, other = kinds.setdefault(dataset.budget, (table.unit.is_row, place))
            if is_row != table.unit.is_row:
                row, person = (other, place) if is_row else (place, other)
                raise CatalogError(
                    f"{row} protects rows and {person} protects people, but the budget "
                    f"'{dataset.budget}' pays for both.",
                    hint="Give both the same kind of unit, or separate budgets.",
                )


def check_sources_apart(datasets: Mapping[str, Dataset], *, base: Path, engine_url: str) -> None:
    """Refuse sources that share rows where their people would then pay too little, or nothing.

    Guarantee: no row is billed to two budgets; in a dataset of row units no row is in two tables,
        which would be billed as if they were different people; and no private row is in a public
        table. A row is known by its file or table, under whatever name, link or pattern (`Reach`);
        copies of a file, and views of a table, are the owner's to declare.
    """
    tables = [
        (dataset, table, reach_of(table.source, base=base, engine_url=engine_url))
        for dataset in datasets.values()
        for table in dataset.tables
    ]
    for (first, one, here), (second, two, there) in combinations(tables, 2):
        if (one.unit is not None or two.unit is not None) and here.meets(there):
            _require_allowed(first, one, second, two)


def check_still_apart(catalog: Catalog, read: Iterable[tuple[Dataset, Table]]) -> None:
    """Refuse tables whose files have become another table's since the catalog was read.

    A link, or a file that was moved, may bring two sources together at any time. Patterns do not
    change, so files alone are compared, and only with those that a question reads. Whoever asks may
    not know of the other table, so it is not named.
    """
    every = [
        (dataset, table, files_of(table.source, base=catalog.base, engine_url=catalog.engine_url))
        for dataset in (catalog.every or catalog.datasets).values()
        for table in dataset.tables
    ]
    places = {(dataset.name, table.name): files for dataset, table, files in every}
    for first, one in read:
        here = places.get((first.name, one.name), frozenset())
        for second, two, there in every:
            itself = (first.name, one.name) == (second.name, two.name)
            private = one.unit is not None or two.unit is not None
            if not itself and private and here & there:
                try:
                    _require_allowed(first, one, second, two)
                except CatalogError:
                    raise _has_met(one) from None


def check_ledger_apart(
    datasets: Mapping[str, Dataset], *, base: Path, engine_url: str, ledger_url: str
) -> None:
    """Refuse a source that takes in the ledger's own file.

    Reading it by hand would drop the lock of whoever is charging (note 0031).
    """
    place = file_of(ledger_url)
    if not place:
        return
    ledger = reach_of(place, base=base, engine_url="duckdb:")
    sources = [table.source for dataset in datasets.values() for table in dataset.tables]
    if database := kind_of(engine_url).database(engine_url):
        sources.append(database)
    for source in sources:
        if reach_of(source, base=base, engine_url="duckdb:").meets(ledger):
            raise CatalogError(
                f"the source '{source}' takes in the ledger's own file, '{place}'.",
                hint="Put the data into a folder of its own, or name the files more narrowly.",
            )


def _require_allowed(first: Dataset, one: Table, second: Dataset, two: Table) -> None:
    if one.unit is None or two.unit is None:
        private, public = (two, one) if one.unit is None else (one, two)
        raise CatalogError(
            f"the source '{private.source}' of the private table '{private.name}' is also in the "
            f"public table '{public.name}'.",
            hint="Whatever is public is answered without noise: keep one of the tables.",
        )
    if first.public_rows is not second.public_rows:
        declared, other = (first, second) if first.public_rows else (second, first)
        raise CatalogError(
            f"the source '{one.source}' is in dataset '{other.name}', whose rows are private, and in "
            f"'{declared.name}', which declares public_rows{_as(one, two)}.",
            hint="Rows are public everywhere or nowhere.",
        )
    if first.budget != second.budget:
        raise CatalogError(
            f"the source '{one.source}' is in two datasets, '{first.name}' and "
            f"'{second.name}', with separate budgets{_as(one, two)}.",
            hint="Remove one, or let both name one shared budget.",
        )
    if first.name == second.name and one.unit.is_row:
        raise CatalogError(
            f"the source '{one.source}' is declared as two tables, '{one.name}' and "
            f"'{two.name}', of dataset '{first.name}', whose units are rows{_as(one, two)}.",
            hint="Keep one of the tables.",
        )


def _has_met(table: Table) -> CatalogError:
    return CatalogError(
        f"the source of table '{table.name}' has become that of another table as well, since "
        "discreet.toml was read; nothing was charged.",
        hint="Ask the data owner to look for links between the files of the sources.",
    )


def _as(one: Table, two: Table) -> str:
    return "" if one.source == two.source else f" (there as '{two.source}')"
