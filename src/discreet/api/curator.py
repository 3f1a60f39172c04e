"""The curator: the object that a Python user holds. Rooms that a question does not need are loaded by the method that does."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discreet.api.budgets import alerts_of, notes_of, renewals
from discreet.api.learning import Learning
from discreet.api.publishing import Publishing
from discreet.catalog.outline import outline
from discreet.catalog.read.check import type_warnings
from discreet.core.answer import Answer
from discreet.core.explanation import Explanation
from discreet.core.numbers import Epsilon, Number
from discreet.core.output import OutputColumn
from discreet.errors import UnknownName
from discreet.ledger.report import history_report, question_report, share_report, standing_of
from discreet.ledger.text import budget_report, budget_words
from discreet.release.request import Request
from discreet.release.stored import unpack
from discreet.release.whole import explain as explain_request
from discreet.release.whole import release, shape_of
from discreet.sql.parse import Written
from discreet.synth.progress import Progress, silent

if TYPE_CHECKING:
    from discreet.anonymize.run import Anonymized
    from discreet.api.bounding import BoundsTrade
    from discreet.report import Document
    from discreet.synth.linked.linked_copy import LinkedSynthetic
    from discreet.synth.synthetic import Synthetic


class Curator(Publishing, Learning):
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

    def bounds(self, table: str, *, epsilon: Number | Epsilon, **asked: Any) -> BoundsTrade:
        """Return what each `max_rows` leaves out beside its noise, charged first (`bounding.trade`)."""
        from discreet.api.bounding import trade

        payer = self.account_of(asked.pop("analyst", None))
        return trade(self, table, epsilon=epsilon, payer=payer, **asked)

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

    def synthesize_linked(self, dataset: str, **asked: Any) -> LinkedSynthetic:
        """Return a copy of all linked tables of a dataset, whose keys join; `rows` is the number of people."""
        from discreet.synth.linked.run import synthesize_linked
        from discreet.synth.request import SynthRequest

        progress, analyst = asked.pop("progress", silent), self._payer(asked.pop("analyst", None))
        request = SynthRequest.of(dataset, analyst=analyst, **asked)
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
        self, table: str, *, k: int, quasi: Sequence[str], where: str | None = None, **more: Any
    ) -> Anonymized:
        """Return a k-anonymous copy of a table, after writing into the ledger that it leaves.

        `more` are the options of the command: sensitive, l, diversity, c, t, distance, hierarchies,
        suppress, cost, method, redact, weights, missing, seconds, population.

        Guarantee: none. This is not private; the dataset stays marked. (docs/anonymize.md)
        """
        from discreet.anonymize.release import Memory, expose, release
        from discreet.anonymize.request import AnonymizeRequest
        from discreet.anonymize.source import declared_source, find_table

        wish = AnonymizeRequest.of(k=k, quasi=quasi, **more)
        dataset, name = find_table(self.catalog, table)
        source = declared_source(self.engine, self.catalog, dataset, name, where=where)
        memory = Memory(name, lambda event: expose(self.ledger, dataset, event))
        return release(source, wish, lambda: memory)

    def columns(self, sql: str | Written) -> tuple[OutputColumn, ...]:
        """Return names and types of the answer's columns, before anything is paid."""
        return shape_of(sql, self)

    def warnings(self) -> tuple[str, ...]:
        """Return what the owner should look at in the catalog. For the owner only."""
        return (*self.catalog.warnings, *type_warnings(self.catalog, self.engine))

    def budget_report(self) -> dict[str, Any]:
        """Return what each dataset has spent, the object that `discreet budget --json` prints."""
        found = budget_report(self.ledger, self._paid_by(), describe=self.catalog.describe_region)
        alerts, policies = self.budget_alerts(), renewals(self.catalog)
        for name, facts in found["datasets"].items():
            facts["alert"] = alerts[facts["budget"]]["alert"]
            facts["renewal"] = policies.get(name)
        exposed = self._exposed_without_budget()
        return found | {"without_budget": exposed} if exposed else found

    def budget_alerts(self) -> dict[str, dict[str, Any]]:
        """Return of every budget how much is used, and an alert where that passed its mark. For the owner."""
        return alerts_of(self.catalog, self.ledger)

    def budget_words(self, *, last: int = 10) -> str:
        """Return gauge, history and most exposed group of each dataset, for a terminal."""
        known = budget_words(
            self.ledger,
            self._paid_by(),
            describe=self.catalog.describe_region,
            last=last,
            notes=notes_of(self.catalog, self.ledger),
        )
        exposed = [
            f"{name} (no budget yet)\n  released without any guarantee: {', '.join(columns)}"
            for name, columns in self._exposed_without_budget().items()
        ]
        return "\n\n".join([known, *exposed])

    def _exposed_without_budget(self) -> dict[str, list[str]]:
        """Return what left datasets that have no budget yet, by dataset."""
        found = {name: self.ledger.exposed(name) for name in self.catalog.unfinished}
        return {name: list(columns) for name, columns in found.items() if columns is not None}

    def _paid_by(self, datasets: Collection[str] | None = None) -> dict[str, str]:
        return {
            dataset.name: dataset.budget
            for dataset in self.catalog.datasets.values()
            if datasets is None or dataset.name in datasets
        }

    def visible(self, analyst: str | None) -> tuple[str, ...]:
        """Return the datasets that an analyst has a share in; all of them for None, the owner."""
        return tuple(
            self.catalog.datasets if analyst is None else self.catalog.analysts.get(analyst, ())
        )

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

    def outline(self, analyst: str | None = None) -> dict[str, Any]:
        """Return tables, columns, domains in words and units of what `analyst` may ask."""
        return {"datasets": outline(self.catalog, self.visible(analyst))}

    def share_report(self, analyst: str | None = None) -> dict[str, Any]:
        """Return limit, spent and left of one analyst's shares, or of whole budgets for None."""
        return share_report(self.ledger, self._paid_by(self.visible(analyst)), analyst)

    def history(
        self, *, last: int = 50, analysts: Collection[str | None] | None = None
    ) -> list[dict[str, Any]]:
        """Return the last entries of the ledger, latest first; only these analysts' if given.

        An analyst who is no longer in the catalog has none, nor has one who lost a share.
        """
        if analysts is None:
            return history_report(self.ledger, last=last)
        found = history_report(self.ledger, last=last, analysts=analysts)
        return [entry for entry in found if self._shares(entry["analyst"], entry["dataset"])]

    def _shares(self, analyst: str | None, dataset: str) -> bool:
        return analyst is None or dataset in self.catalog.analysts.get(analyst, ())

    def standing(self, request_id: str, *, analyst: str | None = None) -> str | None:
        """Return what has become of a request: paid, running, answered, failed or lost.

        None: nothing was charged under this id.
        """
        return standing_of(self.ledger, self.account_of(analyst), request_id)

    def stored_answer(self, request_id: str, *, analyst: str | None = None) -> Answer | None:
        """Return the answer that this analyst was given under this request id, if there is one.

        There is none for an analyst whose share in its dataset was taken away.
        """
        payload = self.ledger.stored_answer(request_id, analyst)
        # Answers are JSON; what a synthesis has stored is a compressed model, and no answer.
        if not payload or not payload.startswith(b"{"):
            return None
        answer = unpack(payload).answer
        return answer if self._shares(analyst, answer.provenance.dataset) else None

    def __repr__(self) -> str:
        found = self.share_report() if self.catalog.datasets else {}
        return f"Curator of {', '.join(map(repr, found.get('datasets', {}))) or 'nothing yet'}"


def question_of(curator: Curator, request_id: str, analyst: str | None) -> dict[str, Any] | None:
    """Return the words, price, time and asker of a request of this analyst; None if there is none."""
    return question_report(curator.ledger, request_id, analyst)
