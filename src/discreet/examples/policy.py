"""The town's discreet.toml: every domain is declared, because every one is public here."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from typing import TypeAlias

from discreet.catalog.declare.columns import ColumnSettings
from discreet.catalog.declare.compose import (
    composed,
    dataset_lines,
    engine_and_ledger,
    setting,
    table_lines,
)
from discreet.catalog.declare.proposal import Setting
from discreet.examples import parameters as p
from discreet.examples.dosing import CYP2C9, RACES
from discreet.examples.people import JOBS, REGIONS, SEXES, zip_values
from discreet.examples.visits import DIAGNOSES

_Column: TypeAlias = tuple[str, ColumnSettings]
_NO_MORE: ColumnSettings = {}
MAX_VISITS = 20
MAX_RATINGS = 200

_HEAD = (
    "# The made-up town, written by discreet.examples.town. Nobody in it exists; treat it as if they did.",
    "# Its domains come from the published recipe (docs/town.md), not from the rows.",
    "# voters.parquet is left out on purpose: it is what an attacker has.",
)
_ROW: ColumnSettings = {"unit": "row"}
_PUBLIC = "nobody in it exists, so a class may rehearse; never for real people"


def policy_text(people: int, tables: Collection[str]) -> str:
    """Return the text of discreet.toml for a town of this size with these tables."""
    parts = [_HEAD, engine_and_ledger()]
    if "people" in tables or "visits" in tables:
        parts.append(_dataset("town", "the people of the town and their hospital visits"))
    if "people" in tables:
        # Alone, a row is a person. Beside the visits, both tables must protect the same unit.
        shared = "visits" in tables
        unit: ColumnSettings = {"unit": "person_id", "max_rows": 1} if shared else _ROW
        constant: ColumnSettings = {"constant": True} if shared else {}
        parts.append(_table("town", "people", unit, _people_columns(people, constant)))
        parts.append(
            _table("town", "regions", {"public": True, "key_copies": 1}, _region_columns())
        )
    if "visits" in tables:
        unit = {"unit": "person_id", "max_rows": MAX_VISITS}
        parts.append(_table("town", "visits", unit, _visit_columns()))
    if "ratings" in tables:
        parts.append(_dataset("films", "members of a film club; none of them lives in the town"))
        unit = {"unit": "user_id", "max_rows": MAX_RATINGS}
        parts.append(_table("films", "ratings", unit, _rating_columns()))
    if "dosing" in tables:
        parts.append(_dataset("clinic", "patients of a clinic elsewhere, one row each"))
        parts.append(_table("clinic", "dosing", _ROW, _dosing_columns()))
    return composed(*parts)


def _dataset(name: str, what: str) -> list[str]:
    promise = dataset_lines(name, {"epsilon": Decimal(1), "delta": Decimal("1e-9")})
    return [f"# {what}", *promise, setting("public_rows", True, _PUBLIC)]


def _table(dataset: str, table: str, unit: ColumnSettings, columns: Iterator[_Column]) -> list[str]:
    facts = {"source": f"{table}.parquet", **unit}
    return table_lines(dataset, table, facts, dict(columns))


def _people_columns(people: int, constant: ColumnSettings) -> Iterator[_Column]:
    yield _plain("person_id", "identifier")
    yield _span("age", "integer", 0, 120, constant)
    first = dt.date(p.REFERENCE_DAY.year - 120, 1, 1)
    immutable: ColumnSettings = {**constant, "immutable": True}
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


def _region_columns() -> Iterator[_Column]:
    yield _choice("region", REGIONS)
    yield _choice("county", p.COUNTIES)


def _visit_columns() -> Iterator[_Column]:
    yield _plain("person_id", "identifier")
    yield _span("date", "date", p.VISIT_FIRST_DAY, p.VISIT_LAST_DAY)
    yield _choice("ward", p.WARDS)
    yield _choice("diagnosis", DIAGNOSES)
    yield _span("days", "integer", 0, p.DAYS_MOST)
    yield _span("cost", "number", 0, p.COST_UPPER, _stepped("0.01"))


def _rating_columns() -> Iterator[_Column]:
    yield _plain("user_id", "identifier")
    yield _span("film_id", "integer", 1, p.FILMS)
    yield _span("rating", "integer", 1, 5)
    yield _span("date", "date", p.RATING_FIRST_DAY, p.RATING_LAST_DAY)


def _dosing_columns() -> Iterator[_Column]:
    yield _plain("patient_id", "identifier")
    yield _span("age", "integer", p.DOSING_AGE_LOWER, p.DOSING_AGE_UPPER)
    yield _choice("sex", SEXES)
    yield _choice("race", RACES)
    yield _span("height", "integer", p.DOSING_HEIGHT_LOWER, p.DOSING_HEIGHT_UPPER)
    yield _span("weight", "number", p.DOSING_WEIGHT_LOWER, p.DOSING_WEIGHT_UPPER, _stepped("0.1"))
    yield _choice("vkorc1", p.VKORC1)
    yield _choice("cyp2c9", CYP2C9)
    yield _plain("amiodarone", "boolean")
    yield _plain("inducer", "boolean")
    yield _span("dose", "number", p.DOSE_LOWER, p.DOSE_UPPER, _stepped("0.5"))


def _plain(name: str, kind: str, more: ColumnSettings = _NO_MORE) -> _Column:
    return name, {"type": kind, **more}


def _span(
    name: str,
    kind: str,
    lower: Setting | float,
    upper: Setting | float,
    more: ColumnSettings = _NO_MORE,
) -> _Column:
    return name, {"type": kind, "lower": _end(lower), "upper": _end(upper), **more}


def _end(value: Setting | float) -> Setting:
    return Decimal(repr(value)) if isinstance(value, float) else value


def _choice(name: str, values: Sequence[str], more: ColumnSettings = _NO_MORE) -> _Column:
    return name, {"type": "category", "values": tuple(values), **more}


def _stepped(step: str) -> ColumnSettings:
    return {"step": Decimal(step)}
