"""What an attack is (name, knobs, settings, how it is run), the list of all, and what one found, in words and as a document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from importlib import import_module
from typing import Any

from discreet.base.arrays import Bits
from discreet.base.display import Progress, ShownInLines, ShownLines, silent
from discreet.errors import InvalidInput, UnknownName
from discreet.privacy.noise.error_bars import clopper_pearson
from discreet.show.charts import bars
from discreet.show.document import Document, DocumentBlock, Grid, Paragraph, Section

MODULES = {
    "linkage": "discreet.lab.attacks.linkage",
    "netflix": "discreet.lab.attacks.netflix",
    "intersection": "discreet.lab.attacks.intersection",
    "homogeneity": "discreet.lab.attacks.homogeneity",
    "differencing": "discreet.lab.attacks.counts.differencing",
    "reconstruction": "discreet.lab.attacks.counts.reconstruction",
    "census": "discreet.lab.attacks.counts.census",
    "refusals": "discreet.lab.attacks.counts.refusals",
    "uniqueness": "discreet.lab.attacks.uniqueness",
    "membership": "discreet.lab.attacks.membership.membership",
    "inversion": "discreet.lab.attacks.inversion",
    "timing": "discreet.lab.attacks.timing",
    "exhaustion": "discreet.lab.attacks.exhaustion",
    "floating-point": "discreet.lab.attacks.floating_point",
    "averaging": "discreet.lab.attacks.averaging",
    "singling-out": "discreet.lab.attacks.release_risk.singling_out",
    "linkability": "discreet.lab.attacks.release_risk.linkability",
    "inference": "discreet.lab.attacks.release_risk.inference",
}
"""In the order in which a class meets them."""


class TextNames(Enum):
    """What the text of a knob names: whether the lab may take it from an owner."""

    PLACE = "place"
    """A file, folder, configuration or server where the attack runs, or what is sent there: of the command alone."""
    FILE = "file"
    """One file: the lab takes the file itself, never its place."""
    WORDS = "words"
    """Columns and the like: nothing is opened for it."""


@dataclass(frozen=True, slots=True)
class Knob:
    """One setting of an attack: an option of the command and a slider (or choice) of the lab.

    A whole number when `default` is an int, a number when a float, a choice when `choices` is given,
    otherwise text (columns, file names): text knobs have no slider. What a text `names` is a place of the
    machine unless it says otherwise (`file_knob`, `words_knob`), so that no server opens what it did not get.
    """

    name: str
    default: int | float | str
    words: str
    low: float | None = None
    high: float | None = None
    step: float | None = None
    choices: tuple[str, ...] = ()
    names: TextNames = TextNames.PLACE

    @property
    def text(self) -> bool:
        """Return whether any text may be given."""
        return isinstance(self.default, str) and not self.choices


def file_knob(name: str, words: str) -> Knob:
    """Return a setting that names one file, none unless given."""
    return Knob(name, "", words, names=TextNames.FILE)


def words_knob(name: str, default: str, words: str) -> Knob:
    """Return a setting of plain words, such as names of columns: nothing is opened for them."""
    return Knob(name, default, words, names=TextNames.WORDS)


@dataclass(frozen=True, slots=True)
class AttackSettings:
    """The value of every knob, checked once."""

    values: Mapping[str, int | float | str]

    @classmethod
    def of(cls, knobs: Iterable[Knob], given: Mapping[str, Any]) -> AttackSettings:
        """Return the settings with defaults filled in.

        >>> AttackSettings.of([Knob("k", 5, "size of a class", 1, 100)], {"k": "7"}).whole("k")
        7
        """
        known = {knob.name: knob for knob in knobs}
        for name in given:
            if name not in known:
                raise InvalidInput(
                    f"This attack has no setting '{name}'.", hint=f"It has: {', '.join(known)}."
                )
        return cls({name: _value(knob, given.get(name)) for name, knob in known.items()})

    def whole(self, name: str) -> int:
        """Return a whole number."""
        return int(self.values[name])

    def number(self, name: str) -> float:
        """Return a number."""
        return float(self.values[name])

    def text(self, name: str) -> str:
        """Return a text or a choice."""
        return str(self.values[name])

    def words(self, name: str) -> tuple[str, ...]:
        """Return a text split at its commas."""
        return tuple(word.strip() for word in self.text(name).split(",") if word.strip())


def _value(knob: Knob, given: Any) -> int | float | str:
    if given is None:
        return knob.default
    if isinstance(knob.default, str):
        return _chosen(knob, str(given))
    kind = float if isinstance(knob.default, float) else int
    try:
        value = kind(given)
        same = float(given) == float(value)
    except (TypeError, ValueError, OverflowError):
        same = False
    if not same:
        what = "a number" if kind is float else "a whole number"
        raise InvalidInput(f"The setting '{knob.name}' must be {what}.")
    low, high = knob.low, knob.high
    # Written so that a NaN is refused too.
    if (low is not None and not value >= low) or (high is not None and not value <= high):
        limits = f"from {low:g}" if high is None else f"from {low or 0:g} to {high:g}"
        raise InvalidInput(f"The setting '{knob.name}' must be {limits}.")
    return value


def _chosen(knob: Knob, given: str) -> str:
    if knob.choices and given not in knob.choices:
        raise InvalidInput(
            f"The setting '{knob.name}' cannot be '{given}'.",
            hint=f"Choose from: {', '.join(knob.choices)}.",
        )
    return given


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack: its name, its story in one line, its knobs, and the function that runs it.

    Its module holds `run(chosen: AttackSettings, *, progress: Progress) -> Outcome`. With the defaults it
    runs on the example town within a minute.
    """

    name: str
    title: str
    words: str
    knobs: tuple[Knob, ...]

    def run(self, settings: Mapping[str, Any], *, progress: Progress = silent) -> Outcome:
        """Return the outcome with `settings`, defaults filled in.

        Name and settings are added here, and the title where the outcome has none of its own.
        """
        chosen = AttackSettings.of(self.knobs, settings)
        found: Outcome = import_module(MODULES[self.name]).run(chosen, progress=progress)
        title, values = found.title or self.title, found.settings or dict(chosen.values)
        return replace(found, attack=self.name, title=title, settings=values)


