"""The Data API for declared datasets: rename, refresh, edit, remove, versions; budgets and shares; row limits."""

from __future__ import annotations

import os
from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import Path, Query, Request
from pydantic import Field, StrictBool, StrictStr

from discreet.base.bill import Spent
from discreet.base.requests.paid import BoundsFields
from discreet.base.schema import Table
from discreet.curator import Curator, renewal_of, renewed_report
from discreet.data.catalog.catalog import Catalog
from discreet.data.catalog.edits import (
    ColumnSettings,
    removed_with_shares,
    renamed_with_shares,
    with_columns,
    with_settings,
    with_share,
    with_total,
    without_share,
)
from discreet.errors import InvalidInput, RequestConflict, UnknownName
from discreet.server.access.audit_log import AuditAction
from discreet.server.access.auth import allow, api_router, caller, tell
from discreet.server.access.tokens import AskedAs, Role
from discreet.server.bodies import Body, body_of, finite
from discreet.server.features.data.proposal import declared_json, one_table
from discreet.server.features.data.review import (
    NAME,
    Amount,
    AnalystShare,
    ColumnReview,
    amounts_of,
    checked_share,
    dataset_of,
    settings_of,
)
from discreet.server.features.data.uploads import Upload, UploadStore, uploads_of
from discreet.server.jobs.long import (
    IdempotencyKey,
    answer_of,
    curator_for,
    planned,
    request_id_of,
    standing_of,
)
from discreet.server.jobs.queue import Job
from discreet.server.workspace import change, context_of

router = api_router("data")
DatasetName = Annotated[str, Path(min_length=1, max_length=200)]


class NewName(Body):
    """Another name for a dataset."""

    name: StrictStr = Field(pattern=NAME)


class NewColumns(Body):
    """Columns of a dataset's one table, declared anew; columns that are not named stay."""

    columns: dict[str, ColumnReview] = Field(min_length=1)


class NewFile(Body):
    """The upload that a dataset shall read from now on."""

    upload: StrictStr = Field(min_length=1, max_length=64)


class RefreshBody(Body):
    """The dataset (none: all), or one table of it, whose rows questions shall read as they are now."""

    dataset: StrictStr | None = Field(default=None, max_length=200)
    table: StrictStr | None = Field(default=None, max_length=200)


@router.get("/data/versions")
@allow(Role.OWNER)
def versions(
    request: Request, dataset: Annotated[str | None, Query(max_length=200)] = None
) -> dict[str, Any]:
    """Return which version of the tables questions read, and whether their rows are others by now."""
    with context_of(request).workspace.curator() as curator:
        return {"versions": curator.versions(dataset)}


@router.post("/data/versions")
@allow(Role.OWNER)
def new_version(request: Request, wanted: RefreshBody) -> dict[str, Any]:
    """Let questions read the rows as they are now."""
    with context_of(request).workspace.curator() as curator:
        begun = curator.refresh(wanted.dataset, table=wanted.table)
    for each in begun:
        number = str(each["version"])
        tell(request, AuditAction.VERSION_BEGUN, dataset=each["dataset"], version=number)
    return {"versions": begun}


@router.get("/data/datasets/{dataset}/columns")
@allow(Role.OWNER)
def columns(request: Request, dataset: DatasetName) -> dict[str, Any]:
    """Return the declarations of a dataset's table, as the review shows them."""
    with context_of(request).workspace.curator() as curator:
        return declared_json(curator.catalog, uploads_of(request), dataset)


@router.put("/data/datasets/{dataset}/columns")
@allow(Role.OWNER)
def edit(request: Request, dataset: DatasetName, wanted: NewColumns) -> dict[str, Any]:
    """Declare columns anew; from now on they are read so."""

    def declare(text: str, old: Catalog) -> str:
        table = one_table(old, dataset)
        changes = {
            _declared(table, name): _as_reviewed(name, column)
            for name, column in wanted.columns.items()
        }
        return with_columns(text, old.dataset(dataset).name, table.name, changes)

    change(context_of(request).workspace, declare)
    found = sorted(wanted.columns)
    tell(request, AuditAction.DATASET_EDITED, dataset=dataset, columns=", ".join(found))
    return {"dataset": dataset, "columns": found}


