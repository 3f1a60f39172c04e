"""The curator's learners: each charges before it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.api.opened import OpenedCatalog
from discreet.core.numbers import Epsilon, Number
from discreet.core.requests.asks import asks
from discreet.core.requests.learn import (
    LocalLearnFields,
    RecommendFields,
    RegressFields,
    SelectFields,
)
from discreet.core.requests.schema import WithProgress, schema
from discreet.learn.learners.registry import REGRESS, choices

if TYPE_CHECKING:
    from discreet.learn.learners.network import AnyClassifier
    from discreet.learn.recommender import Recommending
    from discreet.learn.regression import Regressed
    from discreet.learn.select import Selected
    from discreet.learn.training import Trained


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
        from discreet.learn.training import train
        from discreet.learn.training_plan import LearnRequest

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
        from discreet.learn.evaluation import TestRequest, paid_test

        payer = self._payer(analyst)
        request = TestRequest.of(table, epsilon=epsilon, analyst=payer, request_id=request_id)
        return paid_test(request, model, self)

    @asks(RecommendFields)
    def recommend(self, asked: RecommendFields) -> Recommending:
        """Return a recommender from a noisy covariance of whole people's ratings, charged first.

        `item` is the column that says what was rated, `rating` how it was liked.
        """
        from discreet.learn.recommender import RecommendRequest, recommend

        return recommend(RecommendRequest.of(**self._charged(asked)), self)

    @asks(SelectFields)
    def select(self, asked: SelectFields) -> Selected:
        """Return one good candidate of a column by the exponential mechanism, charged first.

        `kind`: "vote" for the most common value, "price" for the price that earns most.
        """
        from discreet.learn.select import SelectRequest, select

        return select(SelectRequest.of(**self._charged(asked)), self)

    @asks(RegressFields, choices(REGRESS))
    def regress(self, asked: RegressFields) -> Regressed:
        """Return a ridge regression from noisy sums of products, charged before any row is read."""
        from discreet.learn.regression import regress
        from discreet.learn.training_plan import LearnRequest

        return regress(LearnRequest.of(**self._charged(asked), task="regress"), self)
