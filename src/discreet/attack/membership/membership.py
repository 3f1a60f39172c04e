"""Membership: published averages, a trained model or a synthetic copy tell whether one person is in them."""

from __future__ import annotations

from discreet.attack.attacks import Attack, AttackSettings, Knob, Progress
from discreet.attack.membership.averages import against_frequencies
from discreet.attack.membership.copies import against_copies
from discreet.attack.membership.game import ADVERSARIES
from discreet.attack.membership.models import against_models
from discreet.attack.membership.scores import STATISTICS
from discreet.attack.outcome import Outcome

ATTACK = Attack(
    name="membership",
    title="Who was in the study?",
    words="Allele frequencies of a study, a trained model or a synthetic copy tell who took part.",
    knobs=(
        Knob(
            "release",
            "frequencies",
            "what was published: allele frequencies, synthetic rows, or a trained model",
            choices=("frequencies", "synthetic", "model"),
        ),
        Knob(
            "people",
            1_000,
            "people in the study, and as many outside it; of a model or a copy: all, in by a coin each",
            20,
            2_500,
            10,
        ),
        Knob("loci", 10_000, "places of the genome with a published frequency", 10, 50_000, 10),
        Knob("epsilon", 1.0, "total budget of the private version", 0.01, 1_000_000.0, 0.01),
        Knob("statistic", "homer", "how the adversary compares", choices=tuple(STATISTICS)),
        Knob(
            "reference",
            "population",
            "what the adversary compares with: the population's true frequencies, or a panel of people",
            choices=("population", "panel"),
        ),
        Knob(
            "method",
            "likelihood-ratio",
            "the adversary of a model or a copy: the loss alone, shadow models, or a likelihood ratio of them",
            choices=tuple(ADVERSARIES),
        ),
        Knob(
            "learner",
            "logistic",
            "the private model: a classifier of discreet learn",
            choices=("logistic", "boosted", "bayes"),
        ),
        Knob("models", 24, "shadow models that the adversary trains", 8, 256, 4),
        Knob("victims", 12, "models that are attacked, each trained on coins of its own", 4, 64, 1),
        Knob("rate", 0.01, "share of outsiders that may be claimed", 0.001, 0.5, 0.001),
        Knob("target", "smoker", "the column that models predict"),
        Knob("original", "", "your own file of people, instead of the town"),
        Knob("control", "", "your file of people of the same kind who are not behind the release"),
        Knob("released", "", "your synthetic file, made from original"),
        Knob("private", "", "your private synthetic file of the same original, beside it"),
        Knob("columns", "", "columns of your files to use; all unless named"),
        Knob("seed", 0, "which town and which split", 0, 1_000_000, 1),
    ),
)

_AGAINST = {
    "frequencies": against_frequencies,
    "synthetic": against_copies,
    "model": against_models,
}


def run(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return how well members are told from outsiders, by what was published and by its private version."""
    return _AGAINST[chosen.text("release")](chosen, progress=progress)
