"""Synthetic copies: price, make, list, download, compare, delete; and the Synthesize pages."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, Response
from markupsafe import Markup
from pydantic import Field, StrictStr

from discreet.base.requests.paid import SynthFields
from discreet.curator import Curator
from discreet.errors import InvalidInput, NotAllowed
from discreet.measure.columns import Coded, Item, MadeUpIdentifier, RangeToLearn
from discreet.server.access.auth import GuardedRoute, Id, allow, api_router, caller
from discreet.server.access.tokens import Role
from discreet.server.bodies import body_of, finite
from discreet.server.feature import Feature, Place, page
from discreet.server.features.synth.in_child import FILES, OWNERS_ONLY, Copies, Copy
from discreet.server.jobs.long import (
    IdempotencyKey,
    LongTask,
    PaidAsk,
    kept_for,
    planned,
    price_of,
    submit_long,
    submit_paid,
)
from discreet.server.views import (
    copied_tables_view,
    datasets_view,
    kept_view,
    readable_catalog,
    start_of,
)
from discreet.server.workspace import Context, context_of, kept_once
from discreet.work.synth.methods.registry import METHODS, choices
from discreet.work.synth.prepare import PreparedSynthesis, SynthRequest, prepared, preview_of

MOST_ROWS = 10_000_000
"""Rows of a copy that the server makes; the command line makes more."""
MOST_FREE_ROWS = 1_000_000
"""Rows of a copy that an analyst does not pay for: no budget puts an end to asking again."""


_Fields: Any = body_of(SynthFields, rows={"most": MOST_ROWS}, **choices())


class SynthBody(_Fields):  # type: ignore[misc]  # its fields are the request's
    """One synthesis. `analyst` is for an owner who pays from an analyst's share."""

    target: StrictStr | None = Field(None, max_length=400)


def statements(body: SynthBody) -> tuple[str, ...]:
    """Return what its condition and its rules are parsed as."""
    texts = (body.where or "", *body.rules)
    return tuple(f"SELECT COUNT(*) AS n FROM t WHERE ({text})" for text in texts)


def asked_of(body: SynthBody, paid: PaidAsk) -> dict[str, Any]:
    """Return what the curator is asked, in plain data."""
    found: dict[str, Any] = body.given(SynthFields)
    return found | paid.charged


def prepared_for(curator: Curator, body: SynthBody, paid: PaidAsk) -> PreparedSynthesis:
    """Return the plan; refuses what would be refused, and spends nothing."""
    payer = curator.account_of(paid.analyst)
    request = SynthRequest.of(**asked_of(body, paid) | {"analyst": payer})
    with prepared(request, curator) as (ready, _):
        pass
    if ready.free and paid.analyst is not None and (body.rows or 0) > MOST_FREE_ROWS:
        raise InvalidInput(
            f"A copy that costs nothing has at most {MOST_FREE_ROWS:,} rows here.",
            hint="Ask for fewer rows, or make it with discreet synth.",
        )
    if body.target is not None:
        preview_of(ready.outline).index(body.target)  # refuses a column that is not there
    return ready


def explained(curator: Curator, body: SynthBody, paid: PaidAsk) -> dict[str, Any]:
    """Return plan and price of a synthesis; spends nothing and reads no row."""
    ready = prepared_for(curator, body, paid)
    request = ready.request
    return price_of(curator, ready, request.epsilon, free=ready.free) | {
        "table": ready.outline.table.name,
        "method": ready.method_words,
        "free": ready.free,
        "columns": [{"name": item.name, "treated": treated(item)} for item in ready.outline.items],
        "notices": list(ready.outline.notices),
        "learns": float(ready.budget.learn_share),
        "rows_needed": ready.rows_needed(),
        "rules": list(ready.rules),
    }


def treated(item: Item) -> str:
    """Return in words how a column will be encoded."""
    if isinstance(item, Coded):
        word = "bin" if item.edges is not None else "value"
        kept = f"{item.values:,} {word}{'' if item.values == 1 else 's'}"
        return f"{kept}, and missing" if item.missing else kept
    if isinstance(item, MadeUpIdentifier):
        return "made up, never read"
    if isinstance(item, RangeToLearn):
        return "bins, learned with budget"
    return "common values, learned with budget"


def methods_json() -> list[dict[str, Any]]:
    """Return the methods that are installed, in the order of the page."""
    return [
        {"name": name, "says": method.says, "reads": method.uses_data}
        for name, method in METHODS.items()
        if method.here
    ]


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


page_router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
FEATURE = Feature(
    (router, page_router),
    places=(Place("Synthesize", "/synthesize", 30),),
    warm=("discreet.work.synth.run",),
)


@page_router.get("/synthesize")
@allow(Role.OWNER, Role.ANALYST)
def synthesize(request: Request, table: str = "") -> Response:
    """Show the tables that can be copied, the price of a copy, and the copies there are."""
    who = caller(request)
    catalog = readable_catalog(request)
    datasets = datasets_view(catalog)
    tables = copied_tables_view(datasets)
    kept = [each for each in tables if each["value"] == table] or tables
    return page(
        request,
        "synthesize.html",
        "Synthesize",
        datasets=datasets,
        tables=tables,
        chosen=kept[0]["value"] if kept else "",
        methods=methods_view(),
        among=choice_view(),
        epsilon=start_of(datasets, kept[0]["dataset"] if kept else ""),
        analysts=catalog.get("analysts", []),
        copies=[copy_view(copy) for copy in copies_of(request).all(who.analyst)],
    )


@page_router.get("/synthesize/{copy_id}")
@allow(Role.OWNER, Role.ANALYST)
def one_copy(request: Request, copy_id: str) -> Response:
    """Show one copy: what it is, its files, and its publishable report."""
    copy = kept_for(request, copies_of, copy_id)
    return page(
        request,
        "synth_copy.html",
        f"Copy of {copy.table}",
        copy=copy_view(copy),
        owner=caller(request).role is Role.OWNER,
        report=Markup(copies_of(request).part(copy)),  # noqa: S704  # made by us, every text escaped
    )


def methods_view() -> list[dict[str, Any]]:
    """Return the methods to choose from, each with a sentence."""
    return [
        {"name": name, "words": method.sentence} for name, method in METHODS.items() if method.here
    ]


def choice_view() -> list[str]:
    """Return the methods that a paid selection chooses among: those that read data and are quick."""
    found = METHODS.items()
    return [name for name, each in found if each.here and each.uses_data and not each.slow]


def copy_view(copy: Copy) -> dict[str, Any]:
    """Return one copy as the pages show it."""
    return kept_view(copy) | {
        "path": f"/synthesize/{copy.id}",
        "rows": f"{copy.rows:,}",
        "columns": len(copy.columns),
        "downloads": [
            {"name": words, "path": f"/api/v1/synth/{copy.id}/{file}"}
            for file, words in FILES.items()
            if file not in OWNERS_ONLY
        ],
    }
