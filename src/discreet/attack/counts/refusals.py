"""Query auditing attack: what refusals reveal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.attack.attacks import Attack, AttackSettings, Knob, Outcome, Score, score_bars
from discreet.attack.counts.differencing_answers import ceiling
from discreet.attack.counts.people import OWN_FILE, Blocks, blocks_of
from discreet.attack.counts.reconstruction import half_have_it
from discreet.attack.counts.refusals_auditor import (
    AuditingCost,
    Auditor,
    best_guess,
    databases,
    determined,
    doubling,
    guess_from_noisy,
    interview,
    measured,
    questions,
)
from discreet.attack.curator import curator_over, subsets_table
from discreet.core.display import Progress
from discreet.report.charts import lines
from discreet.report.document import DocumentBlock, Figure, Grid

ATTACK = Attack(
    name="refusals",
    title="Refusals",
    words="Ask an auditor who refuses dangerous questions, and learn from what is refused.",
    knobs=(
        Knob("places", 10, "people whom a desk guards", 4, 10, 1),
        Knob("desks", 60, "desks that are questioned", 1, 60, 1),
        Knob("largest", 20, "people in the largest audit whose cost is measured", 8, 24, 2),
        Knob("epsilon", 1.0, "what all private answers cost together", 0.1, 8.0, 0.1),
        Knob("seed", 0, "which town, and the attacker's dice", 0, 1_000_000, 1),
        *OWN_FILE,
    ),
)
_HALF = 0.5
_SMALLEST = 8
_REPEATS = 4
_SUBSETS = (
    "SELECT p.block, s.subset, COUNT(*) AS n FROM people AS p JOIN subsets AS s "
    "ON p.place = s.place WHERE p.secret GROUP BY p.block, s.subset"
)


@dataclass(frozen=True, slots=True)
class RefusalScore:
    """One kind of desk: right guesses, the same without reading refusals, certain bits, refusals."""

    right: int
    deaf: int
    certain: int
    promised: int
    bits: int
    refused: float


def run(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return how often bits are guessed right from an auditor's refusals, and what auditing costs."""
    rng = np.random.default_rng(chosen.whole("seed"))
    progress(0, 5, "making the town")
    places = chosen.whole("places")
    bits = half_have_it(chosen, places * chosen.whole("desks"), rng)
    blocks = blocks_of(bits, places=places, rng=rng)
    tallies = {}
    for i, auditor in enumerate(Auditor):
        progress(1 + i, 5, f"questioning a desk that {auditor.value}")
        tallies[auditor] = questioned(blocks, auditor)
    progress(4, 5, "asking the curator, and timing exact audits")
    private = against_curator(blocks, epsilon=chosen.number("epsilon"))
    sizes = range(_SMALLEST, chosen.whole("largest") + 1, 2)
    costs = [measured(size, rng, repeats=_REPEATS) for size in sizes]
    return _outcome(chosen, blocks, tallies, private, costs)


def questioned(blocks: Blocks, auditor: Auditor) -> RefusalScore:
    """Return what an attacker makes of all the answers and refusals of these desks."""
    every, asked = databases(blocks.places), questions(blocks.places)
    right = deaf = certain = promised = refused = 0
    for secret in blocks.secret:
        heard = interview(secret, asked, every, auditor)
        right += int((best_guess(heard.by_all, every) == secret).sum())
        deaf += int((best_guess(heard.by_answers, every) == secret).sum())
        certain += int(determined(heard.by_all, every).sum())
        promised += int(determined(heard.by_answers, every).sum())
        refused += heard.refused
    bits = blocks.secret.size
    return RefusalScore(
        right, deaf, certain, promised, bits, refused / (blocks.blocks * len(asked))
    )


def against_curator(blocks: Blocks, *, epsilon: float) -> int:
    """Return how many bits are guessed right from a curator's answers to the same questions."""
    asked = questions(blocks.places)
    answers = np.zeros((blocks.blocks, len(asked)))
    tables = {"people": blocks.exhibit(), "subsets": subsets_table(asked, "place")}
    with curator_over(tables, epsilon=repr(epsilon)) as ask:
        for block, number, count in ask(_SUBSETS, repr(epsilon)).rows:
            answers[int(block), int(number)] = count
    every, price = databases(blocks.places), epsilon / int(asked.sum(0).max())
    guesses = [guess_from_noisy(asked, row.tolist(), every, epsilon=price) for row in answers]
    return int((np.array(guesses) == blocks.secret).sum())


