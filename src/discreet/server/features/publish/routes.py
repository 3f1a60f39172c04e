"""Releases over HTTP: draft, rehearse, approve, release, withdraw; and packages for anybody."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Request
from fastapi.responses import FileResponse, Response
from pydantic import Field, StrictStr

from discreet.api import Curator
from discreet.errors import UnknownName
from discreet.publish.run import request_id
from discreet.server.access.auth import Id, allow, api_router, caller, everybody
from discreet.server.access.tokens import Role
from discreet.server.context import context_of, kept_once
from discreet.server.features.publish.drafts import Drafts, read_text
from discreet.server.features.publish.released import MEMBERS, member
from discreet.server.features.publish.standings import Standings
from discreet.server.jobs.long import LongTask, submit_long
from discreet.server.jobs.long_calls import planned
from discreet.server.jobs.queue import Job
from discreet.server.plain_json import Body

router = api_router("publish")

File = Annotated[str, Path(min_length=1, max_length=200)]

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
