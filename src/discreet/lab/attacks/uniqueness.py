"""Uniqueness: from a small sample, say who is the only one of their kind in the whole population.

"It is only a sample" is no protection where a few columns make a person unique among everybody: then
whoever matches is the person. The adversary claims rows by Rocher's model; the shares of unique people
that Pitman's and other laws estimate from class sizes alone stand beside it. The truth is known here,
because the sample is drawn from a population that we hold: the town, or the user's own file.

After Rocher, Hendrickx and de Montjoye (2019): every column is a coarse view of a normal number, the
numbers are correlated, and the chance p of a row's combination is the mass of a box. Among N people
nobody else has it with probability (1 - p)^(N - 1). Where a column of the sample shows only part of its
values (birth dates), the Ewens-Pitman law says how much weight the others have: a value seen once among
1,000 rows of 25,000 possible ones is not 1/1,000 of the population. Nothing is guaranteed: it is an
adversary's model, and is judged by how often it is right where the truth is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.anonymize.groups import packed
from discreet.anonymize.risk import ClassSizes, estimates, pitman_parameters
from discreet.base.arrays import Bits, Floats, Integers
from discreet.base.display import Progress
from discreet.base.packages import needs
from discreet.errors import InvalidInput
from discreet.lab.attacks.attacks import (
    Attack,
    AttackSettings,
    Knob,
    Outcome,
    Score,
    file_knob,
    score_grid,
    words_knob,
)
from discreet.lab.attacks.curator import AttackTable, synthetic_copy, temporary_town, whole_numbers
from discreet.lab.attacks.files import named, read_rows
from discreet.show.charts import bars
from discreet.show.document import Figure, Grid

ATTACK = Attack(
    name="uniqueness",
    title="Uniqueness from a sample",
    words="Say from a small sample who is the only one of their kind among everybody.",
    knobs=(
        Knob("people", 20_000, "people in the town", 1_000, 200_000, 1_000),
        Knob("share", 0.05, "part of the people who are in the sample", 0.005, 0.5, 0.005),
        Knob("sure", 0.9, "chance of being unique from which a row is claimed", 0.5, 0.99, 0.01),
        words_knob("columns", "", "columns that others know (all of your file unless named)"),
        Knob("epsilon", 1.0, "price of a private copy of the sample", 0.1, 8.0, 0.1),
        file_knob("original", "your own file: taken for the population, and sampled"),
        Knob("population", 0, "people your file was drawn from (0: not asked)", 0, 10**10, 1),
        Knob("seed", 0, "which town, and who is sampled", 0, 1_000_000, 1),
    ),
)
TOWN_COLUMNS = ("age", "sex", "region", "education", "job", "married")
MEASURE = "share of claimed rows whose person is the only one like it, and was in the sample"
_FEWEST = 50


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """Everybody, as codes: `codes[j, i]` is the value of person i in column j."""

    columns: tuple[str, ...]
    codes: Integers

    @property
    def size(self) -> int:
        """Return how many people there are."""
        return int(self.codes.shape[1])

    def keys(self, others: Integers | None = None) -> tuple[Integers, Integers]:
        """Return a number for each person, and for each of `others`, equal where all columns are."""
        both = self.codes if others is None else np.concatenate([self.codes, others], axis=1)
        sizes = [int(column.max()) + 1 for column in both]
        key, _ = packed(list(both), sizes)
        return key[: self.size], key[self.size :]


def run(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return how often a claim of uniqueness is right: from a raw sample, and from a private copy."""
    rng = np.random.default_rng(chosen.whole("seed"))
    progress(0, 4, "the population")
    crowd = _crowd(chosen)
    taken = rng.permutation(crowd.size)[: round(chosen.number("share") * crowd.size)]
    if len(taken) < _FEWEST:
        raise InvalidInput(
            f"A sample of {len(taken)} people is too small to fit anything.",
            hint="Take a larger share, or a larger file.",
        )
    sample = crowd.codes[:, taken]
    progress(1, 4, "claiming rows of the sample")
    raw = chances_of_uniqueness(_dense(sample), crowd.size, rng)
    progress(2, 4, "a private copy of the sample, and its rows")
    copy = _private(crowd, sample, chosen.number("epsilon"))
    private = chances_of_uniqueness(_dense(copy), crowd.size, rng)
    progress(3, 4, "checking the claims")
    return _outcome(chosen, crowd, taken, (sample, copy), (raw, private))


