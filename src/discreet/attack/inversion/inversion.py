"""Model inversion: a dose model, a stable dose and demographics give away a patient's genotype."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.attack.attacks import Attack, AttackSettings, Knob, file_knob, words_knob
from discreet.attack.inversion.dose_model import DoseModel, plain_model, private_models
from discreet.attack.inversion.guess import HiddenValueRates, inverted, without_model
from discreet.attack.inversion.patients import ROOT, DoseStudy, dose_study
from discreet.attack.inversion.story import outcome_of
from discreet.attack.outcome import Outcome
from discreet.core.progress import Progress
from discreet.errors import InvalidInput

ATTACK = Attack(
    name="inversion",
    title="What does the dose model know of my genes?",
    words="A dose model, a patient's dose and demographics give away the genotype.",
    knobs=(
        Knob("people", 5_000, "patients that a model is trained on", 100, 50_000, 100),
        Knob("models", 5, "trainings, each on patients of its own", 4, 50, 1),
        Knob("epsilon", 0.05, "price of the private model", 0.01, 64.0, 0.01),
        words_knob("secret", "vkorc1", "the column that is guessed"),
        words_knob("hidden", "cyp2c9", "other columns that the adversary does not know"),
        words_knob("known", "race", "the column by which common knowledge of the secret differs"),
        words_knob("columns", "age,weight,race,vkorc1,cyp2c9,amiodarone", "what the model goes by"),
        file_knob("patients", "your own file of patients, instead of made-up ones"),
        words_knob("dose", "dose", "its column with the stable weekly dose"),
        Knob("seed", 0, "which patients", 0, 1_000_000, 1),
    ),
)
CURVE = (0.5, 4.0)
"""Prices beside the chosen one, for the picture of privacy against dosing error."""
WITHIN = 0.2
"""A dose is acceptable within this share of the stable one, as the consortium counted."""


Inverted = dict[str, float]
"""One model against its patients: secrets guessed, on strangers too, and what its doses are worth."""


def run(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return how often the genotype is guessed from a plain dose model and from private ones."""
    prices = tuple(sorted({*CURVE, chosen.number("epsilon")}))
    models = chosen.whole("models")
    found: dict[float | None, list[Inverted]] = {price: [] for price in (None, *prices)}
    for number in range(models):
        progress(number, models, f"training: {number + 1} of {models}")
        for price, one in _training(chosen, number, prices).items():
            found[price].append(one)
    progress(models, models, "done")
    figures = {
        price: {name: np.array([one[name] for one in ones]) for name in ones[0]}
        for price, ones in found.items()
    }
    return outcome_of(chosen, figures)


def _training(
    chosen: AttackSettings, number: int, prices: Sequence[float]
) -> dict[float | None, Inverted]:
    patients = _only(dose_study(chosen, number), chosen)
    hidden = (chosen.text("secret"), *chosen.words("hidden"))
    common = HiddenValueRates.of(patients.known, hidden, chosen.text("known"))
    models: dict[float | None, DoseModel] = {None: plain_model(patients.trained)}
    models |= zip(prices, private_models(patients.trained, prices), strict=True)
    return {price: _judged(model, common, patients) for price, model in models.items()}


def _only(patients: DoseStudy, chosen: AttackSettings) -> DoseStudy:
    """Return the patients with the columns that the model goes by, as the file spells them."""
    have = {name.lower(): name for name in patients.trained.domains}
    wanted = chosen.words("columns") or tuple(n for n in have if n != ROOT)
    for name in (*wanted, chosen.text("secret"), *chosen.words("hidden"), *chosen.words("known")):
        if name.lower() not in have:
            raise InvalidInput(
                f"The patients have no column '{name}'.", hint=f"They have: {', '.join(have)}."
            )
    missing = [n for n in (chosen.text("secret"), *chosen.words("hidden")) if n not in wanted]
    if missing:
        raise InvalidInput(f"The model does not go by '{missing[0]}': it cannot give it away.")
    return patients.only([have[name.lower()] for name in wanted])


def _judged(model: DoseModel, common: HiddenValueRates, patients: DoseStudy) -> Inverted:
    strangers = patients.strangers.rows
    truth, predicted = strangers[ROOT].to_numpy(), model.predict(strangers)
    spread = float(np.sqrt(np.mean((truth - predicted) ** 2)))
    gaps = np.abs(predicted**2 - truth**2)
    return {
        "right": float(inverted(model, spread, common, patients.trained.rows).mean()),
        "on_strangers": float(inverted(model, spread, common, strangers).mean()),
        "blind": float(without_model(common, patients.trained.rows).mean()),
        "error": float(gaps.mean()),
        "acceptable": float((gaps <= WITHIN * truth**2).mean()),
    }
