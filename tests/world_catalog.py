"""What is declared of the small world that is attacked: a row unit, a person unit and public tables."""

from __future__ import annotations

from pathlib import Path

from discreet.data.catalog.catalog import Catalog
from discreet.data.catalog.policy_file import loads
from nasty_rows import BORN

TOML = """
[engine]
url = "{engine}"
[ledger]
url = "sqlite:ledger.db"

[datasets.census]
epsilon = {epsilon}
delta = {delta}
neighbours = "{neighbours}"
[datasets.census.tables.people]
source = "{people}"
unit = "row"
[datasets.census.tables.people.columns]
age = {{ type = "integer", lower = 0, upper = 120 }}
sex = {{ type = "category", values = ["Female", "Male", "O'Neil"] }}
zip = {{ type = "category", values = ["02138", "02139", "10001", "94110"], missing = true }}
income = {{ type = "number", lower = -1000, upper = 500000, step = 0.01 }}
balance = {{ type = "integer", lower = -1000000, upper = 1000000 }}
score = {{ type = "number", lower = 0, upper = 10, step = 0.5 }}
born = {{ type = "date", lower = {born[0]}, upper = {born[1]} }}
married = {{ type = "boolean", missing = true }}
town = {{ type = "text" }}
badge = {{ type = "identifier" }}
note = {{ type = "text", hidden = true }}
[datasets.census.tables.zips]
source = "{zips}"
public = true
key_copies = 2
[datasets.census.tables.zips.columns]
zip = {{ type = "category", values = ["02138", "02139", "10001", "94110"] }}
state = {{ type = "category", values = ["MA", "NY", "CA"] }}
area = {{ type = "integer", lower = 0, upper = 50 }}

[datasets.clinic]
epsilon = {epsilon}
delta = {delta}
neighbours = "{neighbours}"
[datasets.clinic.tables.patients]
source = "{patients}"
unit = "person"
max_rows = 1
[datasets.clinic.tables.patients.columns]
person = {{ type = "identifier" }}
sex = {{ type = "category", values = ["Female", "Male"], constant = true }}
age = {{ type = "integer", lower = 0, upper = 120, constant = true }}
weight = {{ type = "number", lower = 0, upper = 90, step = 0.5 }}
smoker = {{ type = "boolean", constant = true, missing = true }}
born = {{ type = "date", lower = {born[0]}, upper = {born[1]}, constant = true }}
[datasets.clinic.tables.visits]
source = "{visits}"
unit = "person"
max_rows = 3
bound = "{bound}"
[datasets.clinic.tables.visits.columns]
person = {{ type = "identifier" }}
ward = {{ type = "category", values = ["A", "B", "C"] }}
day = {{ type = "date", lower = 2020-01-01, upper = 2020-12-31 }}
cost = {{ type = "number", lower = -50, upper = 50, step = 0.25 }}
code = {{ type = "integer", lower = 0, upper = 100000 }}
reason = {{ type = "text" }}
[datasets.clinic.tables.wards]
source = "{wards}"
public = true
key_copies = 2
[datasets.clinic.tables.wards.columns]
ward = {{ type = "category", values = ["A", "B", "C"] }}
floor = {{ type = "integer", lower = 0, upper = 9 }}
wing = {{ type = "category", values = ["east", "west"] }}
"""

TABLES = ("people", "zips", "patients", "visits", "wards")
DATASET = {
    "people": "census",
    "zips": "census",
    "patients": "clinic",
    "visits": "clinic",
    "wards": "clinic",
}


def catalog_of(
    base: Path,
    *,
    neighbours: str = "add-remove",
    epsilon: str = "1000000",
    delta: str = "0.5",
    engine: str = "duckdb:",
    bounded: bool = False,
    complete: bool = False,
    sources: dict[str, str] | None = None,
) -> Catalog:
    """Return the world's catalog; its budget is large enough for thousands of questions."""
    places = sources or {name: f"{name}.parquet" for name in TABLES}
    text = TOML.format(
        epsilon=epsilon,
        delta=delta,
        neighbours=neighbours,
        engine=engine,
        born=BORN,
        bound="table" if bounded else "query",
        **places,
    )
    if complete:
        # One column of each private table: alone, constant for a person, and a category.
        text = text.replace("upper = 120", "upper = 120, complete = true")
        text = text.replace('"C"] }\nday', '"C"], complete = true }\nday')
    return loads(text, base=base)
