"""A curator somewhere else: the methods of the local one, over HTTP, with the standard library."""

from __future__ import annotations

import http.client
import json
import math
import ssl
import threading
import uuid
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote, urlsplit

from discreet import errors
from discreet.core.answer import Answer, Provenance, Spent
from discreet.core.numbers import Epsilon, Number
from discreet.errors import BudgetExceeded, DiscreetError, InvalidInput, ServerFailed

API = "/api/v1"
TIMEOUT = 120.0
_LOCAL = {"localhost", "127.0.0.1", "::1"}


@dataclass(frozen=True, slots=True)
class RemoteExplanation:
    """What a question would cost, how exact it would be and what it promises; nothing was spent."""

    dataset: str
    columns: tuple[str, ...]
    sql: str
    mechanisms: tuple[str, ...]
    cost: Spent
    before: Spent
    after: Spent
    limit: Spent
    expected_error: dict[str, float | None]
    region: str
    free: bool
    notes: tuple[str, ...]
    words: str


def connect(
    url: str, *, token: str, certificate: str | Path | None = None, plain_http: bool = False
) -> Client:
    """Return a client of the server at `url`, such as "https://curator.example".

    `certificate` is a PEM file to trust beside the usual ones. A token over plain HTTP is refused
    unless the server is on this machine or `plain_http` says that the network is trusted.

    >>> curator = discreet.connect("http://127.0.0.1:8765", token=token)        # doctest: +SKIP
    >>> curator.query("SELECT COUNT(*) AS n FROM people", epsilon=0.1)          # doctest: +SKIP
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InvalidInput(f"'{url}' is no address.", hint="Write http://127.0.0.1:8765.")
    if parts.scheme == "http" and parts.hostname not in _LOCAL and not plain_http:
        raise InvalidInput(
            "Over plain HTTP everybody on the way could read the token.",
            hint="Use https://, or plain_http=True in a trusted network.",
        )
    if not token.isascii() or not token.isprintable():
        raise InvalidInput("A token is plain text that begins with dsc_.")
    trust = None
    if parts.scheme == "https":
        trust = ssl.create_default_context(cafile=None if certificate is None else str(certificate))
    return Client(parts.hostname, parts.port, token=token, trust=trust)


class Client:
    """Answers questions through a server; one connection, safe to share among threads."""

    def __init__(
        self, host: str, port: int | None, *, token: str, trust: ssl.SSLContext | None
    ) -> None:
        self._place = (host, port)
        self._token = token
        self._trust = trust
        self._lock = threading.Lock()
        self._connection: http.client.HTTPConnection | None = None

    def query(
        self,
        sql: str,
        *,
        epsilon: Number | Epsilon | None = None,
        within: Number | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
        fresh: bool = False,
        max_rows: int | None = None,
    ) -> Answer:
        """Return the private answer to `sql`; see `Curator.query`.

        A question has a request id even if none is given, so one that is sent again after a broken
        connection is charged once.
        """
        body = _question(sql, epsilon, within, analyst, fresh=fresh, max_rows=max_rows)
        body["request_id"] = request_id or uuid.uuid4().hex
        return _answer(self._call("POST", "/query", body))

    def explain(
        self,
        sql: str,
        *,
        epsilon: Number | Epsilon | None = None,
        within: Number | None = None,
        analyst: str | None = None,
        fresh: bool = False,
        max_rows: int | None = None,
    ) -> RemoteExplanation:
        """Return plan, price and expected error of a question; spends nothing."""
        body = _question(sql, epsilon, within, analyst, fresh=fresh, max_rows=max_rows)
        return _explanation(self._call("POST", "/explain", body))

    def budget_report(self) -> dict[str, Any]:
        """Return what is spent and left: your own share, or everything for an owner."""
        return self._call("GET", "/budget")

    def catalog(self) -> dict[str, Any]:
        """Return the datasets that you may ask: tables, columns, domains, and what is left."""
        return self._call("GET", "/catalog")

    def history(self, *, last: int = 50) -> list[dict[str, Any]]:
        """Return the latest charges, latest first."""
        entries: list[dict[str, Any]] = self._call("GET", f"/history?last={int(last)}")["entries"]
        return entries

    def stored_answer(self, request_id: str) -> Answer:
        """Return an answer that was paid for before, free of charge."""
        return _answer(self._call("GET", f"/answers/{quote(request_id, safe='')}"))

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            self._drop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        content = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        if content is not None:
            headers["Content-Type"] = "application/json"
        with self._lock:
            status, text = self._sent(method, API + path, content, headers)
        try:
            found = json.loads(text)
        except ValueError:
            raise ServerFailed("The server sent something that is not JSON.") from None
        if status >= 400 or not isinstance(found, dict):
            raise _error(status, found)
        return found

    def _sent(
        self, method: str, path: str, content: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes]:
        """Return status and body; a kept connection that was closed meanwhile is opened anew."""
        for attempt in (1, 2):
            fresh = self._connection is None
            connection = self._connection or self._open()
            self._connection = connection
            try:
                connection.request(method, path, content, headers)
                reply = connection.getresponse()
                return reply.status, reply.read()
            except (OSError, http.client.HTTPException) as error:
                self._drop()
                if fresh or attempt == 2:
                    host, port = self._place
                    place = host if port is None else f"{host}:{port}"
                    raise ServerFailed(
                        f"The server at {place} could not be reached.",
                        hint=f"{type(error).__name__}; check the address and try again.",
                    ) from None
        raise AssertionError("the second attempt returns or raises")

    def _open(self) -> http.client.HTTPConnection:
        host, port = self._place
        if self._trust is None:
            return http.client.HTTPConnection(host, port, timeout=TIMEOUT)
        return http.client.HTTPSConnection(host, port, timeout=TIMEOUT, context=self._trust)

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _question(
    sql: str,
    epsilon: Number | Epsilon | None,
    within: Number | None,
    analyst: str | None,
    *,
    fresh: bool,
    max_rows: int | None,
) -> dict[str, Any]:
    written = epsilon.value if isinstance(epsilon, Epsilon) else epsilon
    amounts = {"epsilon": written, "within": within}
    said: dict[str, Any] = {"sql": sql, "fresh": fresh}
    # As text, amounts arrive exactly as they were written.
    said |= {name: str(amount) for name, amount in amounts.items() if amount is not None}
    said |= {} if analyst is None else {"analyst": analyst}
    return said | ({} if max_rows is None else {"max_rows": max_rows})


def _error(status: int, found: Any) -> DiscreetError:
    """Return the error that the server named, as the class of this package."""
    facts = found if isinstance(found, dict) else {}
    message = str(facts.get("detail", f"The server answered with status {status}."))
    hint = str(facts.get("hint", ""))
    kind = getattr(errors, str(facts.get("kind", "")), None)
    if kind is BudgetExceeded:
        amounts = {name: str(facts.get(name, "")) for name in ("asked", "left", "limit")}
        return BudgetExceeded(message, hint=hint, **amounts)
    known = isinstance(kind, type) and issubclass(kind, DiscreetError)
    if kind is None or not known or kind is errors.MissingExtra:
        return ServerFailed(message, hint=hint)
    made: DiscreetError = kind(message, hint=hint)
    return made


def _spent(found: dict[str, float]) -> Spent:
    return Spent(Fraction(repr(found["epsilon"])), Fraction(repr(found["delta"])))


def _answer(found: dict[str, Any]) -> Answer:
    budget, origin = found["budget"], found["provenance"]
    return Answer(
        columns=tuple(found["columns"]),
        rows=tuple(tuple(row) for row in found["rows"]),
        error95=tuple(tuple(row) for row in found["error95"]),
        cost=_spent(found["cost"]),
        before=_spent(budget["before"]),
        after=_spent(budget["after"]),
        limit=_spent(budget["limit"]),
        free=found["free"],
        request_id=found["request_id"],
        provenance=Provenance(
            dataset=origin["dataset"],
            snapshot=origin["snapshot"],
            unit=origin["unit"],
            mechanisms=tuple(origin["mechanisms"]),
            sql=tuple(origin["sql"]),
            notes=tuple(origin["notes"]),
            private=origin["private"],
        ),
        keys=found["keys"],
        intervals=tuple(tuple(_ends(ends) for ends in row) for row in found["intervals"]),
        noisy=tuple(found["noisy"]),
    )


def _ends(ends: list[float | None] | None) -> tuple[float, float] | None:
    if ends is None:
        return None
    low, high = ends  # null is an end that lies at infinity
    return -math.inf if low is None else low, math.inf if high is None else high


def _explanation(found: dict[str, Any]) -> RemoteExplanation:
    budget = found["budget"]
    return RemoteExplanation(
        dataset=found["dataset"],
        columns=tuple(found["columns"]),
        sql=found["sql"],
        mechanisms=tuple(found["mechanisms"]),
        cost=_spent(found["cost"]),
        before=_spent(budget["before"]),
        after=_spent(budget["after"]),
        limit=_spent(budget["limit"]),
        expected_error=found["expected_error"],
        region=found["region"],
        free=found["free"],
        notes=tuple(found["notes"]),
        words=found["words"],
    )
