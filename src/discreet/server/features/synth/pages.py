"""The Synthesize pages: a form with its price, the copies there are, and one copy with its report."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup

from discreet.server.access.auth import GuardedRoute, allow, caller
from discreet.server.access.tokens import Role
from discreet.server.asking.paid import kept_for
from discreet.server.feature import Feature, Place
from discreet.server.features.synth import routes
from discreet.server.features.synth.copies import FILES, OWNERS_ONLY, Copy
from discreet.server.features.synth.routes import copies_of
from discreet.server.readable import readable_catalog
from discreet.server.rendering import page
from discreet.server.views import copied_tables_view, datasets_view, kept_view, start_of
from discreet.synth.methods.registry import METHODS

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
FEATURE = Feature(
    (routes.router, router),
    places=(Place("Synthesize", "/synthesize", 30),),
    warm=("discreet.synth.run",),
)


@router.get("/synthesize")
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


@router.get("/synthesize/{copy_id}")
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
