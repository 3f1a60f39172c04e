"""The curator's learners: each charges before it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.api.opened import OpenedCatalog
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
        self, table: str, *, progress: Progress = silent, analyst: str | None = None, **asked: Any
    ) -> Trained:
        """Return a classifier trained on a table, charged before any row is read.

        `asked` are the fields of `discreet.learn.request.LearnRequest`: target, epsilon, delta,
        model, features, request_id. (docs/learn.md)
        """
        from discreet.learn.request import LearnRequest
        from discreet.learn.run import train

        request = LearnRequest.of(table, analyst=self._payer(analyst), **asked)
        return train(request, self, progress=progress)

    def test_model(
        self, model: AnyClassifier, table: str, *, analyst: str | None = None, **asked: Any
    ) -> AnyClassifier:
        """Return the model with noisy scores on a private table, charged to that table's dataset."""
        from discreet.learn.scored.paid_test import TestRequest, paid_test

        request = TestRequest.of(table, analyst=self._payer(analyst), **asked)
        return paid_test(
            request,
            model,
            self,
        )

    def recommend(self, table: str, *, analyst: str | None = None, **asked: Any) -> Recommending:
        """Return a recommender from a noisy covariance of whole people's ratings, charged first."""
        from discreet.learn.recommend.run import RecommendRequest, recommend

        request = RecommendRequest.of(table, analyst=self._payer(analyst), **asked)
        return recommend(request, self)

    def select(self, table: str, *, analyst: str | None = None, **asked: Any) -> Selected:
        """Return one good candidate of a column by the exponential mechanism, charged first."""
        from discreet.learn.select import SelectRequest, select

        request = SelectRequest.of(table, analyst=self._payer(analyst), **asked)
        return select(request, self)

    def regress(self, table: str, *, analyst: str | None = None, **asked: Any) -> Regressed:
        """Return a ridge regression from noisy sums of products, charged before any row is read."""
        from discreet.learn.regress import regress
        from discreet.learn.request import LearnRequest

        request = LearnRequest.of(table, task="regress", analyst=self._payer(analyst), **asked)
        return regress(request, self)
