"""Synthetic copies: price, make, list, download, compare, delete."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, Response

from discreet.api import Curator
from discreet.errors import NotAllowed
from discreet.server.access.auth import Id, allow, api_router, caller
from discreet.server.access.tokens import Role
from discreet.server.asking.paid import PaidAsk, kept_for, submit_paid
from discreet.server.asking.request_id import IdempotencyKey
from discreet.server.context import Context, context_of, kept_once
from discreet.server.features.synth.body import (
    SynthBody,
    asked_of,
    explained,
    methods_json,
    statements,
)
from discreet.server.features.synth.copies import FILES, OWNERS_ONLY, Copies
from discreet.server.jobs.long import LongTask, submit_long
from discreet.server.jobs.long_calls import planned
from discreet.server.plain_json import finite

router = api_router("synth")
_CHILD = "discreet.server.features.synth.in_child"

File = Annotated[str, Path(min_length=1, max_length=40)]

copies_of = kept_once(lambda settings: Copies(settings.state_folder))


@router.post("/synth", status_code=202)
@allow(Role.OWNER, Role.ANALYST)
async def start(
    request: Request, body: SynthBody, idempotency_key: IdempotencyKey = None
) -> dict[str, Any]:
    """Start making a synthetic copy of a table; follow the job, then download its files."""
    paid = PaidAsk.of(request, body, idempotency_key)
    # What can be refused is refused here, not in the queue of long jobs.
    await planned(request, lambda curator: _price(context_of(request), curator, body, paid))
    return await run_in_threadpool(
        submit_paid,
        request,
        paid,
        copies_of(request),
        f"{_CHILD}:make",
        target=body.target,
        asked=asked_of(body, paid),
    )


@router.post("/synth/explain")
@allow(Role.OWNER, Role.ANALYST)
async def explain(request: Request, body: SynthBody) -> dict[str, Any]:
    """Say what a copy would cost and how each column would be treated; spends nothing."""
    # Who asks for the price may well say yes.
    await run_in_threadpool(context_of(request).children.warm)
    paid = PaidAsk.of(request, body)
    return await planned(request, lambda curator: _price(context_of(request), curator, body, paid))


def _price(context: Context, curator: Curator, body: SynthBody, paid: PaidAsk) -> dict[str, Any]:
    for statement in statements(body):
        context.planner.check_text(curator.catalog, curator.engine.capabilities, statement)
    return finite(explained(curator.seen_by(paid.analyst), body, paid))


@router.get("/synth")
@allow(Role.OWNER, Role.ANALYST)
def mine(request: Request) -> dict[str, Any]:
    """List the copies that you may use, latest first, and the methods there are."""
    found = copies_of(request).all(caller(request).sees)
    return {"copies": [copy.to_json() for copy in found], "methods": methods_json()}


@router.get("/synth/{copy_id}")
@allow(Role.OWNER, Role.ANALYST)
def look(request: Request, copy_id: Id) -> dict[str, Any]:
    """Say what one copy is and which files it has."""
    copy = kept_for(request, copies_of, copy_id)
    who = caller(request)
    hidden = OWNERS_ONLY if who.role is not Role.OWNER or not copy.compared else frozenset()
    return copy.to_json() | {"files": [name for name in FILES if name not in hidden]}


@router.get("/synth/{copy_id}/{file}", response_class=Response)
@allow(Role.OWNER, Role.ANALYST)
def download(request: Request, copy_id: Id, file: File) -> FileResponse:
    """Download rows, model or report of a copy, free of charge."""
    copy = kept_for(request, copies_of, copy_id)
    if file in OWNERS_ONLY and caller(request).role is not Role.OWNER:
        raise NotAllowed("The comparison with the real rows is for owners only.")
    name = f"{copy.table}-{copy.method}-{file}"
    return FileResponse(**copies_of(request).download(copy, file, saved_as=name))


@router.post("/synth/{copy_id}/compare", status_code=202)
@allow(Role.OWNER)
def compare(request: Request, copy_id: Id) -> dict[str, Any]:
    """Compare a copy with the real rows: recorded as a look, not private, never to be published."""
    copy = kept_for(request, copies_of, copy_id)
    asked = {"state": context_of(request).settings.state_folder, "copy_id": copy.id}
    return {"job": submit_long(request, LongTask(f"{_CHILD}:compare", asked)).id}


@router.delete("/synth/{copy_id}", status_code=204)
@allow(Role.OWNER, Role.ANALYST)
def delete(request: Request, copy_id: Id) -> Response:
    """Delete a copy; what it cost stays spent."""
    copies_of(request).remove(kept_for(request, copies_of, copy_id))
    return Response(status_code=204)
