"""Stored answers: an answer as the ledger keeps it, with what it says about boxes of the public domain.

The noisy numbers behind an answer are kept, so that any other form of the question can be shown. Another alias,
order, LIMIT, HAVING or arrangement of columns is the same question: the same keys and aggregates of the same rows.
What was paid for is all of the noisy numbers, not the table they were first shown in. A paid number and the box it is
about are the raw material of reuse.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet.ask.plan import expr as e
from discreet.ask.plan.evaluate import tabulated
from discreet.ask.plan.expr import is_finite
from discreet.ask.plan.ir import Filter, Key, Relation, Scan
from discreet.ask.plan.measure import Measure
from discreet.ask.plan.plan import PublicGroups, Question
from discreet.ask.plan.regions import domains_of, to_box
from discreet.ask.release.selection import NO_CHOICES, Choices
from discreet.base.answer import Answer
from discreet.base.bill import Bill
from discreet.base.event import NULL, Positions, Region
from discreet.base.numbers import Epsilon
from discreet.base.schema import Domain, Table
from discreet.privacy.kernel.look import Noisy
from discreet.privacy.kernel.mechanism import Kind, LargestGroup, Law, Selection
from discreet.privacy.noise.laws import law_of


@dataclass(frozen=True, slots=True)
class KeptNoise:
    """Noisy numbers by what they measure, for the groups of some keys, and the laws of their noise."""

    keys: tuple[str, ...]
    groups: tuple[tuple[Any, ...], ...]
    measures: Mapping[str, tuple[list[int], Law]]
    choices: Mapping[str, list[Any]]
    threshold: int | None = None
    """What the number of units of each group had to reach, where groups are private."""
    chosen: Choices = NO_CHOICES
    """By which mechanisms; earlier versions did not keep them."""

    def to_json(self) -> dict[str, Any]:
        """Return plain lists and texts."""
        top = self.chosen.top
        return {
            "keys": list(self.keys),
            "groups": [[_written(value) for value in group] for group in self.groups],
            "measures": {
                name: [[str(value) for value in values], law.to_json()]
                for name, (values, law) in self.measures.items()
            },
            "choices": {
                name: [_written(value) for value in values] for name, values in self.choices.items()
            },
            **({} if self.threshold is None else {"threshold": self.threshold}),
            "selections": {
                name: [str(s.quantile), str(s.epsilon), s.bins, str(s.sensitivity)]
                for name, s in self.chosen.selections.items()
            },
            **(
                {}
                if top is None
                else {"top": [str(top.epsilon), top.flip, top.sensitivity, top.monotone]}
            ),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> KeptNoise:
        """Return what `to_json` wrote."""
        return cls(
            keys=tuple(data["keys"]),
            groups=tuple(tuple(_read(value) for value in group) for group in data["groups"]),
            measures={
                name: ([int(value) for value in values], law_of(*law))
                for name, (values, law) in data["measures"].items()
            },
            choices={name: [_read(v) for v in values] for name, values in data["choices"].items()},
            threshold=data.get("threshold"),
            chosen=Choices(
                {
                    name: Selection(Fraction(q), Fraction(epsilon), bins, Fraction(sensitivity))
                    for name, (q, epsilon, bins, sensitivity) in data.get("selections", {}).items()
                },
                _top(data.get("top")),
            ),
        )


def _top(data: list[Any] | None) -> LargestGroup | None:
    return None if data is None else LargestGroup(Fraction(data[0]), *data[1:])


def kept_noise(
    question: Question, noisy: Noisy, laws: Mapping[str, Law], choices: Choices = NO_CHOICES
) -> KeptNoise | None:
    """Return what an answer's noise says by itself; None where nothing was read."""
    if question.region.empty:
        return None
    measured = question.measured
    return KeptNoise(
        keys=tuple(map(_key, question.statement.keys)),
        groups=noisy.groups,
        measures={_name(m): (noisy.measures[name], laws[name]) for name, m in measured.measures}
        if not question.top
        else {},
        choices={_name(c): noisy.choices[name] for name, c in measured.choices},
        threshold=noisy.threshold,
        chosen=Choices(
            {
                _name(c): choices.selections[n]
                for n, c in measured.choices
                if n in choices.selections
            },
            choices.top,
        ),
    )


