"""Report of model inversion: privacy against dosing error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.attack.attacks import AttackSettings
from discreet.attack.outcome import Outcome, Score
from discreet.attack.student import mean_interval
from discreet.core.arrays import Floats
from discreet.report import DocumentBlock, Figure, Grid, Paragraph, lines

Figures = Mapping[float | None, Mapping[str, Floats]]
"""For each price (None: no noise) each figure of every training."""


def outcome_of(chosen: AttackSettings, found: Figures) -> Outcome:
    """Return the outcome; intervals are Student's over the trainings."""
    epsilon, secret = chosen.number("epsilon"), chosen.text("secret")
    hidden = " and ".join((secret, *chosen.words("hidden")))
    by = f" for each {chosen.text('known')}" if chosen.text("known") else ""
    plain, ours = found[None], found[epsilon]
    cost = float(ours["error"].mean() - plain["error"].mean())
    return Outcome(
        knew=f"A patient's stable dose and every column but {hidden}; the model and its published "
        f"error; how common each {secret} is{by}.",
        released=f"A model of the weekly dose from {chosen.text('columns').replace(',', ', ')}, trained on "
        f"{chosen.whole('people'):,} patients ({chosen.whole('models')} such trainings)."
        if not chosen.text("patients")
        else f"A model of {chosen.text('dose')} trained on a third of the patients in "
        f"{chosen.text('patients')} ({chosen.whole('models')} such trainings).",
        did=f"Asked the model for the dose under every {secret}, and took the one that fits the known dose "
        "best, weighed by how common it is (Fredrikson et al. 2014).",
        lesson="What a model says about everybody it says about you. Noise that hides it costs doses: a "
        "trade to be made in the open.",
        score=_score(plain),
        private=_score(ours),
        private_words=f"The ridge regression of discreet learn at epsilon {epsilon:g}: its doses are off by "
        f"{ours['error'].mean():.1f} mg a week instead of {plain['error'].mean():.1f} "
        f"({cost:+.1f}).",
        details=_details(found),
        blocks=_blocks(chosen, found),
    )


def _score(figures: Mapping[str, Floats]) -> Score:
    right, low, high = mean_interval(figures["right"])
    return Score(right, float(figures["blind"].mean()), max(low, 0.0), min(high, 1.0))


def _named(price: float | None) -> str:
    return "no noise" if price is None else f"epsilon {price:g}"


def _details(found: Figures) -> dict[str, Any]:
    names = ("value", "low", "high")
    return {
        "by_price": {
            _named(price): {
                figure: dict(zip(names, mean_interval(values), strict=True))
                for figure, values in figures.items()
            }
            for price, figures in found.items()
        },
        "trainings": len(next(iter(found.values()))["right"]),
    }


def _blocks(chosen: AttackSettings, found: Figures) -> tuple[DocumentBlock, ...]:
    points = [
        (float(figures["error"].mean()), float(figures["right"].mean()))
        for figures in found.values()
    ]
    blind = float(next(iter(found.values()))["blind"].mean())
    rows = []
    for price, figures in found.items():
        cells: list[float | str] = [_named(price)]
        for figure in ("right", "on_strangers"):
            cells += list(mean_interval(figures[figure]))
        rows.append((*cells, *mean_interval(figures["error"]), float(figures["acceptable"].mean())))
    heads = (
        "model",
        "guessed",
        "low",
        "high",
        "of strangers",
        "low",
        "high",
        "mg off",
        "low",
        "high",
    )
    return (
        Figure(
            "Privacy against dosing error",
            lines(
                {f"{chosen.text('secret')} guessed": sorted(points)},
                threshold=blind,
                mark="common knowledge alone",
                title="share guessed",
                across="doses off by, mg a week",
            ),
            "Each point is a price: "
            + ", ".join(
                f"{_named(price)} {error:.1f} mg"
                for (error, _), price in zip(points, found, strict=True)
            )
            + ". To the right the doses get worse, downwards the genotype is safer.",
        ),
        Grid.of(
            (*heads, "within 20%"),
            rows,
            f"95% intervals over {chosen.whole('models')} trainings, each on patients of its own.",
            shares=(1, 2, 3, 4, 5, 6, 10),
        ),
        Paragraph(
            "Strangers were in no training. What is guessed of them too is what the model says of people "
            "in general; differential privacy promises nothing about that, noise merely hides it."
        ),
    )