@router.put("/data/datasets/{dataset}/name")
@allow(Role.OWNER)
def name(request: Request, dataset: DatasetName, wanted: NewName) -> dict[str, Any]:
    """Give a dataset another name; its budget and history stay."""

    def rename(text: str, old: Catalog) -> str:
        return renamed_with_shares(text, old, dataset, wanted.name)

    new = change(context_of(request).workspace, rename).after
    tell(request, AuditAction.DATASET_RENAMED, dataset=dataset, name=wanted.name)
    return {"dataset": wanted.name, "budget": new.dataset(wanted.name).budget}


@router.put("/data/datasets/{dataset}/file")
@allow(Role.OWNER)
def file(request: Request, dataset: DatasetName, wanted: NewFile) -> dict[str, Any]:
    """Let a dataset read a new upload: a new snapshot, with everybody at the highest bill so far."""
    store, workspace = uploads_of(request), context_of(request).workspace
    upload = store.find(wanted.upload)
    before: list[Upload] = []

    def refresh(text: str, old: Catalog) -> str:
        """Read the new file instead.

        Guarantee: the budget follows the person: a new snapshot starts everybody at the highest bill
            so far, but for columns declared immutable (docs/notes/0013-catalog.md).
        """
        table = one_table(old, dataset)
        mine = _files_of(old, store, dataset)
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
        source = FilePath(os.path.relpath(store.table(upload).resolve(), base)).as_posix()
        place = ("datasets", old.dataset(dataset).name, "tables", table.name)
        return with_settings(text, place, {"source": source})

    new = change(workspace, refresh).after
    for each in before:
        store.retire(each, new.dataset(dataset).budget)
    tell(request, AuditAction.DATASET_REFRESHED, dataset=dataset, upload=upload.id)
    return {"dataset": dataset, "table": one_table(new, dataset).name, "file": upload.file}


@router.delete("/data/datasets/{dataset}")
@allow(Role.OWNER)
def gone(request: Request, dataset: DatasetName) -> dict[str, Any]:
    """Remove a dataset, its shares and its uploaded file; the ledger keeps what was spent."""
    store = uploads_of(request)
    files: list[Upload] = []

    def remove(text: str, old: Catalog) -> str:
        files.extend(_files_of(old, store, dataset))
        return removed_with_shares(text, old, dataset)

    old = change(context_of(request).workspace, remove).before
    budget = old.dataset(dataset).budget
    for upload in files:
        store.retire(upload, budget)
    tell(request, AuditAction.DATASET_REMOVED, dataset=dataset)
    return {"dataset": dataset, "removed": True, "files": len(files)}


def _files_of(catalog: Catalog, store: UploadStore, dataset: str) -> list[Upload]:
    """Return the uploads that a dataset reads; asked before a change, while none of them can expire."""
    name = catalog.dataset(dataset).name
    return [upload for upload in store.all() if dataset_of(catalog, store, upload) == name]


def _declared(table: Table, name: str) -> str:
    if table.unit is not None and table.unit.column == name:
        raise InvalidInput("This column says whose rows they are; it stays as it is.")
    return table.column(name).name


def _as_reviewed(name: str, column: ColumnReview) -> Any:
    if not (column.public or column.hidden):
        raise InvalidInput(f"Column '{name}': say that this declaration is public, or hide it.")
    settings = settings_of(name, column)

    def change_to(_old: ColumnSettings) -> ColumnSettings:
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


share_router = api_router("data")


class NewBudget(Body):
    """The new total of a dataset. `agreed`: the owner knows that a higher one promises less."""

    epsilon: Amount
    delta: Amount | None = None
    agreed: StrictBool = False


@share_router.put("/data/datasets/{dataset}/budget")
@allow(Role.OWNER)
def budget(request: Request, dataset: DatasetName, wanted: NewBudget) -> dict[str, Any]:
    """Change the total of a dataset; the ledger records it."""
    asked = amounts_of(wanted.epsilon, wanted.delta)

    def edit(text: str, old: Catalog) -> str:
        return with_total(text, old, dataset, asked, agreed=wanted.agreed)

    changed = change(context_of(request).workspace, edit)
    before, now = (
        each.budget_of(each.dataset(dataset)) for each in (changed.before, changed.after)
    )
    found = {"budget": now.name, **Spent.declared(now).to_json()}
    found |= {"before": Spent.declared(before).to_json()}
    tell(request, AuditAction.BUDGET_CHANGED, dataset=dataset, **_change(found))
    return found


