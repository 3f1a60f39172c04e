"""Audits of every learner, again and again: how often does a lower bound exceed the claim?

python -m benchmarks.learn_audits [--audits N] [--only NAME ...] [--out FILE.jsonl]

Each audit gives a lower bound on epsilon with 95% confidence, so at most 5% of the bounds of a sound learner may
lie above its claim. Quick ones are run many times on two neighbours; whole fits are audited in one run with
canaries, each in or out by a coin of its own (Steinke, Nasr & Jagielski 2023). Beside each learner stands a broken
twin, whose bounds must lie above. Every bound is a line of the file: begun again, the count goes on.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np

from discreet.audit.bounds import epsilon_from_one_run
from discreet.base.display import silent
from discreet.base.schema import CategoryDomain
from discreet.base.unit import Neighbours
from discreet.measure.columns import Coded, Encoding
from discreet.measure.private_marginals import (
    CountSensitivity,
    MarginalBudget,
    PrivateMarginals,
)
from discreet.privacy.account.batch import NoisySteps, least_noise
from discreet.privacy.account.convert import rho_of_target
from discreet.privacy.noise.rng import SystemRng
from discreet.testing.statistics import epsilon_lower_bound
from discreet.work.learn import classifier as tuning
from discreet.work.learn.classifier import Classifier, fit_classifier
from discreet.work.learn.gram_matrix import STEP, products_law
from discreet.work.learn.learners import dp_sgd
from discreet.work.learn.learners.dp_sgd import LARGEST_INPUT, Layers
from discreet.work.learn.private_rows import FARTHEST, Grouping, PaidRows, PrivateResiduals
from discreet.work.learn.recommender import Payment, PersonRatings, item_means
from discreet.work.learn.unsupervised import STEP as CORNER
from discreet.work.learn.unsupervised import ClusterSums

ALPHA = 0.05
DELTA = Fraction(1, 10**6)
DRAWS = 4000
CANARIES = 200
COLUMNS = 64
"""Canaries of a whole fit: each is the only person with a value of a column of its own."""

EACH = 8
"""Rows of such a person: the noise is for all of them."""
EPSILON = Fraction(1)
RHO = rho_of_target(EPSILON, DELTA)
STEPS_CLAIM = 2
WIDTH = 12
PURE = MarginalBudget(EPSILON, concentrated=False)


def neighbours_bound(draw: Callable[[int, int], Any], *, delta: Fraction = Fraction(0)) -> float:
    """Return the bound from many draws with 0 and with 1 person more; `draw(more, times)`."""
    first, second = (np.asarray(draw(more, DRAWS), dtype=np.int64) for more in (0, 1))
    found = epsilon_lower_bound(first, second, delta=float(delta), alpha=ALPHA)
    return max(0.0, found.epsilon)


def canaries_bound(scores: Any, inside: Any) -> float:
    """Return the bound from one run: the ends of the canaries' order, two tries that share alpha."""
    order = np.argsort(scores, kind="stable")
    best = 0.0
    for part in (8, 3):
        count = len(order) // part
        right = int((~inside[order[:count]]).sum() + inside[order[-count:]].sum())
        asked = {"delta": float(DELTA), "alpha": ALPHA / 2}
        best = max(best, epsilon_from_one_run(right, 2 * count, len(order), **asked))
    return best


def coins(canaries: int = CANARIES) -> Any:
    return np.random.default_rng().integers(0, 2, canaries).astype(bool)


class TwoCounts:
    """Counts of two candidates, where one more vote is for the first."""

    def __init__(self, more: int) -> None:
        self._more = more

    def marginals(self, _: Any) -> list[Any]:
        return [np.array([50 + self._more, 50])]


VOTES = Encoding("t", (Coded("x", CategoryDomain(("a", "b"))),))
YES = Coded("y", CategoryDomain(("no", "yes")))
PLACE = Encoding("t", (Coded("x", CategoryDomain(("a", "b")), missing=True), YES))
WIDE = Encoding("t", (*(Coded(f"x{i}", CategoryDomain(("a", "b"))) for i in range(COLUMNS)), YES))


def vote(better: int = 1) -> float:
    def draw(more: int, times: int) -> list[int]:
        budget = MarginalBudget(EPSILON * better, concentrated=False)
        counter, rng = TwoCounts(more), SystemRng()
        made = lambda: PrivateMarginals(counter, VOTES.shape, budget, CountSensitivity(), rng)  # noqa: E731
        scores = lambda exact: exact.marginals([(0,)])[0]  # noqa: E731
        return [made().choose(scores, sensitivity=1, share=Fraction(1)) for _ in range(times)]

    return neighbours_bound(draw)


