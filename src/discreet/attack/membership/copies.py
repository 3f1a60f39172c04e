"""Membership against synthetic rows: whether a person is nearer to a copy than chance explains."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.attack.attacks import AttackSettings
from discreet.attack.files import OwnPeople, as_texts, common, people_of, read_rows
from discreet.attack.membership.game_outcome import DELTA, GameTarget, game_figures, played_out
from discreet.attack.membership.learners import Victim, marginal_budget
from discreet.attack.membership.nearness import membership_scores
from discreet.attack.membership.pool import people_to_attack
from discreet.attack.outcome import Outcome, Score, score_bars
from discreet.core.arrays import Bits, Floats
from discreet.core.progress import Progress, silent
from discreet.core.schema import BooleanDomain, CategoryDomain
from discreet.errors import InvalidInput
from discreet.learn.evaluation.read_file import codes_of_table
from discreet.noise.rng import SystemRng
from discreet.report import Figure, Grid
from discreet.synth.columns import Coded, Encoding, equal_edges
from discreet.synth.measure.counters import MemoryCounter
from discreet.synth.measure.private_marginals import CountSensitivity, PrivateMarginals
from discreet.synth.methods.registry import find_method
from discreet.synth.shape import Codes

METHOD = "tree"
WIDTH = 0.05
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
        weights = np.exp((nearest[:, None] - apart) / np.float32(WIDTH)).mean(axis=1)
        return np.asarray(np.log(weights) - nearest / WIDTH, dtype=np.float64)

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