def _crowd(chosen: AttackSettings) -> Population:
    if chosen.text("original"):
        table = read_rows(chosen.text("original"))
        wanted = chosen.words("columns") or tuple(table.column_names)
    else:
        with temporary_town(
            chosen.whole("people"), tables=("people",), seed=chosen.whole("seed")
        ) as town:
            table = town.load("people")
        wanted = chosen.words("columns") or TOWN_COLUMNS
    columns = named(table, wanted, label="Your file")
    return Population(columns, np.stack([coded(table[name]) for name in columns]))


def coded(column: pa.ChunkedArray) -> Integers:
    """Return codes in the order of the values: numbers by size, words by letters, missing last."""
    values = column.to_pylist()
    order = {value: place for place, value in enumerate(sorted(set(values), key=_place))}
    return np.array([order[value] for value in values], dtype=np.int64)


def _place(value: Any) -> tuple[int, float, str]:
    if value is None:
        return (2, 0.0, "")
    try:
        return (0, float(value), "")
    except (TypeError, ValueError):
        return (1, 0.0, str(value))


def _dense(rows: Integers) -> Sequence[Integers]:
    """Return each column with its codes numbered from 0 without gaps, in the same order."""
    return [np.unique(column, return_inverse=True)[1].astype(np.int64) for column in rows]


def _private(crowd: Population, sample: Integers, epsilon: float) -> Integers:
    names = [f"c{place}" for place in range(len(crowd.columns))]
    rows = pa.table(dict(zip(names, sample, strict=True)))
    tops = crowd.codes.max(axis=1)
    declared = {
        name: whole_numbers(0, max(1, int(top))) for name, top in zip(names, tops, strict=True)
    }
    made = synthetic_copy(AttackTable(rows, declared), epsilon=epsilon, delta=1e-9)
    return np.stack([np.asarray(made[name].to_pylist(), dtype=np.int64) for name in names])


def _right(crowd: Population, taken: Integers, rows: Integers, claimed: Bits) -> tuple[int, int]:
    """Return how many claimed rows are like exactly one person, who was in the sample; and claims."""
    keys, asked = crowd.keys(rows)
    values, first, counts = np.unique(keys, return_index=True, return_counts=True)
    place = np.minimum(np.searchsorted(values, asked), len(values) - 1)
    only = (values[place] == asked) & (counts[place] == 1)
    inside = np.zeros(crowd.size, dtype=bool)
    inside[taken] = True
    return int((claimed & only & inside[first[place]]).sum()), int(claimed.sum())


