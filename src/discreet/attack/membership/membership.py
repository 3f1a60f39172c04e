"""Membership: published averages, a trained model or a synthetic copy tell whether one person is in them."""

from __future__ import annotations

from discreet.attack.attacks import Attack, AttackSettings, Knob, file_knob, words_knob
from discreet.attack.membership.averages import against_frequencies
from discreet.attack.membership.copies import against_copies
from discreet.attack.membership.game import ADVERSARIES
from discreet.attack.membership.game_outcome import DELTA, GameTarget, game_figures, played_out
from discreet.attack.membership.learners import Pool, our_learner, overfitted
from discreet.attack.membership.pool import people_to_attack
from discreet.attack.membership.scores import STATISTICS
from discreet.attack.outcome import Outcome
from discreet.core.progress import Progress

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
        words_knob("target", "smoker", "the column that models predict"),
        file_knob("original", "your own file of people, instead of the town"),
        file_knob("control", "your file of people of the same kind who are not behind the release"),
        file_knob("released", "your synthetic file, made from original"),
        file_knob("private", "your private synthetic file of the same original, beside it"),
        words_knob("columns", "", "columns of your files to use; all unless named"),
        Knob("seed", 0, "which town and which split", 0, 1_000_000, 1),
    ),
)
NO_NOISE = 1e6
"""An epsilon without meaning: the same learner, its noise too small to matter."""


def against_models(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return how well members are told from outsiders by an overfitted model and by ours."""
    progress(0, 1, "choosing who takes part")
    people = people_to_attack(chosen)
    pool = Pool.of(people.rows, people.domains, chosen.text("target"))
    epsilon, kind = chosen.number("epsilon"), chosen.text("learner")
    ours = f"{kind}, epsilon {epsilon:g}"
    opponents = [
        GameTarget("overfitted", overfitted(pool)),
        GameTarget(f"{kind}, no noise", our_learner(pool, kind, epsilon=NO_NOISE, delta=DELTA)),
        GameTarget(ours, our_learner(pool, kind, epsilon=epsilon, delta=DELTA), (epsilon, DELTA)),
    ]
    verdicts = played_out(chosen, opponents, pool.classes, progress)
    size, target = len(pool.codes), chosen.text("target")
    words = f"The {kind} model of discreet learn at epsilon {epsilon:g}, delta {DELTA:g}."
    return Outcome(
        title="Whom was the model trained on?",
        knew=f"All columns of one person, and {size:,} people of whom each was in the training by a "
        f"fair coin; with them the adversary trained {chosen.whole('models')} shadow models.",
        released=f"A model that predicts {target} from the other {len(pool.encoding.coded) - 1} "
        "columns, and what it says of anybody: once overfitted (least squares over all pairs of "
        "values), once by discreet learn.",
        did="Asked how well the model knows the person, beside how well models with and without the "
        f"person know them (adversary: {chosen.text('method')}).",
        lesson="A model that learns its rows by heart gives them away; what it says about people in "
        "general need not.",
        **game_figures(chosen, verdicts, ours, words),
    )


_AGAINST = {
    "frequencies": against_frequencies,
    "synthetic": against_copies,
    "model": against_models,
}


def run(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return how well members are told from outsiders, by what was published and by its private version."""
    return _AGAINST[chosen.text("release")](chosen, progress=progress)
