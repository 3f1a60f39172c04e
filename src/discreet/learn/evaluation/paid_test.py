"""A test on rows that are not public: charged to their own dataset, subgroups too, before it is run."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.core.numbers import Delta
from discreet.core.schema import Table
from discreet.engine.base import Engine, PaidReader
from discreet.errors import InvalidInput, UnknownName
from discreet.kernel.nodes import Unfit
from discreet.learn.evaluation.score import MOST_SUBGROUPS, Z95, noisy_share
from discreet.learn.measure.columns import is_ordered
from discreet.learn.measure.rows import PaidRows, fetch
from discreet.learn.one_look import CheckedLook, PlannedLook, planned_look
from discreet.learn.prepare import private_scan
from discreet.learn.sgd.model import AnyClassifier
from discreet.noise.rng import Rng
from discreet.plan.ir import Scan
from discreet.release.desk import Desk
from discreet.synth.columns import Coded
from discreet.synth.measure.private_marginals import Measured, PrivateMarginals
from discreet.synth.measure.sealing import SealedCodes, seal_codes
from discreet.synth.shape import Shape

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
