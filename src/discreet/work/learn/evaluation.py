"""How good a classifier is: shares of right predictions with intervals, AUC, subgroups.

A test on public rows is exact and free; one on private rows is charged to their own dataset before it is run.
Disparate impact: how often a model is right for each subgroup, against its epsilon.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from discreet.ask.plan.ir import Scan
from discreet.ask.release.desk import Desk
from discreet.base.arrays import Bits, Floats, Integers
from discreet.base.numbers import Delta
from discreet.base.schema import Table
from discreet.data.engines.base import Engine, PaidReader
from discreet.errors import InvalidInput, UnknownName
from discreet.measure.columns import Coded
from discreet.measure.private_marginals import Measured, PrivateMarginals
from discreet.measure.sealing import SealedCodes, seal_codes
from discreet.measure.shape import Codes, Shape
from discreet.privacy.kernel.nodes import Unfit
from discreet.privacy.noise.error_bars import wilson
from discreet.privacy.noise.rng import Rng
from discreet.show import Document, Figure, Grid, Paragraph, Section, lines
from discreet.work.learn.features import is_ordered
from discreet.work.learn.learners.network import AnyClassifier
from discreet.work.learn.one_look import CheckedLook, PlannedLook, planned_look
from discreet.work.learn.private_rows import PaidRows, fetch
from discreet.work.learn.read_file import codes_of_table, read_table
from discreet.work.learn.training_plan import private_scan

MOST_SUBGROUPS = 12
"""Values of a column by which accuracy is shown."""

Z95 = 1.959964


def noisy_share(right: float, wrong: float, deviation: float) -> dict[str, Any]:
    """Return a share of rows with its 95% interval, for sampling and for noise on both counts."""
    size = max(right + wrong, 1.0)
    value = min(max(right / size, 0.0), 1.0)
    noise = deviation**2 * ((1 - value) ** 2 + value**2) / size**2
    half = Z95 * math.sqrt(value * (1 - value) / size + noise)
    return _rounded(value, max(value - half, 0.0), min(value + half, 1.0))


def exact_share(right: int, rows: int) -> dict[str, Any]:
    """Return a share of public rows with Wilson's 95% interval."""
    if not rows:
        return _rounded(0.0, 0.0, 1.0)
    return _rounded(right / rows, *wilson(right, rows, Z95))


def _rounded(value: float, low: float, high: float) -> dict[str, Any]:
    return {"value": round(value, 6), "low": round(low, 6), "high": round(high, 6)}


def publicly_tested(model: AnyClassifier, path: Path) -> AnyClassifier:
    """Return the model with what a public test file says about it written into its facts."""
    codes = codes_of_table(read_table(path), model.encoding.coded)
    known = codes[:, -1] >= 0
    if not known.any():
        raise InvalidInput(
            f"No row of '{path.name}' has a declared value of '{model.target.name}'.",
            hint="The test file must name the classes as discreet.toml does.",
        )
    found = public_score(model, codes[known], codes[known, -1].astype(np.int64))
    found["accuracy"]["on"] = f"{path.name}, declared public"
    return replace(model, facts={**model.facts, **found})


def public_score(model: AnyClassifier, codes: Codes, truth: Integers) -> dict[str, Any]:
    """Return accuracy, baseline, AUC and accuracy by subgroup on rows that are public."""
    chances = model.chances(codes)
    right = model.guesses(codes) == truth
    counts = np.bincount(truth, minlength=len(model.classes))
    found: dict[str, Any] = {
        "accuracy": exact_share(int(right.sum()), len(truth)),
        "baseline": round(float(counts.max() / max(len(truth), 1)), 6),
        "test_rows": len(truth),
        "subgroups": subgroups(model, codes, right),
    }
    if len(model.classes) == 2:
        found["auc"] = auc(chances[:, 1], truth)
    return found


def subgroups(model: AnyClassifier, codes: Codes, right: Bits) -> dict[str, Any]:
    """Return the accuracy for each value of each category with few of them."""
    found: dict[str, Any] = {}
    for place, column in enumerate(model.features):
        if is_ordered(column) or column.values > MOST_SUBGROUPS:
            continue
        own = codes[:, place]
        found[column.name] = {
            str(column.domain.value(code)): exact_share(
                int(right[own == code].sum()), int((own == code).sum())
            )
            | {"rows": int((own == code).sum())}
            for code in range(column.values)
            if (own == code).any()
        }
    return found


def auc(scores: Floats, truth: Integers) -> float | None:
    """Return the chance that a row of the second class scores above one of the first.

    >>> auc(np.array([0.1, 0.4, 0.4, 0.8]), np.array([0, 0, 1, 1]))
    0.875
    """
    second, first = scores[truth == 1], scores[truth == 0]
    if not len(second) or not len(first):
        return None
    return round(float(placements(second, first).mean()), 6)


