"""Two steps of a sign-in: to the provider, and back to a form that this browser must send itself.

Guarantee: a session begins only by the form that `/sign-in` asks for anyway (note 0033), after the page has said whose
account it is. What comes back must carry the state that this browser left with; each is used once. No token is made
before that form is sent, none is ever shown, and signing out ends it.
"""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, FastAPI, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from discreet.errors import DiscreetError, UnknownName
from discreet.server.access.audit_log import Actor
from discreet.server.access.auth import GuardedRoute, address_of, everybody, tell_failed
from discreet.server.access.limits import fine
from discreet.server.access.sign_in import form, own_form, set_cookie
from discreet.server.access.tokens import VOUCHED, Token
from discreet.server.feature import Feature
from discreet.server.features.openid.provider import Provider, label_of, read_openid
from discreet.server.workspace import Context, context_of

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
MINUTES = 10
KEPT = 1000
"""Sign-ins that wait for a confirmation; the oldest are forgotten first."""
Text = Annotated[str, Query(max_length=4096)]


class PendingSignIns:
    """Who has come back and was not yet asked to confirm: random texts that stand for one person, once."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: OrderedDict[str, tuple[str, float]] = OrderedDict()

    def new(self, who: str) -> str:
        """Return the ticket of a person whom the provider has named."""
        ticket = secrets.token_urlsafe(32)
        with self._lock:
            self._waiting[ticket] = (who, self._clock() + 60 * MINUTES)
            while len(self._waiting) > KEPT:
                self._waiting.popitem(last=False)
        return ticket

    def used(self, ticket: str) -> str | None:
        """Return whose ticket it was; None for one that is unknown, used or too old."""
        with self._lock:
            who, until = self._waiting.pop(ticket, ("", 0.0))
        return who if who and self._clock() < until else None


def set_up(app: FastAPI) -> None:
    """Read the settings now: a server with a wrong file does not start."""
    context: Context = app.state.context
    path = context.settings.openid
    provider = None if path is None else Provider(read_openid(path), path)
    app.state.openid, app.state.openid_tickets = provider, PendingSignIns()
    # Without a provider nobody vouches for the tokens that one has caused.
    stands = _not_vouched if provider is None else provider.stands
    context.tokens.also_ask(stands)


@router.get("/openid")
@everybody
def leave(request: Request) -> Response:
    """Send the browser to the provider, with what it must bring back kept in a cookie."""
    provider, context = _provider(request), context_of(request)
    state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
    try:
        place = provider.address(state=state, nonce=nonce, verifier=verifier)
    except DiscreetError as error:
        return form(request, "sign_in.html", status=502, problem=error.message)
    response = RedirectResponse(place, 303)
    response.set_cookie(
        _cookie(context),
        f"{state}.{nonce}.{verifier}",
        max_age=60 * MINUTES,
        path="/",
        httponly=True,
        samesite="lax",  # it must come along when the provider sends the browser back
        secure=context.settings.tls,
    )
    return response


@router.get("/openid/callback")
@everybody
def come_back(request: Request, code: Text = "", state: Text = "") -> Response:
    """Exchange the code for a person, and ask whether to sign in as the account that is theirs."""
    provider, context = _provider(request), context_of(request)
    kept = request.cookies.get(_cookie(context), "").split(".")
    if len(kept) != 3 or not code or not hmac.compare_digest(kept[0].encode(), state.encode()):
        return _refused(
            request, "This sign-in was not begun in this browser, or it is over. Try again."
        )
    try:
        who = provider.person(code, nonce=kept[1], verifier=kept[2])
    except DiscreetError as error:
        return _refused(request, error.message)
    context.workspace.refresh()
    found = provider.settings.holder(who)
    if found is None or not _listed(context, found[1]):
        return _refused(request, "You are known to your provider, but have no account here.")
    ticket = request.app.state.openid_tickets.new(who)
    shown = {"name": found[1] or found[0].value, "who": who, "ticket": ticket}
    response = form(request, "sign_in_openid.html", **shown)
    _forget(response, context)
    return response


@router.post("/openid/confirm")
@everybody
def confirm(
    request: Request, ticket: Annotated[str, Form()] = "", nonce: Annotated[str, Form()] = ""
) -> Response:
    """Sign in as the account that the page has named: only now is a token made, which nobody is shown."""
    provider, context = _provider(request), context_of(request)
    if not own_form(request, nonce):
        return _refused(request, "The form was not one of this browser. Try again.")
    who = request.app.state.openid_tickets.used(ticket)
    context.workspace.refresh()
    found = None if who is None else provider.settings.holder(who)
    if who is None or found is None or not _listed(context, found[1]):
        return _refused(request, "This sign-in is over. Try again.")
    made = context.tokens.new(
        found[0],
        analyst=found[1],
        expires_days=context.settings.session_hours / 24,
        label=label_of(who),
        by=Actor("openid"),
        vouched=True,
    )
    response = RedirectResponse("/", 303)
    set_cookie(response, context, context.sessions.new(made.token, way="openid"))
    return response


def _listed(context: Context, analyst: str | None) -> bool:
    return analyst is None or context.workspace.lists(analyst)


def _not_vouched(token: Token) -> bool:
    return not token.label.startswith(VOUCHED)


def _provider(request: Request) -> Provider:
    provider: Provider | None = request.app.state.openid
    if provider is None:
        raise UnknownName("This server has no sign-in provider.")
    provider.refresh()
    return provider


def _refused(request: Request, problem: str) -> Response:
    context = context_of(request)
    tell_failed(request, "openid")
    fine(context.by_address, address_of(request))
    response = form(request, "sign_in.html", status=401, problem=problem)
    _forget(response, context)
    return response


def _forget(response: Response, context: Context) -> None:
    response.delete_cookie(_cookie(context), path="/", secure=context.settings.tls)


def _cookie(context: Context) -> str:
    return f"{context.settings.cookie}_openid"


FEATURE = Feature((router,), set_up=set_up)
