"""The models of linked tables, and rows of all of them whose keys join."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.errors import InvalidInput
from discreet.synth.encoding.columns import Coded, Encoding, MadeUpIdentifier
from discreet.synth.encoding.decode import NULL, Places, made_up_values, to_table
from discreet.synth.encoding.shape import Codes
from discreet.synth.linked.child_rules import ChildRules
from discreet.synth.linked.event_drawing import (
    EventModel,
    below_of,
    draw_events,
    draw_kept,
    moments_in_order,
)
from discreet.synth.model_file import Saved, from_text, packed, to_text
from discreet.synth.models.drawing import draw
from discreet.synth.models.model import Dice
from discreet.synth.rules import read_rules
from discreet.synth.synthetic import codes_of

MOST_ROWS = 50_000_000
"""Rows of one table of a linked copy: all of them are held at once, since keys join."""


@dataclass(frozen=True, slots=True)
class LinkedPart:
    """The model of one table: `saved` has its own columns, numbers of children, its parent's.

    `own` of them are the table's; `above` come last. `columns` is the table as it is written.
    Where a parent's rows are events in time, `saved` is the model of the first of them.
    """

    name: str
    parent: str | None
    unit: str
    key: str | None
    children: tuple[str, ...]
    own: int
    above: int
    columns: Encoding
    saved: Saved
    events: EventModel | None = None


@dataclass(frozen=True, slots=True)
class LinkedModel:
    """All models of a tree of tables, parents first; plain facts beside them."""

    parts: tuple[LinkedPart, ...]
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class DrawnRows:
    """Rows of one table while others are drawn: codes, positions, and where their parents are."""

    codes: Codes
    places: Places
    parents: np.ndarray
    people: np.ndarray


def draw_linked(model: LinkedModel, rows: int | None, *, dice: Dice) -> dict[str, DrawnRows]:
    """Return rows for every table: as many people as asked for, children as their parents say."""
    found: dict[str, DrawnRows] = {}
    for part in model.parts:
        if part.parent is None:
            found[part.name] = _draw_root(part, rows, dice)
        else:
            above = next(each for each in model.parts if each.name == part.parent)
            found[part.name] = _draw_below(part, above, found[part.parent], dice)
    return found


def _draw_root(part: LinkedPart, rows: int | None, dice: Dice) -> DrawnRows:
    saved = part.saved
    wanted = max(1, saved.usual_rows) if rows is None else rows
    if isinstance(wanted, bool) or not 0 <= wanted <= MOST_ROWS:
        raise InvalidInput(f"The number of rows must be a whole number from 0 to {MOST_ROWS:,}.")
    return draw_people(saved, wanted, dice=dice)


def draw_people(saved: Saved, rows: int, *, dice: Dice) -> DrawnRows:
    """Return that many rows of the table of people, by its rules."""
    rules = read_rules(saved.rules, saved.encoding)
    drawn = draw(saved.model, saved.encoding, rows, dice=dice, rules=rules)
    codes = codes_of(drawn.places, saved.encoding)
    return DrawnRows(codes, drawn.places, np.arange(rows), np.arange(rows))


def _draw_below(part: LinkedPart, above: LinkedPart, parents: DrawnRows, dice: Dice) -> DrawnRows:
    which = expanded(part.name, above, parents)
    known = known_codes(above, parents, which)
    return DrawnRows(*draw_rows(part, known, which, dice=dice), which, parents.people[which])


def draw_rows(
    part: LinkedPart, known: Codes, which: np.ndarray, *, dice: Dice
) -> tuple[Codes, Places]:
    """Return codes and positions of a child table's rows; `which` is the place of each one's parent."""
    if part.events is not None:
        return draw_events(part.saved, part.above, part.events, known, which, dice=dice)
    rules = ChildRules(part.saved, part.own)
    places = draw_kept(part.saved, part.above, known, rules, dice=dice)
    return codes_of(places, below_of(part.saved, part.above)), places


def known_codes(above: LinkedPart, parents: DrawnRows, which: np.ndarray) -> Codes:
    """Return the parent's codes for each row: its own columns and its numbers of children."""
    known: Codes = parents.codes[which][:, : above.own + len(above.children)]
    return known