def placements(of: Floats, among: Floats) -> Floats:
    """Return for each of the first how large a share of the second lies below it, ties halved."""
    ordered = np.sort(among)
    left = np.searchsorted(ordered, of, side="left")
    right = np.searchsorted(ordered, of, side="right")
    shares: Floats = (left + right) / (2.0 * len(among))
    return shares


OVERALL = Fraction(1, 2)
"""The share that counts right and wrong over all rows; the columns of subgroups have the rest."""

MOST_COLUMNS = 6
"""Columns by which a private test tells subgroups: each of them makes the noise larger."""

TAIL = math.log(20) / math.sqrt(2) / Z95
"""How much farther Laplace noise of one count goes, once in twenty times, than its deviation says."""


@dataclass(frozen=True, kw_only=True)
class TestRequest(CheckedLook):
    """One test of a model on a table, and who pays for it, checked."""

    __test__ = False  # not for pytest


def paid_test(request: TestRequest, model: AnyClassifier, desk: Desk) -> AnyClassifier:
    """Return the model with noisy scores on private rows written into its facts.

    Guarantee: epsilon-DP for the people of the test table: right and wrong rows are counted over all
        and by each of a few columns, each count a marginal in which a row has one cell; the shares
        of the counts add up to one, and the charge is durable before a row is read. Whether a
        prediction is right is a function of its own row and of the model, in whole numbers.
    """
    scan = private_scan(desk.catalog, request.table)
    _check_columns(scan.table, model)
    with planned_look(
        scan,
        lambda: _sealed(scan, desk.engine, model),
        request,
        desk,
        what="test",
        delta=Delta.of(0),
    ) as look:
        _, stored = look.run(
            lambda reader: _scored(model, look, reader, desk.rng),
            body=_body(request, model),
            note=f"test of a model of {model.target.name} on {look.table}",
        )
    found = json.loads(stored.removeprefix(MARK))
    on = f"{look.table}, for epsilon {float(request.epsilon.value):g} of its own"
    found["accuracy"]["on"] = on
    return replace(model, facts={**model.facts, **found})


def _check_columns(table: Table, model: AnyClassifier) -> None:
    """Refuse a model that is about columns which the table lacks, or does not show."""
    known = {each.name.lower() for each in table.columns if each.reviewed and not each.hidden}
    for column in model.encoding.coded:
        if column.name.lower() not in known:
            raise UnknownName(
                f"Table '{table.name}' shows no column '{column.name[:60]}', which the model needs.",
                hint="The test itself was not charged.",
            )


def _sealed(scan: Scan, engine: Engine, model: AnyClassifier) -> SealedCodes:
    """Return the codes of the test table; it may have columns of other kinds than the model's."""
    try:
        return seal_codes(scan, engine, model.encoding.coded)
    except Unfit as error:
        raise InvalidInput(
            "The columns of the test table are of other kinds than those the model was trained on.",
            hint="Declare the test table in discreet.toml as the training table is. The test "
            "itself was not charged.",
        ) from error


MARK = b"test "
"""What a stored test begins with: it is no answer to a query."""


def _body(request: TestRequest, model: AnyClassifier) -> str:
    paid = {
        "table": request.table,
        "epsilon": str(request.epsilon.value),
        "model": model.to_json(),
    }
    return "test " + json.dumps(paid, sort_keys=True)


def _scored(
    model: AnyClassifier, look: PlannedLook[SealedCodes], reader: PaidReader, rng: Rng
) -> bytes:
    """Return noisy accuracy, baseline and accuracy by subgroup as stored text."""
    codes = look.sealed
    rows = fetch(reader, codes)
    right = model.guesses(rows) == rows[:, -1]
    shape = Shape((*codes.shape.names, "right"), (*codes.shape.sizes, 2))
    counter = PaidRows(np.column_stack([rows, right.astype(np.int32)]), shape)
    marginals = PrivateMarginals(counter, shape, look.budget.whole, codes.unit, rng)
    last = shape.width - 1
    groups = [
        i
        for i, column in enumerate(model.features)
        if not is_ordered(column) and column.values <= MOST_SUBGROUPS
    ][:MOST_COLUMNS]
    share = OVERALL if groups else Fraction(1)
    (overall,) = marginals.measure([(last - 1, last)], share=share)
    found = _overall(overall) | {"subgroups": {}}
    each = (1 - share) / max(len(groups), 1)
    for i in groups:
        (by,) = marginals.measure([(i, last)], share=each)
        found["subgroups"][model.features[i].name] = _by_value(by, model.features[i])
    return MARK + json.dumps(found).encode()


