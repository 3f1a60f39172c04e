"""Signing in a browser, by a form or an address, never from elsewhere; tokens and the audit log over HTTP.

Guarantee: a session begins only where this browser's own user asked for it: by a form that repeats
    the nonce of its cookie (SameSite=Strict, so that other sites cannot send it), or by an address
    that the user opened themselves (Sec-Fetch-Site: none) while nobody else was signed in. A link
    on another site leads to a page that says whose account it is, and asks. (Note 0033.)
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import asdict
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlencode

from fastapi import Query, Request
from fastapi.responses import JSONResponse
from pydantic import Field, StrictStr
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from discreet.base.requests.server import TokenFields
from discreet.curator import Curator
from discreet.errors import DiscreetError, NotAllowed, NotSignedIn, UnknownName
from discreet.server.access.audit_log import MOST_READ, AuditAction
from discreet.server.access.auth import (
    Principal,
    address_of,
    allow,
    api_router,
    caller,
    end_session,
    everybody,
    principal,
    recognise,
    tell_failed,
)
from discreet.server.access.limits import fine
from discreet.server.access.tokens import Role, Token
from discreet.server.bodies import Body, body_of
from discreet.server.feature import page
from discreet.server.problems import answer_with, problem_of
from discreet.server.workspace import Context, context_of


class SignInByAddress:
    """ASGI layer: /?token=... starts a session and leads to the same page without the token."""

    def __init__(self, app: ASGIApp, *, context: Context) -> None:
        self._app = app
        self._context = context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer an address with a token; pass everything else on."""
        opened = scope["type"] == "http" and scope["method"] == "GET"
        if (
            not opened
            or scope["path"].startswith("/api/")
            or b"token=" not in scope["query_string"]
        ):
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        response = await run_in_threadpool(self._answer, request)
        await response(scope, receive, send)

    def _answer(self, request: Request) -> Response:
        pairs = parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)
        text = dict(pairs).get("token", "")
        rest = urlencode([(name, value) for name, value in pairs if name != "token"])
        target = own_path(request.scope["path"]) + (f"?{rest}" if rest else "")
        try:
            token = token_of(request, text, way="address")
        except DiscreetError as error:
            return answer_with(problem_of(error))
        recognise(request)
        if token is not None and not _own_doing(request, token):
            return form(request, "sign_in_link.html", holder=token, token=text, to=target)
        response = RedirectResponse(target, 303)
        if token is not None:
            set_cookie(response, self._context, self._context.sessions.new(token, way="address"))
        return response


def _own_doing(request: Request, token: Token) -> bool:
    """Return whether the user opened this address, and it takes nobody's session away."""
    now = request.state.caller
    other = now is not None and now.token_id != token.id
    return request.headers.get("sec-fetch-site") == "none" and not other


def own_path(path: str) -> str:
    """Return `path` with one leading slash only: "//elsewhere" would be another site."""
    return "/" + path.lstrip("/\\")


def token_of(request: Request, text: str, *, way: str) -> Token | None:
    """Return the valid token that somebody signs in with; both outcomes count in the limits."""
    context, address = context_of(request), address_of(request)
    if way == "address":  # the others are routes, which count every call
        context.by_address.take(address)
    context.workspace.refresh()
    found = context.tokens.find(text)
    if found is None:
        tell_failed(request, way)
        fine(context.by_address, address)
        return None
    context.by_token.take(found.id)
    return found


def from_elsewhere(request: Request) -> bool:
    """Return whether a browser says that another site has sent this."""
    return request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")


def form(request: Request, template: str, *, status: int = 200, **shown: Any) -> Response:
    """Return a page with a form that signs in, and the cookie whose nonce the form repeats."""
    context = context_of(request)
    nonce = request.cookies.get(_form_cookie(context)) or secrets.token_urlsafe(24)
    shown |= {"nonce": nonce, "exposed": context.settings.exposed}
    shown |= {"openid": context.settings.openid is not None}
    response = page(request, template, "Sign in", status=status, **shown)
    _set(response, context, _form_cookie(context), nonce)
    return response


def own_form(request: Request, nonce: str) -> bool:
    """Return whether a form that was sent is one that this browser was given."""
    kept = request.cookies.get(_form_cookie(context_of(request)), "")
    same = hmac.compare_digest(kept.encode(), nonce.encode())
    return bool(kept) and same and not from_elsewhere(request)


def set_cookie(response: Response, context: Context, cookie: str) -> None:
    """Give the browser its session, out of reach of scripts and of other sites."""
    seconds = int(context.settings.session_hours * 3600)
    _set(response, context, context.settings.cookie, cookie, max_age=seconds)


def drop_cookie(response: Response, context: Context) -> None:
    """Take the session's cookie back; browsers want Secure repeated where the name promises it."""
    response.delete_cookie(context.settings.cookie, path="/", secure=context.settings.tls)


def _form_cookie(context: Context) -> str:
    return f"{context.settings.cookie}_form"


def _set(
    response: Response, context: Context, name: str, value: str, *, max_age: int | None = None
) -> None:
    """Set a cookie; over plain HTTP browsers would not send one with Secure back."""
    response.set_cookie(
        name,
        value,
        max_age=max_age,
        path="/",
        httponly=True,
        samesite="strict",
        secure=context.settings.tls,
    )


token_router = api_router("tokens")


_Token: Any = body_of(TokenFields, role={"default": ...})


class TokenBody(_Token):  # type: ignore[misc]  # its fields are the request's
    """What a new token is for."""


class SignIn(Body):
    """A token to sign in with."""

    token: StrictStr = Field(max_length=200)


@token_router.get("/tokens")
@allow(Role.OWNER)
def listed(request: Request) -> dict[str, Any]:
    """List all tokens, never their texts."""
    tokens = context_of(request).tokens
    tokens.audit.record(caller(request).actor, AuditAction.TOKENS_LISTED)
    return {"tokens": [token.to_json() for token in tokens.all()]}


@token_router.post("/tokens", status_code=201)
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


@token_router.delete("/tokens/{token_id}")
@allow(Role.OWNER)
def revoke(request: Request, token_id: str) -> dict[str, Any]:
    """Make a token useless, at once and for good."""
    return context_of(request).tokens.revoke(token_id, by=caller(request).actor).to_json()


@token_router.post("/session")
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


@token_router.get("/session")
@allow(Role.OWNER, Role.ANALYST, Role.REVIEWER)
async def whoami(request: Request) -> dict[str, Any]:
    """Say who you are; with a cookie, also the CSRF token that changes must carry."""
    return _said(caller(request))


@token_router.delete("/session")
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


audit_router = api_router("audit")
Last = Annotated[int, Query(ge=0, le=MOST_READ)]


@audit_router.get("/audit")
@allow(Role.OWNER)
def audit(request: Request, last: Last = 50) -> dict[str, Any]:
    """List the latest lines of the audit log, latest first: tokens, sign-ins, uploads, limits."""
    return {"lines": [asdict(line) for line in context_of(request).access.audit.last(last)]}
