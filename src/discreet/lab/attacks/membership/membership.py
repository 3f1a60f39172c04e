"""Membership: published averages, a trained model or a synthetic copy tell whether one person is in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.base.arrays import Bits, Floats
from discreet.base.display import Progress, silent
from discreet.base.schema import BooleanDomain, CategoryDomain
from discreet.errors import InvalidInput
from discreet.lab.attacks.attacks import (
    Attack,
    AttackSettings,
    Knob,
    Outcome,
    Score,
    file_knob,
    score_bars,
    words_knob,
)
from discreet.lab.attacks.files import OwnPeople, as_texts, common, people_of, read_rows
from discreet.lab.attacks.membership.averages import against_frequencies
from discreet.lab.attacks.membership.game import (
    ADVERSARIES,
    DELTA,
    GameTarget,
    Pool,
    Victim,
    game_figures,
    marginal_budget,
    our_learner,
    overfitted,
    people_to_attack,
    played_out,
)
from discreet.lab.attacks.membership.scores import STATISTICS, auc_score
from discreet.measure.columns import Coded, Encoding, equal_edges
from discreet.measure.private_marginals import CountSensitivity, PrivateMarginals
from discreet.measure.sealing import MemoryCounter
from discreet.measure.shape import Codes
from discreet.privacy.noise.rng import SystemRng
from discreet.show import Figure, Grid
from discreet.work.learn.read_file import codes_of_table
from discreet.work.synth.methods.registry import find_method

WIDTH = 0.25
"""Width of the kernel, in columns that differ: rows farther away than a few of them hardly count."""
_ROWS_A_CHUNK = 64
ScaledRows = tuple[Floats, npt.NDArray[np.int32]]


def membership_scores(
    copy: pa.Table, members: pa.Table, others: pa.Table, panel: pa.Table
) -> dict[str, Score]:
    """Return the AUC of two scores: nearness to the copy, and its density over the panel's.

    The panel are other people of the same population, whom the adversary knows: what is common
    everywhere is no sign of membership.
    """
    scaled = Scaled([copy, members, others, panel])
    near, dense = [], []
    for people in (members, others):
        rows = scaled.rows(people)
        nearest, density = nearness(rows, scaled.rows(copy))
        near.append(-nearest)
        dense.append(density - nearness(rows, scaled.rows(panel))[1])
    return {
        "nearest row": auc_score(near[0], near[1]),
        "density ratio": auc_score(dense[0], dense[1]),
    }


class Scaled:
    """Turns rows of these tables into numbers such that two differ by at most 1 in each column."""

    def __init__(self, tables: Sequence[pa.Table]) -> None:
        self._ranges: dict[str, tuple[float, float]] = {}
        self._values: dict[str, pa.Array] = {}
        for field in tables[0].schema:
            is_number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
            kind = pa.float64() if is_number else pa.string()
            column = pa.chunked_array(
                [part for table in tables for part in table[field.name].cast(kind).chunks]
            )
            if is_number:
                ends = pc.min_max(column).as_py()
                low = float(ends["min"] or 0)
                self._ranges[field.name] = (low, max(float(ends["max"] or 0) - low, 1e-9))
            else:
                self._values[field.name] = pc.unique(column)

    def rows(self, table: pa.Table) -> ScaledRows:
        """Return numbers in [0, 1] (NaN where missing) and codes of everything else."""
        numbers = [
            (table[name].cast(pa.float64()).to_numpy() - low) / width
            for name, (low, width) in self._ranges.items()
        ]
        codes = [
            pc.index_in(pc.cast(table[name], pa.string()), values).to_numpy()
            for name, values in self._values.items()
        ]
        many = table.num_rows
        return (
            np.stack(numbers, axis=1) if numbers else np.empty((many, 0)),
            np.stack(codes, axis=1).astype(np.int32) if codes else np.empty((many, 0), np.int32),
        )


def nearness(people: ScaledRows, table: ScaledRows) -> tuple[Floats, Floats]:
    """Return for each person the distance to the nearest row, and the table's log density there."""
    nearest, density = [], []
    for distances in _distances(people, table):
        closest = distances.min(axis=1)
        nearest.append(closest)
        weights = np.exp((closest[:, None] - distances) / WIDTH)
        density.append(np.log(weights.mean(axis=1)) - closest / WIDTH)
    return np.concatenate(nearest), np.concatenate(density)


