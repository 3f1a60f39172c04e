"""The curator: the object that a Python user holds, and how one is opened from a discreet.toml.

Its questions, copies, learners, releases and running totals: each charges before it reads. Packages that a
question does not need are loaded by the method that does.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.anonymize.registry import cost_choices as costs
from discreet.anonymize.registry import model_choices as models
from discreet.ask.release.desk import Request
from discreet.ask.release.planning_limits import PlanningLimits
from discreet.ask.release.statement import explain as explain_request
from discreet.ask.release.statement import release, shape_of
from discreet.ask.sql.parse import ParsedQuestion, read
from discreet.base.answer import Answer, Explanation, OutputColumn
from discreet.base.bill import Spent
from discreet.base.display import ShownInLines, ShownLines
from discreet.base.numbers import Epsilon, Number
from discreet.base.requests.fields import WithProgress, asks, beside, given, schema
from discreet.base.requests.paid import (
    BoundsFields,
    ExplainFields,
    LinkedFields,
    LocalLearnFields,
    LocalSynthFields,
    PublishFields,
    QueryFields,
    RecommendFields,
    RegressFields,
    RehearseFields,
    SelectFields,
)
from discreet.base.requests.unpaid import CopiedTable, LocalAnonymizeFields
from discreet.base.schema import Dataset
from discreet.curator.opened_catalog import OpenedCatalog, policy_of
from discreet.curator.reporting import Reporting
from discreet.data.catalog.catalog import Catalog
from discreet.data.catalog.policy_file import FILE_NAME, decoded, load, loads, meant_file
from discreet.data.catalog.writer import add_analysts as add_to_file
from discreet.errors import CatalogError, UnknownName
from discreet.privacy.account.explain import one_sentence
from discreet.privacy.ledger.head import KnownHead
from discreet.privacy.ledger.ledger import Ledger
from discreet.privacy.ledger.reports import question_report
from discreet.work.learn.learners.registry import REGRESS, choices
from discreet.work.synth.methods.registry import choices as methods

if TYPE_CHECKING:
    from discreet.anonymize.run import Anonymized
    from discreet.ask.release.bounds_trade import BoundsTrade
    from discreet.show import Document
    from discreet.work.learn.learners.network import AnyClassifier
    from discreet.work.learn.recommender import Recommending
    from discreet.work.learn.regression import Regressed
    from discreet.work.learn.select import Selected
    from discreet.work.learn.training import Trained
    from discreet.work.publish.rehearse import Rehearsal
    from discreet.work.publish.run import Publication
    from discreet.work.publish.specification import Spec
    from discreet.work.publish.totals import TotalsRequest, TotalsSoFar
    from discreet.work.synth.linked_model import LinkedSynthetic
    from discreet.work.synth.synthetic import Synthetic


@schema
class LearnCall(WithProgress, LocalLearnFields):
    """A training, and who is told how far it is."""


class Learning(OpenedCatalog):
    """Classifiers, regressions, recommenders and choices of one catalog."""

    @asks(LearnCall, choices())
    def learn(self, asked: LearnCall) -> Trained:
        """Return a classifier of `target` trained on a table, charged before any row is read.

        It predicts from `features`, or from all other columns. `choose` trains several models and pays
        for a private choice among them. `rows`, if you know about how many there are, refuses an epsilon
        that is too small for them. (docs/learn.md)
        """
        from discreet.work.learn.training import train
        from discreet.work.learn.training_plan import LearnRequest

        return train(LearnRequest.of(**self._charged(asked)), self, progress=asked.progress)

    def test_model(
        self,
        model: AnyClassifier,
        table: str,
        *,
        epsilon: Number | Epsilon,
        analyst: str | None = None,
        request_id: str | None = None,
    ) -> AnyClassifier:
        """Return the model with noisy scores on a private table, charged to that table's dataset."""
        from discreet.work.learn.evaluation import TestRequest, paid_test

        payer = self._payer(analyst)
        request = TestRequest.of(table, epsilon=epsilon, analyst=payer, request_id=request_id)
        return paid_test(request, model, self)

    @asks(RecommendFields)
    def recommend(self, asked: RecommendFields) -> Recommending:
        """Return a recommender from a noisy covariance of whole people's ratings, charged first.

        `item` is the column that says what was rated, `rating` how it was liked.
        """
        from discreet.work.learn.recommender import RecommendRequest, recommend

        return recommend(RecommendRequest.of(**self._charged(asked)), self)

    @asks(SelectFields)
    def select(self, asked: SelectFields) -> Selected:
        """Return one good candidate of a column by the exponential mechanism, charged first.

        `kind`: "vote" for the most common value, "price" for the price that earns most.
        """
        from discreet.work.learn.select import SelectRequest, select

        return select(SelectRequest.of(**self._charged(asked)), self)

    @asks(RegressFields, choices(REGRESS))
    def regress(self, asked: RegressFields) -> Regressed:
        """Return a ridge regression from noisy sums of products, charged before any row is read."""
        from discreet.work.learn.regression import regress
        from discreet.work.learn.training_plan import LearnRequest

        return regress(LearnRequest.of(**self._charged(asked), task="regress"), self)


