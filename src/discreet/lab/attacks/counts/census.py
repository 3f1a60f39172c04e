"""Census-style reconstruction: the residents of a block, solved from its published tables.

Solved by integer programmes (HiGHS), or the likeliest where the tables are noisy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.base.arrays import Floats, Integers
from discreet.base.display import Progress
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
from discreet.lab.attacks.counts.people import (
    AGE,
    MALE,
    MARRIED,
    OLDEST,
    PUBLISHED,
    RESIDENTS,
    SMOKER,
    CensusCounts,
    ResidentRows,
    age_rows,
    count_rows,
    own_residents,
    tabulated,
)
from discreet.lab.attacks.counts.reconstruction import optimizer
from discreet.lab.attacks.curator import (
    BOOLEAN,
    AttackTable,
    curator_over,
    part_of,
    temporary_town,
    whole_numbers,
)
from discreet.lab.attacks.package import attack_package
from discreet.show.document import DocumentBlock, Figure, Grid, Paragraph

ATTACK = Attack(
    name="census",
    title="Census-style reconstruction",
    words="Solve the published tables of a small block for its residents, one record each.",
    knobs=(
        Knob("people", 5_000, "people in the town", 1_000, 200_000, 1_000),
        Knob("places", 12, "residents of a block", 4, 30, 1),
        Knob("blocks", 20, "blocks that are attacked", 1, 100, 1),
        Knob("epsilon", 1.0, "what all private tables of a block cost together", 0.1, 8.0, 0.1),
        Knob("seed", 0, "which town, and the attacker's dice", 0, 1_000_000, 1),
        file_knob("original", "your own file of residents, instead of the town"),
        words_knob(
            "columns",
            "age,sex,married,smoker",
            "its columns: a number from 0 to 104, and three of two values each",
        ),
        Knob("package", "", "a release package to attack, instead of the town"),
        Knob("config", "", "the owner's discreet.toml, which scores the guesses at a package"),
    ),
)


def run(chosen: AttackSettings, *, progress: Progress) -> Outcome:
    """Return the share of residents found, record for record, from exact and private tables."""
    if chosen.text("package"):
        return attack_package(ATTACK.name, chosen.text("package"), chosen.text("config"))
    rng = np.random.default_rng(chosen.whole("seed"))
    progress(0, 3 * chosen.whole("blocks"), "making the town")
    blocks, rest = town_blocks(chosen, rng)
    found = []
    for i, block in enumerate(blocks):
        progress(len(blocks) + i, 3 * len(blocks), "solving the exact tables")
        found.append(reconstruct(block))
    expected = expected_residents(rest, chosen.whole("places"))
    guess = likeliest_block(expected, chosen.whole("places"))
    baseline = float(np.mean([overlap(guess, block) for block in blocks])) / int(guess.sum())
    progress(2 * len(blocks), 3 * len(blocks), "asking the curator")
    noisy = private_blocks(blocks, expected, epsilon=chosen.number("epsilon"))
    return _outcome(chosen, blocks, found, noisy, baseline)


def town_blocks(
    chosen: AttackSettings, rng: np.random.Generator
) -> tuple[list[Integers], Integers]:
    """Return blocks of neighbours, each as a count of every kind of resident, and all others."""
    if chosen.text("original"):
        residents = own_residents(chosen.text("original"), chosen.words("columns"))
    else:
        with temporary_town(
            chosen.whole("people"), tables=("people",), seed=chosen.whole("seed")
        ) as town:
            table = town.load("people")
        flags = [table["sex"].to_numpy(zero_copy_only=False) == "Male"]
        flags += [table[name].to_numpy(zero_copy_only=False) for name in ("married", "smoker")]
        residents = np.stack([table["age"].to_numpy(), *flags], axis=1).astype(np.int64)
    size, count = chosen.whole("places"), chosen.whole("blocks")
    if size * count >= len(residents):
        raise InvalidInput("The blocks hold more people than there are.", hint="Use fewer blocks.")
    mixed = rng.permutation(residents)
    blocks = [tabulated(mixed[i * size : (i + 1) * size]) for i in range(count)]
    return blocks, mixed[count * size :]


def reconstruct(block: Integers) -> SolvedBlock:
    """Return what a solver makes of the exact tables of a block, and what of it is certain."""
    counts, ages = count_rows(block), age_rows(block)
    rows = ResidentRows(
        np.vstack([counts.matrix, ages.matrix]),
        np.concatenate([counts.low, ages.low]),
        np.concatenate([counts.high, ages.high]),
    )
    found = consistent_block(rows, int(block.sum()))
    return SolvedBlock(found, least_overlap(rows, found))


def overlap(first: Integers, second: Integers) -> int:
    """Return how many residents two blocks have in common, record for record."""
    return int(np.minimum(first, second).sum())


def private_blocks(
    blocks: Sequence[Integers], expected: Floats, *, epsilon: float
) -> list[Integers]:
    """Return what the same attacker makes of the curator's answers to the same tables of counts.

    The price is shared evenly among the tables. Blocks are disjoint, so each has all of it. Means
    and medians are left out: at this price their noise says nothing about a block of this size.
    The attacker weighs the answers, by the law of their noise, with what is known of the town.
    """
    share = part_of(epsilon, len(PUBLISHED))
    beliefs = [expected] * len(blocks)
    with curator_over({"people": _exhibit(blocks)}, epsilon=repr(epsilon)) as ask:
        for table in PUBLISHED:
            values = np.zeros((len(blocks), table.cells))
            for block, *key, count in ask(table.sql("people"), share).rows:
                values[int(block), table.cell_of([int(part) for part in key])] = float(count)
            beliefs = [
                weighed(belief, table, row, epsilon=float(share))
                for belief, row in zip(beliefs, values, strict=True)
            ]
    sizes = [int(block.sum()) for block in blocks]
    return [likeliest_block(belief, n) for belief, n in zip(beliefs, sizes, strict=True)]


def _exhibit(blocks: Sequence[Integers]) -> AttackTable:
    kinds = np.concatenate([np.repeat(np.arange(len(RESIDENTS)), block) for block in blocks])
    number = np.repeat(np.arange(len(blocks)), [int(block.sum()) for block in blocks])
    residents = RESIDENTS[kinds]
    rows = {"block": pa.array(number), "age": pa.array(residents[:, AGE])}
    for name, flag in (("male", MALE), ("married", MARRIED), ("smoker", SMOKER)):
        rows[name] = pa.array(residents[:, flag].astype(bool))
    return AttackTable(
        pa.table(rows),
        {
            "block": whole_numbers(0, len(blocks) - 1),
            "age": whole_numbers(0, OLDEST),
            **dict.fromkeys(("male", "married", "smoker"), BOOLEAN),
        },
    )


def _outcome(
    chosen: AttackSettings,
    blocks: Sequence[Integers],
    found: Sequence[SolvedBlock],
    noisy: Sequence[Integers],
    baseline: float,
) -> Outcome:
    tallies = [
        (int(block.sum()), overlap(each.block, block), each.certain, overlap(after, block))
        for block, each, after in zip(blocks, found, noisy, strict=True)
    ]
    people, *rights = (sum(column) for column in zip(*tallies, strict=True))
    names = ("exact tables", "certain from exact tables", "private tables")
    by_tables = {
        name: Score.of_guesses(right, people, baseline=baseline)
        for name, right in zip(names, rights, strict=True)
    }
    private, unique = by_tables["private tables"], sum(each.unique for each in found)
    return Outcome(
        knew="The attacker knows the published tables of the block, and nobody in it.",
        released=f"For each of {len(blocks)} blocks of {chosen.whole('places')}: "
        + "; ".join(table.words for table in PUBLISHED)
        + "; mean and median age of every group by these flags.",
        did="The attacker writes the tables as equations over all possible residents and lets an "
        "integer solver find a block that satisfies them; a second programme asks how different "
        "another such block could be.",
        lesson="No table shows a person, but all tables together leave few blocks possible, "
        "sometimes one.",
        score=by_tables["exact tables"],
        private=private,
        private_words=f"From the curator's answers to the same counts at epsilon "
        f"{chosen.number('epsilon'):g} a block, weighed with what is known of the town, "
        f"{private.success:.1%} of the residents are right.",
        details={
            "residents": people,
            "certain": by_tables["certain from exact tables"].success,
            "blocks_with_one_solution": unique,
            "blocks": len(blocks),
        },
        blocks=_blocks(by_tables, tallies, baseline, unique),
    )


def _blocks(
    by_tables: Mapping[str, Score],
    tallies: Sequence[tuple[int, int, int, int]],
    baseline: float,
    unique: int,
) -> tuple[DocumentBlock, ...]:
    guessing = Score(baseline, baseline, baseline, baseline)
    return (
        Figure(
            "Residents found, record for record",
            score_bars({**by_tables, "guessing": guessing}, "share of residents"),
            "A record is right when age in years, sex, marriage and smoking all agree. Certain "
            "records are in every block that satisfies the tables.",
        ),
        Grid.of(
            ("block", "residents", "right", "certain", "right when private"),
            [(str(i), *tally) for i, tally in enumerate(tallies, 1)],
            f"Where all residents are certain the tables have one solution: {unique} of "
            f"{len(tallies)} blocks.",
        ),
        Paragraph(
            "Guessing means the likeliest block by what is known of everybody else in the town, "
            "which the attacker on private tables knows too. The limits treat residents as independent, which those of one block are not quite."
        ),
    )


SECONDS = 20.0
"""A block that takes longer is given up, and said to be."""
_TWINS = 4
"""How many equal residents of one block are considered as likely."""


@dataclass(frozen=True, slots=True, eq=False)
class SolvedBlock:
    """A block that agrees with all tables, and how many of its records every such block has."""

    block: Integers
    certain: int

    @property
    def unique(self) -> bool:
        """Return whether no other block agrees with the tables."""
        return self.certain == int(self.block.sum())


def consistent_block(rows: ResidentRows, size: int) -> Integers:
    """Return some block of `size` residents that satisfies all rows."""
    optimize = optimizer()
    kinds = rows.matrix.shape[1]
    found = _solved(optimize, np.zeros(kinds), _constraint(optimize, rows, 0), kinds, size)
    return np.asarray(np.rint(found.x[:kinds]), dtype=np.int64)


def least_overlap(rows: ResidentRows, block: Integers) -> int:
    """Return how many records of `block` every block that satisfies the rows has, counted together.

    One integer programme looks for the block that has least in common with this one: equal to the
    block's size means that the tables have exactly one solution. Where time runs out, the solver's
    own lower bound is returned: never more than the truth.
    """
    optimize = optimizer()
    size, kinds = int(block.sum()), block.size
    own = np.repeat(np.arange(kinds), block)
    rank = np.concatenate([np.arange(count) for count in block[block > 0]])
    # shared[r] = 1 as soon as the other block has more than `rank` residents of that kind.
    link = np.zeros((size, kinds + size))
    link[np.arange(size), own] = -1.0
    link[np.arange(size), kinds + np.arange(size)] = float(size)
    constraints = [
        *_constraint(optimize, rows, size),
        optimize.LinearConstraint(link, -rank.astype(np.float64), np.inf),
    ]
    aim = np.concatenate([np.zeros(kinds), np.ones(size)])
    found = _solved(optimize, aim, constraints, kinds, size)
    return max(math.ceil(float(found.mip_dual_bound) - 1e-6), 0)


def _constraint(optimize: Any, rows: ResidentRows, more: int) -> list[Any]:
    wide = np.hstack([rows.matrix, np.zeros((len(rows.matrix), more))])
    return [optimize.LinearConstraint(wide, rows.low, rows.high)]


def _solved(optimize: Any, aim: Floats, constraints: list[Any], kinds: int, size: int) -> Any:
    found = optimize.milp(
        aim,
        constraints=constraints,
        integrality=np.ones(aim.size),
        bounds=optimize.Bounds(0, np.where(np.arange(aim.size) < kinds, size, 1)),
        options={"time_limit": SECONDS},
    )
    if found.x is None:
        raise InvalidInput(
            "No block was found that agrees with these tables in the time allowed.",
            hint="Use smaller blocks.",
        )
    return found


def expected_residents(others: Integers, size: int) -> Floats:
    """Return how many of each kind a block of `size` holds on average, by everybody elsewhere."""
    counts = tabulated(others) + 1 / len(RESIDENTS)
    return np.asarray(size * counts / counts.sum())


def likeliest_block(expected: Floats, size: int) -> Integers:
    """Return the `size` residents that most likely live there, counts being Poisson.

    Each further resident of a kind is one more guess, right with the probability that there are so
    many; the best guesses are taken. No block has a higher expected overlap with the true one.
    """
    below = np.zeros_like(expected)
    chances = []
    for count in range(_TWINS):
        below = below + np.exp(-expected) * expected**count / math.factorial(count)
        chances.append(1 - below)
    best = np.argsort(-np.concatenate(chances), kind="stable")[:size]
    return np.bincount(best % expected.size, minlength=expected.size).astype(np.int64)


def weighed(expected: Floats, table: CensusCounts, noisy: Floats, *, epsilon: float) -> Floats:
    """Return the expected residents after hearing a table with noise of scale 1 / epsilon.

    In each cell the number of residents is Poisson before, and weighed by the law of the noise; the
    kinds of that cell are then scaled to the mean that this gives.
    """
    place = table.place()
    before = np.bincount(place, weights=expected, minlength=table.cells)
    counts = np.arange(int(expected.sum()) + 1, dtype=np.float64)
    logs = np.array([math.lgamma(count + 1) for count in counts])
    with np.errstate(divide="ignore"):
        prior = counts[None, :] * np.log(np.maximum(before, 1e-12))[:, None] - logs
    odds = prior - epsilon * np.abs(noisy[:, None] - counts[None, :])
    weights = np.exp(odds - odds.max(1, keepdims=True))
    after = (weights @ counts) / weights.sum(1)
    return np.asarray(expected * (after / np.maximum(before, 1e-12))[place])
