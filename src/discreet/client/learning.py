"""Copies and models that a server makes: charged there before any row is read, kept there, free to use."""

from __future__ import annotations

import uuid
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
from discreet.core.numbers import Delta, Epsilon, Number
from discreet.core.progress import Progress, silent
from discreet.core.requests.anonymize import AnonymizeFields
from discreet.core.requests.learn import LearnFields, RecommendFields, SelectFields
from discreet.core.requests.request_fields import sent
from discreet.core.requests.synth import SynthFields
from discreet.errors import InvalidInput


class RemoteLearning(ServerConnection):
    """Synthetic and anonymized copies, classifiers, recommenders and choices of a server."""

    def synthesize(
        self,
        table: str,
        *,
        epsilon: Number | Epsilon,
        delta: Number | Delta | None = None,
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

        The copy stays on the server, and using it is free; `table`, `sample`, `write`, `save_model` and
        `write_report` fetch its files.
        """
        asked = SynthFields(
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
        return RemoteSynthetic(self._done("/synth", sent(asked), progress), self._file)

    def synthesis_report(self, synthetic: RemoteSynthetic) -> RemoteReport:
        """Return what a synthetic copy supports: may be published with it, costs nothing."""
        return RemoteReport(synthetic.read("report.html"))

    def synthesis_comparison(self, synthetic: RemoteSynthetic) -> RemoteReport:
        """Return the comparison with the real rows: for the owner, recorded, never to be published."""
        found = self._done(f"/synth/{synthetic.facts['copy']}/compare", None, silent)
        return RemoteReport(synthetic.read(found["file"]))

    def learn(
        self,
        table: str,
        *,
        target: str,
        epsilon: Number | Epsilon,
        delta: Number | Delta | None = None,
        model: str = "auto",
        features: Sequence[str] = (),
        rows: int | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
        progress: Progress = silent,
    ) -> RemoteTrained:
        """Return a classifier that the server trained; see `Curator.learn`."""
        asked = LearnFields(
            table=table,
            target=target,
            epsilon=epsilon,
            delta=delta,
            model=model,
            features=features,
            rows=rows,
            analyst=analyst,
            request_id=request_id or uuid.uuid4().hex,
        )
        return RemoteTrained(self._done("/models", sent(asked), progress), self._file)

    def recommend(
        self,
        table: str,
        *,
        item: str,
        rating: str,
        epsilon: Number | Epsilon,
        delta: Number | Delta | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
    ) -> RemoteRecommending:
        """Return a recommender that the server learned; see `Curator.recommend`."""
        asked = RecommendFields(
            table=table,
            item=item,
            rating=rating,
            epsilon=epsilon,
            delta=delta,
            analyst=analyst,
            request_id=request_id or uuid.uuid4().hex,
        )
        return RemoteRecommending(self._done("/recommenders", sent(asked), silent), self._file)

    def select(
        self,
        table: str,
        *,
        column: str,
        epsilon: Number | Epsilon,
        kind: str = "vote",
        analyst: str | None = None,
        request_id: str | None = None,
    ) -> RemoteSelected:
        """Return one good candidate of a column, chosen by the server; see `Curator.select`."""
        asked = SelectFields(
            table=table,
            column=column,
            epsilon=epsilon,
            kind=kind,
            analyst=analyst,
            request_id=request_id or uuid.uuid4().hex,
        )
        return RemoteSelected(self._done("/choices", sent(asked), silent))

    def anonymize(
        self,
        table: str,
        *,
        k: int,
        quasi: Sequence[str],
        sensitive: str | None = None,
        l: float | None = None,  # noqa: E741  # the model's own name
        diversity: str = "distinct",
        t: float | None = None,
        distance: str = "equal",
        hierarchies: Path | None = None,
        suppress: float = 0.0,
        cost: str = "discernibility",
        method: str = "optimal",
        redact: Sequence[str] = (),
        where: str | None = None,
        seconds: float = 60.0,
        population: int | None = None,
        progress: Progress = silent,
    ) -> RemoteAnonymized:
        """Return a k-anonymous copy that the server made and recorded; see `Curator.anonymize`.

        `hierarchies` is a folder of this machine: its files are sent.

        Guarantee: none. This is not private; the dataset stays marked.
        """
        asked = AnonymizeFields(
            quasi=quasi,
            k=k,
            sensitive=sensitive,
            l=l,
            diversity=diversity,
            t=t,
            distance=distance,
            suppress=suppress,
            cost=cost,
            method=method,
            redact=redact,
            where=where,
            population=population,
        )
        named = [*quasi, *([sensitive] if sensitive and distance == "hierarchical" else [])]
        # Seconds are said even where they are the curator's: a server has another default.
        body = sent(asked) | {"table": table, "seconds": float(seconds)}
        body |= {"hierarchies": _texts(hierarchies, named)}
        return RemoteAnonymized(self._done("/anonymize", body, progress), self._file)


def _texts(folder: Path | None, columns: Sequence[str]) -> Mapping[str, str]:
    """Return the texts of the hierarchies of `columns` that have a file COLUMN.csv in a folder."""
    if folder is None:
        return {}
    found = {}
    for path in sorted(folder.glob("*.csv")):
        if path.stem in columns:
            try:
                found[path.stem] = path.read_bytes().decode("utf-8-sig")
            except (OSError, UnicodeDecodeError):
                raise InvalidInput(f"The hierarchy '{path}' cannot be read.") from None
    return found
