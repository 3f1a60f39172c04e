"""A rehearsal: the whole release on made-up rows. It costs nothing and reads no private row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from discreet.base import display
from discreet.base.arrays import Floats, Integers
from discreet.base.display import ShownInLines, ShownLines
from discreet.base.proof import ROOT
from discreet.errors import DiscreetError, InternalError, InvalidInput
from discreet.privacy.kernel.mechanism import Law
from discreet.privacy.ledger.entry import link
from discreet.privacy.noise.rng import SystemRng
from discreet.show import Document, Figure, Grid, Paragraph, Section, bars
from discreet.work.publish.assemble import (
    MeasuredFamily,
    MemberPlace,
    contents_of,
    exact_facts,
    noisy_tables,
    reconciled_tables,
)
from discreet.work.publish.bound_tables import check_column_names
from discreet.work.publish.facts import settle_made_up
from discreet.work.publish.families import Family, Member, first_pieces
from discreet.work.publish.measure import CellRead, ExactCells
from discreet.work.publish.package import OwnerKey, write_package
from discreet.work.publish.prepare import PlannedRelease, empty_problem, notices_of
from discreet.work.publish.recheck import verify_package
from discreet.work.publish.reconcile.problem import add_up
from discreet.work.publish.reconcile.solve import Reconciled
from discreet.work.publish.shortened import shortened

ROWS = 100_000
"""How many rows are made up: nobody knows the real number before paying."""
MOST_CELLS = 2_000_000
"""Larger grids are rehearsed by their noise laws alone."""
MOST_ROWS_WRITTEN = 200_000
"""Larger packages are written and checked with a few classes of every column: whole ones would take as long as the release."""
MOST_SHORTENED = 4_000
"""About how many leaf cells a family has then."""
LONGEST_LABEL, LONGEST_LABELS = 1 << 13, 1 << 19
"""Bytes of one label, and of all labels of a row: whoever checks a package reads no longer ones."""
MOST_DRAWS, CELLS_DRAWN = 16, 2_000
"""Tables of few cells are drawn again until so many cells were, and at most so often."""
NOBODYS_KEY = OwnerKey(bytes(32))
"""Signs packages of made-up rows, which are thrown away."""
TINY = 1e-12
SIZES = (1, 10, 100, 1000, 10_000)


@dataclass(frozen=True, slots=True)
class ExpectedError:
    """What readers of one table will see: errors expected on made-up rows, in the table's own units.

    `noisy`, `fitted` and `whole` are expected root mean squared errors of the measurements, of least
    squares and of the published numbers, which are not negative; `by_size` maps cells of at least that
    many to the expected share of them that is off by more than a tenth. They follow from the variances by
    formulas, not from draws; but what whole numbers that add up are moved by, which `whole` contains, and `half`,
    the mean half width of the intervals, are means over the draws of the rehearsal: one of large tables, up to
    `MOST_DRAWS` of small ones.
    """

    table: str
    cells: int
    share: float
    noisy: float
    fitted: float
    whole: float
    half: float
    by_size: dict[int, float]

    def to_json(self) -> dict[str, Any]:
        """Return plain numbers."""
        return {
            "rows": self.cells,
            "share": self.share,
            "error": {"measured": self.noisy, "least_squares": self.fitted, "whole": self.whole},
            "half_width95": self.half,
            "off_by_a_tenth": {str(size): share for size, share in self.by_size.items()},
        }


@dataclass(frozen=True, slots=True, repr=False)
class Rehearsal(ShownInLines):
    """A rehearsed release: what it would cost and how exact it would be. Nothing was spent."""

    release: str
    epsilon: float
    delta: float
    tables: tuple[ExpectedError, ...]
    notices: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the object that `discreet publish --rehearse --json` prints."""
        return {
            "release": self.release,
            "state": "rehearsed",
            "spends": False,
            "cost": {"epsilon": self.epsilon, "delta": self.delta},
            "made_up_rows": ROWS,
            "tables": {each.table: each.to_json() for each in self.tables},
            "notices": list(self.notices),
        }

    def document(self) -> Document:
        """Return the pictures of expected errors, for the owner and whoever approves."""
        rows = [
            (e.table, e.cells, e.share, e.noisy, e.fitted, e.whole, e.half) for e in self.tables
        ]
        grid = Grid.of(
            ("table", "cells", "share", "measured", "least squares", "published", "interval ±"),
            rows,
            "Errors to expect on made-up rows: root mean squares over the cells of each table.",
            shares=(2,),
        )
        pictures = [
            Figure(
                f"Cells of {each.table} that are off by more than a tenth",
                bars(
                    [f"{size:,} and more" for size in each.by_size],
                    list(each.by_size.values()),
                    across="made-up size of the cell",
                    title="share of cells",
                ),
                "Small cells are noise; read the sizes from which on the share is near zero.",
            )
            for each in self.tables
            if any(each.by_size.values())
        ]
        words = Paragraph(
            f"{ROWS:,} made-up rows stand in for the real ones, which nobody has looked at. Nothing "
            "was charged. Errors depend on sizes of cells, and those are made up as well."
        )
        levels = Figure(
            "What agreement between tables gains",
            bars(
                [each.table for each in self.tables],
                [each.whole / max(each.noisy, 1e-9) for each in self.tables],
                title="published error / noise",
                across="table",
            ),
            "Below 1, a table is more exact than its own noise: others say something about it.",
        )
        said = tuple(Paragraph(notice, warning=True) for notice in self.notices)
        sections = [Section("Expected errors", (*said, words, grid, levels))]
        if pictures:
            sections.append(Section("By size", tuple(pictures)))
        return Document(
            title=f"{self.release}: a rehearsal",
            subtitle=f"epsilon {self.epsilon:g}, delta {self.delta:g}",
            warning=None,
            sections=tuple(sections),
        )

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return display.rehearsal_lines(self.to_json())