def _distances(people: ScaledRows, table: ScaledRows) -> Iterator[Floats]:
    """Yield, for some people at a time, Gower's distance to every row, not divided by the columns."""
    for start in range(0, len(people[0]), _ROWS_A_CHUNK):
        some = slice(start, start + _ROWS_A_CHUNK)
        total = np.zeros((len(people[0][some]), len(table[0])))
        for j in range(people[0].shape[1]):
            mine, theirs = people[0][some, j][:, None], table[0][None, :, j]
            both = np.isnan(mine) & np.isnan(theirs)
            # A missing value is as far from any known one as two values can be.
            total += np.where(both, 0.0, np.nan_to_num(np.abs(mine - theirs), nan=1.0))
        for j in range(people[1].shape[1]):
            total += people[1][some, j][:, None] != table[1][None, :, j]
        yield total


METHOD = "tree"
CODED_WIDTH = 0.05
"""Width of the kernel, in columns that differ: narrow, since a row of one's own lies at no distance."""


def against_copies(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return how well members are told from outsiders by a plain copy and by a private one."""
    if chosen.text("released"):
        return _own_copy(chosen, progress)
    progress(0, 1, "choosing who takes part")
    people = people_to_attack(chosen)
    epsilon = chosen.number("epsilon")
    coded = CodedPeople.of(people)
    ours = f"{METHOD}, epsilon {epsilon:g}"
    opponents = [
        GameTarget("bootstrap", resampled(coded, chosen.whole("seed"))),
        GameTarget(ours, our_copy(coded, epsilon=epsilon), (epsilon, DELTA)),
    ]
    classes = np.zeros(len(coded.codes), dtype=np.int64)
    verdicts = played_out(chosen, opponents, classes, progress)
    size = len(coded.codes)
    words = f"The {METHOD} method of discreet synth, epsilon {epsilon:g}, delta {DELTA:g}."
    return Outcome(
        title="Who is behind the synthetic rows?",
        knew=f"All {len(coded.encoding.coded)} columns of one person, and {size:,} people of whom each "
        f"is behind the copy by a fair coin; with them the adversary made {chosen.whole('models')} "
        "shadow copies.",
        released=f"A copy of about {size // 2:,} people: once a plain bootstrap (rows drawn again from "
        f"the real ones), once a synthetic one of the {METHOD} method at epsilon {epsilon:g}.",
        did="Measured how densely the copy lies around the person, beside how it does in copies with "
        f"and without the person (adversary: {chosen.text('method')}).",
        lesson="Made-up rows are private only if the way they are made is; a resampled or overfitted "
        "copy gives its people away.",
        **game_figures(chosen, verdicts, ours, words),
    )


class CodedPeople:
    """People as codes, and how densely any rows of such codes lie around them."""

    def __init__(self, encoding: Encoding, codes: Codes) -> None:
        self.encoding = encoding
        self.codes = codes
        words = (BooleanDomain, CategoryDomain)
        self._ordered = [i for i, c in enumerate(encoding.coded) if not isinstance(c.domain, words)]
        self._words = [i for i, c in enumerate(encoding.coded) if isinstance(c.domain, words)]
        self._spelled = self._indicators(codes)

    @classmethod
    def of(cls, people: OwnPeople) -> CodedPeople:
        """Return the people of a pool; numbers in at most 32 bins, gaps as a value of their own."""
        columns = []
        for name, domain in people.domains.items():
            plain = Coded(name, domain, missing=True)
            columns.append(Coded(name, domain, equal_edges(plain.positions), missing=True))
        encoding = Encoding("people", tuple(columns))
        return cls(encoding, codes_of_table(people.rows, encoding.coded))

    def density(self, copy: Codes) -> Floats:
        """Return the log density of a copy around each person (kernel of Gower's distance)."""
        agree = self._spelled @ self._indicators(copy).T
        apart = np.float32(len(self._words)) - agree
        for i in self._ordered:
            width = np.float32(max(self.encoding.coded[i].size - 1, 1))
            mine, theirs = (rows[:, i].astype(np.float32) / width for rows in (self.codes, copy))
            apart += np.abs(mine[:, None] - theirs[None, :])
        nearest = apart.min(axis=1)
        weights = np.exp((nearest[:, None] - apart) / np.float32(CODED_WIDTH)).mean(axis=1)
        return np.asarray(np.log(weights) - nearest / CODED_WIDTH, dtype=np.float64)

    def _indicators(self, codes: Codes) -> npt.NDArray[np.float32]:
        sizes = self.encoding.shape.sizes
        parts = [np.eye(sizes[i], dtype=np.float32)[codes[:, i]] for i in self._words]
        return np.concatenate([np.empty((len(codes), 0), np.float32), *parts], axis=1)


def resampled(people: CodedPeople, seed: int) -> Victim:
    """Return a copy whose rows are drawn again from those of its people: private for nobody."""
    dice = np.random.default_rng(seed)

    def make(inside: Bits) -> Floats:
        rows = np.flatnonzero(inside)
        return people.density(people.codes[dice.choice(rows, len(rows))])

    return make


def our_copy(people: CodedPeople, *, epsilon: float) -> Victim:
    """Return a copy by the tree method of discreet synth; as many rows as people in the pool by half."""
    budget, shape = marginal_budget(epsilon, DELTA), people.encoding.shape

    def make(inside: Bits) -> Floats:
        counter = MemoryCounter(people.codes[inside], shape)
        marginals = PrivateMarginals(counter, shape, budget, CountSensitivity(), SystemRng())
        model = find_method(METHOD).fit(marginals, progress=silent)
        # Half of the pool: how many are really in is not public. No guarantee hangs on these dice.
        rows = model.sample(len(people.codes) // 2, dice=np.random.default_rng())
        return people.density(rows)

    return make


def _own_copy(chosen: AttackSettings, progress: Progress) -> Outcome:
    """Return what a copy of the user's own gives away of the people behind it."""
    progress(0, 2, "reading the files")
    for name in ("original", "control"):
        if not chosen.text(name):
            raise InvalidInput(
                f"To judge a copy, name the people behind it (original) and others of the same kind "
                f"who are not (control); '{name}' is missing."
            )
    original, control = (read_rows(chosen.text(name)) for name in ("original", "control"))
    copies = {"released": read_rows(chosen.text("released"))}
    if chosen.text("private"):
        copies["private"] = read_rows(chosen.text("private"))
    progress(1, 2, "measuring distances")
    many = min(chosen.whole("people"), original.num_rows, control.num_rows // 2)
    if not many:
        raise InvalidInput("The control needs at least two people: half of it are the panel.")
    found = {
        name: _scores(copy, original, control, many, chosen.words("columns"))
        for name, copy in copies.items()
    }
    progress(2, 2, "done")
    return _own_outcome(chosen, found, many)


def _scores(
    copy: pa.Table, original: pa.Table, control: pa.Table, many: int, columns: tuple[str, ...]
) -> dict[str, Score]:
    shared = columns or common(copy, original)
    rows = people_of(as_texts((copy, original, control), shared)).rows
    split = (copy.num_rows, original.num_rows)
    members = rows.slice(split[0], many)
    others, panel = (rows.slice(sum(split) + i * many, many) for i in range(2))
    return membership_scores(rows.slice(0, split[0]), members, others, panel)


def _own_outcome(
    chosen: AttackSettings, found: Mapping[str, Mapping[str, Score]], many: int
) -> Outcome:
    areas = {(name, score): each for name in found for score, each in found[name].items()}
    private = found.get("private")
    return Outcome(
        title="Who is behind these rows?",
        knew=f"All common columns of one person, and {many:,} other people who are in no release.",
        released=f"The file {chosen.text('released')}.",
        did="Measured the distance from the person to the nearest row of the copy, and the density of "
        "the copy over that of the other people.",
        lesson="Made-up rows are private only if the way they are made is.",
        score=found["released"]["nearest row"],
        private=None if private is None else private["nearest row"],
        private_words="" if private is None else f"The file {chosen.text('private')}.",
        details={
            name: {score: each.to_json() for score, each in scores.items()}
            for name, scores in found.items()
        },
        blocks=(
            Figure(
                "Members told from outsiders",
                score_bars({", ".join(key): each for key, each in areas.items()}, "AUC"),
                "Half means that members and outsiders look the same; the rules are 95% intervals.",
            ),
            Grid.of(
                ("copy", "score", "AUC", "low", "high"),
                [(*key, each.success, each.low, each.high) for key, each in areas.items()],
                f"{many:,} members and {many:,} outsiders, 95% intervals (DeLong).",
            ),
        ),
    )


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
