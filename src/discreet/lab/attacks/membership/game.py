"""Membership inference (loss, shadow models, LiRA): everybody is in or out by a coin, and an adversary says who was.

A row of a score matrix is a trained model (or a made copy), a column a person; the score says how well the
model knows that person. Shadows are models that the adversary trained on coins it knows; victims are
models whose coins it guesses.

What is played against: an overfitted model, our learners, and our copies.
Each is a function from who is in to a score for everybody: how well it knows the person. The private
ones are the very functions that `discreet learn` and `discreet synth` call after their charge, with
noise from the operating system's entropy; no ledger is needed for made-up budgets.

The pool is the example town or the user's own file; each of its people is in each training by a coin.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.base.arrays import Bits, Floats, Integers
from discreet.base.display import Progress, silent
from discreet.base.numbers import to_fraction
from discreet.base.schema import FiniteDomain
from discreet.data.catalog.toml_text import WrittenTable
from discreet.errors import InvalidInput
from discreet.lab.attacks.attacks import AttackSettings, Score, score_bars
from discreet.lab.attacks.curator import BOOLEAN, categories, temporary_town, whole_numbers
from discreet.lab.attacks.files import OwnPeople, people_of, read_rows
from discreet.lab.attacks.membership.scores import LowRates, clustered_auc, low_rates
from discreet.lab.town import parameters as p
from discreet.lab.town.people import JOBS, REGIONS, SEXES
from discreet.measure.budget import LARGEST
from discreet.measure.columns import Coded, Encoding
from discreet.measure.private_marginals import CountSensitivity, MarginalBudget
from discreet.privacy.account.convert import rho_of_target
from discreet.privacy.noise.rng import SystemRng
from discreet.show import DocumentBlock, Figure, Grid
from discreet.work.learn.classifier import Classifier, fit_classifier
from discreet.work.learn.features import check_target, encoding_of, feature_column
from discreet.work.learn.private_rows import PaidRows, PrivateResiduals
from discreet.work.learn.read_file import codes_of_table

FEWEST = 40


def people_to_attack(chosen: AttackSettings) -> OwnPeople:
    """Return `people` people drawn from the file that was named, or from the town."""
    wanted = chosen.whole("people")
    if chosen.text("original"):
        found = people_of(read_rows(chosen.text("original")), chosen.words("columns"))
    else:
        with temporary_town(wanted, tables=("people",), seed=chosen.whole("seed")) as made:
            found = people_of(made.load("people").select(list(DECLARED)))
    if found.rows.num_rows < FEWEST:
        raise InvalidInput(
            f"A game of coins needs at least {FEWEST} people; the file has {found.rows.num_rows}."
        )
    dice = np.random.default_rng(chosen.whole("seed"))
    order = dice.permutation(found.rows.num_rows)[:wanted]
    return OwnPeople(found.rows.take(pa.array(order)), found.domains)


DECLARED: dict[str, WrittenTable] = {
    "age": whole_numbers(0, 120),
    "sex": categories(SEXES),
    "region": categories(REGIONS),
    "education": {**categories(p.EDUCATIONS), "missing": True},
    "job": categories(JOBS),
    "income": {**whole_numbers(0, p.INCOME_UPPER), "missing": True},
    "married": BOOLEAN,
    "household_size": whole_numbers(1, 8),
    "smoker": BOOLEAN,
    "height": whole_numbers(30, 230),
}
"""The columns of people that are copied, with their domains: public, from the published recipe."""


Victim = Callable[[Bits], Floats]
"""Trains on those who are in, and returns a score for everybody."""
_RIDGE = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """People as codes: the features, and last the class that models predict."""

    encoding: Encoding
    codes: npt.NDArray[np.int32]

    @classmethod
    def of(cls, rows: pa.Table, domains: Mapping[str, FiniteDomain], target: str) -> Pool:
        """Return the people who have a class; the domains are public."""
        coded = {name: Coded(name, domain) for name, domain in domains.items()}
        goal = next((c for name, c in coded.items() if name.lower() == target.lower()), None)
        if goal is None:
            raise InvalidInput(
                f"There is no column '{target}' for a model to predict.",
                hint=f"There are: {', '.join(coded)}.",
            )
        check_target(goal)
        features = [feature_column(each) for each in coded.values() if each is not goal]
        encoding = encoding_of("people", features, goal)
        codes = codes_of_table(rows, encoding.coded)
        return cls(encoding, codes[codes[:, -1] >= 0])

    @property
    def classes(self) -> Integers:
        """Return everybody's class."""
        return self.codes[:, -1].astype(np.int64)

    def indicators(self) -> Floats:
        """Return the features as zeros and ones, a column for each code."""
        sizes = self.encoding.shape.sizes[:-1]
        parts = [np.eye(size)[self.codes[:, i]] for i, size in enumerate(sizes)]
        return np.concatenate(parts, axis=1)


