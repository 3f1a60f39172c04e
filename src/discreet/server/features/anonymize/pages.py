"""The Anonymize pages: what each k leaves and costs, the copies there are, and one with its report."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup

from discreet.anonymize.text import BREAKS, LEGACY, percent
from discreet.server.access.auth import GuardedRoute, allow
from discreet.server.access.tokens import Role
from discreet.server.feature import Feature
from discreet.server.features.anonymize import routes
from discreet.server.features.anonymize.releases import FILES, StoredRelease
from discreet.server.features.anonymize.routes import releases_of
from discreet.server.readable import readable_catalog
from discreet.server.rendering import page
from discreet.server.views import copied_tables_view, datasets_view, kept_view

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
FEATURE = Feature((routes.router, router), warm=("discreet.anonymize.run",))


@router.get("/anonymize")
@allow(Role.OWNER)
def anonymize(request: Request, table: str = "") -> Response:
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


@router.get("/anonymize/{copy_id}")
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
