"""Training a classifier: charge, read, learn, check on the rows, store; in that order."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.ask.release.answer import ACCEPTED
from discreet.ask.release.desk import Desk
from discreet.base import display
from discreet.base.arrays import Floats
from discreet.base.bill import Charged, Spent
from discreet.base.display import Progress, ShownInLines, ShownLines, silent
from discreet.data.engines.base import PaidReader
from discreet.errors import InternalError, InvalidInput
from discreet.measure.columns import Encoding
from discreet.measure.learned_domains import LearningContext, learn
from discreet.measure.sealing import SealedCodes, seal_codes
from discreet.privacy.account.batch import NoisySteps
from discreet.work.learn.classifier import (
    Classifier,
    TuningContext,
    check_candidates,
    fit_classifier,
    tuned,
)
from discreet.work.learn.evaluation import noisy_share
from discreet.work.learn.features import encoding_of
from discreet.work.learn.learners.network import COUNTING_SHARE, AnyClassifier, NetworkClassifier
from discreet.work.learn.learners.registry import CHECKING, LEARNERS, chosen, load
from discreet.work.learn.model_files import from_text, to_text
from discreet.work.learn.private_rows import (
    PaidRows,
    PrivateResiduals,
    fetch,
    fetch_unit_codes,
    seal_unit_codes,
)
from discreet.work.learn.training_plan import LearnRequest, Training, planned_training
from discreet.work.synth.model_file import packed, unpacked

LARGEST_MODEL = 1 << 28


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Trained(ShownInLines, Charged):
    """A trained classifier, its price, and what the reader should know."""

    model: AnyClassifier
    request_id: str
    notices: tuple[str, ...]
    seconds: float

    @property
    def private(self) -> bool:
        """Return whether the noise came from the operating system's entropy."""
        return bool(self.model.facts.get("private", True))

    def to_json(self) -> dict[str, Any]:
        """Return the facts that `discreet learn classify --json` prints; a test may replace some."""
        facts = self.model.facts
        return {
            "model": self.model.kind,
            "target": self.model.target.name,
            "classes": [str(value) for value in self.model.classes],
            "accuracy": facts["accuracy"],
            "baseline": facts["baseline"],
            **self.bill.to_json(),
            "seconds": round(self.seconds, 3),
            "subgroups": {},
            "rows_needed": facts.get("rows_needed"),
            "request_id": self.request_id,
            "notices": list(self.notices),
        }

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return display.classifier_lines(self.to_json())


def train(request: LearnRequest, desk: Desk, *, progress: Progress = silent) -> Trained:
    """Return a trained classifier, charged before any row is read.

    Guarantee: one charge of `budget.quote` pays for learned domains (a stated share), every noisy
        count and every noisy sum of residuals, and the count of rows that are predicted rightly.
        Each gets noise for what the kernel read off its own SQL. The charge is durable before the
        engine runs, once at most; the model, or the failure, is durable before anybody hears of it,
        and is what the same request id gets again, free (`once`). (docs/notes/0044)
    """
    started = time.monotonic()
    if request.choose:
        check_candidates(request.choose)
    with planned_training(request, desk) as plan:
        kind = chosen(request.model, plan.look.budget.whole)
        load(request.choose or (kind,))
        receipt, stored = plan.look.run(
            lambda reader: packed(to_text(_Learning(plan, desk, reader, progress).model())),
            body=request.body,
            note=f"{kind} model of {request.target} in {plan.look.table}",
        )
    model = unpack(stored)
    notices = [*model.facts["notices"], *([ACCEPTED] if plan.outline.dataset.accepted else [])]
    return Trained(
        model=model,
        bill=receipt.bill,
        request_id=request.request_id,
        notices=tuple(notices),
        seconds=time.monotonic() - started,
    )


