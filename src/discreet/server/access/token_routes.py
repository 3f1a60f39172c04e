"""Tokens, for the owner; and the browser's session, for everybody who has one."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse
from pydantic import Field, StrictStr

from discreet.api import Curator
from discreet.core.requests.server import TokenFields
from discreet.errors import NotAllowed, NotSignedIn, UnknownName
from discreet.server.access.audit_log import AuditAction
from discreet.server.access.auth import (
    Principal,
    allow,
    api_router,
    caller,
    end_session,
    everybody,
    principal,
)
from discreet.server.access.sign_in import drop_cookie, from_elsewhere, set_cookie, token_of
from discreet.server.access.tokens import Role
from discreet.server.bodies.request_body import body_of
from discreet.server.context import context_of
from discreet.server.plain_json import Body

router = api_router("tokens")


_Token: Any = body_of(TokenFields, role={"default": ...})


class TokenBody(_Token):  # type: ignore[misc]  # its fields are the request's
    """What a new token is for."""


class SignIn(Body):
    """A token to sign in with."""

    token: StrictStr = Field(max_length=200)


@router.get("/tokens")
@allow(Role.OWNER)
def listed(request: Request) -> dict[str, Any]:
    """List all tokens, never their texts."""
    tokens = context_of(request).tokens
    tokens.audit.record(caller(request).actor, AuditAction.TOKENS_LISTED)
    return {"tokens": [token.to_json() for token in tokens.all()]}


@router.post("/tokens", status_code=201)
@allow(Role.OWNER)
def new(request: Request, wanted: TokenBody) -> dict[str, Any]:
    """Make a token; it is shown this once."""
    context = context_of(request)
    role = Role.of(wanted.role)
    if role is Role.ANALYST and wanted.analyst is not None:
        with context.workspace.curator() as curator:
            refuse_unknown(curator, wanted.analyst)
    made = context.tokens.new(
        role,
        analyst=wanted.analyst,
        expires_days=wanted.expires_days,
        label=wanted.label,
        by=caller(request).actor,
    )
    return made.token.to_json() | {"token": made.text}


@router.delete("/tokens/{token_id}")
@allow(Role.OWNER)
def revoke(request: Request, token_id: str) -> dict[str, Any]:
    """Make a token useless, at once and for good."""
    return context_of(request).tokens.revoke(token_id, by=caller(request).actor).to_json()


@router.post("/session")
@everybody
def sign_in(request: Request, body: SignIn) -> JSONResponse:
    """Exchange a token for a session cookie."""
    context = context_of(request)
    if from_elsewhere(request):
        raise NotAllowed("Another site cannot sign you in.", hint="Sign in on the page.")
    token = token_of(request, body.token, way="session")
    if token is None:
        raise NotSignedIn("This token is unknown, expired or revoked.")
    cookie = context.sessions.new(token, way="session")
    session = context.sessions.find(cookie)
    csrf = None if session is None else session.csrf
    response = JSONResponse(_said(principal(token, csrf=csrf)))
    set_cookie(response, context, cookie)
    return response


@router.get("/session")
@allow(Role.OWNER, Role.ANALYST, Role.REVIEWER)
async def whoami(request: Request) -> dict[str, Any]:
    """Say who you are; with a cookie, also the CSRF token that changes must carry."""
    return _said(caller(request))


@router.delete("/session")
@allow(Role.OWNER, Role.ANALYST, Role.REVIEWER)
def sign_out(request: Request) -> JSONResponse:
    """End the browser's session."""
    context = context_of(request)
    if request.cookies.get(context.settings.cookie):
        end_session(request)
    response = JSONResponse({"signed_in": False})
    drop_cookie(response, context)
    return response


def refuse_unknown(curator: Curator, analyst: str) -> None:
    """Refuse a token for an analyst who has no share in anything."""
    if analyst not in curator.catalog.analysts:
        raise UnknownName(
            f"There is no analyst '{analyst}'.",
            hint=f"Add [analysts.{analyst}] to discreet.toml, with a share of each dataset.",
        )


def _said(who: Principal) -> dict[str, Any]:
    return {"role": who.role.value, "analyst": who.analyst, "csrf": who.csrf}
