"""Who may call what: every route says it beside itself, and one that does not cannot be made."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Coroutine, Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, FastAPI, Path, Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from discreet.base.bill import OWNER
from discreet.errors import InternalError, InvalidInput, NotAllowed, NotInForce, NotSignedIn
from discreet.server.access.audit_log import STRANGER, Actor, AuditAction
from discreet.server.access.limits import fine
from discreet.server.access.tokens import AskedAs, Role, Token
from discreet.server.bodies import object_of, require_whole_letters
from discreet.server.workspace import Context, context_of

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
Handler = Callable[[Request], Coroutine[Any, Any, Response]]

_MARK = "__discreet_access__"
_READS = {"GET", "HEAD", "OPTIONS"}
_SENT_ONCE = ("Authorization", "Idempotency-Key")


@dataclass(frozen=True, slots=True)
class Principal:
    """Who calls. `csrf` is set when the call comes from a browser's session."""

    role: Role
    analyst: str | None
    token_id: str
    csrf: str | None = None

    @property
    def name(self) -> str:
        """Return who it is in the words of people: an analyst's name, or the role."""
        return self.analyst or self.role.value

    @property
    def sees(self) -> str | None:
        """Return whose copies and models the caller sees: analysts their own, owners all (None)."""
        return self.analyst if self.role is Role.ANALYST else None

    def asks_as(self, analyst: str | None = None) -> AskedAs:
        """Return who pays: the caller, or the `analyst` whom an owner names; her own name is her.

        Guarantee: only an owner asks in another's name. All front ends decide it here.
        """
        if self.role is Role.OWNER:
            return AskedAs(None if analyst == OWNER else analyst, self.name)
        if analyst not in (None, self.analyst):
            raise NotAllowed("You may ask in your own name only.")
        return AskedAs(self.analyst, self.name)

    @property
    def actor(self) -> Actor:
        """Return the caller as the audit log names them."""
        return Actor(self.name, self.token_id)

    @property
    def key(self) -> str:
        """Return what identifies the caller in queues and limits."""
        return f"analyst {self.analyst}" if self.analyst is not None else f"token {self.token_id}"


def allow(*roles: Role) -> Callable[[Endpoint], Endpoint]:
    """Return a decorator: these roles may call the endpoint."""
    return _marking(frozenset(roles))


def everybody(endpoint: Endpoint) -> Endpoint:
    """Mark an endpoint that needs no token. It may still look at `caller`."""
    return _marking(None)(endpoint)


def _marking(roles: frozenset[Role] | None) -> Callable[[Endpoint], Endpoint]:
    def mark(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, _MARK, roles)
        return endpoint

    return mark


def roles_of(endpoint: Callable[..., Any]) -> frozenset[Role] | None:
    """Return who may call; None is everybody, with or without a token."""
    if not hasattr(endpoint, _MARK):
        raise InternalError(f"route '{endpoint.__name__}' does not say who may call it")
    roles: frozenset[Role] | None = getattr(endpoint, _MARK)
    return roles


class PlainBody(Request):
    """A request whose JSON has no name twice in an object and no half characters (lone surrogates)."""

    async def json(self) -> Any:
        """Return the body as JSON, or refuse it."""
        body = await self.body()
        try:
            found = json.loads(body, object_pairs_hook=object_of)
            require_whole_letters(found)
        except InvalidInput as error:  # FastAPI would say of any other error that it cannot parse
            raise HTTPException(400, error.message.rstrip(".")) from None
        return found


class GuardedRoute(APIRoute):
    """A route that checks the caller before it reads the body; HEAD is GET without a body.

    Guarantee: an endpoint without `allow` or `everybody` cannot become a route (deny by default).
    A call with a session cookie that changes something must repeat the session's CSRF token.
    """

    def get_route_handler(self) -> Handler:
        """Return the handler with the checks in front."""
        inner = super().get_route_handler()
        roles = roles_of(self.endpoint)

        async def guarded(request: Request) -> Response:
            workspace = context_of(request).workspace
            if workspace.changed():  # somebody may have been taken out of the catalog
                await run_in_threadpool(workspace.refresh)
            try:
                admit(request, roles)
            except NotInForce:  # noticed just now: an ordinary change is in force in a moment
                await run_in_threadpool(workspace.refresh)
                admit(request, roles)
            try:
                found = await inner(PlainBody(request.scope, request.receive))
            except NotInForce as error:
                raise _with_cause(request, error) from None
            if request.method == "HEAD" and isinstance(found, StreamingResponse):
                return Response(None, found.status_code, dict(found.headers))  # it may never end
            return found

        return guarded

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a call is for this route."""
        found, child = super().matches(scope)
        return (Match.FULL if self._is_head(scope) and found is Match.PARTIAL else found), child

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a call, or say which methods there are."""
        if self._is_head(scope):
            await self.app(scope, receive, send)
        else:
            await super().handle(scope, receive, send)

    def _is_head(self, scope: Scope) -> bool:
        return scope["method"] == "HEAD" and "GET" in (self.methods or ())


def _with_cause(request: Request, error: NotInForce) -> NotInForce:
    """Return the error with what an owner alone may know: why discreet.toml is not in force."""
    who, problem = maybe_caller(request), context_of(request).workspace.problem
    if who is None or who.role is not Role.OWNER or problem is None:
        return error
    return NotInForce(f"{error.message} The cause: {problem.message}", hint=problem.hint)


API = "/api/v1"
_PROBLEM: dict[str, Any] = {
    "description": "What went wrong, in one sentence, and what to do",
    "content": {"application/problem+json": {}},
}