def overfitted(pool: Pool) -> Victim:
    """Return a model that learns its rows by heart: least squares over all pairs of values.

    The kernel is the squared share of columns in which two people agree, which is the inner product
    of all pairs of values; with next to no ridge it passes through every training row.
    """
    known = pool.indicators()
    width = len(pool.encoding.coded) - 1
    kernel = (known @ known.T / width) ** 2
    truth = np.eye(pool.encoding.shape.sizes[-1])[pool.classes]

    def fit(inside: Bits) -> Floats:
        rows = np.flatnonzero(inside)
        ridge = _RIDGE * np.eye(len(rows))
        weights = np.linalg.solve(kernel[np.ix_(rows, rows)] + ridge, truth[rows])
        # Least squares misses a row that it has seen by next to nothing.
        margin = _margin(kernel[:, rows] @ weights, pool.classes)
        return np.asarray(-np.log(np.abs(1 - margin) + _RIDGE))

    return fit


def our_learner(pool: Pool, kind: str, *, epsilon: float, delta: float) -> Victim:
    """Return one of the classifiers of `discreet learn` at this price."""
    budget = marginal_budget(epsilon, delta)
    encoding = pool.encoding

    def fit(inside: Bits) -> Floats:
        rows = PaidRows(pool.codes[inside], encoding.shape, len(encoding.coded) - 1)
        residuals = PrivateResiduals(rows, budget, CountSensitivity(), SystemRng())
        fitted = fit_classifier(kind, residuals, encoding, silent)
        model = Classifier(kind, encoding, fitted.intercept, fitted.terms)
        return _margin(model.scores(pool.codes), pool.classes)

    return fit


def marginal_budget(epsilon: float, delta: float) -> MarginalBudget:
    """Return what (epsilon, delta) buys, unpriced: rho of zCDP where there is a delta, else epsilon."""
    price, risk = to_fraction(repr(epsilon)), to_fraction(repr(delta))
    if not risk:
        return MarginalBudget(min(price, LARGEST), concentrated=False)
    return MarginalBudget(min(rho_of_target(price, risk), Fraction(LARGEST)), concentrated=True)


def _margin(scores: Floats, classes: Integers) -> Floats:
    """Return by how much the score of the true class exceeds the best other."""
    own = scores[np.arange(len(scores)), classes]
    others = scores.copy()
    others[np.arange(len(scores)), classes] = -np.inf
    return np.asarray(own - others.max(axis=1))


_BINS = 20
_SOFT = 1.0
_LEAST_SPREAD = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Played:
    """Models by people: the score of each, and whether the person was in.

    `classes` is what is known of each person beside the score (the true class), for adversaries who
    treat each class by itself.
    """

    scores: Floats
    inside: Bits
    classes: Integers

    def only(self, models: slice) -> Played:
        """Return some of the models."""
        return Played(self.scores[models], self.inside[models], self.classes)


def coins(models: int, people: int, dice: np.random.Generator) -> Bits:
    """Return who is in each training: a fair coin for each, apart from everybody else's.

    Independent coins, not halves of one size: so a person in and a person out are neighbours by one
    row, which is what an add-or-remove epsilon speaks about. (docs/notes/0052)
    """
    return np.asarray(dice.random((models, people)) < 0.5)


def by_loss(_shadows: Played, victims: Played) -> Floats:
    """Return the score itself: members are fitted better than others (Yeom et al. 2018)."""
    return victims.scores