def attack_named(name: str) -> Attack:
    """Return the attack of this name; only its own module is imported."""
    if name not in MODULES:
        raise UnknownName(f"There is no attack '{name}'.", hint=f"There are: {', '.join(MODULES)}.")
    found: Attack = import_module(MODULES[name]).ATTACK
    return found


def all_attacks() -> tuple[Attack, ...]:
    """Return every attack, in the order of the list."""
    return tuple(attack_named(name) for name in MODULES)


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


def score_words(score: Score) -> str:
    """Return the score against its baseline in one sentence.

    >>> score_words(Score(0.99, 0.5, 0.98, 0.995))
    'Right 99 times in 100 (95% interval 98.0 to 99.5); guessing would give 50.'
    """
    if "AUC" in score.measure:
        return (
            f"AUC {score.success:.3f} (95% interval {score.low:.3f} to {score.high:.3f}); "
            f"guessing would give {score.baseline:.2f}."
        )
    said = (
        f"{_times(score.success)} times in 100 (95% interval {score.low * 100:.1f} to "
        f"{score.high * 100:.1f}); guessing would give {_times(score.baseline)}."
    )
    if score.measure == RIGHT_GUESSES:
        return f"Right {said}"
    return f"{said} ({score.measure[0].upper()}{score.measure[1:].rstrip('.')}.)"


def _times(share: float) -> str:
    """Return a share of 100 without digits that mean nothing."""
    return f"{share * 100:.1f}".removesuffix(".0")


def private_words(outcome: Outcome) -> str:
    """Return how the same attack fared against the private version."""
    if outcome.private is None:
        return "There is no private version of this release to attack."
    said = score_words(outcome.private)
    return f"{said} {outcome.private_words}".strip()


def story(outcome: Outcome) -> Document:
    """Return the report of an attack."""
    lead = (
        Paragraph(f"The adversary knew: {outcome.knew}"),
        Paragraph(f"What was released: {outcome.released}"),
        Paragraph(f"The attack: {outcome.did}"),
    )
    scores = Section(
        "How often it was right",
        (
            Paragraph(f"On this release: {score_words(outcome.score)}"),
            Paragraph(f"On the private version: {private_words(outcome)}"),
            Paragraph(outcome.lesson),
        ),
    )
    sections = [Section("The story", lead), scores]
    if outcome.blocks:
        sections.append(Section("The picture", outcome.blocks))
    sections.append(Section("Settings", (_settings(outcome),)))
    return Document(outcome.title, f"discreet attack {outcome.attack}", None, tuple(sections))


def _settings(outcome: Outcome) -> Grid | Paragraph:
    """Return what the run was given, not what it could have been given."""
    defaults = {knob.name: knob.default for knob in attack_named(outcome.attack).knobs}
    rows = [(n, value) for n, value in outcome.settings.items() if value != defaults.get(n)]
    if not rows:
        return Paragraph("Every setting at its default.")
    return Grid.of(("setting", "value"), rows, "Every other setting at its default.")


def told(outcome: Outcome) -> str:
    """Return an outcome for a terminal."""
    lines = [
        outcome.title,
        f"Knew:     {outcome.knew}",
        f"Released: {outcome.released}",
        f"Did:      {outcome.did}",
        f"Result:   {score_words(outcome.score)}",
        f"Private:  {private_words(outcome)}",
        outcome.lesson,
    ]
    return "\n".join(lines)
