"""All learners by name, and which one `auto` means: adding one is adding a file and a line here.

Words and names only: a learner's own file is imported when it is used, so that help texts are quick.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.base.requests.fields import one_of

if TYPE_CHECKING:
    from discreet.measure.private_marginals import MarginalBudget


COUNTING = Fraction(1, 5)
"""The share that counts every feature by class: bins, spreads and naive Bayes come from it."""

CHECKING = Fraction(1, 50)
"""The share that counts how many of the training rows are predicted rightly."""

CLASSIFY, REGRESS = "classify", "regress"
AUTO = "auto"
AUTO_WORDS = "What did best on other data: boosted, or naive Bayes without delta."


@dataclass(frozen=True, slots=True)
class Learner:
    """One way to learn: its task, the module of its `fit`, and a sentence for people.

    A classifier's fit(residuals, features, *, variance, share, progress) returns a `FittedModel` after the counting,
    which gets `counting` of the budget, for exactly `share`. A regressor's fit(sums, deviation) returns weights,
    intercept first. `stepped`: it is trained by the noisy steps that `sgd.budget` prices, over rows read with
    their units; its module also has `read`, for models that were kept, and nothing is left to choose among several.
    """

    task: str
    home: str
    words: str
    counting: Fraction = COUNTING
    stepped: bool = False

    @property
    def fit(self) -> Callable[..., Any]:
        """Return the function that learns; its module is imported for it."""
        found: Callable[..., Any] = import_module(self.home).fit
        return found


LEARNERS: dict[str, Learner] = {
    "logistic": Learner(
        CLASSIFY,
        "discreet.work.learn.learners.logistic",
        "One weight for each group of each column.",
    ),
    "boosted": Learner(
        CLASSIFY, "discreet.work.learn.learners.boosted", "The same, and then pairs of columns."
    ),
    "bayes": Learner(
        CLASSIFY,
        "discreet.work.learn.learners.bayes",
        "Counts each column by class, once. Quickest.",
        counting=1 - CHECKING,
    ),
    "network": Learner(
        CLASSIFY,
        "discreet.work.learn.learners.network",
        "A small neural network, trained by noisy steps. Needs delta.",
        stepped=True,
    ),
    "ridge": Learner(
        REGRESS, "discreet.work.learn.regression", "Ridge regression on noisy sums of products."
    ),
}


def of_task(task: str) -> dict[str, Learner]:
    """Return the learners of one task."""
    return {name: each for name, each in LEARNERS.items() if each.task == task}


def tunable() -> tuple[str, ...]:
    """Return the classifiers that a paid choice may be among."""
    return tuple(name for name, each in of_task(CLASSIFY).items() if not each.stepped)


def chosen(name: str, budget: MarginalBudget) -> str:
    """Return the classifier that a name means, by public facts alone.

    `auto` is what did best on other data sets (docs/learn.md): boosted, or naive Bayes where there
    is no delta, since with Laplace noise every further look at the rows costs too much.
    """
    if name != AUTO:
        return name
    return "boosted" if budget.concentrated else "bayes"


def chosen_regressor(name: str) -> str:
    """Return the regressor that a name means."""
    return "ridge" if name == AUTO else name


def load(names: Iterable[str]) -> None:
    """Import learners before anything is paid for them."""
    for name in names:
        import_module(LEARNERS[name].home)


def reader_of(kind: str) -> Callable[..., Any] | None:
    """Return what reads a kept model of this kind, where its learner has a reader of its own."""
    found = LEARNERS.get(kind)
    if found is None or not found.stepped:
        return None
    reader: Callable[..., Any] = import_module(found.home).read
    return reader


def choices(task: str = CLASSIFY) -> dict[str, dict[str, Any]]:
    """Return what the names here say in the fields of a request."""
    several = f"Train several and pay for a choice: {','.join(tunable())}."
    return {"model": {"help": one_of([AUTO, *of_task(task)])}, "choose": {"help": several}}
