"""Anonymized copies, for owners: the API (try several k, make, list, download, delete) and its pages."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from fastapi.responses import FileResponse, Response
from markupsafe import Markup
from pydantic import Field, StrictStr

from discreet.anonymize.hierarchy import parse_hierarchy
from discreet.anonymize.registry import cost_choices as costs
from discreet.anonymize.registry import model_choices as models
from discreet.anonymize.release import source_of
from discreet.anonymize.report import BREAKS, LEGACY, percent
from discreet.anonymize.run import AnonymizeRequest, roles_of
from discreet.base.requests.unpaid import MOST_COLUMNS, AnonymizeFields
from discreet.server.access.auth import GuardedRoute, Id, allow, api_router
from discreet.server.access.tokens import Role
from discreet.server.bodies import body_of
from discreet.server.feature import Feature, page
from discreet.server.features.anonymize.in_child import FILES, Releases, StoredRelease
from discreet.server.jobs.long import LongTask, submit_long
from discreet.server.views import copied_tables_view, datasets_view, kept_view, readable_catalog
from discreet.server.workspace import context_of, kept_once

router = api_router("anonymize")
_CHILD = "discreet.server.features.anonymize.in_child"

File = Annotated[str, Path(min_length=1, max_length=40)]

releases_of = kept_once(lambda settings: Releases(settings.state_folder))
MOST_SECONDS = 300.0
_Fields: Any = body_of(
    AnonymizeFields,
    quasi={"default": ...},
    k={"default": 5},
    seconds={"default": 30.0, "most": MOST_SECONDS},
    **costs(),
    **models(),
)


class AnonymizeBody(_Fields):  # type: ignore[misc]  # its fields are the request's
    """One anonymization. `hierarchies` holds a text for each column: value;level;level on a line."""

    table: StrictStr = Field(min_length=1, max_length=400, description="The table to copy.")
    hierarchies: dict[str, Annotated[StrictStr, Field(max_length=1 << 20)]] = Field(
        default_factory=dict, max_length=MOST_COLUMNS
    )

    def checked(self) -> AnonymizeRequest:
        """Return the request, or say which word or number makes no sense."""
        asked = self.given(AnonymizeFields) | {"hierarchies": None}
        written = self.hierarchies.items()
        given = {column: parse_hierarchy(text, column) for column, text in written}
        return replace(AnonymizeRequest.of(**asked), given=given)


def _checked(request: Request, asked: AnonymizeBody) -> dict[str, Any]:
    """Return what a child is asked; refuse here, not in the queue, what can be refused without reading rows."""
    found = asked.checked()
    with context_of(request).workspace.curator() as curator:
        _, source = source_of(curator, asked.table, asked.where)
        roles_of(source, found)
    return {"table": asked.table, "where": asked.where, "request": found}


@router.post("/anonymize", status_code=202)
@allow(Role.OWNER)
def make(request: Request, asked: AnonymizeBody) -> dict[str, Any]:
    """Start making a k-anonymous copy: no guarantee, recorded as an exposure; follow the job."""
    words = _checked(request, asked)
    releases_of(request).room()
    words |= {"state": context_of(request).settings.state_folder}
    return {"job": submit_long(request, LongTask(f"{_CHILD}:make", words)).id}


@router.post("/anonymize/measure", status_code=202)
@allow(Role.OWNER)
def measure(request: Request, asked: AnonymizeBody) -> dict[str, Any]:
    """Start measuring what several k would cost and leave; recorded as a look of the owner."""
    task = LongTask(f"{_CHILD}:measure", _checked(request, asked))
    return {"job": submit_long(request, task).id}


@router.get("/anonymize")
@allow(Role.OWNER)
def mine(request: Request) -> dict[str, Any]:
    """List the anonymized copies, latest first."""
    return {"copies": [release.to_json() for release in releases_of(request).all()]}


@router.get("/anonymize/{copy_id}")
@allow(Role.OWNER)
def look(request: Request, copy_id: Id) -> dict[str, Any]:
    """Say what one copy is, and which files it has."""
    return releases_of(request).find(copy_id).to_json()


@router.get("/anonymize/{copy_id}/{file}", response_class=Response)
@allow(Role.OWNER)
def download(request: Request, copy_id: Id, file: File) -> FileResponse:
    """Download rows or report of a copy."""
    release = releases_of(request).find(copy_id)
    name = f"{release.table}-anonymized-{file}"
    return FileResponse(**releases_of(request).download(release, file, saved_as=name))


@router.delete("/anonymize/{copy_id}", status_code=204)
@allow(Role.OWNER)
def delete(request: Request, copy_id: Id) -> Response:
    """Delete a copy; that it left stays in the ledger."""
    releases_of(request).remove(releases_of(request).find(copy_id))
    return Response(status_code=204)


page_router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
FEATURE = Feature((router, page_router), warm=("discreet.anonymize.run",))


@page_router.get("/anonymize")
@allow(Role.OWNER)
def anonymize_page(request: Request, table: str = "") -> Response:
    """Show the tables, what others may know of each column, and the copies there are."""
    datasets = datasets_view(readable_catalog(request))
    tables = copied_tables_view(datasets)
    kept = [each for each in tables if each["value"] == table] or tables
    return page(
        request,
        "anonymize.html",
        "Anonymize",
        tables=tables,
        chosen=kept[0] if kept else None,
        legacy=LEGACY,
        breaks=BREAKS,
        copies=[release_view(each) for each in releases_of(request).all()],
    )


@page_router.get("/anonymize/{copy_id}")
@allow(Role.OWNER)
def one_copy(request: Request, copy_id: str) -> Response:
    """Show one copy: what it is, its files, and its report."""
    release = releases_of(request).find(copy_id)
    return page(
        request,
        "anonymized.html",
        f"Anonymized copy of {release.table}",
        copy=release_view(release),
        report=Markup(releases_of(request).part(release)),  # noqa: S704  # made by us, every text escaped
    )


def release_view(release: StoredRelease) -> dict[str, Any]:
    """Return one copy as the pages show it."""
    facts = release.facts
    return kept_view(release) | {
        "path": f"/anonymize/{release.id}",
        "k": facts["k"],
        "rows": f"{facts['rows'] - facts['suppressed']:,}",
        "left_out": f"{facts['suppressed']:,}",
        "classes": f"{facts['classes']:,}",
        "risk": percent(facts["risk"]["prosecutor"]["average"]),
        "worst": percent(facts["risk"]["prosecutor"]["highest"]),
        "downloads": [
            {"name": words, "path": f"/api/v1/anonymize/{release.id}/{file}"}
            for file, words in FILES.items()
        ],
    }
