"""The models of linked tables, and copies of all of them whose keys join.

Rows of a child table come from its model all at once, or as events, one after the other; its rules are kept
in every row, though each row hangs on its parent.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.base import display
from discreet.base.arrays import Bits, Integers
from discreet.base.bill import Charged
from discreet.base.display import ShownInLines, ShownLines
from discreet.errors import InvalidInput
from discreet.measure.columns import Coded, Encoding, MadeUpIdentifier
from discreet.measure.decoding import NULL, Places, decimals_of, made_up_values, places_of, to_table
from discreet.measure.shape import Codes
from discreet.show.rows import CsvStyle, style_from, write_rows
from discreet.work.synth.model_file import Saved, from_text, packed, to_text
from discreet.work.synth.models.maximum_entropy import Layered
from discreet.work.synth.models.model import Dice
from discreet.work.synth.rules import derive, read_rules
from discreet.work.synth.synthetic import codes_of, draw, good_rows, likely_codes

TRIES = 12
"""How often a row that breaks a rule is drawn again, given the same parent."""

Draw = Callable[[np.ndarray], Places]
"""From the places of some rows to new positions for them."""

Test = Callable[[np.ndarray, Places], Bits]
"""Whether rows at these places may have these positions."""


class ChildRules:
    """The rules of one table, over its own columns; those that the parent's bring are its parent's."""

    def __init__(self, saved: Saved, own: int) -> None:
        self.own = Encoding(saved.encoding.table, saved.encoding.coded[:own])
        self.rules = read_rules(saved.rules, self.own)
        self.tables = [(rule, likely_codes(saved.model, rule)) for rule in self.rules.dependencies]

    def applied(self, places: Places) -> Places:
        """Return the rows with what follows from other columns computed."""
        if self.tables:
            codes = codes_of(places[:, : len(self.own.coded)], self.own)
            for rule, table in self.tables:
                codes[:, rule.then] = table[tuple(codes[:, i] for i in rule.given)]
                # A column that others decide has a code for each value, so codes are positions.
                gap = self.own.coded[rule.then].missing
                last = self.own.coded[rule.then].values
                found = codes[:, rule.then].astype(np.int64)
                places[:, rule.then] = np.where(gap & (found == last), -1, found)
        return derive(places, self.own, self.rules.derivations)

    def kept(self, places: Places) -> Bits:
        """Return which rows break no rule."""
        return good_rows(places, self.own, self.rules)


def drawn_by_rules(draw: Draw, rows: int, rules: ChildRules, test: Test, *, dice: Dice) -> Places:
    """Return rows that keep the rules and pass a test, each drawn given its own parent.

    What fails is drawn again, a bounded number of times; what then fails a rule takes the values of
    a row that keeps all of them. `test` may stay unmet: the caller repairs that.
    """
    every = np.arange(rows)
    places = rules.applied(draw(every))
    bad = every[~(rules.kept(places) & test(every, places))]
    for _ in range(TRIES):
        if not bad.size:
            return places
        places[bad] = rules.applied(draw(bad))
        bad = bad[~(rules.kept(places[bad]) & test(bad, places[bad]))]
    broken = every[~rules.kept(places)]
    if broken.size == rows and places.shape[1] == len(rules.own.coded):
        # A few rows of an unlucky parent: any that keep the rules are better than none.
        sizes = [each.positions for each in rules.own.coded]
        for _ in range(TRIES):
            places[broken] = rules.applied(dice.integers(0, sizes, (broken.size, len(sizes))))
            broken = every[~rules.kept(places)]
    if broken.size == rows:
        shown = "; ".join(text[:80] for text in rules.rules.texts[:3])
        raise InvalidInput(
            f"No row of '{rules.own.table}' can satisfy all of: {shown}.", hint="Drop a rule."
        )
    if broken.size:
        good = np.setdiff1d(every, broken)
        places[broken] = places[dice.choice(good, broken.size)]
    return places


TYPICAL = 0.01
"""Share of the rows in a cell that matters."""

PART = 0.1
"""Part of a table's budget that one of its measurements typically gets."""