@dataclass(frozen=True, slots=True)
class _Learning:
    """What learning works with, after the charge."""

    plan: Training
    desk: Desk
    reader: PaidReader
    progress: Progress

    def model(self) -> AnyClassifier:
        """Return what was learned: domains first, then a model, checked on the rows."""
        plan, outline = self.plan, self.plan.outline
        budget, source = plan.look.budget, plan.look.sealed.source
        engine, rng, progress = self.desk.engine, self.desk.rng, self.progress
        progress(0, 1, "reading the table")
        risk = budget.threshold_delta
        context = LearningContext(engine, self.reader, budget.learning, risk, source, rng)
        found = learn(outline, context, lambda what: progress(0, 1, what))
        notices = (*outline.notices, *found.notices)
        encoding = _encoding(plan, found.encoding)
        codes = seal_codes(outline.scan, engine, encoding.coded)
        source.check(codes.source)
        if plan.steps is not None:
            return self._stepped(encoding, codes, plan.steps, notices)
        target = len(encoding.coded) - 1
        paid = PaidRows(fetch(self.reader, codes), codes.shape, target)
        residuals = PrivateResiduals(paid, budget.fitting, codes.unit, rng)
        if plan.request.choose:
            paid_for = TuningContext(paid, budget.fitting, codes.unit, rng)
            kind, fitted = tuned(paid_for, plan.request.choose, encoding, progress)
        else:
            kind = chosen(plan.request.model, budget.whole)
            fitted = fit_classifier(kind, residuals, encoding, progress)
        facts = self._facts(fitted.shares, residuals.checked(share=CHECKING), notices)
        return Classifier(kind, encoding, fitted.intercept, fitted.terms, facts)

    def _stepped(
        self, encoding: Encoding, sealed: SealedCodes, steps: NoisySteps, notices: tuple[str, ...]
    ) -> NetworkClassifier:
        """Return what noisy steps learned; its rows are read with their units, so that a person is sampled as a whole."""
        plan, rng = self.plan, self.desk.rng
        if plan.outline.scan.unit is None:
            codes = fetch(self.reader, sealed)
            unit = np.arange(len(codes), dtype=np.int64)
        else:
            whole = seal_unit_codes(plan.outline.scan, self.desk.engine, encoding.coded)
            plan.look.sealed.source.check(whole.source)
            codes, unit = fetch_unit_codes(self.reader, whole)
        paid = PaidRows(codes, sealed.shape, len(encoding.coded) - 1)
        residuals = PrivateResiduals(paid, plan.look.budget.fitting, sealed.unit, rng)
        found, shares = LEARNERS[plan.request.model].fit(
            residuals, (codes, unit), encoding, steps=steps, rng=rng, progress=self.progress
        )
        right = found.guesses(codes) == codes[:, -1]
        checked = residuals.counted_right(
            right, share=1 - COUNTING_SHARE
        )  # what is left of the budget
        told: NetworkClassifier = replace(found, facts=self._facts(shares, checked, notices))
        return told

    def _facts(
        self, shares: Floats, checked: tuple[int, int, float], notices: tuple[str, ...]
    ) -> dict[str, Any]:
        """Return what a model says about where it comes from: public, or paid for."""
        plan = self.plan
        right, wrong, error = checked
        if right + wrong < plan.rows_needed():
            few = f"There are about {max(right + wrong, 0):,} rows; at this epsilon it takes about "
            notices += (f"{few}{plan.rows_needed():,} until a model sees much more than noise.",)
        return {
            "dataset": plan.look.payer.dataset,
            "table": plan.outline.table.name,
            "cost": Spent(plan.request.epsilon.value, plan.look.budget.delta.value).exact(),
            "unit": plan.look.sealed.unit.to_json(),
            "rows": max(right + wrong, 0),
            "rows_needed": plan.rows_needed(),
            "accuracy": noisy_share(right, wrong, error) | {"on": "the training rows"},
            "baseline": round(float(shares.max()), 4),
            "accepted": plan.outline.dataset.accepted,
            "notices": list(notices),
            "private": bool(getattr(self.desk.rng, "private", True)),
        }


def _encoding(plan: Training, learned: Encoding) -> Encoding:
    """Return features and target with all domains filled in; some may be lost to a small budget."""
    target = plan.outline.items[-1].name
    coded = {column.name: column for column in learned.coded}
    features = [column for name, column in coded.items() if name != target]
    if target not in coded or not features or coded[target].values < 2:
        raise InvalidInput(
            "The budget was too small to learn the values of the target or of any feature; it is "
            "spent.",
            hint="Declare the domains in discreet.toml, or use a larger epsilon.",
        )
    return encoding_of(learned.table, features, coded[target])


def unpack(payload: bytes) -> AnyClassifier:
    """Return the model that was stored."""
    found = from_text(unpacked(payload, LARGEST_MODEL), name="the stored model")
    if not isinstance(found, AnyClassifier):
        raise InternalError("a classifier was stored, and something else was read")
    return found