def residuals(better: int = 1) -> float:
    """The sums that logistic and boosted are made of, with a row whose residual is as large as can be."""

    def draw(more: int, times: int) -> Any:
        rows = np.array([[0, 1]] * (20 + more), dtype=np.int32)
        everyone = Grouping((0,), (np.zeros(3, dtype=np.int64),))
        paid = PaidRows(rows, PLACE.shape, 1)
        paid.add(everyone, np.full(1, -FARTHEST))
        budget, rng = MarginalBudget(EPSILON * better, concentrated=False), SystemRng()
        found = [
            PrivateResiduals(paid, budget, CountSensitivity(), rng)
            .residual_sums(everyone, share=Fraction(1))
            .values
            for _ in range(times)
        ]
        return np.floor(np.array(found).ravel() * 4)

    return neighbours_bound(draw)


def _canaries() -> Any:
    """Return the canaries' rows: all alike but for a column of their own, and they say yes."""
    return np.concatenate([np.eye(COLUMNS), np.ones((COLUMNS, 1))], axis=1).astype(np.int32)


def _paid_rows(inside: Any) -> PaidRows:
    others = np.zeros((COLUMNS * EACH, COLUMNS + 1), dtype=np.int32)
    rows = np.repeat(_canaries()[inside], EACH, axis=0)
    return PaidRows(np.concatenate([others, rows]), WIDE.shape, COLUMNS)


def _bound(name: str, fitted: Any, inside: Any) -> float:
    scores = Classifier(name, WIDE, fitted.intercept, fitted.terms).scores(_canaries())[:, 1]
    ties = np.random.default_rng().normal(0, 1e-9, COLUMNS)
    return canaries_bound(scores + ties, inside)


def classifier(name: str, better: int = 1) -> float:
    """A whole fit, in one run."""
    inside = coins(COLUMNS)
    budget = MarginalBudget(RHO * better**2, concentrated=True)
    marginals = PrivateResiduals(_paid_rows(inside), budget, CountSensitivity(EACH), SystemRng())
    return _bound(name, fit_classifier(name, marginals, WIDE, silent), inside)


def choosing(better: int = 1) -> float:
    """A paid choice among models; the twin has far too little noise (not: tuning for free, see tests)."""
    inside = coins(COLUMNS)
    budget = MarginalBudget(RHO * better**2, concentrated=True)
    given = tuning.TuningContext(_paid_rows(inside), budget, CountSensitivity(EACH), SystemRng())
    return _bound(*tuning.tuned(given, ["bayes", "logistic"], WIDE, silent), inside)


def products(sums: int | None = None) -> float:
    """Sums of products of one column; the twin draws noise as if there were one sum only."""
    unit, rng = CountSensitivity(), SystemRng()
    law = products_law(2, PURE, unit)
    if sums is not None:
        law = replace(law, scale=law.scale * sums / 3)

    def draw(more: int, times: int) -> Any:
        noise = law.draw((times, 3), rng)
        moved = noise + more * STEP**2
        return np.floor(moved / (float(law.scale) / 4)).clip(-1, 2) @ np.array([16, 4, 1])

    return neighbours_bound(draw)


def clusters(better: int = 1) -> float:
    """One round of k-means; the point is a corner, and moves the count and both sums as far as can be."""
    each = MarginalBudget(EPSILON * better, concentrated=False)

    def draw(more: int, times: int) -> Any:
        sums = ClusterSums(
            np.full((more, 2), CORNER, dtype=np.int64), each, CountSensitivity(), SystemRng()
        )
        noisy = sums.exact(np.zeros((1, 2), dtype=np.int64)) + sums.law.draw(
            (times, 3), SystemRng()
        )
        coarse = np.floor(noisy / (float(sums.law.scale) / 4)).clip(-1, 2)
        return coarse @ np.array([16, 4, 1])

    return neighbours_bound(draw)


def recommender(better: int = 1) -> float:
    """Each canary is a person who gives one item of their own the highest rating."""
    inside = coins()
    item = np.flatnonzero(inside).astype(np.int64)
    ratings = PersonRatings(item, np.ones(len(item), dtype=np.int64), np.arange(len(item)))
    payment = Payment(RHO * better**2, Neighbours.ADD_REMOVE, SystemRng())
    weights, sums, _ = item_means(ratings, np.array([-1.0, 1.0]), CANARIES, payment)
    return canaries_bound(weights + sums, inside)


