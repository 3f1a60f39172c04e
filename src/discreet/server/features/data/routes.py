"""The Data API, for the owner: upload, look at the proposal, review, confirm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from starlette.concurrency import run_in_threadpool

from discreet.errors import RequestConflict
from discreet.server.access.audit_log import Actor, AuditAction
from discreet.server.access.auth import API, Id, allow, api_router, tell
from discreet.server.access.tokens import Role
from discreet.server.context import Context, context_of
from discreet.server.feature import largest_form
from discreet.server.features.data.review.confirm import confirm as confirm_review
from discreet.server.features.data.review.confirm import dataset_of, open_for
from discreet.server.features.data.review.losses import draft_losses
from discreet.server.features.data.review.proposal import look, proposal_json
from discreet.server.features.data.review.review import Review, still_open
from discreet.server.features.data.upload.examine import take_in
from discreet.server.features.data.upload.limits import UploadBounds
from discreet.server.features.data.upload.receive import FIELD, OVERHEAD
from discreet.server.features.data.upload.store import UploadStore, expire, uploads_of
from discreet.server.settings import Settings

router = api_router("data")
UPLOADS = f"{API}/data/uploads"
REVIEW = 8 << 20
"""Bytes of a review, which may list long categories."""
SERVER = Actor("server")
"""Who deletes what has expired."""

_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": [FIELD],
                    "properties": {FIELD: {"type": "string", "format": "binary"}},
                }
            }
        },
    }
}


def larger_bodies(settings: Settings) -> dict[str, int]:
    """Return the routes that take a file or a review, and how many bytes."""
    one = f"{UPLOADS}/{{id}}"
    return {UPLOADS: largest_form(settings), one: REVIEW, f"{one}/{{part}}": REVIEW}


def set_up(app: FastAPI) -> None:
    """Open the store of uploads that they share."""
    settings = app.state.context.settings
    app.state.uploads = UploadStore(settings.state_folder, UploadBounds.of(settings))
    _expire(app.state.context, app.state.uploads)


def _expire(context: Context, store: UploadStore) -> None:
    def told(ids: Sequence[str]) -> None:
        facts = [{"upload": each, "why": "nobody confirmed it"} for each in ids]
        context.access.audit.record_all(SERVER, AuditAction.UPLOAD_REMOVED, facts)

    settings = context.settings
    expire(settings.config, store, hours=settings.upload_hours, tell=told)


@router.post("/data/uploads", status_code=201, openapi_extra=_BODY)
@allow(Role.OWNER)
async def upload(request: Request) -> dict[str, Any]:
    """Take a CSV or Parquet file, as the part `file` of a multipart form; nobody can ask it yet."""
    store = uploads_of(request)
    bounds = store.bounds
    declared = request.headers.get("content-length", "0")
    if declared.isdigit() and int(declared[:20]) > bounds.size + OVERHEAD:
        raise bounds.too_large()
    content_type = request.headers.get("content-type", "")
    await run_in_threadpool(_expire, context_of(request), store)
    kept = await take_in(request.stream(), content_type=content_type, store=store)
    await run_in_threadpool(tell, request, AuditAction.UPLOADED, upload=kept.id)
    return kept.to_json()


@router.get("/data/uploads")
@allow(Role.OWNER)
def uploads(request: Request) -> dict[str, Any]:
    """List what was uploaded, and as which dataset it was confirmed."""
    store = uploads_of(request)
    with context_of(request).workspace.curator() as curator:
        catalog = curator.catalog
    return {
        "uploads": [u.to_json() | {"dataset": dataset_of(catalog, store, u)} for u in store.all()]
    }


@router.get("/data/uploads/{upload_id}/proposal")
@allow(Role.OWNER)
def proposal(request: Request, upload_id: Id) -> dict[str, Any]:
    """Propose types and domains, with what declaring each would reveal. Reads private rows."""
    return _proposed(request, upload_id, Review())


@router.post("/data/uploads/{upload_id}/proposal")
@allow(Role.OWNER)
def draft(request: Request, upload_id: Id, review: Review) -> dict[str, Any]:
    """Say what a draft of the review still lacks; nothing is stored."""
    return _proposed(request, upload_id, review)


def _proposed(request: Request, upload_id: str, review: Review) -> dict[str, Any]:
    store = uploads_of(request)
    found = store.find(upload_id)
    lacking = still_open(review, found.columns)
    unit = review.unit if review.unit == "row" or review.unit in found.columns else None
    table = look(store.table(found), unit=unit, bounds=store.bounds)
    with context_of(request).workspace.curator() as curator:
        lacking += open_for(curator.catalog, review)
        confirmed = dataset_of(curator.catalog, store, found)
    return {
        "upload": found.to_json() | {"dataset": confirmed},
        "proposal": proposal_json(table, file=found.file),
        "open": [item.to_json() for item in lacking],
        "next": lacking[0].step if lacking else None,
    }


@router.post("/data/uploads/{upload_id}/losses")
@allow(Role.OWNER)
def losses(request: Request, upload_id: Id, review: Review) -> dict[str, Any]:
    """Say how many cells each declaration of a draft would drop, with examples. Reads private rows."""
    store = uploads_of(request)
    found = store.find(upload_id)
    return draft_losses(store.table(found), review, bounds=store.bounds)


@router.post("/data/uploads/{upload_id}/confirm")
@allow(Role.OWNER)
def confirm(request: Request, upload_id: Id, review: Review) -> dict[str, Any]:
    """Declare the reviewed table in discreet.toml; from now on it can be asked."""
    store = uploads_of(request)
    found = confirm_review(context_of(request).workspace, store, store.find(upload_id), review)
    facts = {"dataset": found["dataset"], "table": found["table"], "epsilon": review.epsilon}
    tell(request, AuditAction.UPLOAD_CONFIRMED, upload=upload_id, **facts)
    return found


@router.delete("/data/uploads/{upload_id}")
@allow(Role.OWNER)
def remove(request: Request, upload_id: Id) -> dict[str, Any]:
    """Delete an upload that no dataset reads."""
    store = uploads_of(request)
    found = store.find(upload_id)
    with context_of(request).workspace.curator() as curator:
        taken = dataset_of(curator.catalog, store, found)
    if taken is not None:
        raise RequestConflict(
            f"The dataset '{taken}' reads this upload.", hint="Remove it from discreet.toml first."
        )
    tell(request, AuditAction.UPLOAD_REMOVED, upload=found.id)
    store.remove(found)
    return {"id": upload_id, "removed": True}
