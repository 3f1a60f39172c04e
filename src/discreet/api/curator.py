"""The curator: the object that a Python user holds.

Packages that a question does not need are loaded by the method that does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.api.learning import Learning
from discreet.api.publishing import Publishing
from discreet.api.reporting import Reporting
from discreet.core.answers.answer import Answer
from discreet.core.answers.explanation import Explanation
from discreet.core.answers.output import OutputColumn
from discreet.core.numbers import Delta, Epsilon, Number
from discreet.core.progress import Progress, silent
from discreet.core.shown.lines import ShownInLines, ShownLines
from discreet.errors import UnknownName
from discreet.ledger.reports.report import question_report
from discreet.release.request import Request
from discreet.release.whole import explain as explain_request
from discreet.release.whole import release, shape_of
from discreet.sql.parse import Written

if TYPE_CHECKING:
    from discreet.anonymize.run import Anonymized
    from discreet.api.bounding import BoundsTrade
    from discreet.report import Document
    from discreet.synth.linked.linked_copy import LinkedSynthetic
    from discreet.synth.synthetic import Synthetic


class Curator(ShownInLines, Publishing, Learning, Reporting):
    """Answers questions about the datasets of one catalog, under their budgets.

    >>> curator = discreet.open(town.toml)                                  # doctest: +SKIP
    >>> curator.query("SELECT COUNT(*) AS n FROM people", epsilon=0.1)      # doctest: +SKIP
    """

    def query(
        self,
        sql: str | Written,
        *,
        epsilon: Number | Epsilon | None = None,
        within: Number | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
        fresh: bool = False,
        max_rows: int | None = None,
    ) -> Answer:
        """Return the private answer to `sql`, with error bars, price and provenance.

        Give either `epsilon`, the budget to use, or `within`, the greatest noise of any cell at 95%
        (COUNT and SUM only). `fresh` never reuses paid answers. `max_rows` bounds how many rows of
        one person count in this question.
        """
        request = Request.of(
            sql,
            epsilon=epsilon,
            within=within,
            analyst=self._payer(analyst),
            request_id=request_id,
            fresh=fresh,
            max_rows=max_rows,
        )
        return release(request, self)

    def explain(
        self,
        sql: str | Written,
        *,
        epsilon: Number | Epsilon | None = None,
        within: Number | None = None,
        analyst: str | None = None,
        fresh: bool = False,
        max_rows: int | None = None,
        group_size: int | None = None,
    ) -> Explanation:
        """Return plan, generated SQL, price and expected error of a question; spends nothing.

        `group_size` names rows of a group for which means, variances and quantiles tell theirs.
        """
        request = Request.of(
            sql,
            epsilon=epsilon,
            within=within,
            analyst=self._payer(analyst),
            fresh=fresh,
            max_rows=max_rows,
        )
        return explain_request(request, self, group_size=group_size)

    def rehearse(
        self,
        sql: str | Written,
        *,
        seed: int,
        epsilon: Number | Epsilon | None = None,
        within: Number | None = None,
        max_rows: int | None = None,
    ) -> Answer:
        """Return an answer that is not private: everybody who names this seed gets the same noise.

        Only for datasets whose rows the owner declared public (`public_rows = true`). Spends nothing.
        """
        from discreet.api.rehearsal import rehearse

        asked = Request.of(sql, epsilon=epsilon, within=within, fresh=True, max_rows=max_rows)
        return rehearse(self, asked, seed=seed)

    def bounds(
        self,
        table: str,
        *,
        epsilon: Number | Epsilon,
        at: Number | Epsilon = 1,
        analyst: str | None = None,
        request_id: str | None = None,
    ) -> BoundsTrade:
        """Return what each `max_rows` leaves out beside the noise of a count for epsilon `at`, charged first."""
        from discreet.api.bounding import BoundsRequest, trade

        asked = BoundsRequest.of(
            table=table, epsilon=epsilon, at=at, analyst=analyst, request_id=request_id
        )
        return trade(self, asked, payer=self._payer(analyst))

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
        options: Mapping[str, Any] | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
        progress: Progress = silent,
    ) -> Synthetic:
        """Return a synthetic copy of a table, charged before any row is read.

        `delta` is a quarter of the dataset's unless given; without one the pure currency is used.
        `rows` is about as many as there are unless given. `where` and `rules` hold for every row.
        `choose` pays for a private choice among methods. The same `request_id` gives the same model.
        """
        from discreet.synth.request import SynthRequest
        from discreet.synth.run import synthesize

        request = SynthRequest.of(
            table,
            epsilon=epsilon,
            delta=delta,
            method=method,
            rows=rows,
            where=where,
            rules=rules,
            bins=bins,
            choose=choose,
            options=options,
            analyst=self._payer(analyst),
            request_id=request_id,
        )
        return synthesize(request, self, progress=progress)

    def synthesize_linked(
        self,
        dataset: str,
        *,
        epsilon: Number | Epsilon,
        delta: Number | Delta | None = None,
        rows: int | None = None,
        bins: str = "auto",
        analyst: str | None = None,
        request_id: str | None = None,
        progress: Progress = silent,
    ) -> LinkedSynthetic:
        """Return a copy of all linked tables of a dataset, whose keys join; `rows` is the number of people."""
        from discreet.synth.linked.run import synthesize_linked
        from discreet.synth.request import SynthRequest

        request = SynthRequest.of(
            dataset,
            epsilon=epsilon,
            delta=delta,
            rows=rows,
            bins=bins,
            analyst=self._payer(analyst),
            request_id=request_id,
        )
        return synthesize_linked(request, self, progress=progress)

    def synthesis_report(self, synthetic: Synthetic, *, target: str | None = None) -> Document:
        """Return what a synthetic copy supports: may be published with it, costs nothing."""
        from discreet.synth.report.making import publishable

        return publishable(synthetic, target=target)

    def synthesis_comparison(self, synthetic: Synthetic, *, target: str | None = None) -> Document:
        """Return the comparison with the real rows: for the owner, recorded, never to be published."""
        from discreet.synth.report.making import comparison

        return comparison(synthetic, self, target=target)

    def anonymize(
        self,
        table: str,
        *,
        k: int,
        quasi: Sequence[str],
        sensitive: str | None = None,
        l: float | None = None,  # noqa: E741  # the model's own name
        diversity: str = "distinct",
        c: float = 3.0,
        t: float | None = None,
        distance: str = "equal",
        hierarchies: Path | None = None,
        suppress: float = 0.0,
        cost: str = "discernibility",
        method: str = "optimal",
        redact: Sequence[str] = (),
        where: str | None = None,
        weights: str | Mapping[str, float] = "",
        missing: str = "value",
        seconds: float = 60.0,
        population: int | None = None,
        progress: Progress = silent,
    ) -> Anonymized:
        """Return a k-anonymous copy of a table, after writing into the ledger that it leaves.

        The other arguments are the options of `discreet anonymize`. (docs/anonymize.md)

        Guarantee: none. This is not private; the dataset stays marked.
        """
        from discreet.anonymize.release import anonymize
        from discreet.anonymize.request import AnonymizeRequest

        request = AnonymizeRequest.of(
            quasi=quasi,
            k=k,
            sensitive=sensitive,
            l=l,
            diversity=diversity,
            c=c,
            t=t,
            distance=distance,
            hierarchies=hierarchies,
            suppress=suppress,
            cost=cost,
            method=method,
            redact=redact,
            weights=weights,
            missing=missing,
            seconds=seconds,
            population=population,
        )
        return anonymize(self, table, request, where=where, progress=progress)[1]

    def columns(self, sql: str | Written) -> tuple[OutputColumn, ...]:
        """Return names and types of the answer's columns, before anything is paid."""
        return shape_of(sql, self)

    def seen_by(self, analyst: str | None) -> Curator:
        """Return the curator as one analyst sees it: datasets without a share do not exist."""
        if analyst is None:
            return self
        if analyst not in self.catalog.analysts:
            hint = "Add them under [analysts] in discreet.toml."
            raise UnknownName(f"There is no analyst '{analyst}'.", hint=hint)
        names = self.visible(analyst)
        catalog = replace(
            self.catalog,
            datasets={name: self.catalog.datasets[name] for name in names},
            unfinished={},
            waiting={},
            warnings=(),
        )
        return Curator(catalog, ledger=self.ledger, engine=self.engine, rng=self.rng)

    def lines(self) -> ShownLines:
        """Return what a person reads: the datasets, and nothing of the ledger."""
        return [("curator of", ", ".join(map(repr, self.catalog.datasets)) or "nothing yet")]


def question_of(curator: Curator, request_id: str, analyst: str | None) -> dict[str, Any] | None:
    """Return the words, price, time and asker of a request of this analyst; None if there is none."""
    return question_report(curator.ledger, request_id, analyst)
