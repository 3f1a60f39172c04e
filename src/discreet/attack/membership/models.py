"""Membership against trained models: tell who was among the rows that a model was trained on."""

from __future__ import annotations

from discreet.attack.attacks import AttackSettings, Progress
from discreet.attack.membership.learners import Pool, our_learner, overfitted
from discreet.attack.membership.played import DELTA, Opponent, game_figures, played_out
from discreet.attack.membership.pool import people_to_attack
from discreet.attack.outcome import Outcome

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
        Opponent("overfitted", overfitted(pool)),
        Opponent(f"{kind}, no noise", our_learner(pool, kind, epsilon=NO_NOISE, delta=DELTA)),
        Opponent(ours, our_learner(pool, kind, epsilon=epsilon, delta=DELTA), (epsilon, DELTA)),
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
