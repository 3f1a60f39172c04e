"""Releases over HTTP (draft, rehearse, approve, release, withdraw), and the Publish pages."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi import Path as UrlPath
from fastapi.responses import FileResponse, Response
from markupsafe import Markup
from pydantic import Field, StrictStr

from discreet.base.numbers import to_fraction
from discreet.curator import Curator
from discreet.errors import DiscreetError, UnknownName
from discreet.server.access.auth import GuardedRoute, Id, allow, api_router, caller, everybody
from discreet.server.access.tokens import Role
from discreet.server.bodies import Body
from discreet.server.feature import Feature, Place, page
from discreet.server.features.publish import views
from discreet.server.features.publish.in_child import NAME, Drafts, read_text
from discreet.server.features.publish.views import MEMBERS, manifest, member, table
from discreet.server.jobs.long import LongTask, planned, submit_long
from discreet.server.jobs.queue import Job
from discreet.server.views import datasets_view, readable_catalog
from discreet.server.workspace import context_of, kept_once
from discreet.work.publish.run import request_id

FRESH = 1.0
"""Seconds: what another process withdrew is gone from these pages within so long."""
HANDED_OUT = ("released", "superseded")
PUBLIC = (*HANDED_OUT, "withdrawn")


class Standings:
    """The releases of one server; safe to share among threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read = -FRESH
        self._of: Curator | None = None
        self._found: list[dict[str, Any]] = []

    def forget(self) -> None:
        """Read again when next asked: something has changed."""
        with self._lock:
            self._of = None

    def all(self, curator: Curator) -> list[dict[str, Any]]:
        """Return every release, latest change last."""
        with self._lock:
            old = time.monotonic() - self._read > FRESH
            if self._of is not curator or old:
                self._found = curator.releases()
                self._of, self._read = curator, time.monotonic()
            return self._found

    def public(self, curator: Curator, name: str) -> dict[str, Any] | None:
        """Return where a release stands that anybody may know of."""
        if not NAME.fullmatch(name):
            return None
        # Any stranger may try names: of unknown ones the ledger is asked no more than once a second.
        found = (each for each in self.all(curator) if each["release"] == name)
        standing = next(found, None)
        if standing is None or standing["state"] not in PUBLIC:
            return None
        return standing if curator.package(name).is_file() else None

    def package(self, curator: Curator, name: str) -> Path | None:
        """Return where the package of a release lies, while it is handed out."""
        standing = self.public(curator, name)
        if standing is None or standing["state"] not in HANDED_OUT:
            return None
        return curator.package(name)


router = api_router("publish")

File = Annotated[str, UrlPath(min_length=1, max_length=200)]

drafts_of = kept_once(lambda settings: Drafts(settings.state_folder))
standings_of = kept_once(lambda _settings: Standings())


LONGEST = 60_000


class SpecBody(Body):
    """A release as its SPEC.toml describes it."""

    spec: Annotated[StrictStr, Field(min_length=1, max_length=LONGEST)]


class ApprovalBody(Body):
    """What was read before it was approved: the digest of the draft's spec and files."""

    digest: Annotated[StrictStr, Field(pattern="[0-9a-f]{64}", max_length=64)]


class ReasonBody(Body):
    """Why a release is withdrawn; it is written into the ledger's history."""

    reason: Annotated[StrictStr, Field(min_length=1, max_length=1000)]


@router.get("/publish")
@allow(Role.OWNER, Role.REVIEWER)
def releases(request: Request) -> dict[str, Any]:
    """List every release that was drafted and where it stands, and the owner's public key."""
    with context_of(request).workspace.curator() as curator:
        return {"releases": curator.releases(), "key": curator.release_key()}


@router.post("/publish", status_code=201)
@allow(Role.OWNER)
async def draft(request: Request, body: SpecBody) -> dict[str, Any]:
    """Write down a draft after planning it; costs nothing, reads no private row."""
    state, who = context_of(request).settings.state_folder, _name(request)

    def drafted(curator: Curator) -> dict[str, Any]:
        spec = read_text(body.spec, curator.catalog.base, state=state)
        found = curator.draft_release(spec, who=who)
        drafts_of(request).keep(spec)
        return found

    return await planned(request, drafted)


@router.post("/publish/rehearse", status_code=202)
@allow(Role.OWNER)
def rehearse(request: Request, body: SpecBody) -> dict[str, Any]:
    """Start rehearsing a release on made-up rows; costs nothing."""
    return {"job": _started(request, "rehearse", body.spec).id}


