"""The Data API for datasets that are declared already: rename, refresh, edit, remove."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Request
from pydantic import Field, StrictStr

from discreet.server.access.audit import Deed
from discreet.server.access.auth import allow, api_router, tell
from discreet.server.access.tokens import Role
from discreet.server.context import context_of
from discreet.server.features.data.manage import (
    NewColumns,
    NewName,
    declare,
    refresh,
    remove,
    rename,
)
from discreet.server.features.data.review.declared import declared_json
from discreet.server.features.data.upload.store import uploads_of
from discreet.server.plain_json import Body

router = api_router("data")
Name = Annotated[str, Path(min_length=1, max_length=200)]


class NewFile(Body):
    """The upload that a dataset shall read from now on."""

    upload: StrictStr = Field(min_length=1, max_length=64)


@router.get("/data/datasets/{dataset}/columns")
@allow(Role.OWNER)
def columns(request: Request, dataset: Name) -> dict[str, Any]:
    """Return the declarations of a dataset's table, as the review shows them."""
    with context_of(request).workspace.curator() as curator:
        return declared_json(curator.catalog, uploads_of(request), dataset)


@router.put("/data/datasets/{dataset}/columns")
@allow(Role.OWNER)
def edit(request: Request, dataset: Name, wanted: NewColumns) -> dict[str, Any]:
    """Declare columns anew; from now on they are read so."""
    found = declare(context_of(request).workspace, dataset, wanted)
    tell(request, Deed.DATASET_EDITED, dataset=dataset, columns=", ".join(found["columns"]))
    return found


@router.put("/data/datasets/{dataset}/name")
@allow(Role.OWNER)
def name(request: Request, dataset: Name, wanted: NewName) -> dict[str, Any]:
    """Give a dataset another name; its budget and history stay."""
    found = rename(context_of(request).workspace, dataset, wanted)
    tell(request, Deed.DATASET_RENAMED, dataset=dataset, name=wanted.name)
    return found


@router.put("/data/datasets/{dataset}/file")
@allow(Role.OWNER)
def file(request: Request, dataset: Name, wanted: NewFile) -> dict[str, Any]:
    """Let a dataset read a new upload: a new snapshot, with everybody at the highest bill so far."""
    store = uploads_of(request)
    upload = store.find(wanted.upload)
    found = refresh(context_of(request).workspace, store, dataset, upload)
    tell(request, Deed.DATASET_REFRESHED, dataset=dataset, upload=upload.id)
    return found


@router.delete("/data/datasets/{dataset}")
@allow(Role.OWNER)
def gone(request: Request, dataset: Name) -> dict[str, Any]:
    """Remove a dataset, its shares and its uploaded file; the ledger keeps what was spent."""
    found = remove(context_of(request).workspace, uploads_of(request), dataset)
    tell(request, Deed.DATASET_REMOVED, dataset=dataset)
    return found
