"""Releases under test (raw, anonymized, private, independent, or the user's), and how much they add about their people.

Without strangers a risk cannot be told from knowledge of the population; with fewer of them than
people it is biased (a question that singles out one of 10,000 rarely singles out one of 1,000). So
both groups always have the same size here. Note 0028 has the argument.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from discreet.anonymize.groups import group_table
from discreet.anonymize.hierarchy import read_hierarchies
from discreet.anonymize.recoding import recoded
from discreet.anonymize.search import anonymize
from discreet.base.arrays import Bits, Integers
from discreet.base.display import Progress
from discreet.errors import InvalidInput
from discreet.lab.attacks.attacks import AttackSettings, Knob, Outcome, Score, file_knob, words_knob
from discreet.lab.attacks.curator import AttackTable, synthetic_copy, temporary_town
from discreet.lab.attacks.files import read_rows
from discreet.lab.attacks.membership.game import DECLARED
from discreet.lab.attacks.release_risk.cells import NOTHING, Gaps, ReleaseColumn, column_of
from discreet.privacy.noise.error_bars import clopper_pearson, wilson
from discreet.show.charts import bars
from discreet.show.document import Figure, Grid, Paragraph

CONFIDENCE = 0.95
_QUANTILE = 1.959963984540054
"""Of the normal law, two-sided at CONFIDENCE."""


@dataclass(frozen=True, slots=True)
class AddedRisk:
    """What a release adds to guessing: `value` with its 95% interval; 0 means nothing.

    `right` of `trials` guesses hit people of the release, `right_on_strangers` of as many trials hit
    people of the same population who are not in it.
    """

    right: int
    right_on_strangers: int
    trials: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """Return the difference of the two shares."""
        return (self.right - self.right_on_strangers) / self.trials

    @property
    def found(self) -> bool:
        """Return whether the interval lies above 0: the release gives its own people away."""
        return self.low > 0

    def score(self) -> Score:
        """Return the share of right guesses, beside that on strangers."""
        return Score.of_guesses(
            self.right, self.trials, baseline=self.right_on_strangers / self.trials
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain numbers."""
        return {
            "risk": self.value,
            "low": self.low,
            "high": self.high,
            "found": self.found,
            "right": self.right,
            "right_on_strangers": self.right_on_strangers,
            "trials": self.trials,
        }


def difference(right: int, right_on_strangers: int, trials: int) -> AddedRisk:
    """Return the risk of two independent shares of equally many trials (Newcombe's score interval).

    >>> difference(60, 60, 100).found, difference(90, 60, 100).found
    (False, True)
    """
    _check(right, right_on_strangers, trials)
    first, second = right / trials, right_on_strangers / trials
    low1, high1 = wilson(right, trials, _QUANTILE)
    low2, high2 = wilson(right_on_strangers, trials, _QUANTILE)
    gap = first - second
    return AddedRisk(
        right,
        right_on_strangers,
        trials,
        gap - math.hypot(first - low1, high2 - second),
        gap + math.hypot(high1 - first, second - low2),
    )


def split_of_hits(right: int, right_on_strangers: int, trials: int) -> AddedRisk:
    """Return the risk from how the people hit divide into those of the release and strangers.

    If the release says nothing about its own people, each one hit is as likely a stranger: the
    split is binomial with 1/2. Its exact (Clopper-Pearson) limits give those of the difference.

    >>> split_of_hits(12, 9, 100).found, split_of_hits(90, 2, 100).found
    (False, True)
    """
    _check(right, right_on_strangers, trials)
    hits = right + right_on_strangers
    low, high = clopper_pearson(right, hits, CONFIDENCE) if hits else (0.5, 0.5)
    return AddedRisk(
        right,
        right_on_strangers,
        trials,
        (2 * low - 1) * hits / trials,
        (2 * high - 1) * hits / trials,
    )


def _check(right: int, right_on_strangers: int, trials: int) -> None:
    if trials < 1:
        raise InvalidInput(
            "Nothing could be guessed from this release.",
            hint="It needs rows, and columns in common with the original.",
        )
    if not (0 <= right <= trials and 0 <= right_on_strangers <= trials):
        raise InvalidInput("There cannot be more right guesses than guesses.")


_TARGETS_A_CHUNK = 256


@dataclass(frozen=True, slots=True, eq=False)
class ComparedPeople:
    """A release beside people: places 0 to `size` - 1 are its own, the next `size` are strangers."""

    columns: Mapping[str, ReleaseColumn]
    rows: int
    size: int

    def nearest(self, names: Sequence[str], people: Integers) -> Iterator[tuple[int, Bits]]:
        """Yield each person with the rows of the release that are nearest in these columns."""
        for start in range(0, len(people), _TARGETS_A_CHUNK):
            some = people[start : start + _TARGETS_A_CHUNK]
            total: Gaps = np.zeros((len(some), self.rows), dtype=np.float32)
            for name in names:
                total += self.columns[name].gaps(some)
            near = total <= total.min(1, keepdims=True) + 1e-6
            yield from zip(some.tolist(), near, strict=True)


