"""Candidate people of a membership game: the town's, or those of the user's own file."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from discreet.attack.attacks import AttackSettings
from discreet.attack.curator import BOOLEAN, categories, temporary_town, whole_numbers
from discreet.attack.files import OwnPeople, people_of, read_rows
from discreet.catalog.declare.toml_text import WrittenTable
from discreet.errors import InvalidInput
from discreet.examples import parameters as p
from discreet.examples.people import JOBS, REGIONS, SEXES

FEWEST = 40


def people_to_attack(chosen: AttackSettings) -> OwnPeople:
    """Return `people` people drawn from the file that was named, or from the town."""
    wanted = chosen.whole("people")
    if chosen.text("original"):
        found = people_of(read_rows(chosen.text("original")), chosen.words("columns"))
    else:
        with temporary_town(wanted, tables=("people",), seed=chosen.whole("seed")) as made:
            found = people_of(made.load("people").select(list(DECLARED)))
    if found.rows.num_rows < FEWEST:
        raise InvalidInput(
            f"A game of coins needs at least {FEWEST} people; the file has {found.rows.num_rows}."
        )
    dice = np.random.default_rng(chosen.whole("seed"))
    order = dice.permutation(found.rows.num_rows)[:wanted]
    return OwnPeople(found.rows.take(pa.array(order)), found.domains)


DECLARED: dict[str, WrittenTable] = {
    "age": whole_numbers(0, 120),
    "sex": categories(SEXES),
    "region": categories(REGIONS),
    "education": {**categories(p.EDUCATIONS), "missing": True},
    "job": categories(JOBS),
    "income": {**whole_numbers(0, p.INCOME_UPPER), "missing": True},
    "married": BOOLEAN,
    "household_size": whole_numbers(1, 8),
    "smoker": BOOLEAN,
    "height": whole_numbers(30, 230),
}
"""The columns of people that are copied, with their domains: public, from the published recipe."""