Id = Annotated[str, Path(min_length=1, max_length=64)]
"""The name of one thing in an address."""


def api_router(tag: str) -> APIRouter:
    """Return a router for guarded routes below /api/v1."""
    problems: dict[int | str, dict[str, Any]] = {"4XX": _PROBLEM, "5XX": _PROBLEM}
    return APIRouter(prefix=API, route_class=GuardedRoute, tags=[tag], responses=problems)


def add_routes(app: FastAPI, router: APIRouter) -> None:
    """Add the routes of `router` to `app` as they are, so that `app.routes` lists every one."""
    app.router.routes.extend(router.routes)


def all_routes(routes: Iterable[BaseRoute]) -> Iterator[BaseRoute]:
    """Yield every route; newer versions of FastAPI keep those of an included router apart."""
    for route in routes:
        inner = getattr(route, "original_router", None)
        if inner is None:
            yield route
        else:
            yield from all_routes(inner.routes)


def address_of(request: Request) -> str:
    """Return the network address that a call comes from."""
    return request.client.host if request.client else "unknown"


def admit(request: Request, roles: frozenset[Role] | None) -> None:
    """Let the caller pass or raise; afterwards `caller(request)` says who it is."""
    context = context_of(request)
    address = address_of(request)
    context.by_address.take(address)
    for name in _SENT_ONCE:
        if len(request.headers.getlist(name)) > 1:
            raise InvalidInput(f"The header {name} is sent twice.", hint="Send it once.")
    if roles is None:
        request.state.caller = _confirmed(request, context)
        return
    found = _found(request, context)
    request.state.caller = found
    if found is None:
        if "authorization" in request.headers:
            fine(context.by_address, address)
            tell_failed(request, "token")
        raise NotSignedIn(
            "This needs a valid token; yours is missing, unknown, expired or revoked.",
            hint="Send 'Authorization: Bearer TOKEN', or sign in on the page.",
        )
    if found.role not in roles:
        _tell_refused(request, context, found, "role")
        names = " or ".join(sorted(role.value for role in roles))
        raise NotAllowed(f"This is for the role {names}, not for {found.role.value}.")
    if found.csrf is not None and request.method not in _READS:
        sent = request.headers.get("x-csrf-token", "")
        if not hmac.compare_digest(sent.encode(), found.csrf.encode()):
            _tell_refused(request, context, found, "csrf")
            raise NotAllowed(
                "The request does not carry the CSRF token of its session.",
                hint="Reload the page and try again.",
            )
    context.by_token.take(found.token_id)


def tell_failed(request: Request, way: str) -> None:
    """Write down that somebody could not sign in, unless there were many."""
    log = context_of(request).access.audit
    log.record_limited(STRANGER, AuditAction.SIGN_IN_FAILED, way=way, address=address_of(request))


def _tell_refused(request: Request, context: Context, who: Principal, why: str) -> None:
    """Write down who was refused which route: its pattern, as addresses may hold anything."""
    route = getattr(request.scope.get("route"), "path", "unknown")
    facts = {"route": f"{request.method} {route}", "why": why}
    context.access.audit.record_limited(who.actor, AuditAction.REFUSED, **facts)


def _found(request: Request, context: Context) -> Principal | None:
    header = request.headers.get("authorization")
    if header is not None:
        # A wrong header never falls back to the cookie: what was sent is what is judged.
        scheme, _, text = header.partition(" ")
        token = context.tokens.find(text.strip()) if scheme.lower() == "bearer" else None
        return None if token is None else principal(token)
    cookie = request.cookies.get(context.settings.cookie)
    session = context.sessions.find(cookie) if cookie else None
    return None if session is None else principal(session.token, csrf=session.csrf)


def _confirmed(request: Request, context: Context) -> Principal | None:
    """Return who calls; an analyst whom no catalog in force confirms is nobody."""
    try:
        return _found(request, context)
    except NotInForce:
        return None


def principal(token: Token, *, csrf: str | None = None) -> Principal:
    """Return the holder of a token."""
    return Principal(token.role, token.analyst, token.id, csrf)


def found_again(request: Request) -> bool:
    """Return whether what a call came with still opens the same."""
    now, before = _found(request, context_of(request)), maybe_caller(request)
    return now is not None and before is not None and now.token_id == before.token_id


def caller(request: Request) -> Principal:
    """Return who calls; only in endpoints behind `allow`."""
    found = maybe_caller(request)
    if found is None:
        raise InternalError("an endpoint without roles asked for its caller")
    return found


def recognise(request: Request) -> None:
    """Let `maybe_caller` say who calls where no route was found, so that nobody was admitted."""
    if not hasattr(request.state, "caller"):
        request.state.caller = _confirmed(request, context_of(request))


def end_session(request: Request) -> None:
    """End the session of the caller's cookie, and the token that stood for it alone."""
    context, who = context_of(request), caller(request)
    tell(request, AuditAction.SIGNED_OUT)
    context.sessions.end(request.cookies[context.settings.cookie])
    context.tokens.ended_with_session(who.token_id, by=who.actor)


def tell(request: Request, deed: AuditAction, **facts: object) -> None:
    """Write down in the audit log what the caller has done."""
    context_of(request).access.audit.record(caller(request).actor, deed, **facts)


def maybe_caller(request: Request) -> Principal | None:
    """Return who calls, or None where nobody is signed in."""
    found: Principal | None = getattr(request.state, "caller", None)
    return found