def _outcome(
    chosen: AttackSettings,
    crowd: Population,
    taken: Integers,
    rows: tuple[Integers, Integers],
    chances: tuple[Floats, Floats],
) -> Outcome:
    claims = [np.asarray(each >= chosen.number("sure")) for each in chances]
    keys, _ = crowd.keys()
    _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    unique = np.asarray(counts[inverse] == 1)
    sizes = ClassSizes.of(np.unique(keys[taken], return_counts=True)[1])
    baseline = float(unique.mean()) * len(taken) / crowd.size
    scores = [
        Score.of_guesses(*_right(crowd, taken, each, claim), baseline=baseline, measure=MEASURE)
        for each, claim in zip(rows, claims, strict=True)
    ]
    found = {"copula (Rocher)": float(chances[0].mean())} | {
        each.name: each.share for each in estimates(sizes, crowd.size)
    }
    truth = float(unique[taken].mean())
    beyond = _beyond(chosen, crowd)
    named_columns = ", ".join(crowd.columns)
    return Outcome(
        knew=f"Of everybody: {named_columns}. Not who was sampled.",
        released=f"A sample of {len(taken):,} of {crowd.size:,} people, without names.",
        did=f"Fitted a Gaussian copula to the sample and claimed the {int(claims[0].sum()):,} rows "
        f"whose person is the only one like it with a chance of at least {chosen.number('sure'):g}.",
        lesson="A sample does not hide people whom a few columns make unique: who matches is the person.",
        score=scores[0],
        private=scores[1],
        private_words="The same claims on a private copy of the sample: its rows are nobody's.",
        details={
            "columns": list(crowd.columns),
            "sample": len(taken),
            "unique_in_sample": sizes.share_unique,
            "unique_in_population": truth,
            "estimates": found,
            "claims": [int(claim.sum()) for claim in claims],
            "beyond_the_file": beyond,
        },
        blocks=_blocks(
            found, truth, sizes.share_unique, scores, beyond=beyond, copied=rows[1].shape[1]
        ),
    )


def _beyond(chosen: AttackSettings, crowd: Population) -> dict[str, float | None]:
    """Return the estimates for the people whom the user's whole file was drawn from, if asked."""
    population = chosen.whole("population")
    if not population:
        return {}
    if population < crowd.size:
        raise InvalidInput("The population cannot be smaller than the file.")
    rng = np.random.default_rng(chosen.whole("seed"))
    keys, _ = crowd.keys()
    sizes = ClassSizes.of(np.unique(keys, return_counts=True)[1])
    copula = float(chances_of_uniqueness(_dense(crowd.codes), population, rng).mean())
    return {"copula (Rocher)": copula} | {e.name: e.share for e in estimates(sizes, population)}


def _blocks(
    found: Mapping[str, float | None],
    truth: float,
    alone: float,
    scores: Sequence[Score],
    *,
    beyond: Mapping[str, float | None],
    copied: int,
) -> tuple[Figure | Grid, ...]:
    shown = {"in truth": truth} | {n: share for n, share in found.items() if share is not None}
    blocks: list[Figure | Grid] = [
        Figure(
            "Unique in the population, by the sample alone",
            bars(list(shown), list(shown.values()), title="share of the sample's people"),
            f"{alone:.1%} of the sample's rows are unique in the sample. The estimates assume different "
            "things about what the sample does not show.",
        ),
        score_grid(
            ("claims on", "right", "95% from", "to", "guessing"),
            {"the sample": scores[0], f"a private copy ({copied:,} rows)": scores[1]},
            "Guessing: somebody drawn from everybody is unique and was sampled.",
        ),
    ]
    if beyond:
        blocks.append(
            Grid.of(
                ("estimate", "unique in the stated population"),
                [(name, "none" if share is None else share) for name, share in beyond.items()],
                "The whole file as a sample of the population that was stated; nobody knows the truth.",
                shares=(1,),
            )
        )
    return tuple(blocks)


_DRAWS = 200
_AT_ONCE = 2_000
_LEAST = 1e-9
_FARTHEST = 10.0
"""Logarithm of the largest factor that calibration may find."""


def chances_of_uniqueness(
    columns: Sequence[Integers], population: int, rng: np.random.Generator
) -> Floats:
    """Return for each row the chance that nobody else among `population` people is like it.

    Every column holds codes 0, 1, ... in the order of its values.
    """
    boxes = [_boxes(column) for column in columns]
    root: Floats = np.linalg.cholesky(_positive(_correlations(columns, boxes))).astype(np.float64)
    edges = [box[:, column] for box, column in zip(boxes, columns, strict=True)]
    parts = [
        _masses([edge[:, place : place + _AT_ONCE] for edge in edges], root, rng)
        for place in range(0, len(columns[0]), _AT_ONCE)
    ]
    alone = _alone(columns)
    mass = _calibrated(np.concatenate(parts), float(alone.mean()))
    others = max(0, population - len(alone))
    return np.where(alone, np.exp(others * np.log1p(-mass)), 0.0)


