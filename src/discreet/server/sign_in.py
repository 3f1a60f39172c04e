"""Signing in a browser: an address with a token becomes a session, and the token disappears."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from discreet.server.audit import STRANGER, Deed
from discreet.server.context import Context


class SignInByAddress:
    """ASGI layer: /?token=... starts a session and leads to the same page without the token."""

    def __init__(self, app: ASGIApp, *, context: Context) -> None:
        self._app = app
        self._context = context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer an address with a token; pass everything else on."""
        page = scope["type"] == "http" and scope["method"] == "GET"
        if not page or scope["path"].startswith("/api/") or b"token=" not in scope["query_string"]:
            await self._app(scope, receive, send)
            return
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        text = dict(pairs).get("token", "")
        rest = urlencode([(name, value) for name, value in pairs if name != "token"])
        # One leading slash only: "//elsewhere" would be another site.
        target = "/" + scope["path"].lstrip("/\\")
        response = RedirectResponse(f"{target}?{rest}" if rest else target, 303)
        token = self._context.tokens.find(text)
        if token is not None:
            cookie = self._context.sessions.new(token, way="address")
            set_cookie(response, self._context, cookie)
        else:
            client = scope.get("client")
            tell_failed(self._context, way="address", address=client[0] if client else "unknown")
        await response(scope, receive, send)


def tell_failed(context: Context, *, way: str, address: str) -> None:
    """Write down that somebody could not sign in; never what they sent."""
    context.access.audit.record_seldom(STRANGER, Deed.SIGN_IN_FAILED, way=way, address=address)


def set_cookie(response: Response, context: Context, cookie: str) -> None:
    """Give the browser its session, out of reach of scripts and of other sites."""
    response.set_cookie(
        context.settings.cookie,
        cookie,
        max_age=int(context.settings.session_hours * 3600),
        path="/",
        httponly=True,
        samesite="strict",
        secure=context.settings.tls,
    )
