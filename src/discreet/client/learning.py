"""Copies and models that a server makes: charged there before any row is read, kept there, free to use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from discreet.client.connection import ServerConnection
from discreet.client.results import (
    RemoteAnonymized,
    RemoteRecommending,
    RemoteReport,
    RemoteSelected,
    RemoteSynthetic,
    RemoteTrained,
)
from discreet.core.progress import silent
from discreet.core.requests.anonymize import AnonymizeFields, CopiedTable
from discreet.core.requests.asks import asks
from discreet.core.requests.learn import LearnFields, RecommendFields, SelectFields
from discreet.core.requests.request_fields import sent
from discreet.core.requests.schema import WithProgress, schema
from discreet.core.requests.synth import SynthFields
from discreet.core.system.regular_file import read_bytes
from discreet.errors import InvalidInput


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
