"""The curator: the object that a Python user holds."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from discreet.anonymize.exposure import expose
from discreet.anonymize.release import Memory
from discreet.anonymize.release import release as release_copy
from discreet.anonymize.request import AnonymizeRequest
from discreet.anonymize.run import Anonymized
from discreet.anonymize.source import declared_source, find_table
from discreet.api.limits import policy_of
from discreet.catalog.catalog import Catalog
from discreet.catalog.outline import outline
from discreet.catalog.read.check import type_warnings
from discreet.core.answer import Answer
from discreet.core.explanation import Explanation
from discreet.core.numbers import Epsilon, Number
from discreet.core.output import OutputColumn
from discreet.core.owner import OWNER
from discreet.engine.base import Engine, EngineLimits
from discreet.engine.connect import connect
from discreet.errors import CatalogError, UnknownName
from discreet.learn.any_classifier import AnyClassifier
from discreet.learn.recommend.run import Recommending, RecommendRequest, recommend
from discreet.learn.regress import Regressed, regress
from discreet.learn.request import LearnRequest
from discreet.learn.run import Trained, train
from discreet.learn.scored.paid_test import TestRequest, paid_test
from discreet.learn.select import Selected, SelectRequest, select
from discreet.ledger.ledger import Ledger
from discreet.ledger.report import history_report, share_report
from discreet.ledger.text import budget_report, budget_words
from discreet.noise.rng import Rng, SystemRng
from discreet.publish.package import owner_key
from discreet.publish.rehearse import Rehearsal
from discreet.publish.run import Publication
from discreet.publish.spec import Spec, spec_of
from discreet.publish.totals.request import TotalsRequest
from discreet.publish.totals.run import TotalsSoFar, measure_totals
from discreet.publish.workflow import (
    RELEASES,
    Office,
    approve_release,
    draft_release,
    rehearse_release,
    standings,
    withdraw_release,
)
from discreet.publish.workflow import release as release_package
from discreet.release.request import Request
from discreet.release.stored import unpack
from discreet.release.whole import explain as explain_request
from discreet.release.whole import release, shape_of
from discreet.report import Document
from discreet.sql.parse import Written
from discreet.synth.linked.linked_copy import LinkedSynthetic
from discreet.synth.linked.run import linked_copy
from discreet.synth.progress import Progress, silent
from discreet.synth.report.making import comparison, publishable
from discreet.synth.request import SynthRequest
from discreet.synth.run import synthesize
from discreet.synth.synthetic import Synthetic

STATE = ".discreet"
"""The folder beside discreet.toml where snapshots of CSV files and stored tables are kept."""


class Curator:
    """Answers questions about the datasets of one catalog, under their budgets.

    >>> curator = discreet.open(town.toml)                                  # doctest: +SKIP
    >>> curator.query("SELECT COUNT(*) AS n FROM people", epsilon=0.1)      # doctest: +SKIP
    """

    def __init__(
        self,
        catalog: Catalog,
        *,
        ledger: Ledger | None = None,
        engine: Engine | None = None,
        rng: Rng | None = None,
    ) -> None:
        self.catalog = catalog
        self.rng: Rng = SystemRng() if rng is None else rng
        if ledger is not None:
            self.__dict__["ledger"] = ledger
        if engine is not None:
            self.__dict__["engine"] = engine

    @cached_property
    def ledger(self) -> Ledger:
        """The budget book; opened, and its history checked, when first needed."""
        return Ledger.open(self.catalog.ledger_url, policy_of(self.catalog), base=self.catalog.base)

    @cached_property
    def engine(self) -> Engine:
        """The database that computes; started when first needed."""
        memory = [d.memory_mb for d in self.catalog.datasets.values() if d.memory_mb is not None]
        limits = EngineLimits(memory_mb=max(memory)) if memory else EngineLimits()
        return connect(
            self.catalog.engine_url,
            self.catalog.sources,
            encodings=self.catalog.encodings,
            paths=self.catalog.paths,
            base=self.catalog.base,
            state=self.catalog.base / STATE,
            limits=limits,
            allow_superuser=self.catalog.allow_superuser,
        )

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
        return release(
            request, catalog=self.catalog, ledger=self.ledger, engine=self.engine, rng=self.rng
        )

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
        return explain_request(
            request,
            catalog=self.catalog,
            ledger=self.ledger,
            engine=self.engine,
            group_size=group_size,
        )

    @property
    def _means(self) -> dict[str, Any]:
        """Return what every paid piece of work is done with."""
        own = {"catalog": self.catalog, "ledger": self.ledger}
        return {**own, "engine": self.engine, "rng": self.rng}

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
        return synthesize(request, **self._means, progress=progress)

    def synthesize_linked(self, dataset: str, **asked: Any) -> LinkedSynthetic:
        """Return a copy of all linked tables of a dataset, whose keys join (`linked.run.linked_copy`)."""
        return linked_copy(self, dataset, analyst=self._payer(asked.pop("analyst", None)), **asked)

    def synthesis_report(self, synthetic: Synthetic, *, target: str | None = None) -> Document:
        """Return what a synthetic copy supports: may be published with it, costs nothing."""
        return publishable(synthetic, target=target)

    def synthesis_comparison(self, synthetic: Synthetic, *, target: str | None = None) -> Document:
        """Return the comparison with the real rows: for the owner, recorded, never to be published."""
        return comparison(
            synthetic, catalog=self.catalog, ledger=self.ledger, engine=self.engine, target=target
        )

    def learn(
        self, table: str, *, progress: Progress = silent, analyst: str | None = None, **asked: Any
    ) -> Trained:
        """Return a classifier trained on a table, charged before any row is read.

        `asked` are the fields of `discreet.learn.request.LearnRequest`: target, epsilon, delta,
        model, features, request_id. (docs/learn.md)
        """
        request = LearnRequest.of(table, analyst=self._payer(analyst), **asked)
        return train(request, **self._means, progress=progress)

    def test_model(
        self, model: AnyClassifier, table: str, *, analyst: str | None = None, **asked: Any
    ) -> AnyClassifier:
        """Return the model with noisy scores on a private table, charged to that table's dataset."""
        request = TestRequest.of(table, analyst=self._payer(analyst), **asked)
        return paid_test(
            request,
            model,
            catalog=self.catalog,
            ledger=self.ledger,
            engine=self.engine,
            rng=self.rng,
        )

    def recommend(self, table: str, *, analyst: str | None = None, **asked: Any) -> Recommending:
        """Return a recommender from a noisy covariance of whole people's ratings, charged first."""
        request = RecommendRequest.of(table, analyst=self._payer(analyst), **asked)
        return recommend(
            request, catalog=self.catalog, ledger=self.ledger, engine=self.engine, rng=self.rng
        )

    def select(self, table: str, *, analyst: str | None = None, **asked: Any) -> Selected:
        """Return one good candidate of a column by the exponential mechanism, charged first."""
        request = SelectRequest.of(table, analyst=self._payer(analyst), **asked)
        return select(
            request, catalog=self.catalog, ledger=self.ledger, engine=self.engine, rng=self.rng
        )

    def regress(self, table: str, *, analyst: str | None = None, **asked: Any) -> Regressed:
        """Return a ridge regression from noisy sums of products, charged before any row is read."""
        request = LearnRequest.of(table, task="regress", analyst=self._payer(analyst), **asked)
        return regress(
            request, catalog=self.catalog, ledger=self.ledger, engine=self.engine, rng=self.rng
        )

    def anonymize(
        self, table: str, *, k: int, quasi: Sequence[str], where: str | None = None, **more: Any
    ) -> Anonymized:
        """Return a k-anonymous copy of a table, after writing into the ledger that it leaves.

        `more` are the options of the command: sensitive, l, diversity, c, t, hierarchies, suppress,
        cost, method, redact, weights, missing, seconds, population.

        Guarantee: none. This is not private; the dataset stays marked. (docs/anonymize.md)
        """
        wish = AnonymizeRequest.of(k=k, quasi=quasi, **more)
        dataset, name = find_table(self.catalog, table)
        source = declared_source(self.engine, self.catalog, dataset, name, where=where)
        memory = Memory(name, lambda event: expose(self.ledger, dataset, event))
        return release_copy(source, wish, lambda: memory)

    def publish(
        self,
        spec: str | Path | Spec,
        *,
        out: str | Path | None = None,
        who: str = "owner",
        supersedes: str | None = None,
        progress: Progress = silent,
    ) -> Publication:
        """Return a release after writing its signed package, charged before any row is read.

        `spec` is the path of a SPEC.toml. The same name, spec and snapshot again give the stored
        package, free. Where the catalog asks for a second person, it must be approved first.
        (docs/publish.md)
        """
        place = None if out is None else Path(out)
        return release_package(
            spec_of(spec), place, self._office, who=who, supersedes=supersedes, progress=progress
        )

    def draft_release(self, spec: str | Path | Spec, *, who: str = "owner") -> dict[str, Any]:
        """Return where a release stands after its draft was written down; nothing is charged.

        `digest` in it is what an approval by a second person names.
        """
        found = draft_release(spec_of(spec), self._office, who=who)
        return found.to_json() | {"digest": found.digest}

    def rehearse_release(self, spec: str | Path | Spec, *, who: str = "owner") -> Rehearsal:
        """Return what a release would look like on made-up rows: costs nothing."""
        return rehearse_release(spec_of(spec), self._office, who=who)

    def approve_release(
        self, spec: str | Path | Spec, *, who: str, digest: str | None = None
    ) -> dict[str, Any]:
        """Return where a release stands after `who` approved it.

        `digest` is that of the draft they have read; a second person must say it.
        """
        return approve_release(spec_of(spec), self._office, who=who, digest=digest).to_json()

    def withdraw_release(
        self, spec: str | Path | Spec, *, reason: str, who: str = "owner"
    ) -> dict[str, Any]:
        """Return where a release stands after it was withdrawn; what it cost stays spent."""
        return withdraw_release(spec_of(spec).name, self._office, who=who, reason=reason).to_json()

    def releases(self) -> list[dict[str, Any]]:
        """Return every release that was ever drafted and where it stands, latest change last."""
        return [each.to_json() for each in standings(self.ledger)]

    def release_key(self) -> str:
        """Return the owner's public key, by which anyone can check a package; made on first use."""
        return owner_key(self.catalog.base / STATE).public.hex()

    def running_totals(self, request: TotalsRequest, *, through: dt.date | str) -> TotalsSoFar:
        """Return a series of running totals up to a day that is over.

        The whole horizon is charged when the series is first asked for; later days are free.
        (docs/packages.md)
        """
        return measure_totals(
            request,
            through,
            catalog=self.catalog,
            ledger=self.ledger,
            engine=self.engine,
            rng=self.rng,
            state=self.catalog.base / STATE,
        )

    def package(self, name: str) -> Path:
        """Return where the signed package of a release is kept, once it was released."""
        return self.catalog.base / STATE / RELEASES / f"{name}.zip"

    @property
    def _office(self) -> Office:
        return Office(self.catalog, self.ledger, self.engine, self.rng, self.catalog.base / STATE)

    def columns(self, sql: str | Written) -> tuple[OutputColumn, ...]:
        """Return names and types of the answer's columns, before anything is paid."""
        return shape_of(sql, catalog=self.catalog, ledger=self.ledger, engine=self.engine)

    def _payer(self, analyst: str | None) -> str | None:
        if analyst is None and self.catalog.analysts:
            names = ", ".join((*self.catalog.analysts, OWNER))
            said = "This catalog lists analysts, so every question must say who asks."
            raise CatalogError(said, hint=f"Use --as NAME (analyst= in Python): {names}.")
        return self.account_of(analyst)

    def account_of(self, analyst: str | None) -> str | None:
        """Return whose share pays for `analyst`; None, the whole budget, for the owner."""
        listed = OWNER in self.catalog.analysts
        return (OWNER if listed else None) if analyst in (None, OWNER) else analyst

    def warnings(self) -> tuple[str, ...]:
        """Return what the owner should look at in the catalog. For the owner only."""
        return (*self.catalog.warnings, *type_warnings(self.catalog, self.engine))

    def budget_report(self) -> dict[str, Any]:
        """Return what each dataset has spent, the object that `discreet budget --json` prints."""
        found = budget_report(self.ledger, self._paid_by(), describe=self.catalog.describe_region)
        exposed = self._exposed_without_budget()
        return found | {"without_budget": exposed} if exposed else found

    def budget_words(self, *, last: int = 10) -> str:
        """Return gauge, history and most exposed group of each dataset, for a terminal."""
        known = budget_words(
            self.ledger, self._paid_by(), describe=self.catalog.describe_region, last=last
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

    def stored_answer(self, request_id: str, *, analyst: str | None = None) -> Answer | None:
        """Return the answer that this analyst was given under this request id, if there is one.

        There is none for an analyst whose share in its dataset was taken away.
        """
        payload = self.ledger.answer_of(analyst, request_id)
        # Answers are JSON; what a synthesis has stored is a compressed model, and no answer.
        if not payload or not payload.startswith(b"{"):
            return None
        answer = unpack(payload).answer
        return answer if self._shares(analyst, answer.provenance.dataset) else None

    def __repr__(self) -> str:
        found = self.share_report() if self.catalog.datasets else {}
        return f"Curator of {', '.join(map(repr, found.get('datasets', {}))) or 'nothing yet'}"

    def close(self) -> None:
        """Stop the engine and let go of the ledger."""
        for name in ("engine", "ledger"):
            if name in self.__dict__:
                self.__dict__.pop(name).close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