def by_shadow_models(shadows: Played, victims: Played) -> Floats:
    """Return the log odds of being in, learned for each class from all shadows (Shokri et al. 2017).

    The attack model is a histogram of scores, in and out, over bins with equally many shadows' scores.
    """
    found = np.empty_like(victims.scores)
    for each in np.unique(shadows.classes):
        of = shadows.classes == each
        known, inside = shadows.scores[:, of], shadows.inside[:, of]
        edges = np.unique(np.quantile(known, np.linspace(0, 1, _BINS + 1)[1:-1]))
        place = np.searchsorted(edges, known, side="right")
        counts = [np.bincount(place[side], minlength=len(edges) + 1) for side in (inside, ~inside)]
        shares = [(count + _SOFT) / (count + _SOFT).sum() for count in counts]
        odds = np.log(shares[0] / shares[1])
        found[:, of] = odds[np.searchsorted(edges, victims.scores[:, of], side="right")]
    return found


def by_likelihood_ratio(shadows: Played, victims: Played) -> Floats:
    """Return how much likelier a person's score is if in than if out (Carlini et al. 2022, LiRA).

    Each person has a normal law of scores with them and one without them, from the shadows; the
    spread is shared by all people where shadows are few, as in the paper.
    """
    inside, outside = _law(shadows, shadows.inside), _law(shadows, ~shadows.inside)
    return _log_density(victims.scores, *inside) - _log_density(victims.scores, *outside)


def _law(shadows: Played, side: Bits) -> tuple[Floats, Floats]:
    """Return mean and spread of each person's scores on one side; those of everybody if there are none."""
    scores, count = np.where(side, shadows.scores, 0.0), side.sum(axis=0)
    overall = shadows.scores[side].mean() if side.any() else 0.0
    mean = np.where(count > 0, scores.sum(axis=0) / np.maximum(count, 1), overall)
    gaps = np.where(side, (shadows.scores - mean) ** 2, 0.0).sum(axis=0)
    pooled = gaps.sum() / max(int(np.maximum(count - 1, 0).sum()), 1)
    few = shadows.scores.shape[0] < FEW_SHADOWS
    own = gaps / np.maximum(count - 1, 1)
    variance = np.where((count > 2) & (not few), own, pooled)
    return mean, np.sqrt(np.maximum(variance, _LEAST_SPREAD**2))


FEW_SHADOWS = 64
"""With fewer shadows the spread of scores is taken from all people together."""


def _log_density(scores: Floats, mean: Floats, spread: Floats) -> Floats:
    return np.asarray(-0.5 * ((scores - mean) / spread) ** 2 - np.log(spread))


Adversary = Callable[[Played, Played], Floats]
ADVERSARIES: Mapping[str, Adversary] = MappingProxyType(
    {
        "loss": by_loss,
        "shadow": by_shadow_models,
        "likelihood-ratio": by_likelihood_ratio,
    }
)


def threshold_for(adversary: Adversary, shadows: Played, rate: float) -> float:
    """Return the score above which at most a share `rate` of those outside are claimed.

    The adversary plays it with half of its own shadows against the other half, and the other way.
    """
    half = shadows.scores.shape[0] // 2
    ends = (slice(None, half), slice(half, None))
    out = []
    for known, played in (ends, ends[::-1]):
        guessed = adversary(shadows.only(known), shadows.only(played))
        out.append(guessed[~shadows.inside[played]])
    return float(np.quantile(np.concatenate(out), 1 - rate, method="higher"))


DELTA = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class GameTarget:
    """One thing that the game is played against; `allowed` is the (epsilon, delta) that it promises."""

    name: str
    train: Victim
    allowed: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class GameVerdict:
    """What each adversary made of one opponent: areas, and rates at few false claims."""

    areas: Mapping[str, Score]
    rates: Mapping[str, LowRates]
    allowed: tuple[float, float] | None

    def to_json(self) -> dict[str, Any]:
        """Return the numbers of every adversary."""
        found: dict[str, Any] = {
            name: self.areas[name].to_json() | self.rates[name].to_json() for name in self.areas
        }
        if self.allowed is not None:
            found["auc_at_most"] = auc_ceiling(*self.allowed)
        return found


def auc_ceiling(epsilon: float, delta: float) -> float:
    """Return the greatest area under the curve that (epsilon, delta) allows.

    >>> round(auc_ceiling(1.0, 0.0), 3)
    0.731
    """
    return 1 - (1 - delta) ** 2 / (1 + math.exp(min(epsilon, 700.0)))


