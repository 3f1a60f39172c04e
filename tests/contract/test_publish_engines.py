"""A release comes out the same on every engine: the same cells, the same price, the same refusals."""

from __future__ import annotations

import csv
import datetime as dt
import io
import random
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.curator import Curator
from discreet.data.catalog.policy_file import loads
from discreet.errors import BudgetExceeded, DiscreetError, InvalidInput, UnknownName
from discreet.work.publish.recheck import verify_package
from discreet.work.publish.specification import parse_spec
from discreet.work.publish.totals import TotalsRequest
from engines import ENGINES, Place, engine_place

PEOPLE = 800
HUGE = 8_000
"""With this epsilon a cell of any table has noise with a chance below e^-30."""
ZERO = {("F", "65-99")}
KEYS = {
    "sexes": ("sex", "age_group"),
    "counties.n": ("county", "sex"),
    "regions": ("region", "member"),
    "counties.cost": ("county", "sex"),
    "days": ("day",),
}
REFUSED: list[tuple[type[DiscreetError], str, str]] = [
    (InvalidInput, "region, member", "note, member"),
    (UnknownName, "SELECT day, SUM(cost)", "SELECT nope, SUM(cost)"),
    (BudgetExceeded, "epsilon = 1\n", "epsilon = 30000\n"),
]
COUNTY = {"r0": "east", "r1": "east", "r2": "west"}
TOML = """
[engine]
url = "{url}"
[ledger]
url = "sqlite:ledger.db"
[datasets.d]
epsilon = 10000
[datasets.d.tables.stays]
source = "{stays}"
unit = "person"
max_rows = 2
[datasets.d.tables.stays.columns]
region = {{ type = "category", values = ["r0", "r1", "r2"], missing = true }}
sex = {{ type = "category", values = ["F", "M"] }}
age = {{ type = "integer", lower = 0, upper = 99 }}
member = {{ type = "boolean", missing = true }}
day = {{ type = "date", lower = 2024-01-01, upper = 2024-01-31 }}
cost = {{ type = "number", lower = -1, upper = 5, step = 0.25 }}
note = {{ type = "text" }}
[datasets.e]
epsilon = 2000000
delta = 0.1
[datasets.e.tables.arrivals]
source = "{arrivals}"
unit = "row"
[datasets.e.tables.arrivals.columns]
day = {{ type = "date", lower = 2024-01-01, upper = 2024-01-31, immutable = true }}
[datasets.d.tables.regions]
source = "{regions}"
public = true
key_copies = 1
[datasets.d.tables.regions.columns]
region = {{ type = "category", values = ["r0", "r1", "r2"] }}
county = {{ type = "category", values = ["east", "west"] }}
"""
SPEC = """
[release]
name = "stays"
dataset = "d"
epsilon = {epsilon}
[tables.sexes]
sql = "SELECT sex, age_group, COUNT(*) AS n FROM stays GROUP BY sex, age_group"
[tables.counties]
sql = "SELECT r.county, s.sex, COUNT(*) AS n, SUM(s.cost) AS cost FROM stays s JOIN regions r ON s.region = r.region GROUP BY r.county, s.sex"
[tables.regions]
sql = "SELECT region, member, COUNT(*) AS n FROM stays GROUP BY region, member"
[tables.days]
sql = "SELECT day, SUM(cost) AS cost FROM stays WHERE age >= 18 GROUP BY day"
[cuts]
age_group = {{ column = "age", edges = [0, 18, 65, 100] }}
[[rules]]
zero = "sex = 'F' AND age_group = '65-99'"
"""


def stays() -> pa.Table:
    """Return stays with odd cells; nobody has more rows than count, so all engines keep the same."""
    dice = random.Random(3)
    found = []
    for person in range(PEOPLE):
        sex = dice.choice("FM")
        for _ in range(dice.randint(1, 2)):
            age = dice.choice([-3, 0, 17, 18, 40, 64, *([65, 99] if sex == "M" else [])])
            found.append(
                {
                    "person": person,
                    "region": dice.choice(["r0", "r1", "r2", None, "R0", " r1", "zz"]),
                    "sex": dice.choice([sex, sex, sex, None, sex.lower()]),
                    "age": dice.choice([age, age, age, None, 400]),
                    "member": dice.choice([True, False, None]),
                    "day": dt.date(2024, 1, 1) + dt.timedelta(days=dice.randrange(35)),
                    "cost": dice.choice([0.0, -0.0, 2.3, 4.99, 5000.0, -1.0, None, 1.75]),
                    "note": "",
                }
            )
    return pa.Table.from_pylist(found)


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    return stays()


