"""A small county for releases: its catalog, its public tables, random SELECTs and their brute force."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.data.catalog.catalog import Catalog
from discreet.data.catalog.policy_file import loads
from discreet.work.publish import price
from discreet.work.publish.bound_tables import bind_spec, draft
from discreet.work.publish.families import Family, find_families
from discreet.work.publish.specification import parse_spec

REGIONS = tuple(f"r{i}" for i in range(8))
COUNTY = {region: f"c{i // 2}" for i, region in enumerate(REGIONS)}
STATE = {"c0": "north", "c1": "north", "c2": "south", "c3": "south"}
SEXES, JOBS, AGES = ("F", "M"), ("a", "b", "c"), range(12)

TOML = """
[engine]
url = "duckdb:"
[ledger]
url = "sqlite:ledger.db"
[datasets.d]
epsilon = {epsilon}
delta = {delta}
neighbours = "{neighbours}"
second_person = {second}
[datasets.d.tables.people]
source = "people.parquet"
unit = "row"
[datasets.d.tables.people.columns]
region = {{ type = "category", values = {regions} }}
sex = {{ type = "category", values = ["F", "M"] }}
job = {{ type = "category", values = ["a", "b", "c"] }}
age = {{ type = "integer", lower = 0, upper = 11 }}
pay = {{ type = "integer", lower = 0, upper = 100 }}
wealth = {{ type = "number", lower = -1000000, upper = 1000000, step = 0.01 }}
note = {{ type = "text" }}
raw = {{ type = "category", values = ["x"], review = true }}
[datasets.d.tables.regions]
source = "regions.parquet"
public = true
key_copies = 1
[datasets.d.tables.regions.columns]
region = {{ type = "category", values = {regions} }}
county = {{ type = "category", values = ["c0", "c1", "c2", "c3"] }}
[datasets.d.tables.counties]
source = "counties.parquet"
public = true
key_copies = 1
[datasets.d.tables.counties.columns]
county = {{ type = "category", values = ["c0", "c1", "c2", "c3"] }}
state = {{ type = "category", values = ["north", "south"] }}
"""

CUTS = """
[cuts]
third = { column = "age", edges = [0, 4, 8, 12] }
half = { column = "age", edges = [0, 6, 12] }
"""


@contextmanager
def priced_once() -> Iterator[None]:
    """Prove the price of a batch once, where the same few releases are made again and again."""
    with patch.object(price, "batch_epsilon", cache(price.batch_epsilon)):
        yield


def catalog_of(
    base: Path,
    *,
    epsilon: str = "10",
    delta: str = "1e-6",
    neighbours: str = "add-remove",
    second: bool = False,
) -> Catalog:
    """Return the county's catalog."""
    text = toml_text(epsilon=epsilon, delta=delta, neighbours=neighbours, second=second)
    return loads(text, base=base)


def toml_text(
    *,
    epsilon: str = "10",
    delta: str = "1e-6",
    neighbours: str = "add-remove",
    second: bool = False,
) -> str:
    """Return the county's discreet.toml."""
    text = TOML.format(
        epsilon=epsilon,
        delta=delta,
        neighbours=neighbours,
        second=str(second).lower(),
        regions=list(REGIONS),
    )
    return text.replace("'", '"')


def public(scan: Any) -> dict[str, list[str]]:
    """Return the rows of the public tables."""
    if scan.table.name == "regions":
        return {"region": list(COUNTY), "county": list(COUNTY.values())}
    return {"county": list(STATE), "state": list(STATE.values())}


def write_tables(base: Path, rows: list[tuple[Any, ...]]) -> None:
    """Write the county's files; a row is (region, sex, job, age, pay)."""
    columns = dict(
        zip(("region", "sex", "job", "age", "pay"), zip(*rows, strict=True), strict=True)
    )
    more = {"wealth": [0.0] * len(rows), "note": [""] * len(rows), "raw": ["x"] * len(rows)}
    pq.write_table(pa.table({**columns, **more}), base / "people.parquet")
    write_public(base, COUNTY)
    pairs = {"county": list(STATE), "state": list(STATE.values())}
    pq.write_table(pa.table(pairs), base / "counties.parquet")


def write_public(base: Path, county: dict[str, str]) -> None:
    """Write which region lies in which county."""
    pairs = {"region": list(county), "county": list(county.values())}
    pq.write_table(pa.table(pairs), base / "regions.parquet")


