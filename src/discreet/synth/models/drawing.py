"""Rows from a model, under a condition and rules: reject, then repair, never for ever."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.core.arrays import Bits
from discreet.errors import InvalidInput
from discreet.synth.derived_columns import derive
from discreet.synth.encoding.columns import Encoding
from discreet.synth.encoding.decode import Places, places_of
from discreet.synth.encoding.shape import Codes
from discreet.synth.models.model import Allowed, Model
from discreet.synth.rules import Condition, Dependency, Rules, allowed_codes, holds

ROUNDS = 12
"""How often rows that break a rule are drawn again before they are repaired."""

MOST_MORE = 50
MOST_AT_ONCE = 50_000
"""A round draws at most 50 rows for each one that is lacking, and no more than this beyond them."""


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
    given = _given(where, kept_rules, encoding)
    if any(not mask.any() for mask in given.values()):
        raise _impossible(where, kept_rules)
    tables = [(rule, likely_codes(model, rule)) for rule in kept_rules.dependencies]

    def finished(codes: Codes) -> Places:
        for rule, table in tables:
            codes[:, rule.then] = table[tuple(codes[:, i] for i in rule.given)]
        places = derive(places_of(codes, encoding, dice), encoding, kept_rules.derivations)
        if where is None and not kept_rules.conditions:
            return places
        return places[good_rows(places, encoding, kept_rules, where)]

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


def _given(where: Condition | None, rules: Rules, encoding: Encoding) -> dict[int, Bits]:
    """Return the codes that a good row can have, as far as single columns say; the rest is checked."""
    found = {} if where is None else dict(allowed_codes(where, encoding))
    for rule in rules.conditions:
        if len(rule.columns(encoding)) != 1:
            continue
        for index, mask in allowed_codes(rule, encoding).items():
            column = encoding.coded[index]
            passing = mask.copy()
            if column.missing:
                passing[column.values] = True  # at worst it is rejected afterwards
            found[index] = found[index] & passing if index in found else passing
    # What a dependency or a derivation decides is decided after the draw.
    return {index: mask for index, mask in found.items() if index not in rules.decided}


def _collect(sample: Callable[[int], Places], rows: int) -> Places:
    """Return up to `rows` good rows, asking for more where many were bad; a bounded number of times."""
    parts: list[Places] = []
    have = asked = 0
    for _ in range(ROUNDS):
        lacking = rows - have
        if parts and lacking <= 0:
            break
        rate = (have + 1) / (asked + 1) if asked else 1.0
        count = max(lacking, int(min(lacking / rate * 1.05, lacking * MOST_MORE, MOST_AT_ONCE)))
        good = sample(count)
        asked += count
        parts.append(good[:lacking])
        have += len(parts[-1])
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def good_rows(
    places: Places, encoding: Encoding, rules: Rules, where: Condition | None = None
) -> Bits:
    """Return which rows satisfy a condition and break no rule."""
    good = np.ones(len(places), dtype=bool)
    for rule in rules.conditions:
        good &= holds(rule, places, encoding) != False  # noqa: E712  # None passes, as in CHECK
    if where is not None:
        good &= holds(where, places, encoding) == True  # noqa: E712  # None fails, as in WHERE
    return good


def likely_codes(model: Model, rule: Dependency) -> npt.NDArray[np.int32]:
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