def rows_worth_counting(people: Integers, most: int, noise: float) -> int:
    """Return how many rows of each person to count, from 1 to `most`.

    `people` says whose each made-up row is (paid for with the table above), `noise` is the standard
    deviation of one count if each person had one row and the whole budget. With m rows a person, R
    rows are counted with noise m times as large: the variance of a share p is p / R for the rows
    drawn and (m noise / R)^2 for the noise; the least sum of both is taken.
    """
    _, many = np.unique(people, return_counts=True)
    best, least = 1, np.inf
    for rows in range(1, most + 1):
        counted = max(float(np.minimum(many, rows).sum()), 1.0)
        error = TYPICAL / counted + (rows * noise / counted) ** 2 / PART
        if error < least:
            best, least = rows, error
    return best


def at_most(people: Integers, most: int, dice: Dice) -> Integers:
    """Return the places of rows of which each person has at most so many, chosen by chance.

    >>> at_most(np.array([5, 5, 5, 7]), 1, np.random.default_rng(0)).size
    2
    """
    order = dice.permutation(people.size)
    order = order[np.argsort(people[order], kind="stable")]
    return np.sort(order[ranks(people[order]) < most])


def ranks(parents: np.ndarray) -> np.ndarray:
    """Return 0, 1, ... for the rows of each parent, which stand together.

    >>> ranks(np.array([4, 4, 7])).tolist()
    [0, 1, 0]
    """
    if not parents.size:
        return parents
    starts = np.flatnonzero(np.r_[True, parents[1:] != parents[:-1]])
    return np.arange(parents.size) - np.repeat(starts, np.diff(np.r_[starts, parents.size]))


@dataclass(frozen=True, slots=True)
class EventModel:
    """The model of rows that follow another one; `place` is that of their day among the `own` columns.

    In `later` the days since the row before stand at that place; known are the columns of the row
    before, then those of the parent.
    """

    place: int
    own: int
    later: Saved


def draw_below(saved: Saved, above: int, known: Codes, *, dice: Dice) -> Codes:
    """Return the codes of rows whose last `above` columns are known."""
    width = saved.encoding.shape.width
    model, given = saved.model, tuple(range(width - above, width))
    if isinstance(model, Layered):
        return model.draw_given(given, known, dice=dice)
    # Single columns, where the fit could not be trusted: nothing hangs on the parent.
    return model.sample(len(known), dice=dice)[:, : width - above]


def below_of(saved: Saved, above: int) -> Encoding:
    """Return the columns that are drawn: all but the last ones, which are known."""
    coded = saved.encoding.coded
    return Encoding(saved.encoding.table, coded[: len(coded) - above])


def draw_events(
    first: Saved, above: int, events: EventModel, known: Codes, parents: np.ndarray, *, dice: Dice
) -> tuple[Codes, Places]:
    """Return codes and positions of rows that follow each other within each parent.

    Rows of one parent stand together; `known` are the parents' codes. The first row of each parent
    comes from the first model; each other one is drawn given the row before it, and its day is that
    row's and the days between, so days never run backwards.
    """
    below = below_of(first, above)
    rules = ChildRules(first, events.own)
    rank = ranks(parents)
    codes = np.zeros((len(parents), below.shape.width), dtype=np.int32)
    places = np.zeros(codes.shape, dtype=np.int64)
    for step in range(int(rank.max(initial=-1)) + 1):
        rows = np.flatnonzero(rank == step)
        if step == 0:
            places[rows] = draw_kept(first, above, known[rows], rules, dice=dice)
        else:
            given = np.concatenate([codes[rows - 1][:, : events.own], known[rows]], axis=1)
            days = places[rows - 1, events.place]
            places[rows] = _following(events, given, days, (below, rules), dice)
        codes[rows] = codes_of(places[rows], below)
    return codes, places


def draw_kept(saved: Saved, above: int, known: Codes, rules: ChildRules, *, dice: Dice) -> Places:
    """Return the positions of rows whose last columns are known, by the rules of their table."""
    below = below_of(saved, above)

    def draw(rows: np.ndarray) -> Places:
        return places_of(draw_below(saved, above, known[rows], dice=dice), below, dice)

    return drawn_by_rules(draw, len(known), rules, _anything, dice=dice)


