"""The curator's learners: each charges before it reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from discreet.api.opened import OpenedCatalog
from discreet.core.numbers import Delta, Epsilon, Number
from discreet.core.progress import Progress, silent

if TYPE_CHECKING:
    from discreet.learn.recommend.run import Recommending
    from discreet.learn.regress import Regressed
    from discreet.learn.run import Trained
    from discreet.learn.select import Selected
    from discreet.learn.sgd.model import AnyClassifier


class Learning(OpenedCatalog):
    """Classifiers, regressions, recommenders and choices of one catalog."""

    def learn(
        self,
        table: str,
        *,
        target: str,
        epsilon: Number | Epsilon,
        delta: Number | Delta | None = None,
        model: str = "auto",
        features: Sequence[str] = (),
        choose: Sequence[str] = (),
        rows: int | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
        progress: Progress = silent,
    ) -> Trained:
        """Return a classifier of `target` trained on a table, charged before any row is read.

        It predicts from `features`, or from all other columns. `choose` trains several models and pays
        for a private choice among them. `rows`, if you know about how many there are, refuses an epsilon
        that is too small for them. (docs/learn.md)
        """
        from discreet.learn.request import LearnRequest
        from discreet.learn.run import train

        request = LearnRequest.of(
            table,
            target=target,
            epsilon=epsilon,
            delta=delta,
            model=model,
            features=features,
            choose=choose,
            rows=rows,
            analyst=self._payer(analyst),
            request_id=request_id,
        )
        return train(request, self, progress=progress)

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
        from discreet.learn.scored.paid_test import TestRequest, paid_test

        payer = self._payer(analyst)
        request = TestRequest.of(table, epsilon=epsilon, analyst=payer, request_id=request_id)
        return paid_test(request, model, self)

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
    ) -> Recommending:
        """Return a recommender from a noisy covariance of whole people's ratings, charged first.

        `item` is the column that says what was rated, `rating` how it was liked.
        """
        from discreet.learn.recommend.run import RecommendRequest, recommend

        request = RecommendRequest.of(
            table,
            item=item,
            rating=rating,
            epsilon=epsilon,
            delta=delta,
            analyst=self._payer(analyst),
            request_id=request_id,
        )
        return recommend(request, self)

    def select(
        self,
        table: str,
        *,
        column: str,
        epsilon: Number | Epsilon,
        kind: str = "vote",
        analyst: str | None = None,
        request_id: str | None = None,
    ) -> Selected:
        """Return one good candidate of a column by the exponential mechanism, charged first.

        `kind`: "vote" for the most common value, "price" for the price that earns most.
        """
        from discreet.learn.select import SelectRequest, select

        request = SelectRequest.of(
            table,
            column=column,
            epsilon=epsilon,
            kind=kind,
            analyst=self._payer(analyst),
            request_id=request_id,
        )
        return select(request, self)

    def regress(
        self,
        table: str,
        *,
        target: str,
        epsilon: Number | Epsilon,
        delta: Number | Delta | None = None,
        model: str = "auto",
        features: Sequence[str] = (),
        analyst: str | None = None,
        request_id: str | None = None,
    ) -> Regressed:
        """Return a ridge regression from noisy sums of products, charged before any row is read."""
        from discreet.learn.regress import regress
        from discreet.learn.request import LearnRequest

        request = LearnRequest.of(
            table,
            task="regress",
            target=target,
            epsilon=epsilon,
            delta=delta,
            model=model,
            features=features,
            analyst=self._payer(analyst),
            request_id=request_id,
        )
        return regress(request, self)