def rehearse(plan: PlannedRelease) -> Rehearsal:
    """Return what a release would look like on made-up rows, after making its whole package of them."""
    errors = check_by_rehearsal(plan, draws=_draws(plan))
    for number, family in enumerate(plan.families):
        for place, member in enumerate(family.members):
            if (number, place) not in errors:
                errors[number, place] = _by_law(plan, (number, place), member)
    spec = plan.spec
    epsilon, delta = float(spec.epsilon.value), float(spec.delta.value)
    tables = tuple(errors[each.family, each.place] for each in plan.wanted)
    return Rehearsal(spec.name, epsilon, delta, tables, notices_of(plan))


def check_by_rehearsal(plan: PlannedRelease, *, draws: int = 1) -> dict[MemberPlace, ExpectedError]:
    """Return the errors on made-up rows after making, signing and checking the package that they give.

    Guarantee: nothing private is read and nothing is charged. The steps are those of the release
        (`discreet.work.publish.assemble`): a shape of release on which one of them fails is refused here.
        Of families of more than `MOST_CELLS` leaf cells, and of packages of more than
        `MOST_ROWS_WRITTEN` rows, a shortened plan is taken through these steps; what depends on the
        sizes of grids is then computed at their full size: labels, facts that cross, sentences.
    """
    try:
        check_column_names(plan.bound.everything)
        _check_labels(plan)
        return _made(plan, draws)
    except DiscreetError:
        raise
    except Exception as error:
        raise InvalidInput(
            f"The release '{plan.spec.name}' cannot be made: its rehearsal on made-up rows failed "
            f"({type(error).__name__}).",
            hint="Nothing was charged, and the name is still free. This is a mistake in Discreet: "
            "please report the spec.",
        ) from error


def _made(plan: PlannedRelease, draws: int) -> dict[MemberPlace, ExpectedError]:
    small = _small(plan)
    found, measured = _measured(plan, small, draws)
    if len(small) < len(plan.families) or _rows(plan) > MOST_ROWS_WRITTEN:
        for number in set(range(len(plan.families))) - set(small):
            settle_made_up(empty_problem(plan, number))
        notices_of(plan)
        short = shortened(plan, MOST_SHORTENED)
        _check_package(short, _measured(short, range(len(plan.families)), 1)[1])
    else:
        _check_package(plan, measured)
    return {place: _mean(errors) for place, errors in found.items()}