def _alone(columns: Sequence[Integers]) -> Bits:
    """Return which rows of the sample are like no other row of it."""
    key, _ = packed(columns, [int(column.max()) + 1 for column in columns])
    _, inverse, counts = np.unique(key, return_inverse=True, return_counts=True)
    return np.asarray(counts[inverse] == 1)


def _calibrated(mass: Floats, alone: float) -> Floats:
    """Return the masses times the factor at which the model expects as many uniques as there are.

    The sample itself says how many of its rows are alone in it, and the model says how many it
    would expect; a wrong dependence between columns shows there. Where every row is alone, one pair
    short of that is aimed at: the sample does not say how rare pairs are.
    """
    rows = len(mass)
    aim = min(alone, 1 - 2 / rows)

    def expected(log_factor: float) -> float:
        scaled = np.minimum(mass * np.exp(log_factor), 1 - _LEAST)
        return float(np.exp((rows - 1) * np.log1p(-scaled)).mean())

    low, high = -_FARTHEST, _FARTHEST
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if expected(middle) > aim else (low, middle)
    return np.asarray(np.minimum(mass * np.exp(low), 1 - _LEAST))


def _boxes(column: Integers) -> Floats:
    """Return the lower and upper end of each value on the scale of chances, unseen values between."""
    counts = np.bincount(column)
    discount, strength = pitman_parameters(ClassSizes.of(counts))
    width = np.maximum(counts - discount, _LEAST) / (len(column) + max(strength, 0.0))
    gap = max(0.0, 1 - width.sum()) / len(width)
    upper = np.cumsum(width + gap) - gap / 2
    return np.stack([upper - width, upper])


def _correlations(columns: Sequence[Integers], boxes: Sequence[Floats]) -> Floats:
    """Return the correlation of the normal scores of each pair of columns.

    Correlations as strong as the mutual information of words (which have no order) were tried: they
    put mass where nobody is, and the claims were right less often.
    """
    special = _normal()
    scores = [
        special.ndtri(np.clip(box.mean(axis=0), _LEAST, 1 - _LEAST))[column]
        for box, column in zip(boxes, columns, strict=True)
    ]
    size = len(columns)
    found = np.eye(size)
    for i in range(size):
        for j in range(i):
            found[i, j] = found[j, i] = _linear(scores[i], scores[j])
    return found


def _linear(first: Floats, second: Floats) -> float:
    if first.std() == 0 or second.std() == 0:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])


def _positive(found: Floats) -> Floats:
    """Return the nearest matrix with positive eigenvalues and ones on its diagonal."""
    values, vectors = np.linalg.eigh(found)
    mended = (vectors * np.maximum(values, 1e-3)) @ vectors.T
    scale = np.sqrt(np.diag(mended))
    return np.asarray(mended / np.outer(scale, scale))


def _masses(edges: Sequence[Floats], root: Floats, rng: np.random.Generator) -> Floats:
    """Return the mass of each row's box: one column after the other, given the ones before (Genz)."""
    special = _normal()
    rows = edges[0].shape[1]
    drawn = np.zeros((len(edges), rows, _DRAWS))
    mass = np.ones((rows, _DRAWS))
    for place, edge in enumerate(edges):
        ends = special.ndtri(np.clip(edge, 0.0, 1.0))[:, :, None]
        known = np.tensordot(root[place, :place], drawn[:place], axes=1) if place else 0.0
        low, high = special.ndtr((ends - known) / root[place, place])
        mass *= high - low
        inside = np.clip(low + rng.random((rows, _DRAWS)) * (high - low), 1e-15, 1 - 1e-15)
        drawn[place] = special.ndtri(inside)
    return np.asarray(mass.mean(axis=1))


def _normal() -> Any:
    """Return scipy's normal law; it is an extra, so it is imported when needed."""
    with needs("scipy", extra="lab"):
        from scipy import special
    return special
