"""The curator: the object that a Python user holds.

Packages that a question does not need are loaded by the method that does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discreet.anonymize.costs.registry import choices as costs
from discreet.anonymize.privacy_models.registry import choices as models
from discreet.api.learning import Learning
from discreet.api.publishing import Publishing
from discreet.api.reporting import Reporting
from discreet.core.answers.answer import Answer
from discreet.core.answers.explanation import Explanation
from discreet.core.answers.output import OutputColumn
from discreet.core.display.lines import ShownInLines, ShownLines
from discreet.core.requests.anonymize import CopiedTable, LocalAnonymizeFields
from discreet.core.requests.asks import asks
from discreet.core.requests.look import BoundsFields
from discreet.core.requests.question import ExplainFields, QueryFields, RehearseFields
from discreet.core.requests.request_fields import given
from discreet.core.requests.schema import WithProgress, schema
from discreet.core.requests.synth import LinkedFields, LocalSynthFields
from discreet.errors import UnknownName
from discreet.ledger.reports import question_report
from discreet.release.desk import Request
from discreet.release.statement import explain as explain_request
from discreet.release.statement import release, shape_of
from discreet.sql.parse import ParsedQuestion
from discreet.synth.methods.registry import choices as methods

if TYPE_CHECKING:
    from discreet.anonymize.run import Anonymized
    from discreet.release.bounds_trade import BoundsTrade
    from discreet.report import Document
    from discreet.synth.linked.linked_model import LinkedSynthetic
    from discreet.synth.synthetic import Synthetic


@schema
class SynthCall(WithProgress, LocalSynthFields):
    """A synthesis, and who is told how far it is."""


@schema
class LinkedCall(WithProgress, LinkedFields):
    """A copy of linked tables, and who is told how far it is."""


@schema
class AnonymizeCall(WithProgress, CopiedTable, LocalAnonymizeFields):
    """An anonymized copy of a declared table, and who is told how far it is."""


class Curator(ShownInLines, Publishing, Learning, Reporting):
    """Answers questions about the datasets of one catalog, under their budgets.

    >>> curator = discreet.open(town.toml)                                  # doctest: +SKIP
    >>> curator.query("SELECT COUNT(*) AS n FROM people", epsilon=0.1)      # doctest: +SKIP
    """

    @asks(QueryFields)
    def query(self, asked: QueryFields) -> Answer:
        """Return the private answer to `sql`, with error bars, price and provenance.

        Give either `epsilon`, the budget to use, or `within`, the greatest noise of any cell at 95%
        (COUNT and SUM only). `fresh` never reuses paid answers. `max_rows` bounds how many rows of
        one person count in this question.
        """
        return release(Request.of(**self._charged(asked)), self)

    @asks(ExplainFields)
    def explain(self, asked: ExplainFields) -> Explanation:
        """Return plan, generated SQL, price and expected error of a question; spends nothing.

        `group_size` names rows of a group for which means, variances and quantiles tell theirs.
        """
        words = self._charged(asked)
        size = words.pop("group_size")
        return explain_request(Request.of(**words), self, group_size=size)

    @asks(RehearseFields)
    def rehearse(self, asked: RehearseFields) -> Answer:
        """Return an answer that is not private: everybody who names this seed gets the same noise.

        Only for datasets whose rows the owner declared public (`public_rows = true`). Spends nothing.
        """
        from discreet.api.rehearsal import rehearse

        return rehearse(self, asked)

    @asks(BoundsFields)
    def bounds(self, asked: BoundsFields) -> BoundsTrade:
        """Return what each `max_rows` leaves out beside the noise of a count for epsilon `at`, charged first."""
        from discreet.release.bounds_trade import BoundsRequest, trade

        return trade(self, BoundsRequest.of(**given(asked)), payer=self._payer(asked.analyst))

    @asks(BoundsFields)
    def explain_bounds(self, asked: BoundsFields) -> Explanation:
        """Return plan, generated SQL and price of the look that `bounds` pays for; spends nothing."""
        from discreet.release.bounds_trade import BoundsRequest, foretell

        look = BoundsRequest.of(**given(asked))
        return foretell(self, look, payer=self.account_of(asked.analyst))

    @asks(SynthCall, methods())
    def synthesize(self, asked: SynthCall) -> Synthetic:
        """Return a synthetic copy of a table, charged before any row is read.

        `delta` is a quarter of the dataset's unless given; without one the pure currency is used.
        `rows` is about as many as there are unless given. `where` and `rules` hold for every row.
        `choose` pays for a private choice among methods. The same `request_id` gives the same model.
        """
        from discreet.synth.prepare import SynthRequest
        from discreet.synth.run import synthesize

        return synthesize(SynthRequest.of(**self._charged(asked)), self, progress=asked.progress)

    @asks(LinkedCall)
    def synthesize_linked(self, asked: LinkedCall) -> LinkedSynthetic:
        """Return a copy of all linked tables of a dataset, whose keys join; `rows` is the number of people."""
        from discreet.synth.linked.run import synthesize_linked
        from discreet.synth.prepare import SynthRequest

        words = self._charged(asked)
        request = SynthRequest.of(words.pop("dataset"), **words)
        return synthesize_linked(request, self, progress=asked.progress)

    def synthesis_report(self, synthetic: Synthetic, *, target: str | None = None) -> Document:
        """Return what a synthetic copy supports: may be published with it, costs nothing."""
        from discreet.synth.report.make_reports import publishable

        return publishable(synthetic, target=target)

    def synthesis_comparison(self, synthetic: Synthetic, *, target: str | None = None) -> Document:
        """Return the comparison with the real rows: for the owner, recorded, never to be published."""
        from discreet.synth.report.make_reports import comparison

        return comparison(synthetic, self, target=target)

    @asks(AnonymizeCall, costs() | models())
    def anonymize(self, asked: AnonymizeCall) -> Anonymized:
        """Return a k-anonymous copy of a table, after writing into the ledger that it leaves.

        The other arguments are the options of `discreet anonymize`. (docs/anonymize.md)

        Guarantee: none. This is not private; the dataset stays marked.
        """
        from discreet.anonymize.release import anonymize
        from discreet.anonymize.request import AnonymizeRequest

        words = given(asked)
        table, where = words.pop("table"), words.pop("where")
        request = AnonymizeRequest.of(**words)
        return anonymize(self, table, request, where=where, progress=asked.progress)[1]

    def columns(self, sql: str | ParsedQuestion) -> tuple[OutputColumn, ...]:
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
