"""Releases over HTTP: draft, rehearse, approve, release, withdraw; and packages for anybody."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Request
from fastapi.responses import FileResponse, Response

from discreet.errors import UnknownName
from discreet.server.access.auth import allow, api_router, caller, everybody
from discreet.server.access.tokens import Role
from discreet.server.context import context_of, kept_once
from discreet.server.features.publish import work
from discreet.server.features.publish.body import ApprovalBody, ReasonBody, SpecBody
from discreet.server.features.publish.drafts import Drafts
from discreet.server.features.publish.released import MEMBERS, member
from discreet.server.features.publish.standings import Standings

router = api_router("publish")

Name = Annotated[str, Path(min_length=1, max_length=64)]
File = Annotated[str, Path(min_length=1, max_length=200)]

drafts_of = kept_once(lambda settings: Drafts(settings.state_folder))
standings_of = kept_once(lambda _settings: Standings())


@router.get("/publish")
@allow(Role.OWNER, Role.REVIEWER)
def releases(request: Request) -> dict[str, Any]:
    """List every release that was drafted and where it stands, and the owner's public key."""
    with context_of(request).workspace.curator() as curator:
        return {"releases": curator.releases(), "key": curator.release_key()}


@router.post("/publish", status_code=201)
@allow(Role.OWNER)
def draft(request: Request, body: SpecBody) -> dict[str, Any]:
    """Write down a draft after planning it; costs nothing, reads no private row."""
    return work.draft(context_of(request), drafts_of(request), caller(request), body.spec)


@router.post("/publish/rehearse", status_code=202)
@allow(Role.OWNER)
def rehearse(request: Request, body: SpecBody) -> dict[str, Any]:
    """Start rehearsing a release on made-up rows; costs nothing."""
    who = caller(request)
    job = work.rehearse(context_of(request), who, body.spec)
    return {"job": job.id}


@router.get("/publish/{name}")
@allow(Role.OWNER, Role.REVIEWER)
def one_draft(request: Request, name: Name) -> dict[str, Any]:
    """Say where one release stands, and its spec with the digest that an approval names."""
    with context_of(request).workspace.curator() as curator:
        spec = drafts_of(request).spec(name, curator.catalog.base)
        standing = [each for each in curator.releases() if each["release"] == name]
    found = standing[0] if standing else {}
    return found | {"spec": spec.text, "digest": spec.digest}


@router.post("/publish/{name}/approve")
@allow(Role.OWNER, Role.REVIEWER)
def approve(request: Request, name: Name, body: ApprovalBody) -> dict[str, Any]:
    """Approve a draft as it was read; with a second person, somebody else must have made it."""
    with context_of(request).workspace.curator() as curator:
        spec = drafts_of(request).spec(name, curator.catalog.base)
        who = work.name_of(caller(request))
        return curator.approve_release(spec, who=who, digest=body.digest)


@router.post("/publish/{name}/release", status_code=202)
@allow(Role.OWNER)
def release(request: Request, name: Name) -> dict[str, Any]:
    """Start releasing a draft: charged once, signed, and the same package whenever asked again."""
    with context_of(request).workspace.curator() as curator:
        spec = drafts_of(request).spec(name, curator.catalog.base)
    return {
        "job": work.release(context_of(request), standings_of(request), caller(request), spec).id
    }


@router.post("/publish/{name}/withdraw")
@allow(Role.OWNER)
def withdraw(request: Request, name: Name, body: ReasonBody) -> dict[str, Any]:
    """Withdraw a release: its page says why, its package is no longer handed out, its price stays."""
    with context_of(request).workspace.curator() as curator:
        spec = drafts_of(request).spec(name, curator.catalog.base)
        who = work.name_of(caller(request))
        found = curator.withdraw_release(spec, reason=body.reason, who=who)
    standings_of(request).forget()
    return found


@router.get("/releases/{name}/package.zip", response_class=Response)
@everybody
def package(request: Request, name: Name) -> FileResponse:
    """Download a released package, whole and signed; nobody needs a token for it."""
    with context_of(request).workspace.curator() as curator:
        path = standings_of(request).package(curator, name)
    if path is None:
        raise UnknownName("There is no such release.")
    return FileResponse(path, media_type="application/zip", filename=f"{name}.zip")


@router.get("/releases/{name}/files/{file:path}", response_class=Response)
@everybody
def one_file(request: Request, name: Name, file: File) -> Response:
    """Download one member of a released package."""
    with context_of(request).workspace.curator() as curator:
        path = standings_of(request).package(curator, name)
    content = None if path is None else member(path, file)
    if content is None:
        raise UnknownName("There is no such file in this release.")
    ending = file.rpartition(".")[2]
    # As an attachment: what a package holds is for reading elsewhere, never for running here.
    shown = file.replace("/", "-")
    headers = {"Content-Disposition": f'attachment; filename="{name}-{shown}"'}
    return Response(content, media_type=MEMBERS[ending], headers=headers)
