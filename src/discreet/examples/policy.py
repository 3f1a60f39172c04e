"""The town's discreet.toml: every domain is declared, because every one is public here."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator, Sequence

from discreet.examples import parameters as p
from discreet.examples.dosing import CYP2C9, RACES
from discreet.examples.people import JOBS, REGIONS, SEXES, zip_values
from discreet.examples.visits import DIAGNOSES

MAX_VISITS = 20
MAX_RATINGS = 200

_HEAD = """\
# The made-up town, written by discreet.examples.town. Nobody in it exists; treat it as if they did.
# Its domains come from the published recipe (docs/town.md), not from the rows.
# voters.parquet is left out on purpose: it is what an attacker has.

[engine]
url = "duckdb:"
[ledger]
url = "sqlite:ledger.db"
"""


def policy_text(people: int, tables: Collection[str]) -> str:
    """Return the text of discreet.toml for a town of this size with these tables."""
    parts = [_HEAD]
    if "people" in tables or "visits" in tables:
        parts.append(_dataset("town", "the people of the town and their hospital visits"))
    if "people" in tables:
        # Alone, a row is a person. Beside the visits, both tables must protect the same unit.
        shared = "visits" in tables
        unit = 'unit = "person_id"\nmax_rows = 1' if shared else 'unit = "row"'
        constant = ", constant = true" if shared else ""
        parts.append(_table("town", "people", unit, _people_columns(people, constant)))
        parts.append(_table("town", "regions", "public = true\nkey_copies = 1", _region_columns()))
    if "visits" in tables:
        unit = f'unit = "person_id"\nmax_rows = {MAX_VISITS}'
        parts.append(_table("town", "visits", unit, _visit_columns()))
    if "ratings" in tables:
        parts.append(_dataset("films", "members of a film club; none of them lives in the town"))
        unit = f'unit = "user_id"\nmax_rows = {MAX_RATINGS}'
        parts.append(_table("films", "ratings", unit, _rating_columns()))
    if "dosing" in tables:
        parts.append(_dataset("clinic", "patients of a clinic elsewhere, one row each"))
        parts.append(_table("clinic", "dosing", 'unit = "row"', _dosing_columns()))
    return "\n".join(parts)


def _dataset(name: str, what: str) -> str:
    return (
        f"# {what}\n[datasets.{name}]\nepsilon = 1.0\ndelta = 1e-9\n"
        "public_rows = true # nobody in it exists, so a class may rehearse; never for real people\n"
    )


def _table(dataset: str, table: str, unit: str, columns: Iterator[str]) -> str:
    place = f"datasets.{dataset}.tables.{table}"
    head = f'[{place}]\nsource = "{table}.parquet"\n{unit}\n[{place}.columns]\n'
    return head + "".join(f"{line}\n" for line in columns)


def _people_columns(people: int, constant: str) -> Iterator[str]:
    yield _plain("person_id", "identifier")
    yield _span("age", "integer", 0, 120, constant)
    first = dt.date(p.REFERENCE_DAY.year - 120, 1, 1)
    immutable = f"{constant}, immutable = true"
    yield _span("birth_date", "date", first, p.REFERENCE_DAY, immutable)
    yield _choice("sex", SEXES, constant)
    yield _choice("region", REGIONS, constant)
    yield _choice("zip", zip_values(people), constant)
    yield _choice("education", p.EDUCATIONS, constant)
    yield _choice("job", JOBS, constant)
    yield _span("income", "integer", 0, p.INCOME_UPPER, constant)
    yield _plain("married", "boolean", constant)
    yield _span("household_size", "integer", 1, 8, constant)
    yield _plain("smoker", "boolean", constant)
    yield _span("height", "integer", 30, 230, constant)


def _region_columns() -> Iterator[str]:
    yield _choice("region", REGIONS)
    yield _choice("county", p.COUNTIES)


def _visit_columns() -> Iterator[str]:
    yield _plain("person_id", "identifier")
    yield _span("date", "date", p.VISIT_FIRST_DAY, p.VISIT_LAST_DAY)
    yield _choice("ward", p.WARDS)
    yield _choice("diagnosis", DIAGNOSES)
    yield _span("days", "integer", 0, p.DAYS_MOST)
    yield _span("cost", "number", 0, p.COST_UPPER, ", step = 0.01")


def _rating_columns() -> Iterator[str]:
    yield _plain("user_id", "identifier")
    yield _span("film_id", "integer", 1, p.FILMS)
    yield _span("rating", "integer", 1, 5)
    yield _span("date", "date", p.RATING_FIRST_DAY, p.RATING_LAST_DAY)


def _dosing_columns() -> Iterator[str]:
    yield _plain("patient_id", "identifier")
    yield _span("age", "integer", p.DOSING_AGE_LOWER, p.DOSING_AGE_UPPER)
    yield _choice("sex", SEXES)
    yield _choice("race", RACES)
    yield _span("height", "integer", p.DOSING_HEIGHT_LOWER, p.DOSING_HEIGHT_UPPER)
    yield _span("weight", "number", p.DOSING_WEIGHT_LOWER, p.DOSING_WEIGHT_UPPER, ", step = 0.1")
    yield _choice("vkorc1", p.VKORC1)
    yield _choice("cyp2c9", CYP2C9)
    yield _plain("amiodarone", "boolean")
    yield _plain("inducer", "boolean")
    yield _span("dose", "number", p.DOSE_LOWER, p.DOSE_UPPER, ", step = 0.5")


def _plain(name: str, kind: str, more: str = "") -> str:
    return f'{name} = {{ type = "{kind}"{more} }}'


def _span(name: str, kind: str, lower: object, upper: object, more: str = "") -> str:
    return f'{name} = {{ type = "{kind}", lower = {lower}, upper = {upper}{more} }}'


def _choice(name: str, values: Sequence[str], more: str = "") -> str:
    listed = ", ".join(f'"{value}"' for value in values)
    return f'{name} = {{ type = "category", values = [{listed}]{more} }}'
