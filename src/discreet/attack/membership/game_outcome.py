"""Plays membership inference against models or copies, and reports it.

The pool is the example town or the user's own file; each of its people is in each training by a coin.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.attack.attacks import AttackSettings
from discreet.attack.membership.auc import LowRates, clustered_auc, low_rates
from discreet.attack.membership.game import ADVERSARIES, Played, coins, threshold_for
from discreet.attack.membership.learners import Victim
from discreet.attack.outcome import Score, score_bars
from discreet.core.arrays import Bits, Floats, Integers
from discreet.core.progress import Progress
from discreet.report import DocumentBlock, Figure, Grid

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
