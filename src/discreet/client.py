"""A curator somewhere else: the methods of the local one, over HTTP, with the standard library."""

from __future__ import annotations

import http.client
import json
import ssl
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote, urlsplit

from discreet import errors
from discreet.core.answer import Answer
from discreet.core.bill import Spent
from discreet.core.explanation import Explanation
from discreet.core.machine.extras import needs
from discreet.core.numbers import Epsilon, Number
from discreet.core.progress import Progress, silent
from discreet.core.requests.asked import sent
from discreet.core.requests.question import QuestionAsked
from discreet.core.requests.synth import SynthAsked
from discreet.errors import DiscreetError, InvalidInput, ServerFailed

API = "/api/v1"
TIMEOUT = 120.0
FIRST_LOOK, LAST_LOOK = 0.1, 2.0
"""Seconds between looks at a job: short at first, then longer."""
_LOCAL = {"localhost", "127.0.0.1", "::1"}


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RemoteSynthetic:
    """A synthetic copy that a server keeps; its files are fetched when they are asked for."""

    facts: dict[str, Any]
    _fetch: Callable[[str], bytes]

    @property
    def method(self) -> str:
        """Return the method that made it."""
        return str(self.facts["method"])

    @property
    def cost(self) -> Spent:
        """Return what was paid."""
        return Spent.from_json(self.facts["cost"])

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what the reader should know."""
        return tuple(self.facts["notices"])

    @property
    def request_id(self) -> str:
        """Return the id under which the same copy can be had again, free."""
        return str(self.facts["request_id"])

    def to_json(self) -> dict[str, Any]:
        """Return the facts, as `discreet synth --json` prints them; not the rows themselves."""
        return dict(self.facts)

    def to_arrow(self) -> Any:
        """Return the rows as a pyarrow table."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        return pq.read_table(pa.BufferReader(self.read("rows.parquet")))

    def to_pandas(self) -> Any:
        """Return the rows as a pandas data frame."""
        with needs("pandas", extra="pandas"):
            return self.to_arrow().to_pandas()

    def write(self, path: str | Path) -> None:
        """Write the rows to a .csv or .parquet file."""
        self._write(path, "rows", (".csv", ".parquet"))

    def save_model(self, path: str | Path) -> None:
        """Write the model to a .json file, from which rows can be drawn anywhere, free."""
        self._write(path, "model", (".json",))

    def write_report(self, path: str | Path) -> None:
        """Write the publishable report to a .html or .json file."""
        self._write(path, "report", (".html", ".json"))

    def read(self, file: str) -> bytes:
        """Return one of the copy's files, such as "rows.csv" or "report.html"."""
        return self._fetch(f"/synth/{self.facts['copy']}/{quote(file, safe='')}")

    def _write(self, path: str | Path, name: str, endings: tuple[str, ...]) -> None:
        target = Path(path)
        ending = target.suffix.lower()
        if ending not in endings:
            raise InvalidInput(
                f"'{target.name}' has no ending that says how to write it.",
                hint=f"Use {' or '.join(endings)}.",
            )
        target.write_bytes(self.read(name + ending))

    def __repr__(self) -> str:
        shown = f"{self.facts['rows']:,} rows x {len(self.facts['columns'])} columns"
        return f"RemoteSynthetic({shown}, method {self.method!r})"


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
        asked = QuestionAsked(
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
        asked = QuestionAsked(
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
        asked = QuestionAsked(sql=sql, seed=seed, epsilon=epsilon, within=within, max_rows=max_rows)
        return Answer.from_json(self._call("POST", "/rehearse", sent(asked)))

    def synthesize(
        self,
        table: str,
        *,
        epsilon: Number | Epsilon,
        delta: Number | None = None,
        method: str = "auto",
        rows: int | None = None,
        where: str | None = None,
        rules: Sequence[str] = (),
        bins: str = "auto",
        choose: Sequence[str] = (),
        analyst: str | None = None,
        request_id: str | None = None,
        progress: Progress = silent,
    ) -> RemoteSynthetic:
        """Return a synthetic copy of a table that the server made; see `Curator.synthesize`.

        The copy stays on the server, and using it is free; `to_arrow`, `write`, `save_model` and
        `write_report` fetch its files.
        """
        wish = SynthAsked(
            table=table,
            epsilon=epsilon,
            delta=delta,
            method=method,
            rows=rows,
            where=where,
            rules=rules,
            bins=bins,
            choose=choose,
            analyst=analyst,
            request_id=request_id or uuid.uuid4().hex,
        )
        job = self._call("POST", "/synth", sent(wish))["job"]
        return RemoteSynthetic(self._followed(job, progress), self._file)

    def _followed(self, job: str, progress: Progress) -> dict[str, Any]:
        """Return the answer of a job when it has one, or raise its problem."""
        waited = FIRST_LOOK
        while True:
            found = self._call("GET", f"/jobs/{job}")
            if found["progress"] is not None:
                now = found["progress"]
                progress(now["done"], now["of"], now["what"])
            if "answer" in found:
                answer: dict[str, Any] = found["answer"]
                return answer
            if "problem" in found:
                raise _error(int(found["problem"].get("status", 500)), found["problem"])
            time.sleep(waited)
            waited = min(2 * waited, LAST_LOOK)

    def _file(self, path: str) -> bytes:
        """Return a file that the server sends as it is."""
        with self._lock:
            status, content = self._sent("GET", API + path, None, self._headers())
        if status >= 400:
            raise _error(status, _parsed(content))
        return content

    def budget_report(self) -> dict[str, Any]:
        """Return what is spent and left: your own share, or everything for an owner."""
        return self._call("GET", "/budget")

    def outline(self) -> dict[str, Any]:
        """Return the datasets that you may ask: tables, columns, domains, and what is left."""
        return self._call("GET", "/catalog")

    def catalog(self) -> dict[str, Any]:
        """Return `outline()`, by its name in 0.1."""
        warnings.warn("Client.catalog() is now Client.outline().", DeprecationWarning, stacklevel=2)
        return self.outline()

    def history(self, *, last: int = 50) -> list[dict[str, Any]]:
        """Return the latest charges, latest first."""
        entries: list[dict[str, Any]] = self._call("GET", f"/history?last={int(last)}")["entries"]
        return entries

    def stored_answer(self, request_id: str) -> Answer:
        """Return an answer that was paid for before, free of charge."""
        return Answer.from_json(self._call("GET", f"/answers/{quote(request_id, safe='')}"))

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
        headers = self._headers()
        if content is not None:
            headers["Content-Type"] = "application/json"
        with self._lock:
            status, text = self._sent(method, API + path, content, headers)
        found = _parsed(text)
        if status >= 400 or not isinstance(found, dict):
            raise _error(status, found)
        return found

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}

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


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise ServerFailed("The server sent something that is not JSON.") from None


def _error(status: int, found: Any) -> DiscreetError:
    """Return the error that the server named, as the class of this package."""
    facts = found if isinstance(found, dict) else {}
    said = {
        "message": facts.get("detail", f"The server answered with status {status}."),
        "hint": "",
    }
    if facts.get("kind") == errors.MissingExtra.__name__:  # there, not here
        facts = {**facts, "kind": ""}
    return errors.from_facts(said | facts, otherwise=ServerFailed)
