"""Rows of a child table from its model: all at once, or as events, one after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from discreet.synth.encoding.columns import Encoding
from discreet.synth.encoding.decode import Places, places_of
from discreet.synth.encoding.shape import Codes
from discreet.synth.linked.child_rules import ChildRules, drawn_by_rules
from discreet.synth.linked.counted_rows import ranks
from discreet.synth.model_file import Saved
from discreet.synth.models.layered import Layered
from discreet.synth.models.model import Dice
from discreet.synth.synthetic import codes_of


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