@schema
class PublishCall(WithProgress, PublishFields):
    """A release of one spec, and who is told how far it is."""

    spec: str | Path | Spec = beside("The SPEC.toml that describes the release.", kw_only=False)


class Publishing(OpenedCatalog):
    """Publications of one catalog."""

    @asks(PublishCall)
    def publish(self, asked: PublishCall) -> Publication:
        """Return a release after writing its signed package, charged before any row is read.

        `spec` is the path of a SPEC.toml. The same name, spec and snapshot again give the stored
        package, free. Where the catalog asks for a second person, it must be approved first.
        (docs/publish.md)
        """
        from discreet.work.publish.specification import spec_of
        from discreet.work.publish.workflow import release

        words = given(asked)
        out = words.pop("out")
        place = None if out is None else Path(out)
        return release(spec_of(asked.spec), place, self, progress=asked.progress, **words)

    def draft_release(self, spec: str | Path | Spec, *, who: str = "owner") -> dict[str, Any]:
        """Return where a release stands after its draft was written down; nothing is charged.

        `digest` in it is what an approval by a second person names.
        """
        from discreet.work.publish.specification import spec_of
        from discreet.work.publish.workflow import draft_release

        found = draft_release(spec_of(spec), self, who=who)
        return found.to_json() | {"digest": found.digest}

    def rehearse_release(self, spec: str | Path | Spec, *, who: str = "owner") -> Rehearsal:
        """Return what a release would look like on made-up rows: costs nothing."""
        from discreet.work.publish.specification import spec_of
        from discreet.work.publish.workflow import rehearse_release

        return rehearse_release(spec_of(spec), self, who=who)

    def approve_release(
        self, spec: str | Path | Spec, *, who: str, digest: str | None = None
    ) -> dict[str, Any]:
        """Return where a release stands after `who` approved it.

        `digest` is that of the draft they have read; a second person must say it.
        """
        from discreet.work.publish.specification import spec_of
        from discreet.work.publish.workflow import approve_release

        return approve_release(spec_of(spec), self, who=who, digest=digest).to_json()

    def withdraw_release(
        self, spec: str | Path | Spec, *, reason: str, who: str = "owner"
    ) -> dict[str, Any]:
        """Return where a release stands after it was withdrawn; what it cost stays spent."""
        from discreet.work.publish.specification import spec_of
        from discreet.work.publish.workflow import withdraw_release

        return withdraw_release(spec_of(spec).name, self, who=who, reason=reason).to_json()

    def releases(self) -> list[dict[str, Any]]:
        """Return every release that was ever drafted and where it stands, latest change last."""
        from discreet.work.publish.workflow import standings

        return [each.to_json() for each in standings(self.ledger)]

    def release_key(self) -> str:
        """Return the owner's public key, by which anyone can check a package; made on first use."""
        from discreet.work.publish.package import owner_key

        return owner_key(self.catalog.state_folder).public.hex()

    def running_totals(self, request: TotalsRequest, *, through: dt.date | str) -> TotalsSoFar:
        """Return a series of running totals up to a day that is over.

        The whole horizon is charged when the series is first asked for; later days are free.
        (docs/packages.md)
        """
        from discreet.work.publish.totals import measure_totals

        return measure_totals(
            request,
            through,
            self,
            state=self.catalog.state_folder,
        )

    def late_rows(self, series: str) -> int | None:
        """Return how many rows had arrived too late for a series of running totals when it was last measured.

        An exact count, for the owner alone: do not publish it. It is net for each day: 3 deleted rows and 7
        late ones of one day are 4. None before the first look, and for a series
        that an earlier version measured last.
        """
        from discreet.work.publish.totals import FrozenDays, series_name

        return FrozenDays(self.catalog.state_folder, series_name(series)).late()

    def package(self, name: str) -> Path:
        """Return where the signed package of a release is kept; refused where nothing was released by this name."""
        from discreet.work.publish.run import released_file
        from discreet.work.publish.workflow import RELEASES

        return self.catalog.state_folder / RELEASES / released_file(self.ledger, name)


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
        from discreet.curator.rehearsal import rehearse

        return rehearse(self, asked)

    @asks(BoundsFields)
    def bounds(self, asked: BoundsFields) -> BoundsTrade:
        """Return what each `max_rows` leaves out beside the noise of a count for epsilon `at`, charged first."""
        from discreet.ask.release.bounds_trade import BoundsRequest, trade

        return trade(self, BoundsRequest.of(**given(asked)), payer=self._payer(asked.analyst))

    @asks(BoundsFields)
    def explain_bounds(self, asked: BoundsFields) -> Explanation:
        """Return plan, generated SQL and price of the look that `bounds` pays for; spends nothing."""
        from discreet.ask.release.bounds_trade import BoundsRequest, foretell

        look = BoundsRequest.of(**given(asked))
        return foretell(self, look, payer=self.account_of(asked.analyst))

    @asks(SynthCall, methods())
    def synthesize(self, asked: SynthCall) -> Synthetic:
        """Return a synthetic copy of a table, charged before any row is read.

        `delta` is a quarter of the dataset's unless given; without one the pure currency is used.
        `rows` is about as many as there are unless given. `where` and `rules` hold for every row.
        `choose` pays for a private choice among methods. The same `request_id` gives the same model.
        """
        from discreet.work.synth.prepare import SynthRequest
        from discreet.work.synth.run import synthesize

        return synthesize(SynthRequest.of(**self._charged(asked)), self, progress=asked.progress)

    @asks(LinkedCall)
    def synthesize_linked(self, asked: LinkedCall) -> LinkedSynthetic:
        """Return a copy of all linked tables of a dataset, whose keys join; `rows` is the number of people."""
        from discreet.work.synth.linked_run import synthesize_linked
        from discreet.work.synth.prepare import SynthRequest

        words = self._charged(asked)
        request = SynthRequest.of(words.pop("dataset"), **words)
        return synthesize_linked(request, self, progress=asked.progress)

    def synthesis_report(self, synthetic: Synthetic, *, target: str | None = None) -> Document:
        """Return what a synthetic copy supports: may be published with it, costs nothing."""
        from discreet.work.synth.report.make_reports import publishable

        return publishable(synthetic, target=target)

    def synthesis_comparison(self, synthetic: Synthetic, *, target: str | None = None) -> Document:
        """Return the comparison with the real rows: for the owner, recorded, never to be published."""
        from discreet.work.synth.report.make_reports import comparison

        return comparison(synthetic, self, target=target)

    @asks(AnonymizeCall, costs() | models())
    def anonymize(self, asked: AnonymizeCall) -> Anonymized:
        """Return a k-anonymous copy of a table, after writing into the ledger that it leaves.

        The other arguments are the options of `discreet anonymize`. (docs/anonymize.md)

        Guarantee: none. This is not private; the dataset stays marked.
        """
        from discreet.anonymize.release import anonymize
        from discreet.anonymize.run import AnonymizeRequest

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


