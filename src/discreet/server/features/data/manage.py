"""Datasets after their first day: renamed, refreshed from a new file, edited, removed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, StrictStr

from discreet.catalog.catalog import Catalog
from discreet.catalog.declare.amounts import with_share
from discreet.catalog.declare.columns import Settings, with_columns
from discreet.catalog.declare.datasets import with_new_name, with_source, without_dataset
from discreet.core.schema import Table
from discreet.errors import InvalidInput, RequestConflict, UnknownName
from discreet.server.features.data.change import change
from discreet.server.features.data.review.confirm import dataset_of
from discreet.server.features.data.review.declared import one_table
from discreet.server.features.data.review.review import NAME, ColumnReview, settings_of
from discreet.server.features.data.upload.store import Upload, UploadStore
from discreet.server.plain_json import Body
from discreet.server.workspace import Workspace


class NewName(Body):
    """Another name for a dataset."""

    name: StrictStr = Field(pattern=NAME)


class NewColumns(Body):
    """Columns of a dataset's one table, declared anew; columns that are not named stay."""

    columns: dict[str, ColumnReview] = Field(min_length=1)


def rename(workspace: Workspace, dataset: str, wanted: NewName) -> dict[str, Any]:
    """Return the new name, after it is in force; budget and history stay with the people."""

    def edit(text: str, old: Catalog) -> str:
        name = old.dataset(dataset).name
        shares = _shares(old, name)
        for analyst in shares:
            text = with_share(text, analyst, name, None)
        text = with_new_name(text, name, wanted.name)
        for analyst, amounts in shares.items():
            text = with_share(text, analyst, wanted.name, amounts)
        return text

    new = change(workspace, edit)
    return {"dataset": wanted.name, "budget": new.dataset(wanted.name).budget}


def remove(workspace: Workspace, store: UploadStore, dataset: str) -> dict[str, Any]:
    """Return what was removed: the declaration, its shares and its file; the ledger forgets nothing."""
    gone: list[Upload] = []
    budgets: list[str] = []

    def edit(text: str, old: Catalog) -> str:
        found = old.dataset(dataset)
        shares = _shares(old, found.name)
        last = [a for a in shares if set(old.analysts[a]) == {found.name}]
        if shares and len(last) == len(old.analysts) and len(old.datasets) > 1:
            raise InvalidInput(
                "Without this data set nobody would have a share, and every question would be the "
                "owner's, limited by the totals alone.",
                hint="Give an analyst a share of another data set first.",
            )
        budgets.append(found.budget)
        gone.extend(u for u in store.all() if dataset_of(old, store, u) == found.name)
        for analyst in shares:
            text = with_share(text, analyst, found.name, None)
        return without_dataset(text, found.name)

    change(workspace, edit)
    for upload in gone:
        store.retire(upload, budgets[0])
    return {"dataset": dataset, "removed": True, "files": len(gone)}


def refresh(
    workspace: Workspace, store: UploadStore, dataset: str, upload: Upload
) -> dict[str, Any]:
    """Return what a new file means, after questions read it; the old file is deleted.

    Guarantee: the budget follows the person: a new snapshot starts everybody at the highest bill so
        far, but for columns declared immutable (docs/notes/0013-catalog.md).
    """
    before: list[Upload] = []

    def edit(text: str, old: Catalog) -> str:
        table = one_table(old, dataset)
        mine = [u for u in store.all() if dataset_of(old, store, u) == old.dataset(dataset).name]
        if not mine:
            raise InvalidInput(
                "Only a data set that was brought in as a file can be refreshed by another.",
                hint="Replace the file that discreet.toml names; it is taken up by itself.",
            )
        taken = dataset_of(old, store, upload)
        if taken is not None:
            raise RequestConflict(f"The data set '{taken}' reads this file already.")
        _refuse_missing(table, upload)
        before.extend(mine)
        base = workspace.config.parent.resolve()
        source = Path(os.path.relpath(store.table(upload).resolve(), base)).as_posix()
        return with_source(text, old.dataset(dataset).name, table.name, source)

    new = change(workspace, edit)
    for each in before:
        store.retire(each, new.dataset(dataset).budget)
    return {"dataset": dataset, "table": one_table(new, dataset).name, "file": upload.file}


def declare(workspace: Workspace, dataset: str, wanted: NewColumns) -> dict[str, Any]:
    """Return the columns that were declared anew; what was asked before keeps its price."""

    def edit(text: str, old: Catalog) -> str:
        table = one_table(old, dataset)
        changes = {
            _declared(table, name): _as_reviewed(name, column)
            for name, column in wanted.columns.items()
        }
        return with_columns(text, old.dataset(dataset).name, table.name, changes)

    change(workspace, edit)
    return {"dataset": dataset, "columns": sorted(wanted.columns)}


def _declared(table: Table, name: str) -> str:
    if table.unit is not None and table.unit.column == name:
        raise InvalidInput("This column says whose rows they are; it stays as it is.")
    return table.column(name).name


def _as_reviewed(name: str, column: ColumnReview) -> Any:
    if not (column.public or column.hidden):
        raise InvalidInput(f"Column '{name}': say that this declaration is public, or hide it.")
    settings = settings_of(name, column)

    def change_to(_old: Settings) -> Settings:
        return settings

    return change_to


def _refuse_missing(table: Table, upload: Upload) -> None:
    known = {name.lower() for name in upload.columns}
    missing = [c.name for c in table.columns if c.name.lower() not in known and not c.hidden]
    if missing:
        raise UnknownName(
            f"The new file lacks columns that are declared: {', '.join(missing)}.",
            hint="Send a file with the same columns, or change the declarations first.",
        )


def _shares(catalog: Catalog, dataset: str) -> Mapping[str, Any]:
    found = {}
    for analyst, caps in catalog.analysts.items():
        if dataset in caps:
            cap = caps[dataset]
            delta = {"delta": cap.delta.value} if cap.delta.value else {}
            found[analyst] = {"epsilon": cap.epsilon.value} | delta
    return found