@router.get("/publish/{name}")
@allow(Role.OWNER, Role.REVIEWER)
def one_draft(request: Request, name: Id) -> dict[str, Any]:
    """Say where one release stands, and its spec with the digest that an approval names."""
    with context_of(request).workspace.curator() as curator:
        spec = drafts_of(request).spec(name, curator.catalog.base)
        standing = [each for each in curator.releases() if each["release"] == name]
    found = standing[0] if standing else {}
    return found | {"spec": spec.text, "digest": spec.digest}


@router.post("/publish/{name}/approve")
@allow(Role.OWNER, Role.REVIEWER)
def approve(request: Request, name: Id, body: ApprovalBody) -> dict[str, Any]:
    """Approve a draft as it was read; with a second person, somebody else must have made it."""
    with context_of(request).workspace.curator() as curator:
        spec = drafts_of(request).spec(name, curator.catalog.base)
        return curator.approve_release(spec, who=_name(request), digest=body.digest)


@router.post("/publish/{name}/release", status_code=202)
@allow(Role.OWNER)
def release(request: Request, name: Id) -> dict[str, Any]:
    """Start releasing a draft: charged once, signed, and the same package whenever asked again."""
    with context_of(request).workspace.curator() as curator:
        spec = drafts_of(request).spec(name, curator.catalog.base)
    standings = standings_of(request)
    job = _started(request, "release", spec.text, charge=request_id(spec))
    job.future.add_done_callback(lambda _: standings.forget())
    return {"job": job.id}


def _started(request: Request, task: str, text: str, *, charge: str = "") -> Job:
    """Return the job of a child that does what `task` says with a spec."""
    state = context_of(request).settings.state_folder
    asked = {"state": state, "text": text, "who": _name(request)}
    run = f"discreet.server.features.publish.in_child:{task}"
    return submit_long(request, LongTask(run, asked, charge=charge))


def _name(request: Request) -> str:
    """Return the caller as the ledger names who drafted or approved: each token is a person."""
    who = caller(request)
    return f"{who.name} ({who.token_id[:8]})"


@router.post("/publish/{name}/withdraw")
@allow(Role.OWNER)
def withdraw(request: Request, name: Id, body: ReasonBody) -> dict[str, Any]:
    """Withdraw a release: its page says why, its package is no longer handed out, its price stays."""
    with context_of(request).workspace.curator() as curator:
        spec = drafts_of(request).spec(name, curator.catalog.base)
        found = curator.withdraw_release(spec, reason=body.reason, who=_name(request))
    standings_of(request).forget()
    return found


@router.get("/releases/{name}/package.zip", response_class=Response)
@everybody
def package(request: Request, name: Id) -> FileResponse:
    """Download a released package, whole and signed; nobody needs a token for it."""
    with context_of(request).workspace.last_curator() as curator:
        path = standings_of(request).package(curator, name)
    if path is None:
        raise UnknownName("There is no such release.")
    return FileResponse(path, media_type="application/zip", filename=f"{name}.zip")


@router.get("/releases/{name}/files/{file:path}", response_class=Response)
@everybody
def one_file(request: Request, name: Id, file: File) -> Response:
    """Download one member of a released package."""
    with context_of(request).workspace.last_curator() as curator:
        path = standings_of(request).package(curator, name)
    content = None if path is None else member(path, file)
    if content is None:
        raise UnknownName("There is no such file in this release.")
    ending = file.rpartition(".")[2]
    # As an attachment: what a package holds is for reading elsewhere, never for running here.
    shown = file.replace("/", "-")
    headers = {"Content-Disposition": f'attachment; filename="{name}-{shown}"'}
    return Response(content, media_type=MEMBERS[ending], headers=headers)


page_router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
FEATURE = Feature(
    (router, page_router),
    places=(Place("Publish", "/publish", 20, frozenset({Role.OWNER, Role.REVIEWER})),),
    warm=("discreet.work.publish.run",),
)

NOT_KEYS = {"table", "measure"}


@page_router.get("/publish")
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


@page_router.get("/publish/{name}")
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


@page_router.get("/releases")
@everybody
def all_released(request: Request) -> Response:
    """List what was released, for anybody."""
    with context_of(request).workspace.last_curator() as curator:
        found = standings_of(request).all(curator)
    public = [views.standing_view(each) for each in reversed(found) if each["state"] in PUBLIC]
    return page(request, "releases.html", "Releases", releases=public)


@page_router.get("/releases/{name}")
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