def open(config: str | Path | None = None) -> Curator:  # noqa: A001  # discreet.open is the contract
    """Return the curator of a catalog: the given discreet.toml, or the one in this folder."""
    return Curator(load(found_config(config)))


def found_config(config: str | Path | None) -> Path:
    """Return the discreet.toml that is meant, which must be there."""
    path = meant_file(config)
    if not path.is_file():
        raise CatalogError(
            f"There is no {FILE_NAME} here." if config is None else f"There is no file '{path}'.",
            hint="Make one with: discreet init YOUR_FILE.csv",
        )
    return path


def curator_of(config: Path, content: bytes | None) -> Curator:
    """Return the curator of a discreet.toml with this content; None, no file yet: one without datasets."""
    if content is None:
        return Curator(loads("", base=config.parent, name=config.name))
    catalog = loads(decoded(content, config), base=config.parent, name=config.name)
    return Curator(replace(catalog, path=config))


SeenLedger: TypeAlias = KnownHead
"""What a process has seen of its ledger, for the processes that it starts."""


def child_curator(catalog: Catalog, *, scratch: Path, known: SeenLedger | None = None) -> Curator:
    """Return a curator for a child process of whoever has put `catalog` in force.

    Guarantee: its ledger changes no limit, so a child that was started under an older catalog takes
        nothing back; and holds what its parent had seen of it, `known`. What its engine needs for a
        while lies in `scratch`.
    """
    limits = policy_of(catalog)
    url, base = catalog.ledger_url, catalog.base
    ledger = Ledger.open(url, limits, base=base, adopts=False, known=known)
    return Curator(catalog, ledger=ledger, scratch=scratch)