def _measured(
    plan: PlannedRelease, numbers: Sequence[int], draws: int
) -> tuple[dict[MemberPlace, list[ExpectedError]], MeasuredFamily]:
    """Return the errors of every draw of some families, and what the last draw would publish."""
    leaf = {number: _made_up_leaf(plan, number) for number in numbers}

    def groups(number: int, read: CellRead) -> ExactCells:
        return made_up_groups(leaf[number], read, plan.families[number])

    facts = exact_facts(plan, numbers, groups, published={})
    found: dict[MemberPlace, list[ExpectedError]] = {}
    for _ in range(draws):
        noisy = noisy_tables(plan, numbers, groups, rng=SystemRng())
        published = {}
        for place, result in reconciled_tables(plan, numbers, noisy, facts):
            found.setdefault(place, []).append(_error(plan, place, leaf[place[0]], result))
            published[place] = result.published
    return found, MeasuredFamily(noisy, published, facts)


def _rows(plan: PlannedRelease) -> int:
    """Return how many rows all tables have, each measure counted on its own."""
    return sum(each.member.cells for each in plan.wanted)


def _check_labels(plan: PlannedRelease) -> None:
    """Refuse labels that are written alike, or longer than a verifier reads."""
    for member in (m for family in plan.families for m in (*family.members, *family.facts)):
        longest = [max(len(label.encode()) for label in key.labels) for key in member.keys]
        for key, length in zip(member.keys, longest, strict=True):
            where = f"Table '{member.table.name}': '{key.name}'"
            if len(set(key.labels)) < len(key.labels):
                raise InvalidInput(
                    f"{where} has two values that are written alike.",
                    hint="Declare values that differ in their first 12 digits, or cut the column.",
                )
            if length > LONGEST_LABEL or sum(longest) > LONGEST_LABELS:
                raise InvalidInput(
                    f"{where} has a value of {length:,} bytes, too long for a package.",
                    hint=f"Use values of at most {LONGEST_LABEL:,} bytes, and {LONGEST_LABELS:,} in a row.",
                )


def _small(plan: PlannedRelease) -> list[int]:
    return [n for n, family in enumerate(plan.families) if family.cells <= MOST_CELLS]