def _outcome(
    chosen: AttackSettings,
    blocks: Blocks,
    tallies: Mapping[Auditor, RefusalScore],
    private: int,
    costs: Sequence[AuditingCost],
) -> Outcome:
    looking, bits = tallies[Auditor.LOOKING], blocks.secret.size
    epsilon = chosen.number("epsilon")
    score = Score.of_guesses(looking.right, bits, baseline=_HALF)
    after = Score.of_guesses(private, bits, baseline=_HALF)
    return Outcome(
        knew="The attacker knows how the auditor decides, and nothing of anybody's bit.",
        released=f"For {blocks.blocks} desks that guard {blocks.places} people each: counts of "
        "everybody, of all threes and of all twos, unless the auditor refuses because the answer, "
        "with those before, would determine somebody.",
        did="The attacker keeps the databases for which the auditor would have answered and refused "
        "the same, and guesses each bit from them.",
        lesson=f"By its answers alone the desk kept its word: {looking.promised} bits determined. "
        f"With its refusals {looking.certain / bits:.0%} of all bits are certain. A desk that "
        f"decides without looking gives nothing away, and refused "
        f"{tallies[Auditor.BLIND].refused:.0%} of the questions.",
        score=score,
        private=after,
        private_words=f"A curator refuses nothing here: all questions answered at epsilon "
        f"{epsilon:g} together leave the same attacker {after.success:.1%} right (counts "
        f"of one value allow at most {ceiling(epsilon):.1%} on a fair coin).",
        details={
            "ignoring_refusals": looking.deaf / bits,
            "certain": looking.certain / bits,
            "determined_by_answers": looking.promised,
            "refused": {auditor.value: tally.refused for auditor, tally in tallies.items()},
            "audit_steps": {cost.people: cost.steps for cost in costs},
            "work_doubles_every_people": doubling(costs) if len(costs) > 1 else None,
        },
        blocks=_blocks(tallies, after, costs),
    )


def _blocks(
    tallies: Mapping[Auditor, RefusalScore], private: Score, costs: Sequence[AuditingCost]
) -> tuple[DocumentBlock, ...]:
    looking = tallies[Auditor.LOOKING]
    found = {
        "refusals read": Score.of_guesses(looking.right, looking.bits, baseline=_HALF),
        "refusals ignored": Score.of_guesses(looking.deaf, looking.bits, baseline=_HALF),
        "private answers": private,
    }
    growth = lines(
        {"search steps of one audit": [(cost.people, cost.steps) for cost in costs]},
        title="steps (logarithmic)",
        across="people guarded",
    )
    for layer in growth["layer"]:
        layer["encoding"]["y"]["scale"] = {"type": "log"}
    return (
        Figure(
            "What refusals tell",
            score_bars(found, "share of bits right"),
            "Share of bits guessed right at the desk that looks at the answer before refusing. "
            "Half of all people have the bit, so guessing is right half the time.",
        ),
        Figure(
            "What an exact audit costs",
            growth,
            "Deciding whether answers determine a bit is coNP-complete. Steps of our own exact "
            f"search on hard instances, the mean of {_REPEATS}: a straight line on this axis is "
            "exponential growth.",
        ),
        Grid.of(
            ("the desk", "questions refused", "bits certain", "right", "right, refusals ignored"),
            [
                (each.value, t.refused, t.certain / t.bits, t.right / t.bits, t.deaf / t.bits)
                for each, t in tallies.items()
            ],
            "Three desks, the same questions.",
            shares=(1, 2, 3, 4),
        ),
        Grid.of(
            ("people", "steps", "seconds"),
            [(cost.people, cost.steps, cost.seconds) for cost in costs],
            "The cost of one exact audit as it grows.",
        ),
    )
