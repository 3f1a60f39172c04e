"""Rows from a model, under a condition and rules: reject, then repair, never for ever."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidInput
from discreet.synth.columns import Encoding
from discreet.synth.decode import Places, places_of
from discreet.synth.model import Allowed, Model
from discreet.synth.rules import Condition, Dependency, Rules, allowed_codes, holds
from discreet.synth.shape import Codes

ROUNDS = 24
"""How often rows that break a rule are drawn again before they are repaired."""

MOST_AT_ONCE = 1_000_000
LEAST_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Drawn:
    """Positions of the rows, and how many of them had to be repeated from others."""

    places: Places
    repeated: int


def draw(
    model: Model,
    encoding: Encoding,
    rows: int,
    *,
    dice: np.random.Generator,  # no guarantee hangs on these dice: the model is paid for
    where: Condition | None = None,
    rules: Rules | None = None,
) -> Drawn:
    """Return that many rows, each of which satisfies `where` and breaks no rule."""
    kept_rules = rules or Rules()
    given = {} if where is None else dict(allowed_codes(where, encoding))
    if any(not mask.any() for mask in given.values()):
        raise _impossible(where, kept_rules)
    tables = [(rule, _table(model, rule)) for rule in kept_rules.dependencies]

    def finished(codes: Codes) -> Places:
        for rule, table in tables:
            codes[:, rule.then] = table[tuple(codes[:, i] for i in rule.given)]
        places = places_of(codes, encoding, dice)
        return places[_good(places, encoding, where, kept_rules)]

    found = _collect(
        lambda count: finished(model.sample(count, dice=dice, given=given or None)), rows
    )
    if not len(found) and rows:
        # The model gives such rows no weight; any row that keeps the rules is better than none.
        found = _collect(lambda count: finished(_uniform(encoding, count, given, dice)), rows)
    if not len(found) and rows:
        raise _impossible(where, kept_rules)
    lacking = rows - len(found)
    if lacking:
        found = np.concatenate([found, found[dice.integers(0, len(found), lacking)]])
    return Drawn(found, lacking)


def _collect(sample: Callable[[int], Places], rows: int) -> Places:
    """Return up to `rows` good rows, asking for more where many were bad; a bounded number of times."""
    parts: list[Places] = []
    have = asked = 0
    for _ in range(ROUNDS):
        lacking = rows - have
        if lacking <= 0:
            break
        rate = (have + 1) / (asked + 1) if asked else 1.0
        count = int(min(max(lacking / rate * 1.05, LEAST_AT_ONCE if asked else 1), MOST_AT_ONCE))
        count = max(count, min(lacking, MOST_AT_ONCE))
        good = sample(count)
        asked += count
        parts.append(good[:lacking])
        have += len(parts[-1])
    return np.concatenate(parts) if parts else np.zeros((0, 0), dtype=np.int64)


def _good(
    places: Places, encoding: Encoding, where: Condition | None, rules: Rules
) -> npt.NDArray[np.bool_]:
    good = np.ones(len(places), dtype=bool)
    for rule in rules.conditions:
        good &= holds(rule, places, encoding) != False  # noqa: E712  # None passes, as in CHECK
    if where is not None:
        good &= holds(where, places, encoding) == True  # noqa: E712  # None fails, as in WHERE
    return good


def _table(model: Model, rule: Dependency) -> npt.NDArray[np.int32]:
    """Return the code of `then` for each code of `given`: the most likely one under the model."""
    columns = (*rule.given, rule.then)
    order = sorted(columns)
    counts = model.marginal(tuple(order))
    turned = np.moveaxis(counts, [order.index(column) for column in columns], range(len(columns)))
    best: npt.NDArray[np.int32] = turned.argmax(axis=-1).astype(np.int32)
    return best


def _uniform(
    encoding: Encoding,
    rows: int,
    given: Allowed,
    dice: np.random.Generator,  # no guarantee hangs on these dice: they see no data
) -> Codes:
    codes = np.empty((rows, encoding.shape.width), dtype=np.int32)
    for i, size in enumerate(encoding.shape.sizes):
        choices = np.flatnonzero(given[i]) if i in given else np.arange(size)
        codes[:, i] = dice.choice(choices, rows)
    return codes


def _impossible(where: Condition | None, rules: Rules) -> InvalidInput:
    said = [*([] if where is None else [where.text]), *rules.texts]
    shown = "; ".join(text[:80] for text in said[:3])
    return InvalidInput(
        f"No row can satisfy all of: {shown}.", hint="Relax the condition or drop a rule."
    )
