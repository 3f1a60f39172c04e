"""Signing in a browser: a token becomes a session, by a form or an address, never from elsewhere.

Guarantee: a session begins only where this browser's own user asked for it: by a form that repeats
    the nonce of its cookie (SameSite=Strict, so that other sites cannot send it), or by an address
    that the user opened themselves (Sec-Fetch-Site: none) while nobody else was signed in. A link
    on another site leads to a page that says whose account it is, and asks. (Note 0033.)
"""

from __future__ import annotations

import hmac
import secrets
from typing import Any
from urllib.parse import parse_qsl, urlencode

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from discreet.errors import DiscreetError
from discreet.server.access.auth import address_of, recognise, tell_failed
from discreet.server.access.limits import fine
from discreet.server.access.tokens import Token
from discreet.server.context import Context, context_of
from discreet.server.problems import answer_with, problem_of
from discreet.server.rendering import page


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
