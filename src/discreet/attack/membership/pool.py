"""The people that a membership game is about: the town's, or those of the user's own file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from discreet.attack.own_file import OwnPeople, own_people, people_of
from discreet.attack.registry import AttackSettings
from discreet.attack.town import staged
from discreet.errors import InvalidInput
from discreet.examples import parameters as p
from discreet.examples.people import JOBS, REGIONS, SEXES

FEWEST = 40


def people_to_attack(chosen: AttackSettings) -> OwnPeople:
    """Return `people` people drawn from the file that was named, or from the town."""
    wanted = chosen.whole("people")
    if chosen.text("original"):
        found = own_people(chosen.text("original"), chosen.words("columns"))
    else:
        with staged(wanted, tables=("people",), seed=chosen.whole("seed")) as made:
            found = people_of(made.load("people").select(list(DECLARED)))
    if found.rows.num_rows < FEWEST:
        raise InvalidInput(
            f"A game of coins needs at least {FEWEST} people; the file has {found.rows.num_rows}."
        )
    dice = np.random.default_rng(chosen.whole("seed"))
    order = dice.permutation(found.rows.num_rows)[:wanted]
    return OwnPeople(found.rows.take(pa.array(order)), found.domains)


def _among(values: Sequence[str], more: str = "") -> str:
    return f'type = "category", values = [{", ".join(chr(34) + v + chr(34) for v in values)}]{more}'


def _from(low: int, high: int, more: str = "") -> str:
    return f'type = "integer", lower = {low}, upper = {high}{more}'


DECLARED: dict[str, str] = {
    "age": _from(0, 120),
    "sex": _among(SEXES),
    "region": _among(REGIONS),
    "education": _among(p.EDUCATIONS, ", missing = true"),
    "job": _among(JOBS),
    "income": _from(0, p.INCOME_UPPER, ", missing = true"),
    "married": 'type = "boolean"',
    "household_size": _from(1, 8),
    "smoker": 'type = "boolean"',
    "height": _from(30, 230),
}
"""The columns of people that are copied, with their domains: public, from the published recipe."""