@pytest.fixture(scope="module", params=ENGINES)
def place(request, rows, tmp_path_factory) -> Place:
    folder = tmp_path_factory.mktemp("publish")
    pairs = {"region": list(COUNTY), "county": list(COUNTY.values())}
    tables = {"stays": rows, "arrivals": rows.select(["day"]), "regions": pa.table(pairs)}
    return engine_place(request.param, tables, folder)


def curator(place: Place, folder: Path) -> Curator:
    """Return a curator of the tables of `place`, with a ledger of its own in `folder`."""
    sources = {
        name: str(place.base / source) if source.endswith(".parquet") else source
        for name, source in place.sources.items()
    }
    return Curator(loads(TOML.format(url=place.url, **sources), base=folder))


def table(package: Path, name: str, folder: str = "tables") -> list[dict[str, str]]:
    with zipfile.ZipFile(package) as archive:
        return list(csv.DictReader(io.StringIO(archive.read(f"{folder}/{name}.csv").decode())))


def brute(rows: pa.Table) -> dict[str, Counter[Any]]:
    """Return the tables by hand; a family counts rows with declared values in all of its columns."""
    found: dict[str, Counter[Any]] = {name: Counter() for name in KEYS}
    for row in rows.to_pylist():
        sex = row["sex"] if row["sex"] in ("F", "M") else None
        age = row["age"] if row["age"] is not None and 0 <= row["age"] <= 99 else None
        region = row["region"] if row["region"] in COUNTY else None
        cost = row["cost"] if row["cost"] is not None and -1 <= row["cost"] <= 5 else 0
        if sex and age is not None:
            found["sexes"][sex, "0-17" if age < 18 else "18-64" if age < 65 else "65-99"] += 1
            member = "(missing)" if row["member"] is None else str(row["member"]).lower()
            found["regions"][region or "(missing)", member] += 1
            if region:
                found["counties.n"][COUNTY[region], sex] += 1
        if sex and region:
            found["counties.cost"][COUNTY[region], sex] += round(cost * 4)
        if age is not None and age >= 18:
            found["days"][(str(row["day"]),)] += round(cost * 4)
    return found


@pytest.mark.timeout(600)
def test_a_release_is_the_same_on_every_engine(place, rows, tmp_path):
    out = tmp_path / "R.zip"
    with curator(place, tmp_path) as opened:
        released = opened.publish(parse_spec(SPEC.format(epsilon=HUGE), base=tmp_path), out=out)
        again = opened.publish(parse_spec(SPEC.format(epsilon=HUGE), base=tmp_path), out=out)
        spent = opened.budget_report()["datasets"]["d"]
    assert again.free
    assert again.sha256 == released.sha256
    assert spent["charges"] == 1
    assert released.to_json()["cost"] == {"epsilon": HUGE, "delta": 0.0}
    wanted = brute(rows)
    for name, keys in KEYS.items():
        measured = {
            tuple(row[key] for key in keys): int(row["value"])
            for row in table(out, name, "measurements")
        }
        assert measured == {key: wanted[name][key] for key in measured}, name
        assert all(wanted[name][key] for key in measured if key not in ZERO), "every cell is tried"
    for row in table(out, "regions"):
        # Crossed tables are made whole together, so a published cell may be a few off.
        assert abs(int(row["n"]) - wanted["regions"][row["region"], row["member"]]) <= 3
    assert verify_package(out)["valid"]


@pytest.mark.timeout(600)
def test_what_is_refused_is_refused_before_the_charge(place, tmp_path):
    with curator(place, tmp_path) as opened:
        for kind, old, new in REFUSED:
            spec = SPEC.format(epsilon=1)
            assert old in spec
            with pytest.raises(kind):
                opened.publish(parse_spec(spec.replace(old, new), base=tmp_path))
        assert opened.budget_report()["datasets"]["d"]["charges"] == 0


@pytest.mark.timeout(600)
def test_running_totals_are_the_same_on_every_engine(place, rows, tmp_path):
    asked = TotalsRequest.of(
        "arrivals",
        dataset="e",
        table="arrivals",
        column="day",
        start="2024-01-01",
        days=31,
        epsilon=1_000_000,
        delta="0.01",
    )
    with curator(place, tmp_path) as opened:
        found = opened.running_totals(asked, through="2024-01-10")
    days = [row["day"] for row in rows.to_pylist()]
    wanted = [sum(d <= dt.date(2024, 1, day) for d in days) for day in range(1, 11)]
    assert [round(total) for total in found.totals] == wanted
