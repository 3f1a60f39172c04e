"""`discreet review`: what declarations lose and reveal, and the owner's word that they are public."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.base.requests.fields import asks_function, beside, given, schema
from discreet.base.requests.unpaid import ReviewFields
from discreet.base.unit import FollowedPath
from discreet.curator.review import SeenTable, see_table
from discreet.data.catalog.edits import (
    ColumnSettings,
    DeclaredTable,
    accepted,
    declared_tables,
    hidden,
    with_columns,
)
from discreet.data.catalog.policy_file import meant_file, text_of
from discreet.data.catalog.writer import change_file
from discreet.data.engines.connect import connect, kind_of
from discreet.errors import CatalogError, InvalidInput, UnknownName
from discreet.privacy.kernel.sources import followed_paths


@dataclass(frozen=True, kw_only=True)
class ReviewRequest(ReviewFields):
    """What the owner decides of one file. `accept_safe`: every column without a doubt; the others by name."""

    config: Path


@dataclass(frozen=True, slots=True)
class ReviewedTable:
    """One table of the file with what was seen in its rows."""

    declared: DeclaredTable
    seen: SeenTable

    @property
    def safe(self) -> tuple[str, ...]:
        """Return the waiting columns that may be accepted as they stand."""
        waiting = set(self.declared.waiting)
        return tuple(
            c.column.name for c in self.seen.columns if c.column.name in waiting and not c.doubts
        )


def look(config: Path, *, progress: Callable[[str], None] = lambda _: None) -> list[ReviewedTable]:
    """Return every private table of a discreet.toml with what its declarations do. Reads the rows."""
    url, tables = declared_tables(text_of(config), base=config.parent, file=config.name)
    sources = {f"{each.dataset}.{each.table.name}": each.table.source for each in tables}
    if not sources:
        raise CatalogError(f"{config.name} declares no private table.")
    encodings = {
        f"{t.dataset}.{t.table.name}": t.table.encoding for t in tables if t.table.encoding
    }
    paths: dict[str, FollowedPath] = {}
    for name in {each.dataset: None for each in tables}:
        own = [each.table for each in tables if each.dataset == name]
        paths |= followed_paths(name, own, kind_of(url).dialect.name)
    engine = connect(url, sources, base=config.parent, encodings=encodings, paths=paths)
    found = []
    try:
        for each in tables:
            name = f"{each.dataset}.{each.table.name}"
            progress(name)
            found.append(ReviewedTable(each, see_table(engine, name, each.table)))
    finally:
        engine.close()
        progress("")
    return found


@schema
class ReviewCall(ReviewFields):
    """What the owner decides of the file that `config` means."""

    config: str | Path | None = beside("The discreet.toml to use.", default=None, kw_only=False)
    progress: Callable[[str], None] = beside("Told which table is read.", default=lambda _: None)


@asks_function(ReviewCall)
def review(asked: ReviewCall) -> dict[str, Any]:
    """Return what was seen and what was decided; declared columns can be asked about at once.

    `accept_safe` accepts every column without a doubt; `accept` and `hide` name others, which may be
    written as table.column. Without any of them nothing is written. What is seen is read from the rows:
    for the owner alone.

    >>> discreet.review("discreet.toml", accept=["age"])["todo"]            # doctest: +SKIP
    []
    """
    request = ReviewRequest(config=meant_file(asked.config), **given(asked))
    return decide(request, look(request.config, progress=asked.progress))


def decide(request: ReviewRequest, tables: Sequence[ReviewedTable]) -> dict[str, Any]:
    """Return what was decided, after writing it into the file."""
    chosen = [_choices(request, each) for each in tables]
    _refuse_unknown(request, tables)
    if any(chosen):

        def edit(text: str) -> str:
            for each, changes in zip(tables, chosen, strict=True):
                if changes:
                    dataset, table = each.declared.dataset, each.declared.table.name
                    text = with_columns(text, dataset, table, changes)
            return text

        change_file(request.config, edit)
    return {
        "config": str(request.config),
        "tables": {
            f"{each.declared.dataset}.{each.declared.table.name}": _told(each, changes)
            for each, changes in zip(tables, chosen, strict=True)
        },
        "todo": _todo(tables),
    }


def _choices(
    request: ReviewRequest, each: ReviewedTable
) -> dict[str, Callable[[ColumnSettings], ColumnSettings]]:
    found: dict[str, Callable[[ColumnSettings], ColumnSettings]] = {}
    if request.accept_safe:
        found |= dict.fromkeys(each.safe, accepted)
    for column in (c.column for c in each.seen.columns):
        if _named(request.accept, each, column.name):
            found[column.name] = accepted
        if _named(request.hide, each, column.name):
            found[column.name] = hidden
    return found


def _named(words: Sequence[str], each: ReviewedTable, column: str) -> bool:
    table, dataset = each.declared.table.name, each.declared.dataset
    names = (column, f"{table}.{column}", f"{dataset}.{table}.{column}")
    return any(word.lower() == name.lower() for word in words for name in names)


def _refuse_unknown(request: ReviewRequest, tables: Sequence[ReviewedTable]) -> None:
    for word in (*request.accept, *request.hide):
        if not any(_named((word,), t, c.column.name) for t in tables for c in t.seen.columns):
            raise UnknownName(f"No declared table has a column '{word}'.")
    both = {word.lower() for word in request.accept} & {word.lower() for word in request.hide}
    if both:
        raise InvalidInput("A column is accepted or hidden, not both.")


def _told(
    each: ReviewedTable, changes: Mapping[str, Callable[[ColumnSettings], ColumnSettings]]
) -> dict[str, Any]:
    seen = each.seen.to_json()
    done = {name: "hidden" if change is hidden else "accepted" for name, change in changes.items()}
    waiting = [name for name in each.declared.waiting if name not in changes]
    return {**seen, "decided": done, "waiting": waiting, "safe": list(each.safe)}


def _todo(tables: Sequence[ReviewedTable]) -> list[str]:
    found = []
    for each in tables:
        name = each.declared.dataset
        if not each.declared.budget_known:
            found.append(f"write epsilon under [datasets.{name}]: what one person can lose in all.")
        if not each.declared.unit_known:
            found.append(f"write unit for table '{each.declared.table.name}': whom it protects.")
    return list(dict.fromkeys(found))