def parties_of(
    released: pa.Table,
    original: pa.Table,
    control: pa.Table,
    *,
    rng: np.random.Generator,
    columns: Sequence[str] = (),
    hierarchies: Path | None = None,
) -> ComparedPeople:
    """Return the three groups over their common columns, original and control of the same size.

    The larger of the two is sampled down: a control of another size would bias every risk. The
    folder of `hierarchies` says what the words of a coarsened column stand for.
    """
    names = _common(released, original, control, columns)
    levels = {} if hierarchies is None else read_hierarchies(hierarchies, names)
    coarser = {name: each.paths for name, each in levels.items()}
    size = min(original.num_rows, control.num_rows)
    if not size or not released.num_rows:
        raise InvalidInput("The release, its original and the control must each have rows.")
    ours, strangers = (_some(table.select(names), size, rng) for table in (original, control))
    compared = {
        name: column_of(
            released[name], _joined(ours[name], strangers[name]), coarser.get(name, NOTHING)
        )
        for name in names
    }
    return ComparedPeople(compared, released.num_rows, size)


def _joined(first: pa.ChunkedArray, second: pa.ChunkedArray) -> pa.ChunkedArray:
    """Two files may store the same thing differently: then both are read as they are written."""
    if first.type != second.type:
        first, second = first.cast(pa.string()), second.cast(pa.string())
    return pa.chunked_array([*first.chunks, *second.chunks], type=first.type)


def _some(table: pa.Table, size: int, rng: np.random.Generator) -> pa.Table:
    if table.num_rows == size:
        return table
    return table.take(pa.array(np.sort(rng.permutation(table.num_rows)[:size])))


def _common(
    released: pa.Table, original: pa.Table, control: pa.Table, wanted: Sequence[str]
) -> list[str]:
    shared = [
        name
        for name in original.column_names
        if name in released.column_names and name in control.column_names
    ]
    missing = [name for name in wanted if name not in shared]
    if missing:
        raise InvalidInput(
            f"The column '{missing[0]}' is not in all three files.",
            hint=f"They share: {', '.join(shared) or 'none'}.",
        )
    if not shared:
        raise InvalidInput("The release, its original and the control share no column.")
    return list(dict.fromkeys(wanted)) or shared


COMMON = (
    Knob("people", 2_000, "people behind the release, and as many strangers", 200, 20_000, 100),
    Knob("k", 5, "size of the smallest class of the anonymized release", 2, 100, 1),
    words_knob("quasi", "age,sex,region", "columns that the anonymized release coarsens"),
    Knob("epsilon", 1.0, "price of the private synthetic release", 0.1, 8.0, 0.1),
    Knob("seed", 0, "which town, and the attacker's dice", 0, 1_000_000, 1),
    file_knob("released", "your released file (then original and control too)"),
    file_knob("original", "your file of the people behind the release"),
    file_knob("control", "your file of people of the same kind who are not behind it"),
    Knob("hierarchies", "", "your folder of hierarchies, where words were made coarser"),
    file_knob("private", "your private release of the same original, if there is one"),
)
ANONYMIZED, RAW, PRIVATE, NULL = "anonymized", "raw copy", "synthetic, private", "other people"
DELTA = 1e-9
_SUPPRESSED = 0.02
Judge: TypeAlias = Callable[[ComparedPeople, np.random.Generator], AddedRisk]


@dataclass(frozen=True, slots=True)
class Story:
    """What is the same for every run of one attack on releases of rows."""

    knew: str
    did: str
    lesson: str
    estimator: str


@dataclass(frozen=True, slots=True, eq=False)
class RiskScene:
    """Releases by name, the people behind them, and strangers."""

    releases: Mapping[str, pa.Table]
    original: pa.Table
    control: pa.Table
    main: str


def played(
    story: Story,
    chosen: AttackSettings,
    judge: Judge,
    *,
    columns: Sequence[str],
    progress: Progress,
) -> Outcome:
    """Return the outcome of one attack on every release of the scene."""
    rng = np.random.default_rng(chosen.whole("seed"))
    progress(0, 4, "making the releases")
    scene = _users_scene(chosen) if chosen.text("released") else _town_scene(chosen, rng)
    folder = chosen.text("hierarchies")
    risks: dict[str, AddedRisk] = {}
    for i, (name, released) in enumerate(scene.releases.items()):
        progress(2 * len(scene.releases) + i, 3 * len(scene.releases), f"attacking: {name}")
        parties = parties_of(
            released,
            scene.original,
            scene.control,
            rng=rng,
            columns=columns,
            hierarchies=Path(folder) if folder else None,
        )
        risks[name] = judge(parties, rng)
    return _outcome(story, chosen, scene, risks)


def beside_strangers(right: Callable[[ComparedPeople, Integers], int], wanted: int) -> Judge:
    """Return the judge of how many of `wanted` people are got right, and of equally many strangers."""

    def judge(parties: ComparedPeople, rng: np.random.Generator) -> AddedRisk:
        count = min(wanted, parties.size)
        ours = np.sort(rng.permutation(parties.size)[:count])
        strangers = np.sort(rng.permutation(parties.size)[:count]) + parties.size
        return difference(right(parties, ours), right(parties, strangers), count)

    return judge