def expanded(table: str, above: LinkedPart, parents: DrawnRows) -> np.ndarray:
    """Return the place of each row's parent: as often as that parent has rows of a table."""
    column = above.own + above.children.index(table)
    places = parents.places[:, column]
    many = np.where(places == NULL, 0, places + 1)
    if int(many.sum()) > MOST_ROWS:
        raise InvalidInput(f"A linked copy has at most {MOST_ROWS:,} rows in a table.")
    return np.repeat(np.arange(len(places)), many)


def linked_tables(
    model: LinkedModel, rows: int | None = None, *, seed: int | None = None
) -> dict[str, pa.Table]:
    """Return made-up rows of every table; every key of a child is there in its parent.

    `seed` makes them repeatable; the guarantee hangs on the models, not on these dice.
    """
    dice = np.random.default_rng(seed)  # no guarantee hangs on these dice: the models are paid for
    drawn = draw_linked(model, rows, dice=dice)
    return {part.name: _table(part, model, drawn, dice) for part in model.parts}


def _table(
    part: LinkedPart, model: LinkedModel, drawn: Mapping[str, DrawnRows], dice: Dice
) -> pa.Table:
    mine = drawn[part.name]
    coded = Encoding(part.name, part.saved.encoding.coded[: part.own])
    values = to_table(mine.places[:, : part.own], coded, dice)
    if part.events is not None:
        values = moments_in_order(values, part.events.place, mine.parents)
    names = values.column_names
    columns: dict[str, pa.Array] = {}
    for column in part.columns.columns:
        if isinstance(column, Coded):
            columns[column.name] = values.column(names.index(column.name))
        else:
            columns[column.name] = _identifier(column, part, model, drawn)
    return pa.table(columns)


def _identifier(
    column: MadeUpIdentifier, part: LinkedPart, model: LinkedModel, drawn: Mapping[str, DrawnRows]
) -> pa.Array:
    """Return an identifier's values: the person's, the parent row's, or one of the row's own."""
    mine = drawn[part.name]
    if column.name == part.unit:
        return made_up_values(mine.people + 1, column, len(drawn[model.parts[0].name].people))
    if part.key is not None and column.name == part.key:
        return made_up_values(mine.parents + 1, column, len(drawn[str(part.parent)].parents))
    return made_up_values(np.arange(1, len(mine.people) + 1), column, len(mine.people))


_PLAIN = ("name", "parent", "unit", "key", "children", "own", "above")
"""Fields of a part that are kept as they are."""


def pack_linked(model: LinkedModel) -> bytes:
    """Return the models as the ledger keeps them."""
    data = {
        "facts": dict(model.facts),
        "parts": [
            {name: getattr(part, name) for name in _PLAIN}
            | {
                "identifiers": _identifiers(part.columns),
                "saved": to_text(part.saved),
                "events": None if part.events is None else part.events.place,
                "later": None if part.events is None else to_text(part.events.later),
            }
            for part in model.parts
        ],
    }
    return packed(json.dumps(data, separators=(",", ":")))


def _identifiers(encoding: Encoding) -> list[list[Any]]:
    """Return where the made-up columns stand among the others."""
    return [
        [i, column.name, column.whole]
        for i, column in enumerate(encoding.columns)
        if isinstance(column, MadeUpIdentifier)
    ]


def unpack_linked(payload: bytes) -> LinkedModel:
    """Return the models that `pack_linked` wrote."""
    data = json.loads(zlib.decompress(payload))
    return LinkedModel(tuple(_part(item) for item in data["parts"]), data["facts"])


def _part(item: Mapping[str, Any]) -> LinkedPart:
    saved = from_text(item["saved"], name=item["name"])
    events = None
    if item.get("later") is not None:
        later = from_text(item["later"], name=item["name"])
        events = EventModel(item["events"], item["own"], later)
    columns = _columns(saved.encoding.coded[: item["own"]], item["identifiers"])
    return LinkedPart(
        **{name: item[name] for name in _PLAIN} | {"children": tuple(item["children"])},
        columns=Encoding(item["name"], columns),
        saved=saved,
        events=events,
    )


def _columns(
    coded: Sequence[Coded], identifiers: Sequence[Sequence[Any]]
) -> tuple[Coded | MadeUpIdentifier, ...]:
    found: list[Coded | MadeUpIdentifier] = list(coded)
    for place, name, whole in identifiers:
        found.insert(place, MadeUpIdentifier(name, whole))
    return tuple(found)