def _draws(plan: PlannedRelease) -> int:
    """Return how many draws show what is typical: few cells say little in one of them."""
    cells = sum(member.cells for n in _small(plan) for member in plan.families[n].members)
    return max(1, min(MOST_DRAWS, CELLS_DRAWN // max(1, cells)))


def _mean(errors: Sequence[ExpectedError]) -> ExpectedError:
    """Return the error that is typical of several draws."""
    whole = math.sqrt(sum(each.whole**2 for each in errors) / len(errors))
    return replace(errors[0], whole=whole, half=sum(each.half for each in errors) / len(errors))


def _check_package(plan: PlannedRelease, measured: MeasuredFamily) -> None:
    """Require a package of made-up rows to be written, and to be valid for whoever checks it."""
    contents = contents_of(plan, measured, ledger=_excerpt(plan), created="", private=False)
    with TemporaryDirectory() as folder:
        path = write_package(contents, Path(folder) / "rehearsal.zip", NOBODYS_KEY)
        said = verify_package(path, key=NOBODYS_KEY.public.hex())
    if not said["valid"]:
        raise InternalError(f"a rehearsed package is not valid: {said['problems'][0]}")


def _excerpt(plan: PlannedRelease) -> dict[str, Any]:
    """Return lines of a history in which a rehearsal was charged: there is no such ledger."""
    body = {"dataset": plan.dataset.name, "cost": plan.priced.quote.cost.to_json()}
    paid = link(0, "charge", body, previous=ROOT)
    return {"charge": 0, "head": paid.hash, "links": [asdict(paid)]}


def made_up_groups(leaf: Integers, read: CellRead, family: Family) -> ExactCells:
    """Return the groups that a read would find, had its rows the sums `leaf`."""
    used = [place for place, d in enumerate(family.dimensions) if d.base in read.bases]
    others = tuple(place for place in range(leaf.ndim) if place not in used)
    sums = np.asarray(leaf.sum(axis=others) if others else leaf)
    classes = dict(zip(used, np.indices(sums.shape).reshape(len(used), sums.size), strict=True))
    by_base = {family.dimensions[place].base: place for place in used}
    pieces = tuple(
        first_pieces(family.dimensions[by_base[base]])[classes[by_base[base]]]
        for base in read.bases
    )
    return ExactCells(pieces, sums.reshape(-1))


def _by_law(plan: PlannedRelease, place: MemberPlace, member: Member) -> ExpectedError:
    law, share = _law_and_share(plan, place)
    sigma = float(plan.steps[place[0]]) * float(np.sqrt(law.variance))
    return ExpectedError(member.name, member.cells, share, sigma, sigma, sigma, 2 * sigma, {})


def _law_and_share(plan: PlannedRelease, place: MemberPlace) -> tuple[Law, float]:
    rows = zip(plan.wanted, plan.priced.laws, plan.priced.shares, strict=True)
    return next((law, float(s)) for each, law, s in rows if (each.family, each.place) == place)


def _made_up_leaf(plan: PlannedRelease, number: int) -> Integers:
    leaf = made_up(plan.families[number]) * _each(plan, number)
    zero = plan.zeros[number]
    if zero is not None:
        leaf[np.broadcast_to(zero, leaf.shape)] = 0
    return leaf


def _error(
    plan: PlannedRelease, place: MemberPlace, leaf: Integers, result: Reconciled
) -> ExpectedError:
    member = plan.families[place[0]].members[place[1]]
    law, share = _law_and_share(plan, place)
    step, cells = float(plan.steps[place[0]]), add_up(leaf, member.maps, member.shape)
    variance = np.broadcast_to(result.estimate.variance, cells.shape)
    published = result.published
    non_negative = plan.non_negative[place[0]]
    fitted = result.estimate.values
    moved = published.whole - (np.maximum(fitted, 0) if non_negative else fitted)
    formula = expected_error(cells, variance, non_negative=non_negative)
    return ExpectedError(
        table=member.name,
        cells=member.cells,
        share=share,
        noisy=step * float(np.sqrt(law.variance)),
        fitted=step * float(np.sqrt(variance.mean())),
        whole=step * math.sqrt(formula**2 + float(np.square(moved).mean())),
        half=step * float((published.high - published.low).mean()) / 2,
        by_size=_by_size(cells, variance),
    )


def expected_error(cells: Integers, variance: Floats, *, non_negative: bool) -> float:
    """Return the root mean squared error of normal estimates of `cells`, cut at zero where they must be.

    >>> expected_error(np.array([0, 1000]), np.array([4.0, 4.0]), non_negative=False)
    2.0
    """
    if not non_negative:
        return float(np.sqrt(variance.mean()))
    spread = np.sqrt(np.maximum(variance, TINY))
    far = np.maximum(cells, 0) / spread
    density = np.exp(-0.5 * far * far) / math.sqrt(2 * math.pi)
    below = 0.5 * _outside(far)
    square = variance * (1 - below - far * density) + np.square(np.maximum(cells, 0)) * below
    return float(np.sqrt(square.mean()))


def _outside(far: Floats) -> Floats:
    """Return how probably a normal number is further from zero than each of these, on either side."""
    grid = np.linspace(0, 12, 12_001)
    exact = np.array([math.erfc(each / math.sqrt(2)) for each in grid])
    return np.asarray(np.interp(far, grid, exact, right=0.0))


def _each(plan: PlannedRelease, number: int) -> int:
    """Return what a made-up row adds: one to a count, the middle of its range to a sum."""
    measure = plan.reads[number, 0].measure
    return max(1, (measure.low + measure.high) // 2 // measure.grain)


def made_up(family: Family) -> Integers:
    """Return leaf cells of a population that nobody has: uneven along every dimension."""
    weights = np.ones(family.shape)
    for axis, size in enumerate(family.shape):
        uneven = 1.0 / (1.0 + np.arange(size)) ** 0.7
        weights = weights * uneven.reshape([-1 if d == axis else 1 for d in range(weights.ndim)])
    dice = np.random.default_rng(0)  # no guarantee hangs on made-up rows
    chances = weights.reshape(-1) / weights.sum()
    return dice.multinomial(ROWS, chances).reshape(family.shape).astype(np.int64)


def _by_size(cells: Integers, variance: Floats) -> dict[int, float]:
    found = {}
    spread = np.sqrt(np.maximum(variance, TINY))
    for size in SIZES:
        large = cells >= size
        if large.any():
            found[size] = float(_outside(cells[large] / 10 / spread[large]).mean())
    return found
