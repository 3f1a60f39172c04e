"""The Data page, and its API for uploads: what can be asked, limits, the review of a file, and who did what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from discreet.errors import RequestConflict
from discreet.server.access.audit_log import MOST_READ, Actor, AuditAction, Line
from discreet.server.access.auth import API, GuardedRoute, Id, allow, api_router, tell
from discreet.server.access.tokens import Role
from discreet.server.feature import OWNERS, Feature, Place, largest_form, page
from discreet.server.features.data import manage
from discreet.server.features.data.proposal import draft_losses, look, proposal_json
from discreet.server.features.data.receive import FIELD, OVERHEAD, take_in
from discreet.server.features.data.review import Review, dataset_of, open_for, still_open
from discreet.server.features.data.review import confirm as confirm_review
from discreet.server.features.data.uploads import UploadBounds, UploadStore, expire, uploads_of
from discreet.server.settings import Settings
from discreet.server.views import (
    amount,
    datasets_view,
    minute_of,
    readable_budget,
    readable_catalog,
)
from discreet.server.workspace import Context, context_of

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


page_router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
FEATURE = Feature(
    (
        router,
        manage.share_router,
        manage.router,
        manage.bounds_router,
        page_router,
    ),
    places=(Place("Data", "/data", 80, OWNERS),),
    set_up=set_up,
    larger=larger_bodies,
)

SHOWN_LINES = 30

Facts = Mapping[str, str]

_USUAL = {
    deed.value
    for deed in (
        AuditAction.TOKENS_LISTED,
        AuditAction.SIGNED_IN,
        AuditAction.SIGNED_OUT,
        AuditAction.SIGN_IN_FAILED,
    )
}


@page_router.get("/data")
@allow(Role.OWNER)
def data(request: Request) -> Response:
    """Show what can be asked, and the review through which more comes in."""
    catalog = readable_catalog(request)
    return page(
        request,
        "data.html",
        "Data",
        datasets=datasets_view(catalog),
        unfinished=catalog["unfinished"],
        warnings=catalog["warnings"],
        analysts=catalog["analysts"],
        limits_of=limits_view(readable_budget(request)),
        bounded=_bounded(request),
        versions_of=_versions(request),
        plain=lambda value: f"{value:.12g}",
        log=audit_view(context_of(request).access.audit.last(MOST_READ)),
        max_upload_mb=context_of(request).settings.max_upload_mb,
    )


def _versions(request: Request) -> dict[str, list[dict[str, Any]]]:
    """Return the versions that questions read, by dataset."""
    found: dict[str, list[dict[str, Any]]] = {}
    with context_of(request).workspace.curator() as curator:
        for each in curator.versions():
            began = None if each["began"] is None else minute_of(each["began"])
            found.setdefault(each["dataset"], []).append(each | {"began": began})
    return found


def _bounded(request: Request) -> list[str]:
    """Return the tables of people, as dataset.table: those of which a bound may leave rows out."""
    with context_of(request).workspace.curator() as curator:
        return [
            f"{dataset.name}.{table.name}"
            for dataset in curator.catalog.datasets.values()
            for table in dataset.tables
            if table.unit is not None and not table.unit.is_row
        ]


def limits_view(budget: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the limits of GET /budget, for an owner, as the form that changes them needs them."""
    return [
        {
            "name": name,
            "epsilon": facts["epsilon"],
            "delta": facts["delta"],
            "others": [
                other
                for other, its in budget["datasets"].items()
                if other != name and its["budget"] == facts["budget"]
            ],
            "shares": [
                {"analyst": analyst, "epsilon": shares[name]["epsilon"]}
                for analyst, shares in budget["analysts"].items()
                if name in shares
            ],
        }
        for name, facts in budget["datasets"].items()
    ]


def audit_view(lines: Iterable[Line]) -> list[dict[str, str]]:
    """Return lines of the audit log, latest first, in words; what one does daily is one line a day."""
    shown: list[dict[str, Any]] = []
    usual: dict[tuple[str, str, str], dict[str, Any]] = {}
    for line in lines:
        rule = _WORDS.get(line.what)
        words = _plain(line) if rule is None else rule(line.facts)
        key = (line.who, words, line.time[:10])
        if key in usual:
            usual[key]["times"] += 1
            continue
        if len(shown) == SHOWN_LINES:
            break
        shown.append({"when": minute_of(line.time), "who": line.who, "what": words, "times": 1})
        if line.what in _USUAL:
            usual[key] = shown[-1]
    return [item | {"times": _times(item["times"])} for item in shown]