def add_analysts(
    config: Path, names: Sequence[str], *, epsilon: Number | Epsilon, datasets: Sequence[str] = ()
) -> Catalog:
    """Return the catalog after adding analysts with a share in `datasets` (all if none is named)."""
    wanted = datasets or tuple(load(config).datasets)
    return add_to_file(config, names, epsilon=Epsilon.of(epsilon), datasets=wanted)


ParsedStatement: TypeAlias = ParsedQuestion
"""A question that was parsed already."""


def parsed(sql: str) -> ParsedStatement:
    """Return a question parsed once; parameters may be filled into its tree, never into its text."""
    return ParsedQuestion(sql, read(sql))


Planner: TypeAlias = PlanningLimits
"""Tries texts of strangers before they are planned; for whoever answers many at once."""


def promise(cost: Spent, dataset: Dataset) -> str:
    """Return what a price promises to each person of a dataset, under its neighbours."""
    if cost.epsilon <= 0:
        return "No row is read for this, so nobody's odds change."
    return one_sentence(cost.epsilon, delta=cost.delta, neighbours=dataset.neighbours)


def with_promise(found: Explanation, catalog: Catalog) -> Explanation:
    """Return an explanation that says in `words` what its price promises."""
    if found.free:
        words = "This follows from answers that were paid for: it gives nothing more away."
    else:
        words = promise(found.cost, catalog.datasets[found.dataset])
    return replace(found, words=words)


def restore_ledger(config: str | Path | None, path: Path, *, reason: str) -> Ledger:
    """Return the ledger after replacing its history by the backup at `path`."""
    catalog = open(config).catalog
    return Ledger.restore(
        catalog.ledger_url, policy_of(catalog), path, base=catalog.base, reason=reason
    )
