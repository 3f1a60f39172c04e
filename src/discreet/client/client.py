"""HTTP client: the curator's methods against a server, with the standard library alone."""

from __future__ import annotations

import ssl
from pathlib import Path
from urllib.parse import urlsplit

from discreet.client.learning import RemoteLearning
from discreet.client.publishing import RemotePublishing
from discreet.client.reporting import RemoteReporting
from discreet.client.results import RemoteBounds
from discreet.core.answers.answer import Answer
from discreet.core.answers.explanation import Explanation
from discreet.core.display.lines import ShownInLines, ShownLines
from discreet.core.requests.asks import asks
from discreet.core.requests.look import BoundsFields
from discreet.core.requests.question import ExplainFields, QueryFields, RehearseFields
from discreet.core.requests.request_fields import sent
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

    @asks(QueryFields)
    def query(self, asked: QueryFields) -> Answer:
        """Return the private answer to `sql`; see `Curator.query`.

        A question has a request id even if none is given, so one that is sent again after a broken
        connection is charged once.
        """
        return Answer.from_json(self._call("POST", "/query", sent(asked)))

    @asks(ExplainFields)
    def explain(self, asked: ExplainFields) -> Explanation:
        """Return plan, price and expected error of a question; spends nothing.

        `group_size` names rows of a group for which means, variances and quantiles tell theirs.
        """
        return Explanation.from_json(self._call("POST", "/explain", sent(asked)))

    @asks(RehearseFields)
    def rehearse(self, asked: RehearseFields) -> Answer:
        """Return an answer that is not private, the same for everybody; see `Curator.rehearse`."""
        return Answer.from_json(self._call("POST", "/rehearse", sent(asked)))

    @asks(BoundsFields)
    def bounds(self, asked: BoundsFields) -> RemoteBounds:
        """Return what each `max_rows` leaves out beside the noise of a count; see `Curator.bounds`."""
        return RemoteBounds(self._call("POST", "/bounds", sent(asked)))

    @asks(BoundsFields)
    def explain_bounds(self, asked: BoundsFields) -> Explanation:
        """Return plan and price of the look that `bounds` pays for; spends nothing."""
        return Explanation.from_json(self._call("POST", "/bounds/explain", sent(asked)))