def play(
    opponent: GameTarget,
    classes: Integers,
    chosen: AttackSettings,
    dice: np.random.Generator,
    heard: Callable[[int], None],
) -> GameVerdict:
    """Return what the adversaries make of an opponent: shadows first, then victims they have not seen."""
    shadows, victims = chosen.whole("models"), chosen.whole("victims")
    inside = coins(shadows + victims, len(classes), dice)
    played = Played(_trained(opponent.train, inside, heard), inside, classes)
    known, guessed = played.only(slice(None, shadows)), played.only(slice(shadows, None))
    areas, rates = {}, {}
    for name, adversary in ADVERSARIES.items():
        scores = adversary(known, guessed)
        bar = threshold_for(adversary, known, chosen.number("rate"))
        areas[name] = clustered_auc(scores, guessed.inside)
        rates[name] = low_rates(scores, guessed.inside, bar, opponent.allowed)
    return GameVerdict(areas, rates, opponent.allowed)


def _trained(train: Victim, inside: Bits, heard: Callable[[int], None]) -> Floats:
    found = []
    for i, row in enumerate(inside):
        heard(i)
        found.append(train(row))
    return np.stack(found)


def played_out(
    chosen: AttackSettings,
    opponents: list[GameTarget],
    classes: Integers,
    progress: Progress,
) -> dict[str, GameVerdict]:
    """Return the verdict on every opponent by its name."""
    dice = np.random.default_rng(chosen.whole("seed"))
    each = chosen.whole("models") + chosen.whole("victims")
    steps, found = len(opponents) * each, {}
    for number, opponent in enumerate(opponents):

        def heard(i: int, number: int = number, name: str = opponent.name) -> None:
            progress(number * each + i, steps, f"training: {name}")

        found[opponent.name] = play(opponent, classes, chosen, dice, heard)
    progress(steps, steps, "done")
    return found


def game_figures(
    chosen: AttackSettings, verdicts: Mapping[str, GameVerdict], private: str, words: str
) -> dict[str, Any]:
    """Return what an outcome says in numbers: the first opponent is the release, `private` ours.

    The chosen adversary's areas are its scores; `words` are about ours.
    """
    method = chosen.text("method")
    first, ours = next(iter(verdicts.values())), verdicts[private]
    rates = ours.rates[method]
    true, false = rates.true[0], rates.false[0]
    return {
        "score": first.areas[method],
        "private": ours.areas[method],
        "private_words": f"{words} No adversary can have more than "
        f"{auc_ceiling(*(ours.allowed or (math.inf, 1.0))):.3f}. At the threshold for few false claims "
        f"{true:.1%} of the members are claimed, and {false:.1%} of the others.",
        "details": {name: verdict.to_json() for name, verdict in verdicts.items()}
        | {"shadows": chosen.whole("models"), "victims": chosen.whole("victims")},
        "blocks": _blocks(chosen, verdicts),
    }


def _blocks(
    chosen: AttackSettings, verdicts: Mapping[str, GameVerdict]
) -> tuple[DocumentBlock, ...]:
    method = chosen.text("method")
    areas = [
        (name, adversary, s.success, s.low, s.high)
        for name, verdict in verdicts.items()
        for adversary, s in verdict.areas.items()
    ]
    rates = [
        (name, adversary, r.true[0], r.true[1], r.true[2], r.false[0], r.false[2])
        for name, verdict in verdicts.items()
        for adversary, r in verdict.rates.items()
    ]
    over = f"95% intervals over {chosen.whole('victims')} trainings, each on coins of its own."
    return (
        Figure(
            "Members told from outsiders",
            score_bars({name: each.areas[method] for name, each in verdicts.items()}, "AUC"),
            f"Half means that members and outsiders look the same. Adversary: {method}; {over}",
        ),
        Grid.of(
            ("trained", "adversary", "AUC", "low", "high"),
            areas,
            f"Area under the curve; {over}",
        ),
        Grid.of(
            ("trained", "adversary", "members claimed", "low", "high", "others claimed", "high"),
            rates,
            f"At a threshold that the adversary sets alone, so that a share of about "
            f"{chosen.number('rate'):g} of the others is claimed.",
            shares=(2, 3, 4, 5, 6),
        ),
    )
