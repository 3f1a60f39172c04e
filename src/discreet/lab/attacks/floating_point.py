"""Floating point: the noise of a textbook leaves traces in the last bits of its answers (Mironov 2012)."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from discreet.base.arrays import Bits, Floats
from discreet.base.display import Progress
from discreet.base.numbers import to_fraction
from discreet.errors import InvalidInput
from discreet.lab.attacks.attacks import (
    Attack,
    AttackSettings,
    Knob,
    Outcome,
    Score,
    file_knob,
    score_bars,
    score_grid,
    words_knob,
)
from discreet.lab.attacks.counts.differencing import ceiling
from discreet.lab.attacks.files import named, read_rows
from discreet.privacy.noise import discrete_laplace
from discreet.show.document import Figure

ATTACK = Attack(
    name="floating-point",
    title="Floating point",
    words="Read a person's presence off the last bits of a textbook's noisy sum.",
    knobs=(
        Knob("answers", 20_000, "noisy answers, half of them with the person", 100, 1_000_000, 100),
        Knob("value", 1.0, "what the person adds to the sum", 0.01, 1_000.0, 0.01),
        Knob("epsilon", 1.0, "price of one answer", 0.01, 8.0, 0.01),
        file_knob("original", "your own file: the sum is that of its column"),
        words_knob(
            "column", "", "the column of your file to sum, each value divided by the greatest"
        ),
        Knob("seed", 0, "the coins of the game", 0, 1_000_000, 1),
    ),
)
_TRIED = 8
_LATTICE = 1 << 20
"""Our noise is whole steps of the greatest value over this: answers lie on one lattice for everybody."""


def run(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return how often somebody's presence is read off one answer: naive noise beside exact noise."""
    rng = np.random.default_rng(chosen.whole("seed"))
    rest, value = _sums(chosen)
    progress(0, 2, "asking twice")
    inside = rng.permutation(np.arange(chosen.whole("answers")) % 2 == 0)
    truth = np.where(inside, rest + value, rest)
    scale = max(value, 1e-9) / chosen.number("epsilon")
    found = {
        name: _read(answers, inside, (rest, rest + value), scale)
        for name, answers in (
            ("textbook, in floating point", truth + _naive(scale, len(truth), rng)),
            ("whole steps, exact noise", _exact(truth, scale)),
        )
    }
    progress(2, 2, "done")
    return _outcome(chosen, found)


def _sums(chosen: AttackSettings) -> tuple[float, float]:
    """Return the sum without the person, and what the person adds."""
    if not chosen.text("original"):
        return 0.0, chosen.number("value")
    table = read_rows(chosen.text("original"))
    if not chosen.text("column"):
        raise InvalidInput("Say which column of your file is summed.", hint="As in --column wage.")
    (name,) = named(table, [chosen.text("column")], label="Your file")
    try:
        values = np.array([float(x) for x in table[name].to_pylist() if x is not None])
    except (TypeError, ValueError):
        raise InvalidInput(f"The column '{name}' must hold numbers.") from None
    most = float(np.abs(values).max()) if len(values) else 0.0
    if not most or not math.isfinite(most):
        raise InvalidInput(f"The column '{name}' has no number other than 0.")
    return float((values[1:] / most).sum()), float(values[0] / most) or 1.0


def _naive(scale: float, size: int, rng: np.random.Generator) -> Floats:
    """Return -sign(u) scale ln(1 - 2|u|): the formula of every textbook, on doubles."""
    coin = rng.random(size) - 0.5
    return np.asarray(-np.sign(coin) * scale * np.log(1 - 2 * np.abs(coin)))


def _exact(truth: Floats, scale: float) -> Floats:
    steps = np.rint(truth * _LATTICE).astype(np.int64)
    noise = discrete_laplace(to_fraction(repr(scale)) * _LATTICE, len(truth))
    return np.asarray((steps + noise) / _LATTICE)


def _read(answers: Floats, inside: Bits, sums: tuple[float, float], scale: float) -> Score:
    """Return how often presence is guessed right: by what can be reached, else by the nearer sum."""
    without, with_it = (reachable(answers, each, scale) for each in sums)
    nearer = np.abs(answers - sums[1]) < np.abs(answers - sums[0])
    guess = np.where(without == with_it, nearer, with_it)
    return Score.of_bits(guess, inside)


def reachable(answers: Floats, total: float, scale: float) -> Bits:
    """Return which answers the textbook's noise can make of this sum, bit for bit.

    The coin is a multiple of 2^-53, so each answer has a few candidates: they are tried.
    """
    away = answers - total
    coin = np.rint((1 - np.exp(-np.abs(away) / scale)) * 2.0**52)
    found = np.zeros(len(answers), dtype=np.bool_)
    for step in range(-_TRIED, _TRIED + 1):
        size = np.clip(coin + step, 0, 2.0**52 - 1) * 2.0**-53
        found |= total - np.sign(away) * scale * np.log(1 - 2 * size) == answers
    return found


def _outcome(chosen: AttackSettings, found: Mapping[str, Score]) -> Outcome:
    epsilon = chosen.number("epsilon")
    naive, exact = found.values()
    return Outcome(
        knew="Everybody's value but one person's presence: a fair coin.",
        released=f"One noisy sum at epsilon {epsilon:g}, as a floating-point number: once the true sum plus "
        "the textbook's Laplace noise, once whole steps plus exact noise.",
        did="Tried which of the two sums the noise can turn into exactly this number, to the last bit; where "
        "both or neither, took the nearer.",
        lesson="A proof about real numbers is not a proof about a machine's. Noise must be drawn on a lattice "
        "that all inputs share.",
        score=naive,
        private=exact,
        private_words=f"Discreet adds exact integer noise in whole steps; nobody can be right more than "
        f"{ceiling(epsilon):.1%} of the time.",
        details={
            "ceiling": ceiling(epsilon),
            "by_noise": {n: s.to_json() for n, s in found.items()},
        },
        blocks=(
            Figure(
                "Presence read off one answer",
                score_bars(found),
                f"Epsilon {epsilon:g} allows {ceiling(epsilon):.1%}.",
            ),
            score_grid(("noise", "right", "95% from", "to"), found, "Clopper-Pearson limits."),
        ),
    )