def _overall(found: Measured) -> dict[str, Any]:
    """Return accuracy, baseline and rows from noisy counts of wrong and right by class.

    Noisy counts below zero are added as they are: cut off at zero, the noise of many empty cells
    would not cancel but pile up, and no interval would know of it. Only what is shown is cut off.
    """
    wrong, right = (float(each) for each in found.values.sum(axis=0))
    deviation = TAIL * float(np.sqrt(found.variance * len(found.values)))
    rows = max(right + wrong, 1.0)
    largest = float(found.values.sum(axis=1).max()) / rows
    return {
        "accuracy": noisy_share(right, wrong, deviation),
        "baseline": round(min(max(largest, 0.0), 1.0), 6),
        "test_rows": max(int(right + wrong), 0),
    }


def _by_value(found: Measured, column: Coded) -> dict[str, Any]:
    """Return the accuracy at each value of a column, with about how many rows have it."""
    spread = TAIL * float(np.sqrt(found.variance))
    each = found.values[: column.values].astype(float).tolist()
    return {
        str(column.domain.value(code)): noisy_share(right, wrong, spread)
        | {"rows": max(int(right + wrong), 0)}
        for code, (wrong, right) in enumerate(each)
    }


FEWEST_ROWS = 30
"""Test rows that a subgroup must have to be called the worst served."""

MOST_LINES = 6


@dataclass(frozen=True, slots=True)
class ImpactPoint:
    """One training: its epsilon, how often it was right, and for whom."""

    epsilon: float
    accuracy: Mapping[str, Any]
    baseline: float
    subgroups: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(cls, epsilon: float, facts: Mapping[str, Any]) -> ImpactPoint:
        """Return the point that a tested model's facts say."""
        return cls(epsilon, facts["accuracy"], facts["baseline"], facts.get("subgroups", {}))

    @property
    def gap(self) -> float:
        """Return how far apart the subgroups of one column are, where that is farthest."""
        spans = [
            [item["value"] for item in values.values() if item.get("rows", 0) >= FEWEST_ROWS]
            for values in self.subgroups.values()
        ]
        return max((max(each) - min(each) for each in spans if each), default=0.0)

    def to_json(self) -> dict[str, Any]:
        """Return the point as the command prints it."""
        return {
            "epsilon": self.epsilon,
            "accuracy": dict(self.accuracy),
            "baseline": self.baseline,
            "gap": round(self.gap, 6),
            "subgroups": {column: dict(values) for column, values in self.subgroups.items()},
        }


def impact_report(target: str, table: str, points: list[ImpactPoint]) -> Document:
    """Return the curves: everything on them was paid for, or comes from rows declared public."""
    ordered = sorted(points, key=lambda each: each.epsilon)
    columns = sorted({column for each in ordered for column in each.subgroups})
    sections = [
        Section("All together", (_accuracy_by_epsilon(ordered), Paragraph(_said(ordered[-1]))))
    ]
    sections += [Section(column, _of_column(column, ordered)) for column in columns]
    return Document(
        f"{target}: who is served how well, at which epsilon",
        f"models of {table}, one for each epsilon; tested on {ordered[-1].accuracy.get('on', '')}",
        None,
        tuple(sections),
    )


def _accuracy_by_epsilon(points: list[ImpactPoint]) -> Figure:
    series = {
        "right": [(each.epsilon, each.accuracy["value"]) for each in points],
        "largest gap between subgroups": [(each.epsilon, each.gap) for each in points],
        "always the most common class": [(each.epsilon, each.baseline) for each in points],
    }
    spec = lines(series, title="share of rows", across="epsilon", scale="log")
    return Figure("Right, and the gap", spec, "Share of right predictions against epsilon.")


def _said(last: ImpactPoint) -> str:
    each = [
        (item["value"], column, value)
        for column, values in last.subgroups.items()
        for value, item in values.items()
        if item.get("rows", 0) >= FEWEST_ROWS
    ]
    if not each:
        return "No subgroup has enough test rows to be compared."
    share, column, value = min(each)
    return (
        f"At epsilon {last.epsilon:g} the model is right {last.accuracy['value']:.1%} of the time; it "
        f"serves {column} = {value} worst, with {share:.1%}."
    )


def _of_column(column: str, points: list[ImpactPoint]) -> tuple[Any, ...]:
    known = points[-1].subgroups.get(column, {})
    largest = sorted(known, key=lambda value: -known[value].get("rows", 0))[:MOST_LINES]
    series = {
        value: [
            (each.epsilon, each.subgroups[column][value]["value"])
            for each in points
            if value in each.subgroups.get(column, {})
        ]
        for value in largest
    }
    rows = [
        (each.epsilon, value, item["value"], item["low"], item["high"], item.get("rows"))
        for each in points
        for value, item in each.subgroups.get(column, {}).items()
    ]
    headers = ("epsilon", "value", "right", "low", "high", "rows")
    spec = lines(series, title="right", across="epsilon", scale="log")
    return (
        Figure(column, spec, f"Share of right predictions by {column}, the largest groups."),
        Grid.of(headers, rows, "With 95% intervals", shares=(2, 3, 4)),
    )