def steps(share: Fraction = Fraction(1)) -> float:
    """A noisy step of a network, with the row that pulls as hard as it can."""
    blank = NoisySteps(1, Fraction(1), 3 * WIDTH, dp_sgd.BOUND, Fraction(1))
    priced = least_noise(blank, rho=Fraction(0), epsilon=Fraction(STEPS_CLAIM), delta=DELTA)
    used = replace(priced, sigma_squared=priced.sigma_squared * share**2)
    layers = Layers(np.zeros((WIDTH + 1, 1)), np.zeros((WIDTH + 2, 1)))
    place, rng = slice(WIDTH + 1, 2 * WIDTH + 1), SystemRng()

    def draw(more: int, times: int) -> Any:
        inputs = np.full((more, WIDTH), float(LARGEST_INPUT))
        held = dp_sgd.UnitRows(inputs, np.ones(more, dtype=np.int64), np.arange(more))
        each = [dp_sgd.noisy_gradient(held, layers, used, rng)[place] for _ in range(times // 8)]
        return [round(float(one.sum()) / WIDTH**0.5 * 2) for one in each]

    return neighbours_bound(draw, delta=DELTA)


def no_clipping() -> float:
    """Return the bound of a step whose gradients are as long as they like."""
    everything = patch.object(dp_sgd, "_short", lambda *a: np.ones(len(a[0])))
    with everything, patch.object(dp_sgd, "_ROOM", 1e6):
        return steps()


@dataclass(frozen=True)
class Case:
    """A learner: its claim, an audit of it, and of its broken twin."""

    claim: float
    sound: Callable[[], float]
    twin: Callable[[], float]
    broken: str


CASES = {
    "vote": Case(1, vote, lambda: vote(8), "an eighth of the noise"),
    "sums of residuals": Case(1, residuals, lambda: residuals(3), "a third of the noise"),
    "bayes": Case(
        1, lambda: classifier("bayes"), lambda: classifier("bayes", 2000), "a 2,000th of the noise"
    ),
    "logistic": Case(
        1,
        lambda: classifier("logistic"),
        lambda: classifier("logistic", 2000),
        "a 2,000th of the noise",
    ),
    "boosted": Case(
        1,
        lambda: classifier("boosted"),
        lambda: classifier("boosted", 2000),
        "a 2,000th of the noise",
    ),
    "paid choice": Case(1, choosing, lambda: choosing(2000), "a 2,000th of the noise"),
    "products (ridge, PCA)": Case(1, products, lambda: products(1), "noise as for one sum"),
    "k-means": Case(1, clusters, lambda: clusters(3), "a third of the noise"),
    "recommender": Case(1, recommender, lambda: recommender(60), "a 60th of the noise"),
    "network step": Case(STEPS_CLAIM, steps, lambda: steps(Fraction(1, 16)), "a 16th of the noise"),
    "network, unclipped": Case(STEPS_CLAIM, steps, no_clipping, "no clipping"),
}


def read(path: Path) -> dict[tuple[str, bool], list[float]]:
    """Return the bounds that were found before."""
    found: dict[tuple[str, bool], list[float]] = {}
    if path.is_file():
        for line in path.read_text().splitlines():
            each = json.loads(line)
            found.setdefault((each["case"], each["twin"]), []).append(each["bound"])
    return found


def counted(names: Iterable[str], audits: int, out: Path) -> dict[tuple[str, bool], list[float]]:
    """Return all bounds, after auditing until each has `audits` (its twin a tenth); told line by line."""
    found = read(out)
    with out.open("a") as file:
        for name in names:
            case = CASES[name]
            for twin, run, most in ((False, case.sound, audits), (True, case.twin, audits // 10)):
                bounds = found.setdefault((name, twin), [])
                while len(bounds) < max(most, 1):
                    bounds.append(run())
                    file.write(json.dumps({"case": name, "twin": twin, "bound": bounds[-1]}) + "\n")
                    file.flush()
    return found


def chance_of(above: int, audits: int) -> float:
    """Return how likely so many bounds above the claim are where each is with 5%."""
    each = (
        math.comb(audits, k) * ALPHA**k * (1 - ALPHA) ** (audits - k)
        for k in range(above, audits + 1)
    )
    return math.fsum(each)


def main(arguments: list[str] | None = None) -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--audits", type=int, default=100)
    words.add_argument("--only", nargs="*", default=list(CASES))
    words.add_argument("--out", type=Path, default=Path("learn_audits.jsonl"))
    asked = words.parse_args(arguments)
    found = counted(asked.only, asked.audits, asked.out)
    for name in asked.only:
        claim, bounds, broken = CASES[name].claim, found[name, False], found[name, True]
        above = sum(bound > claim for bound in bounds)
        caught = sum(bound > claim for bound in broken)
        print(
            f"{name:<24} claim {claim}: {above} of {len(bounds)} above, median {median(bounds):.2f}, "
            f"greatest {max(bounds):.2f}; {CASES[name].broken}: {caught} of {len(broken)} caught, "
            f"median {median(broken):.2f}"
        )


if __name__ == "__main__":
    main()
