"""A curator somewhere else: the methods of the local one, over HTTP, with the standard library."""

from __future__ import annotations

import ssl
import uuid
from pathlib import Path
from urllib.parse import urlsplit

from discreet.client.learning import RemoteLearning
from discreet.client.publishing import RemotePublishing
from discreet.client.reporting import RemoteReporting
from discreet.client.results import RemoteBounds
from discreet.core.answers.answer import Answer
from discreet.core.answers.explanation import Explanation
from discreet.core.numbers import Epsilon, Number
from discreet.core.requests.bounds import BoundsFields
from discreet.core.requests.question import QuestionFields
from discreet.core.requests.request_fields import sent
from discreet.core.shown.lines import ShownInLines, ShownLines
from discreet.errors import InvalidInput

_LOCAL = {"localhost", "127.0.0.1", "::1"}


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


class Client(ShownInLines, RemotePublishing, RemoteLearning, RemoteReporting):
    """Answers questions through a server; one connection, safe to share among threads."""

    def lines(self) -> ShownLines:
        """Return what a person reads; never the token."""
        host, port = self._place
        scheme = "http" if self._trust is None else "https"
        return [
            ("client of", f"{scheme}://{host}" if port is None else f"{scheme}://{host}:{port}")
        ]

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
        asked = QuestionFields(
            sql=sql,
            epsilon=epsilon,
            within=within,
            analyst=analyst,
            request_id=request_id or uuid.uuid4().hex,
            fresh=fresh,
            max_rows=max_rows,
        )
        return Answer.from_json(self._call("POST", "/query", sent(asked)))

    def explain(
        self,
        sql: str,
        *,
        epsilon: Number | Epsilon | None = None,
        within: Number | None = None,
        analyst: str | None = None,
        fresh: bool = False,
        max_rows: int | None = None,
        group_size: int | None = None,
    ) -> Explanation:
        """Return plan, price and expected error of a question; spends nothing.

        `group_size` names rows of a group for which means, variances and quantiles tell theirs.
        """
        asked = QuestionFields(
            sql=sql,
            epsilon=epsilon,
            within=within,
            analyst=analyst,
            fresh=fresh,
            max_rows=max_rows,
            group_size=group_size,
        )
        return Explanation.from_json(self._call("POST", "/explain", sent(asked)))

    def rehearse(
        self,
        sql: str,
        *,
        seed: int,
        epsilon: Number | Epsilon | None = None,
        within: Number | None = None,
        max_rows: int | None = None,
    ) -> Answer:
        """Return an answer that is not private, the same for everybody; see `Curator.rehearse`."""
        asked = QuestionFields(
            sql=sql, seed=seed, epsilon=epsilon, within=within, max_rows=max_rows
        )
        return Answer.from_json(self._call("POST", "/rehearse", sent(asked)))

    def bounds(
        self,
        table: str,
        *,
        epsilon: Number | Epsilon,
        at: Number | Epsilon = 1,
        analyst: str | None = None,
        request_id: str | None = None,
    ) -> RemoteBounds:
        """Return what each `max_rows` leaves out beside the noise of a count; see `Curator.bounds`."""
        asked = BoundsFields(
            table=table,
            epsilon=epsilon,
            at=at,
            analyst=analyst,
            request_id=request_id or uuid.uuid4().hex,
        )
        return RemoteBounds(self._call("POST", "/bounds", sent(asked)))
