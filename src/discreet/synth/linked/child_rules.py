"""Rules of a table below people: kept in every row, though each row hangs on its parent."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.core.arrays import Bits
from discreet.errors import InvalidInput
from discreet.synth.derived_columns import derive
from discreet.synth.encoding.columns import Encoding
from discreet.synth.encoding.decode import Places
from discreet.synth.model_file import Saved
from discreet.synth.models.drawing import good_rows, likely_codes
from discreet.synth.models.model import Dice
from discreet.synth.rules import read_rules
from discreet.synth.synthetic import codes_of

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