def shown_again(
    kept: KeptNoise, question: Question
) -> tuple[Noisy, dict[str, Law], Choices] | None:
    """Return the kept numbers under a question's own names, None where it asks for others."""
    wanted = [_key(key) for key in question.statement.keys]
    if sorted(wanted) != sorted(kept.keys):
        return None
    order = [kept.keys.index(key) for key in wanted]
    groups = tuple(tuple(group[place] for place in order) for group in kept.groups)
    if question.top:
        return Noisy(groups, {}, {}), {}, kept.chosen
    measures, laws = {}, {}
    for name, measure in question.measured.measures:
        found = kept.measures.get(_name(measure))
        if found is None:
            return None
        measures[name], laws[name] = found
    choices, selections = {}, {}
    for name, choice in question.measured.choices:
        if _name(choice) not in kept.choices:
            return None
        choices[name] = kept.choices[_name(choice)]
        if _name(choice) in kept.chosen.selections:
            selections[name] = kept.chosen.selections[_name(choice)]
    units = measures.get(question.measured.units or "")
    # Earlier versions did not keep it. The least number that passed is no lower, and then bars are only wider.
    lowest = min(units) if units else None
    threshold = lowest if kept.threshold is None else kept.threshold
    return Noisy(groups, measures, choices, threshold), laws, Choices(selections)


def _key(key: Key) -> str:
    return _name((key.value, key.domain, key.missing))