def _anything(rows: np.ndarray, _places: Places) -> np.ndarray:
    return np.ones(len(rows), dtype=bool)


def _following(
    events: EventModel,
    given: Codes,
    days: np.ndarray,
    by: tuple[Encoding, ChildRules],
    dice: Dice,
) -> Places:
    """Return the positions of rows that follow others, whose days are known."""
    below, rules = by
    later = below_of(events.later, given.shape[1])
    last = below.coded[events.place].positions - 1

    def draw(rows: np.ndarray) -> Places:
        codes = draw_below(events.later, given.shape[1], given[rows], dice=dice)
        places = places_of(codes, later, dice)
        places[:, events.place] += days[rows]
        return places

    def in_time(_rows: np.ndarray, places: Places) -> np.ndarray:
        return np.asarray(places[:, events.place] <= last)

    found = drawn_by_rules(draw, len(given), rules, in_time, dice=dice)
    # Too late for any gap that the model likes, or taken from another row: some day that is left.
    day = found[:, events.place]
    odd = (day > last) | (day < days)
    found[odd, events.place] = dice.integers(days[odd], last, endpoint=True)
    return found


def moments_in_order(table: pa.Table, place: int, parents: np.ndarray) -> pa.Table:
    """Return the rows with their moments ascending within each parent: seconds are drawn apart."""
    column = table.column(place)
    if not pa.types.is_timestamp(column.type):
        return table
    moments = np.from_dlpack(column.combine_chunks().cast(pa.int64()))
    ordered = moments[np.lexsort((moments, parents))]
    made = pa.Array.from_buffers(column.type, len(ordered), [None, pa.py_buffer(ordered)])
    return table.set_column(place, table.column_names[place], made)


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


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class LinkedSynthetic(ShownInLines, Charged):
    """Synthetic copies of the tables of a dataset. `sample` draws others, free of charge."""

    model: LinkedModel
    tables: Mapping[str, pa.Table]
    request_id: str
    notices: tuple[str, ...]
    seconds: float

    @property
    def private(self) -> bool:
        """Return whether the noise came from the operating system's entropy."""
        return bool(self.model.facts.get("private", True))

    def sample(self, rows: int | None = None) -> dict[str, pa.Table]:
        """Return other rows from the same models, free; `rows` is the number of people."""
        return linked_tables(self.model, rows)

    def write(self, path: str | Path) -> None:
        """Write one CSV file for each table into a folder, or into a .zip file."""
        csv = self.model.facts.get("csv", {})
        styles = {
            part.name: style_from(csv.get(part.name), decimals_of(part.columns.columns))
            for part in self.model.parts
        }
        write_linked(self.tables, Path(path), styles)

    def to_json(self) -> dict[str, Any]:
        """Return the facts that `discreet synth --json` prints; not the rows themselves."""
        return {
            "rows": sum(table.num_rows for table in self.tables.values()),
            "tables": {
                name: {"rows": table.num_rows, "columns": table.column_names}
                for name, table in self.tables.items()
            },
            "columns": [
                f"{name}.{column}"
                for name, table in self.tables.items()
                for column in table.column_names
            ],
            "method": "auto",
            **self.bill.to_json(),
            "seconds": round(self.seconds, 3),
            "agreement": min(part.saved.facts["agreement"] for part in self.model.parts),
            "request_id": self.request_id,
            "notices": list(self.notices),
        }

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return display.linked_lines(self.to_json())


def write_linked(
    tables: Mapping[str, pa.Table], path: Path, styles: Mapping[str, CsvStyle]
) -> None:
    """Write tables as CSV files into a folder that is made if needed, or into one .zip file."""
    if path.suffix.lower() == ".zip":
        with TemporaryDirectory() as scratch:
            write_linked(tables, Path(scratch), styles)
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                for name in tables:
                    archive.write(Path(scratch) / f"{name}.csv", f"{name}.csv")
        return
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise InvalidInput(f"The folder '{path}' cannot be made.") from None
    for name, table in tables.items():
        write_rows(table, path / f"{name}.csv", style=styles[name])
