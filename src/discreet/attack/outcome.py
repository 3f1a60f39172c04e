"""What an attack found: how often it was right, beside guessing, and what it did to the private version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from discreet.core.arrays import Bits
from discreet.core.display.lines import ShownInLines, ShownLines
from discreet.noise.bars.binomial import clopper_pearson
from discreet.report.blocks import DocumentBlock, Grid
from discreet.report.charts import bars

RIGHT_GUESSES = "share of right guesses"


@dataclass(frozen=True, slots=True)
class Score:
    """A share of right guesses (or an AUC) with its 95% interval, beside what guessing gives."""

    success: float
    baseline: float
    low: float
    high: float
    measure: str = RIGHT_GUESSES

    @classmethod
    def of_guesses(
        cls, right: int, trials: int, *, baseline: float, measure: str = RIGHT_GUESSES
    ) -> Score:
        """Return the score of `right` out of `trials`, with exact limits (Clopper-Pearson).

        >>> Score.of_guesses(99, 100, baseline=0.5).success
        0.99
        """
        low, high = clopper_pearson(right, trials, 0.95)
        return cls(right / trials if trials else baseline, baseline, low, high, measure)

    @classmethod
    def of_bits(cls, guessed: Bits, truth: Bits) -> Score:
        """Return the score of guesses at bits of which half are set: guessing gives 1/2."""
        return cls.of_guesses(int((guessed == truth).sum()), truth.size, baseline=0.5)

    def to_json(self) -> dict[str, Any]:
        """Return the numbers under the contract's names."""
        return asdict(self)

    def __str__(self) -> str:
        interval = f"95% interval {self.low:.3f} to {self.high:.3f}"
        return f"{self.measure} {self.success:.3f} ({interval}), guessing {self.baseline:.3f}"


def score_bars(scores: Mapping[str, Score], title: str = RIGHT_GUESSES) -> dict[str, Any]:
    """Return the picture of some scores, each with its interval."""
    found = scores.values()
    low, high = [each.low for each in found], [each.high for each in found]
    return bars(list(scores), [each.success for each in found], low=low, high=high, title=title)


def score_grid(heads: Sequence[str], scores: Mapping[str, Score], caption: str) -> Grid:
    """Return the table of some scores: success, its limits and, under a fifth head, guessing."""
    rows: list[tuple[str | float, ...]] = [
        (name, each.success, each.low, each.high, each.baseline)[: len(heads)]
        for name, each in scores.items()
    ]
    return Grid.of(heads, rows, caption, shares=range(1, len(heads)))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Outcome(ShownInLines):
    """One attack, run: the story in four sentences, the score, and the same against private answers.

    `knew`, `released`, `did` and `lesson` are plain sentences. `private` is None only where no private
    version of the release exists. `settings` are the knobs it ran with, `details` further figures;
    `Attack.run` fills in name, title and settings.
    """

    attack: str = ""
    title: str = ""
    knew: str
    released: str
    did: str
    lesson: str
    score: Score
    private: Score | None
    private_words: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    blocks: tuple[DocumentBlock, ...] = ()
    """Pictures and tables of the report; the first picture is the one the lab shows."""
    person: str = ""
    """What it means for one person, in a sentence or two, where the attack can tell."""

    def to_json(self) -> dict[str, Any]:
        """Return the object that `discreet attack NAME --json` prints."""
        return {
            "attack": self.attack,
            **self.score.to_json(),
            "private": None if self.private is None else self.private.to_json(),
            "knew": self.knew,
            "released": self.released,
            "did": self.did,
            "lesson": self.lesson,
            "person": self.person,
            "private_words": self.private_words,
            "settings": dict(self.settings),
            "details": dict(self.details),
        }

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        private = [] if self.private is None else [("private", str(self.private))]
        return [("attack", self.attack), ("found", str(self.score)), *private]