def _town_scene(chosen: AttackSettings, rng: np.random.Generator) -> RiskScene:
    size = chosen.whole("people")
    with temporary_town(3 * size, tables=("people",), seed=chosen.whole("seed")) as town:
        everyone = town.load("people").select(list(DECLARED))
    order = rng.permutation(everyone.num_rows)
    original, control, others = (
        everyone.take(pa.array(order[i * size : (i + 1) * size])) for i in range(3)
    )
    releases = {
        RAW: original,
        ANONYMIZED: anonymized(original, k=chosen.whole("k"), quasi=chosen.words("quasi")),
        PRIVATE: synthetic_copy(
            AttackTable(original, DECLARED), epsilon=repr(chosen.number("epsilon")), delta=DELTA
        ),
        # Nothing in it comes from the people who are attacked: its true risk is zero.
        NULL: others,
    }
    return RiskScene(releases, original, control, ANONYMIZED)


def anonymized(rows: pa.Table, *, k: int, quasi: Sequence[str]) -> pa.Table:
    """Return a k-anonymous copy: the best full-domain coarsening, at most 2% of the rows left out."""
    groups = group_table(rows, quasi)
    result = anonymize(groups, {}, k=k, suppress=_SUPPRESSED, seconds=10.0)
    return recoded(rows, groups, result.recoding)


def _users_scene(chosen: AttackSettings) -> RiskScene:
    names = ("released", "original", "control")
    missing = [name for name in names if not chosen.text(name)]
    if missing:
        raise InvalidInput(
            f"To judge a file, give all three of {', '.join(names)}; '{missing[0]}' is missing.",
            hint="The control holds people of the same kind who are not behind the release.",
        )
    original = read_rows(chosen.text("original"))
    released, control = (
        _respelled(read_rows(chosen.text(name)), original) for name in ("released", "control")
    )
    releases = {"released": released}
    if chosen.text("private"):
        releases[PRIVATE] = _respelled(read_rows(chosen.text("private")), original)
    return RiskScene(releases, original, control, "released")


def _respelled(table: pa.Table, like: pa.Table) -> pa.Table:
    """Return the table with its columns as another spells them: Age and age are one."""
    known = {name.lower(): name for name in like.column_names}
    return table.rename_columns([known.get(name.lower(), name) for name in table.column_names])


def _outcome(
    story: Story, chosen: AttackSettings, scene: RiskScene, risks: Mapping[str, AddedRisk]
) -> Outcome:
    main, private = risks[scene.main], risks.get(PRIVATE)
    size = min(scene.original.num_rows, scene.control.num_rows)
    rows = [
        (
            name,
            risk.right / risk.trials,
            risk.right_on_strangers / risk.trials,
            risk.value,
            risk.low,
            risk.high,
        )
        for name, risk in risks.items()
    ]
    return Outcome(
        knew=story.knew,
        released=_released_words(scene, chosen),
        did=story.did,
        lesson=story.lesson,
        score=main.score(),
        private=None if private is None else private.score(),
        private_words="" if private is None else _private_words(private, chosen),
        details={
            "people": size,
            "strangers": size,
            "risk": main.to_json(),
            "by_release": {name: risk.to_json() for name, risk in risks.items()},
        },
        blocks=(
            Figure(
                "What the release adds to guessing",
                bars(
                    list(risks),
                    [risk.value for risk in risks.values()],
                    low=[risk.low for risk in risks.values()],
                    high=[risk.high for risk in risks.values()],
                    title="risk",
                ),
                f"Risk: right on its people minus right on strangers, {size:,} of each. Zero inside the "
                "interval means that no leak about these people was found.",
            ),
            Grid.of(
                ("release", "right", "right on strangers", "risk", "95% from", "to"),
                rows,
                "Shares of right guesses, and their difference.",
                shares=(1, 2, 3, 4, 5),
            ),
            Paragraph(story.estimator),
        ),
    )


def _released_words(scene: RiskScene, chosen: AttackSettings) -> str:
    if scene.main == "released":
        return f"The file {chosen.text('released')}, {scene.releases['released'].num_rows:,} rows."
    k, quasi = chosen.whole("k"), ", ".join(chosen.words("quasi"))
    return (
        f"A {k}-anonymous copy of {scene.original.num_rows:,} people ({quasi} coarsened, the other "
        "columns as they are); beside it a raw copy, a private synthetic one, and one of other people."
    )


def _private_words(risk: AddedRisk, chosen: AttackSettings) -> str:
    found = "a leak was found" if risk.found else "no leak was found"
    price = "" if chosen.text("released") else f" at epsilon {chosen.number('epsilon'):g}"
    return (
        f"Against the private synthetic rows{price} the risk is {risk.value:.1%} "
        f"({risk.low:.1%} to {risk.high:.1%}): {found}."
    )