def random_rows(count: int, dice: random.Random) -> list[tuple[Any, ...]]:
    """Return made-up people, more in the first regions."""
    weights = [8, 7, 6, 5, 4, 3, 2, 1]
    return [
        (
            dice.choices(REGIONS, weights)[0],
            dice.choice(SEXES),
            dice.choice(JOBS),
            dice.choice(AGES),
            dice.randint(0, 100),
        )
        for _ in range(count)
    ]


Point = dict[str, Any]


def points() -> list[Point]:
    """Return every point of the public domain, with everything that is a function of it."""
    return [
        {
            "region": r,
            "county": COUNTY[r],
            "state": STATE[COUNTY[r]],
            "sex": s,
            "job": j,
            "age": a,
            "third": ("0-3", "4-7", "8-11")[a // 4],
            "half": ("0-5", "6-11")[a // 6],
        }
        for r, s, j, a in product(REGIONS, SEXES, JOBS, AGES)
    ]


CONDITIONS = {
    "": lambda p: True,
    "p.sex = 'F'": lambda p: p["sex"] == "F",
    "c.state = 'north'": lambda p: p["state"] == "north",
    "r.county = 'c0'": lambda p: p["county"] == "c0",
    "p.age >= 6": lambda p: p["age"] >= 6,
    "p.age >= 6 AND p.sex = 'F'": lambda p: p["age"] >= 6 and p["sex"] == "F",
    "r.county IN ('c0', 'c2') AND p.age < 4": lambda p: (
        p["county"] in ("c0", "c2") and p["age"] < 4
    ),
}
KEYS = {
    "region": "p.region",
    "county": "r.county",
    "state": "c.state",
    "sex": "p.sex",
    "job": "p.job",
    "third": "p.third",
    "half": "p.half",
}
MEASURES = ("COUNT(*)", "SUM(p.pay)")


@dataclass(frozen=True)
class Made:
    """A random table: its keys, its condition and its measure."""

    name: str
    keys: tuple[str, ...]
    condition: str
    measure: str

    @property
    def sql(self) -> str:
        """Return its SELECT, joined to the public tables only where it needs them."""
        shown = [*(f"{KEYS[key]} AS {key}" for key in self.keys), f"{self.measure} AS n"]
        text = f"SELECT {', '.join(shown)} FROM people p"
        used = " ".join([*(KEYS[key] for key in self.keys), self.condition])
        if "r." in used or "c." in used:
            text += " JOIN regions r ON p.region = r.region"
        if "c." in used:
            text += " JOIN counties c ON r.county = c.county"
        text += f" WHERE {self.condition}" if self.condition else ""
        groups = ", ".join(KEYS[key] for key in self.keys)
        return text + (f" GROUP BY {groups}" if groups else "")

    def holds(self, point: Point) -> bool:
        """Return whether the table counts people at this point."""
        return CONDITIONS[self.condition](point)

    def cell(self, point: Point) -> tuple[str, ...]:
        """Return the cell that counts people at this point."""
        return tuple(point[key] for key in self.keys)


def random_tables(dice: random.Random, *, measures: tuple[str, ...] = MEASURES) -> list[Made]:
    """Return one to five random tables, nested or crossed."""
    found = []
    for number in range(dice.randint(1, 5)):
        keys = tuple(dice.sample(list(KEYS), dice.randint(0, 4)))
        condition = dice.choice(["", "", "", *CONDITIONS])
        found.append(Made(f"t{number}", keys, condition, dice.choice(measures)))
    return found


def spec_text(
    tables: list[Made], *, name: str = "r", epsilon: str = "1", delta: str = "1e-7", more: str = ""
) -> str:
    """Return the spec of random tables."""
    parts = [f'[release]\nname = "{name}"\ndataset = "d"\nepsilon = {epsilon}\n']
    parts += [f"delta = {delta}\n"] if delta else []
    parts += [f'[tables.{table.name}]\nsql = """{table.sql}"""\n' for table in tables]
    return "".join(parts) + CUTS + more


def families_of(tables: list[Made], catalog: Catalog) -> tuple[Family, ...]:
    """Return the families that are found."""
    spec = parse_spec(spec_text(tables), base=catalog.base)
    return find_families(bind_spec(draft(spec, catalog), public).tables)