def _name(part: Any) -> str:
    # Ids of columns are given in the order of binding, so equal rows below mean equal ids.
    return hashlib.sha256(repr(part).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _written(value: Any) -> Any:
    match value:
        case None | bool() | str():
            return value
        case int():
            return {"i": str(value)}
        case Fraction():
            return {"f": str(value)}
        case dt.datetime():
            return {"m": value.isoformat()}
        case dt.date():
            return {"d": value.isoformat()}
        case _:
            return {"t": str(value)}


def _read(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    ((kind, text),) = value.items()
    return _READERS[kind](text)


_READERS: Mapping[str, Callable[[str], Any]] = {
    "i": int,
    "f": Fraction,
    "m": dt.datetime.fromisoformat,
    "d": dt.date.fromisoformat,
    "t": str,
}


MOST_CELLS = 400
"""Answers with more groups than this are not reused: the algebra would cost more than it saves."""


@dataclass(frozen=True, slots=True)
class PaidValue:
    """A noisy value of one additive measure over the rows of one table that lie in a box."""

    table: str
    measure: str
    box: tuple[tuple[str, Positions], ...]
    value: int
    law: Law

    def to_json(self) -> dict[str, Any]:
        """Return plain lists and texts."""
        return {
            "table": self.table,
            "measure": self.measure,
            "box": Region(self.box).to_json(),
            "value": str(self.value),
            "law": self.law.to_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PaidValue:
        """Return what `to_json` wrote."""
        box, law = Region.from_json(data["box"]).axes, law_of(*data["law"])
        return cls(data["table"], data["measure"], box, int(data["value"]), law)


@dataclass(frozen=True, slots=True)
class Cells:
    """The boxes of a question's groups, in order, over one table's columns.

    `ranges` are each column's first and last position. NULL is always one of them: what the engine
    reads as NULL is a row, and only a paid answer, or a condition that left such rows out, says how
    many there are. A column that the owner declared complete has that condition in every question.
    `called` gives the column behind each field: ids hold within one statement only, the names of
    columns in all.
    """

    table: str
    boxes: tuple[tuple[tuple[str, Positions], ...], ...]
    ranges: Mapping[str, tuple[int, int]]
    called: Mapping[str, str]


def cells_of(question: Question) -> Cells | None:
    """Return the exact box of each group; None where a question is not made of boxes.

    Only plain tables of row units with conditions that are boxes to the last row qualify: sums over
    such boxes add up, which is all that reuse relies on.
    """
    if not isinstance(question.groups, PublicGroups) or question.enforced:
        return None
    if question.groups.count > MOST_CELLS or question.measured.choices:
        return None
    source = question.statement.source
    scan = _scan(source)
    if scan is None or scan.unit is not None:
        return None
    base = _exact_box(source)
    if base is None:
        return None
    domains = domains_of(scan)
    called = {field.name: field.called for field in scan.fields}
    places = [_places(key, domains) for key in question.statement.keys]
    boxes = []
    for group in question.groups:
        box = dict(base)
        for found, value in zip(places, group, strict=True):
            if found is None:
                return None
            name, by_value = found
            where = by_value.get(value, Positions(()))
            box[name] = box[name] & where if name in box else where
        boxes.append(tuple(sorted((called[name], where) for name, where in box.items())))
    assert scan.dataset is not None, "every table belongs to a dataset"
    ranges = {
        called[field.name]: (NULL, field.domain.size - 1)  # type: ignore[union-attr]  # finite
        for field in scan.fields
        if is_finite(field.domain)
    }
    return Cells(f"{scan.dataset.name}.{_declared(scan.table)}", tuple(boxes), ranges, called)


def _declared(table: Table) -> str:
    """Return the table's name under its present declarations: positions mean nothing under others."""
    columns = sorted((column.name, column.fingerprint) for column in table.columns)
    return f"{table.name}@{hashlib.sha256(repr(columns).encode()).hexdigest()[:16]}"


def _scan(source: Relation) -> Scan | None:
    while isinstance(source, Filter):
        source = source.source
    return source if isinstance(source, Scan) else None


def _exact_box(source: Relation) -> dict[str, Positions] | None:
    found: dict[str, Positions] = {}
    while isinstance(source, Filter):
        box = to_box(source.condition, domains_of(source.source))
        if box.residual != e.TRUE:
            return None
        for name, positions in box.positions.items():
            found[name] = found[name] & positions if name in found else positions
        source = source.source
    return found


def _places(key: Key, domains: Mapping[str, Domain]) -> tuple[str, Mapping[Any, Positions]] | None:
    """Return the one column that a key reads and, for each value of the key, where it comes from."""
    table = tabulated(key.value, domains)
    if table is None:
        return None
    by_value: dict[Any, list[int]] = {}
    for i, value in enumerate(table):
        by_value.setdefault(value, []).append(i + NULL)
    (name,) = e.columns_of(key.value)
    return name, {value: Positions.points(found) for value, found in by_value.items()}


def signature(measure: Measure, called: Mapping[str, str]) -> str:
    """Return a text that two measures share only if they add up the same thing."""
    names = {name: e.ColumnRef(column) for name, column in called.items()}
    operand = "" if measure.operand is None else repr(e.substitute(measure.operand, names))
    return f"{measure.kind.value}|{operand}|{measure.step}|{measure.centre}|{measure.grain}"


_ADDITIVE = frozenset({Kind.ROWS, Kind.PRESENT, Kind.SUM, Kind.CENTRED, Kind.SQUARES})
"""Kinds whose values over disjoint boxes add up to that over both."""


def paid_values_from(
    question: Question, noisy: Noisy, laws: Mapping[str, Law]
) -> tuple[PaidValue, ...]:
    """Return the reusable numbers of an answer."""
    cells = cells_of(question) if laws else None
    if cells is None:
        return ()
    return tuple(
        PaidValue(cells.table, said, box, value, laws[name])
        for name, measure in question.measured.measures
        if measure.kind in _ADDITIVE
        for said in (signature(measure, cells.called),)
        for box, value in zip(cells.boxes, noisy.measures[name], strict=True)
    )


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """An answer, the epsilon it was asked at, and the noisy numbers from which it was finished."""

    answer: Answer
    epsilon: Fraction
    noise: KeptNoise | None = None


def pack(
    answer: Answer,
    known: tuple[PaidValue, ...],
    epsilon: Epsilon,
    noise: KeptNoise | None = None,
) -> bytes:
    """Return the stored form: JSON, nothing that runs."""
    data = {
        "answer": answer.to_json(),
        "exact": answer.bill.exact(),
        "epsilon": str(epsilon.value),
        "known": [item.to_json() for item in known],
        "noise": None if noise is None else noise.to_json(),
    }
    return json.dumps(data, separators=(",", ":")).encode()


@lru_cache(maxsize=512)
def unpack(payload: bytes) -> KeptAnswer:
    """Return what `pack` wrote."""
    data = json.loads(payload)
    # In older ledgers, number of keys and covariance stood beside the answer.
    beside = {name: data[name] for name in ("keys", "covariance") if name in data}
    said = data["answer"] | beside
    bill = Bill.from_exact(data["exact"], free=said["free"])
    answer = replace(Answer.from_json(said), bill=bill)
    noise = data.get("noise")
    return KeptAnswer(
        answer, Fraction(data["epsilon"]), None if noise is None else KeptNoise.from_json(noise)
    )


@lru_cache(maxsize=512)
def paid_values_in(payload: bytes) -> tuple[PaidValue, ...]:
    """Return the reusable numbers of what `pack` wrote; read by themselves, as few answers are reused."""
    return tuple(PaidValue.from_json(item) for item in json.loads(payload)["known"])
