"""Errors as application/problem+json, never with a private value; security headers on every response."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet import errors
from discreet.errors import DiscreetError
from discreet.server.logs import log_failure

MEDIA_TYPE = "application/problem+json"

_STATUS: tuple[tuple[type[DiscreetError], int], ...] = (
    (errors.NotSignedIn, 401),
    (errors.AccessDenied, 403),
    (errors.BudgetExceeded, 402),
    (errors.UnknownName, 404),
    (errors.RequestConflict, 409),
    (errors.StillRunning, 409),
    (errors.Cancelled, 409),
    (errors.AnswerLost, 410),
    (errors.TooLarge, 413),
    (errors.TooManyRequests, 429),
    (errors.MissingExtra, 501),
    (errors.EngineFailed, 502),
    (errors.LedgerError, 503),
    (errors.NotInForce, 503),
    (errors.CollectorClosed, 503),
    (errors.ServerFailed, 500),
    (DiscreetError, 400),
)
"""The first that fits gives the status."""


_KINDS = {
    400: "InvalidInput",
    404: "UnknownName",
    405: "InvalidInput",
    408: "InvalidInput",
    413: "TooLarge",
    503: "TooManyRequests",
}
"""What a status is called where only the status is known."""


def status_of(error: DiscreetError) -> int:
    """Return the HTTP status of an error."""
    return next(status for kind, status in _STATUS if isinstance(error, kind))


def problem_of(error: DiscreetError) -> dict[str, Any]:
    """Return the problem object of an error."""
    return problem(status_of(error), error.kind, error.message, error.hint) | error.more()


def problem(status: int, kind: str, detail: str, hint: str = "") -> dict[str, Any]:
    """Return a problem object (RFC 9457)."""
    return {
        "type": f"urn:discreet:problem:{kind}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "hint": hint,
        "kind": kind,
    }


def answer_with(found: dict[str, Any]) -> JSONResponse:
    """Return the response that carries a problem object."""
    headers = {}
    if found["status"] == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="discreet"'
    elif found["status"] in {429, 503} or found["kind"] == errors.StillRunning.__name__:
        headers["Retry-After"] = "1"
    elif found["status"] == 413:
        headers["Connection"] = "close"  # or the rest would still be sent, to be thrown away
    return JSONResponse(found, found["status"], headers=headers, media_type=MEDIA_TYPE)


def add_problems(app: FastAPI) -> None:
    """Make every failure of `app` a problem object."""
    app.add_exception_handler(DiscreetError, _expected)
    app.add_exception_handler(RequestValidationError, _wrong_shape)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(ClientDisconnect, _broken_off)
    app.add_exception_handler(Exception, _unexpected)


async def _expected(request: Request, error: Exception) -> Response:
    assert isinstance(error, DiscreetError), "registered for these"
    page = request.method in {"GET", "HEAD"} and not request.url.path.startswith("/api/")
    if page and isinstance(error, errors.NotSignedIn):
        return RedirectResponse("/", 303)
    return answer_with(problem_of(error))


async def _wrong_shape(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError), "registered for these"
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body")[:100]
    said = f"{where}: {first['msg']}." if where else f"{first['msg']}."
    printable = "".join(letter if letter.isprintable() else "?" for letter in said)
    hint = "See /api/v1/openapi.json for the shape of each request."
    return answer_with(problem(400, "InvalidInput", printable, hint))


async def _http(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException), "registered for these"
    kind = _KINDS.get(error.status_code, "ServerFailed")
    found = answer_with(problem(error.status_code, kind, f"{error.detail}."))
    found.headers.update(error.headers or {})
    return found


async def _broken_off(_request: Request, _error: Exception) -> Response:
    """Count a request whose sender hung up in the middle of its body; nobody reads this, and it is no failure of ours."""
    return answer_with(problem(400, "InvalidInput", "The request was broken off."))


async def _unexpected(_request: Request, error: Exception) -> Response:
    log_failure(error)
    sentence = "Something went wrong inside the server; nothing uncharged was released."
    found = answer_with(problem(500, "ServerFailed", sentence))
    # Starlette answers these outside of all layers, so the headers are added here.
    found.headers.update(HEADERS | {"Cache-Control": "no-store", "Connection": "close"})
    return found


CONTENT_POLICY = (
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "object-src 'none'"
)

HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
"""There is no Access-Control header at all: other origins get nothing."""

STATIC = "/static/"
"""Assets of the package; everything else may be private to its reader and is never cached."""


class SecurityHeaders:
    """ASGI layer that adds the headers, whatever the answer is."""

    def __init__(self, app: ASGIApp, *, tls: bool) -> None:
        self._app = app
        self._headers = dict(HEADERS)
        if tls:
            self._headers["Strict-Transport-Security"] = "max-age=31536000"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and add the headers to its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
                if not scope["path"].startswith(STATIC):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self._app(scope, receive, with_headers)
