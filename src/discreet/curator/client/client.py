"""HTTP client: the curator's methods against a server, with the standard library alone.

What a server tells about its catalog; copies and models that it makes, charged there before any row is read,
kept there, free to use; and its releases: drafted, rehearsed, approved, published, withdrawn.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from discreet.base.answer import Answer, Explanation
from discreet.base.display import BudgetReport, ShownInLines, ShownLines, silent
from discreet.base.files import read_bytes, read_text
from discreet.base.requests.fields import WithProgress, asks, beside, schema, sent
from discreet.base.requests.paid import (
    BoundsFields,
    ExplainFields,
    LearnFields,
    PackageFields,
    QueryFields,
    RecommendFields,
    RehearseFields,
    SelectFields,
    SynthFields,
)
from discreet.base.requests.unpaid import AnonymizeFields, CopiedTable
from discreet.curator.client.connection import ServerConnection
from discreet.curator.client.results import (
    RemoteAnonymized,
    RemoteBounds,
    RemotePublication,
    RemoteRecommending,
    RemoteRehearsal,
    RemoteReport,
    RemoteSelected,
    RemoteSynthetic,
    RemoteTrained,
)
from discreet.errors import InvalidInput, NotAllowed, UnknownName


class RemoteReporting(ServerConnection):
    """Catalog, budgets and history of a server, as plain values."""

    def budget_report(self) -> BudgetReport:
        """Return what is spent and left: your own share, or everything for an owner."""
        return BudgetReport(self._call("GET", "/budget"))

    def outline(self) -> dict[str, Any]:
        """Return the datasets that you may ask: tables, columns, domains, and what is left."""
        return self._call("GET", "/catalog")

    def warnings(self) -> tuple[str, ...]:
        """Return what the owner should look at in the catalog. For the owner only."""
        found = self.outline()
        if "warnings" not in found:
            raise NotAllowed("What is doubtful in the catalog is for the owner only.")
        return tuple(found["warnings"])

    def versions(self, dataset: str | None = None) -> list[dict[str, Any]]:
        """Return which version of the tables questions read, and whether their rows are others by now.

        For the owner only.
        """
        asked = "" if dataset is None else f"?dataset={quote(dataset, safe='')}"
        found: list[dict[str, Any]] = self._call("GET", f"/data/versions{asked}")["versions"]
        return found

    def refresh(
        self, dataset: str | None = None, *, table: str | None = None
    ) -> list[dict[str, Any]]:
        """Let questions read the rows as they are now, and return the versions that have begun.

        Everybody who may ask can see that a version began. For the owner only.
        """
        asked = {"dataset": dataset, "table": table}
        found: list[dict[str, Any]] = self._call("POST", "/data/versions", asked)["versions"]
        return found

    def history(self, *, last: int = 50) -> list[dict[str, Any]]:
        """Return the latest charges, latest first: your own, or all for an owner."""
        entries: list[dict[str, Any]] = self._call("GET", f"/history?last={int(last)}")["entries"]
        return entries

    def stored_answer(self, request_id: str, *, analyst: str | None = None) -> Answer | None:
        """Return an answer that was paid for before, free of charge, if there is one.

        An owner may name the analyst whose share paid for it.
        """
        named = "" if analyst is None else f"?{urlencode({'analyst': analyst})}"
        try:
            found = self._call("GET", f"/answers/{quote(request_id, safe='')}{named}")
        except UnknownName:
            return None
        return Answer.from_json(found)


@schema
class RemoteSynthCall(WithProgress, SynthFields):
    """A synthesis, and who is told how far the server is."""


@schema
class RemoteLearnCall(WithProgress, LearnFields):
    """A training, and who is told how far the server is."""


@schema
class RemoteAnonymizeCall(WithProgress, CopiedTable, AnonymizeFields):
    """An anonymized copy of a table, and who is told how far the server is."""


class RemoteLearning(ServerConnection):
    """Synthetic and anonymized copies, classifiers, recommenders and choices of a server."""

    @asks(RemoteSynthCall)
    def synthesize(self, asked: RemoteSynthCall) -> RemoteSynthetic:
        """Return a synthetic copy of a table that the server made; see `Curator.synthesize`.

        The copy stays on the server, and using it is free; `table`, `sample`, `write`, `save_model` and
        `write_report` fetch its files.
        """
        return RemoteSynthetic(self._done("/synth", sent(asked), asked.progress), self._file)

    def synthesis_report(self, synthetic: RemoteSynthetic) -> RemoteReport:
        """Return what a synthetic copy supports: may be published with it, costs nothing."""
        return RemoteReport(synthetic.read("report.html"))

    def synthesis_comparison(self, synthetic: RemoteSynthetic) -> RemoteReport:
        """Return the comparison with the real rows: for the owner, recorded, never to be published."""
        found = self._done(f"/synth/{synthetic.facts['copy']}/compare", None, silent)
        return RemoteReport(synthetic.read(found["file"]))

    @asks(RemoteLearnCall)
    def learn(self, asked: RemoteLearnCall) -> RemoteTrained:
        """Return a classifier that the server trained; see `Curator.learn`."""
        return RemoteTrained(self._done("/models", sent(asked), asked.progress), self._file)

    @asks(RecommendFields)
    def recommend(self, asked: RecommendFields) -> RemoteRecommending:
        """Return a recommender that the server learned; see `Curator.recommend`."""
        return RemoteRecommending(self._done("/recommenders", sent(asked), silent), self._file)

    @asks(SelectFields)
    def select(self, asked: SelectFields) -> RemoteSelected:
        """Return one good candidate of a column, chosen by the server; see `Curator.select`."""
        return RemoteSelected(self._done("/choices", sent(asked), silent))

    @asks(RemoteAnonymizeCall)
    def anonymize(self, asked: RemoteAnonymizeCall) -> RemoteAnonymized:
        """Return a k-anonymous copy that the server made and recorded; see `Curator.anonymize`.

        `hierarchies` is a folder of this machine: its files are sent.

        Guarantee: none. This is not private; the dataset stays marked.
        """
        named = [*asked.quasi]
        if asked.sensitive and asked.distance == "hierarchical":
            named.append(asked.sensitive)
        # Seconds are said even where they are the curator's: a server has another default.
        body = sent(asked) | {"seconds": float(asked.seconds)}
        body |= {"hierarchies": _texts(asked.hierarchies, named)}
        return RemoteAnonymized(self._done("/anonymize", body, asked.progress), self._file)


def _texts(folder: Path | None, columns: Sequence[str]) -> Mapping[str, str]:
    """Return the texts of the hierarchies of `columns` that have a file COLUMN.csv in a folder."""
    if folder is None:
        return {}
    found = {}
    for path in sorted(folder.glob("*.csv")):
        if path.stem in columns:
            try:
                found[path.stem] = read_bytes(path).decode("utf-8-sig")
            except (OSError, UnicodeDecodeError):
                raise InvalidInput(f"The hierarchy '{path}' cannot be read.") from None
    return found


@schema
class PackageCall(WithProgress, PackageFields):
    """A release of one spec of this machine, and who is told how far it is."""

    spec: str | Path = beside("The SPEC.toml that describes the release.", kw_only=False)


class RemotePublishing(ServerConnection):
    """Publications of a server. Who drafts, approves or withdraws is whose token it is.

    `spec` is the path of a SPEC.toml of this machine; the files of its exact facts lie on the server.
    """

    @asks(PackageCall)
    def publish(self, asked: PackageCall) -> RemotePublication:
        """Return a release that the server charged, made and signed; see `Curator.publish`.

        The package is written to `out`, where one is given.
        """
        place = f"/publish/{self._drafted(asked.spec)}/release"
        facts = self._done(place, None, asked.progress)
        if asked.out is not None:
            target = Path(asked.out)
            target.write_bytes(self._file(f"/releases/{_part(facts['release'])}/package.zip"))
            facts = facts | {"out": str(target)}
        return RemotePublication(facts)

    def draft_release(self, spec: str | Path) -> dict[str, Any]:
        """Return where a release stands after its draft was written down; nothing is charged.

        `digest` in it is what an approval by a second person names.
        """
        return self._call("POST", "/publish", {"spec": _text(spec)})

    def rehearse_release(self, spec: str | Path) -> RemoteRehearsal:
        """Return what a release would look like on made-up rows: costs nothing."""
        return RemoteRehearsal(self._done("/publish/rehearse", {"spec": _text(spec)}, silent))

    def approve_release(self, spec: str | Path, *, digest: str | None = None) -> dict[str, Any]:
        """Return where a release stands after it was approved.

        `digest` is that of the draft that was read; a server always asks for it.
        """
        if digest is None:
            raise InvalidInput(
                "Say which draft you have read: an approval names its digest.",
                hint="draft_release(SPEC)['digest'] names it.",
            )
        return self._call("POST", f"/publish/{_name(spec)}/approve", {"digest": digest})

    def withdraw_release(self, spec: str | Path, *, reason: str) -> dict[str, Any]:
        """Return where a release stands after it was withdrawn; what it cost stays spent."""
        return self._call("POST", f"/publish/{_name(spec)}/withdraw", {"reason": reason})

    def releases(self) -> list[dict[str, Any]]:
        """Return every release that was ever drafted and where it stands, latest change last."""
        found: list[dict[str, Any]] = self._call("GET", "/publish")["releases"]
        return found

    def release_key(self) -> str:
        """Return the owner's public key, by which anyone can check a package."""
        return str(self._call("GET", "/publish")["key"])

    def _drafted(self, spec: str | Path) -> str:
        return _part(str(self.draft_release(spec)["release"]))


def _text(spec: str | Path) -> str:
    try:
        return read_text(Path(spec))
    except (OSError, UnicodeDecodeError):
        raise InvalidInput(f"There is no readable file '{spec}'.") from None


def _name(spec: str | Path) -> str:
    import tomllib

    try:
        return _part(str(tomllib.loads(_text(spec))["release"]["name"]))
    except (tomllib.TOMLDecodeError, KeyError, TypeError):
        raise InvalidInput(f"'{spec}' names no release: it has no [release] with a name.") from None


def _part(name: str) -> str:
    return quote(name, safe="")


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