@share_router.post("/data/datasets/{dataset}/renewal")
@allow(Role.OWNER)
def renewal(request: Request, dataset: DatasetName) -> dict[str, Any]:
    """Renew the budget of a dataset for the present period, by its declared policy; the ledger records it."""
    changed = change(context_of(request).workspace, renewal_of(dataset))
    found = renewed_report(changed, dataset)
    facts = _change(found) | {"period": found["period"]}
    tell(request, AuditAction.BUDGET_RENEWED, dataset=dataset, **facts)
    return found


@share_router.put("/data/datasets/{dataset}/analysts/{analyst}")
@allow(Role.OWNER)
def share(
    request: Request, dataset: DatasetName, analyst: DatasetName, wanted: AnalystShare
) -> dict[str, Any]:
    """Give an analyst a share of a dataset, or change it; the ledger records it."""
    amounts = checked_share(analyst, wanted)

    def edit(text: str, old: Catalog) -> str:
        return with_share(text, analyst, old.dataset(dataset).name, amounts)

    changed = change(context_of(request).workspace, edit)
    old, new = changed.before, changed.after
    had = dataset in old.analysts.get(analyst, {})
    found = {"analyst": analyst, **_amounts(new, analyst, dataset)}
    found |= {"before": _amounts(old, analyst, dataset) if had else None}
    tell(request, AuditAction.SHARE_CHANGED, dataset=dataset, analyst=analyst, **_change(found))
    return found


def _amounts(catalog: Catalog, analyst: str, dataset: str) -> dict[str, float]:
    return Spent.declared(catalog.cap(analyst, catalog.dataset(dataset))).to_json()


@share_router.delete("/data/datasets/{dataset}/analysts/{analyst}")
@allow(Role.OWNER)
def unshare(request: Request, dataset: DatasetName, analyst: DatasetName) -> dict[str, Any]:
    """Take an analyst's share away; the ledger records it."""

    def edit(text: str, old: Catalog) -> str:
        return without_share(text, old, analyst, dataset)

    change(context_of(request).workspace, edit)
    tell(request, AuditAction.SHARE_REMOVED, dataset=dataset, analyst=analyst)
    return {"analyst": analyst, "dataset": dataset, "removed": True}


def _change(found: dict[str, Any]) -> dict[str, str]:
    """Return a change of limits as the audit log tells it: before and after."""
    before = found["before"]
    return {
        f"{name}_{when}": f"{side[name]:g}"
        for when, side in (("before", before), ("after", found))
        if side is not None
        for name in ("epsilon", "delta")
    }


bounds_router = api_router("data")


_Fields: Any = body_of(BoundsFields)


class BoundsBody(_Fields):  # type: ignore[misc]  # its fields are the request's
    """A look at the rows that people have in one table, written as dataset.table."""

    def asked(self, payer: AskedAs, *, request_id: str | None = None) -> dict[str, Any]:
        """Return what the curator is asked, and what the server says instead."""
        said: dict[str, Any] = self.given(BoundsFields)
        return said | {"analyst": payer.name, "request_id": request_id}


@bounds_router.post("/bounds/explain")
@allow(Role.OWNER, Role.ANALYST)
async def explain(request: Request, body: BoundsBody) -> dict[str, Any]:
    """Say what the look would cost; spend nothing."""
    payer = caller(request).asks_as(body.analyst)

    def foretold(curator: Curator) -> dict[str, Any]:
        seen = curator.seen_by(payer.analyst)
        return finite(seen.explain_bounds(**body.asked(payer)).to_json())

    return await planned(request, foretold)


@bounds_router.post("/bounds")
@allow(Role.OWNER, Role.ANALYST)
async def bounds(
    request: Request, body: BoundsBody, idempotency_key: IdempotencyKey = None
) -> dict[str, Any]:
    """Return what each bound leaves out beside its noise; the budget is charged first."""
    who, context = caller(request), context_of(request)
    payer, request_id = who.asks_as(body.analyst), request_id_of(body, idempotency_key)

    def work(job: Job) -> dict[str, Any]:
        with curator_for(job, context.workspace, payer) as seen:
            found = seen.bounds(**body.asked(payer, request_id=request_id))
        return finite(found.to_json())

    standing = standing_of(context.workspace, request_id, payer.analyst)
    job = context.runner.submit(who.key, work, request_id=request_id or "", standing=standing)
    said: dict[str, Any] = await answer_of(request, job)
    return said
