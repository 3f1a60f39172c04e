"""The Publish pages: releases there are, one on its way, and the public page of a package."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup

from discreet.core.numbers import to_fraction
from discreet.errors import DiscreetError, UnknownName
from discreet.server.access.auth import GuardedRoute, allow, caller, everybody
from discreet.server.access.tokens import Role
from discreet.server.context import context_of
from discreet.server.feature import Feature, Place
from discreet.server.features.publish import routes, views
from discreet.server.features.publish.drafts import read_text
from discreet.server.features.publish.released import manifest, table
from discreet.server.features.publish.routes import drafts_of, standings_of
from discreet.server.features.publish.standings import PUBLIC
from discreet.server.readable import readable_catalog
from discreet.server.rendering import page
from discreet.server.views import datasets_view

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
FEATURE = Feature(
    (routes.router, router),
    places=(Place("Publish", "/publish", 20, frozenset({Role.OWNER, Role.REVIEWER})),),
    warm=("discreet.publish.run",),
)

NOT_KEYS = {"table", "measure"}


@router.get("/publish")
@allow(Role.OWNER, Role.REVIEWER)
def publish(request: Request) -> Response:
    """Show the releases there are, and a spec to begin with."""
    with context_of(request).workspace.curator() as curator:
        found, key = curator.releases(), curator.release_key()
    owner = caller(request).role is Role.OWNER
    datasets = datasets_view(readable_catalog(request)) if owner else []
    return page(
        request,
        "publish.html",
        "Publish",
        releases=[views.standing_view(each) for each in reversed(found)],
        key=key,
        owner=owner,
        starter=views.starter(datasets),
    )


@router.get("/publish/{name}")
@allow(Role.OWNER, Role.REVIEWER)
def one_release(request: Request, name: str) -> Response:
    """Show one release: its spec, how far it has come, its rehearsal, and what can be done next."""
    with context_of(request).workspace.curator() as curator:
        found = next((each for each in curator.releases() if each["release"] == name), None)
        text = drafts_of(request).text(name)
        base, catalog = curator.catalog.base, curator.catalog
        if found is None:
            raise UnknownName("There is no such release.")
        words, second, holds, digest = "", False, None, ""
        try:
            state = context_of(request).settings.state_folder
            spec = None if text is None else read_text(text, base, state=state)
            if spec is not None:
                holds, digest = views.spec_view(spec), spec.digest
                dataset = catalog.dataset(spec.dataset)
                second = dataset.second_person
                spent = curator.ledger.spent(dataset.budget)
                left = float(spent.limit_epsilon - spent.epsilon)
                asked = float(to_fraction(str(spec.epsilon)))
                words = views.price_words(left, float(spent.limit_epsilon), asked)
        except DiscreetError:
            pass  # a catalog that has changed since: the release itself will say what is wrong
    return page(
        request,
        "publish_release.html",
        name,
        release=views.standing_view(found),
        way=views.way(found["state"]),
        spec=text or "",
        holds=holds,
        digest=digest,
        second=second,
        price=words,
        owner=caller(request).role is Role.OWNER,
        pictures=Markup(drafts_of(request).pictures(name)),  # noqa: S704  # made by us, every text escaped
    )


@router.get("/releases")
@everybody
def all_released(request: Request) -> Response:
    """List what was released, for anybody."""
    with context_of(request).workspace.last_curator() as curator:
        found = standings_of(request).all(curator)
    public = [views.standing_view(each) for each in reversed(found) if each["state"] in PUBLIC]
    return page(request, "releases.html", "Releases", releases=public)


@router.get("/releases/{name}")
@everybody
def released(request: Request, name: str) -> Response:
    """Show a released package to anybody: tables first, then what it promises, then downloads."""
    with context_of(request).workspace.last_curator() as curator:
        found = standings_of(request).public(curator, name)
        path = standings_of(request).package(curator, name)
    if found is None:
        raise UnknownName("There is no such release.")
    if path is None:
        return page(request, "released_gone.html", name, release=views.standing_view(found))
    signed = manifest(path)
    chosen = {k: v for k, v in request.query_params.items() if k not in NOT_KEYS and v}
    wanted = request.query_params.get("table", "")
    wanted = wanted if wanted in signed["tables"] else next(iter(signed["tables"]))
    shown = table(path, wanted, chosen)
    return page(
        request,
        "released.html",
        name,
        release=views.standing_view(found),
        package=views.package_view(signed, name),
        table=None
        if shown is None
        else views.table_view(
            shown, name=name, chosen=chosen, measure=request.query_params.get("measure", "")
        ),
        wanted=wanted,
    )