def _times(number: int) -> str:
    return "" if number == 1 else f", {'twice' if number == 2 else f'{number:,} times'} that day"


def _plain(line: Line) -> str:
    """Return a deed that a newer version has written."""
    return " ".join([line.what, *(f"{name} {said}" for name, said in sorted(line.facts.items()))])


def _made(facts: Facts) -> str:
    whose = f"for {facts['analyst']}" if "analyst" in facts else f"for the role {facts['role']}"
    until = f", valid until {facts['until']}" if "until" in facts else ""
    return f"made a token {whose}{until} ({facts['id']})"


def _failed(facts: Facts) -> str:
    more = facts.get("unwritten_before")
    before = f"; {int(more):,} more before that" if more else ""
    return f"could not sign in, from {facts['address'] or 'an unknown address'}{before}"


def _refused(facts: Facts) -> str:
    why = "not with this role" if facts["why"] == "role" else "not without the session's own form"
    return f"was refused {facts['route']}, {why}"


def _moved(facts: Facts) -> str:
    """Return from what to what; delta only where it moved."""
    parts = []
    for name, sign in (("epsilon", "ε"), ("delta", "δ")):
        old, new = facts.get(f"{name}_before"), facts.get(f"{name}_after")
        if new is None:
            continue
        said = (lambda text: amount(float(text))) if name == "epsilon" else str
        if old is None and name == "epsilon":
            parts.append(f"to {sign} {said(new)}")
        elif old not in (None, new):
            parts.append(f"from {sign} {said(str(old))} to {said(new)}")
    return " and ".join(parts) or "to what it was"


_WORDS: dict[str, Callable[[Facts], str]] = {
    AuditAction.TOKEN_MADE.value: _made,
    AuditAction.TOKENS_LISTED.value: lambda _: "looked at the list of tokens",
    AuditAction.TOKEN_REVOKED.value: lambda facts: f"revoked the token {facts['id']}",
    AuditAction.SIGNED_IN.value: lambda _: "signed in",
    AuditAction.SIGN_IN_FAILED.value: _failed,
    AuditAction.SIGNED_OUT.value: lambda _: "signed out",
    AuditAction.REFUSED.value: _refused,
    AuditAction.UPLOADED.value: lambda _: "brought a file",
    AuditAction.UPLOAD_CONFIRMED.value: lambda facts: (
        f"confirmed a file as {facts['dataset']}, with ε {facts['epsilon']} in all"
    ),
    AuditAction.UPLOAD_REMOVED.value: lambda facts: (
        "threw a file away" + (f": {facts['why']}" if "why" in facts else "")
    ),
    AuditAction.BUDGET_CHANGED.value: lambda facts: (
        f"changed the budget of {facts['dataset']} {_moved(facts)}"
    ),
    AuditAction.BUDGET_RENEWED.value: lambda facts: (
        f"renewed the budget of {facts['dataset']} for {facts['period']}, {_moved(facts)}"
    ),
    AuditAction.SHARE_CHANGED.value: lambda facts: (
        f"set the share of {facts['analyst']} in {facts['dataset']} {_moved(facts)}"
    ),
    AuditAction.DATASET_RENAMED.value: lambda facts: (
        f"renamed {facts['dataset']} to {facts['name']}; its budget stays"
    ),
    AuditAction.VERSION_BEGUN.value: lambda facts: (
        f"began version {facts['version']} of {facts['dataset']}"
    ),
    AuditAction.DATASET_REFRESHED.value: lambda facts: f"gave {facts['dataset']} a new file",
    AuditAction.DATASET_EDITED.value: lambda facts: (
        f"declared columns of {facts['dataset']} anew: {facts['columns']}"
    ),
    AuditAction.DATASET_REMOVED.value: lambda facts: f"removed {facts['dataset']}",
    AuditAction.SHARE_REMOVED.value: lambda facts: (
        f"took away the share of {facts['analyst']} in {facts['dataset']}"
    ),
    AuditAction.SURVEY_BEGUN.value: lambda facts: f"began the survey {facts['survey']}",
    AuditAction.SURVEY_CLOSED.value: lambda facts: f"closed the survey {facts['survey']}",
}
