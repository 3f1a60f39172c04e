"""'7', '07' and ' 7' are one person in every room: no room counts more of her rows than one person's."""

from __future__ import annotations

import csv
import io
import zipfile

import pyarrow as pa
import pytest

import discreet
from engines import ENGINES, engine_place

PEOPLE = 40
SPELLED = ("{}", "0{}", " {}")
TOML = """
[engine]
url = "{url}"
[datasets.clinic]
epsilon = 100000
delta = 0.01
[datasets.clinic.tables.visits]
source = "{source}"
unit = "person"
max_rows = {most}
[datasets.clinic.tables.visits.columns]
person = {{ {person} }}
sex = {{ type = "category", values = ["F", "M"] }}
cost = {{ type = "integer", lower = 0, upper = 10 }}
"""
WHOLE = 'type = "integer", lower = 0, upper = 1000, trim = true'
TEXTS = 'type = "identifier"'
SPEC = """
[release]
name = "r"
dataset = "clinic"
epsilon = 1000
[tables.all]
sql = "SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex"
"""


def visits():
    """Return each person three times, spelled differently, half of them women."""
    rows = [(form.format(i), "FM"[i % 2], i % 10) for i in range(PEOPLE) for form in SPELLED]
    person, sex, cost = zip(*rows, strict=True)
    return pa.table({"person": person, "sex": sex, "cost": cost})


@pytest.fixture(params=[each for each in ENGINES if each.id != "spark"])
def opened(request, tmp_path):
    place = engine_place(request.param, {"visits": visits()}, tmp_path)

    def curator(person=WHOLE, most=1):
        facts = {"url": place.url, "source": place.sources["visits"]}
        text = TOML.format(**facts, person=person, most=most)
        (tmp_path / "discreet.toml").write_text(text)
        return discreet.open(tmp_path / "discreet.toml")

    return curator


def counted(curator):
    return curator.query("SELECT COUNT(*) AS n FROM visits", epsilon=1000).rows[0][0]


def copied(curator):
    return curator.synthesize("visits", epsilon=1000, method="independent").table.num_rows


def published(curator):
    spec = curator.catalog.base / "spec.toml"
    spec.write_text(SPEC)
    out = curator.catalog.base / "R.zip"
    curator.publish(spec, out=out)
    with zipfile.ZipFile(out) as archive:
        text = archive.read("tables/all.csv").decode()
    return sum(float(row["n"]) for row in csv.DictReader(io.StringIO(text)))


def learned(curator):
    found = curator.regress("visits", target="cost", epsilon=1000, features=["sex"])
    return round(found.model.facts["rows"])


ROOMS = [counted, copied, published, learned]


@pytest.mark.parametrize("room", ROOMS)
def test_three_spellings_are_one_person(opened, room):
    with opened() as curator:
        assert abs(room(curator) - PEOPLE) <= 2


@pytest.mark.parametrize("room", ROOMS)
def test_the_twin_that_reads_texts_as_they_stand_is_caught(opened, room):
    with opened(TEXTS) as curator:
        assert abs(room(curator) - 3 * PEOPLE) <= 2


def repeats(curator):
    notices = curator.anonymize("visits", k=3, quasi=["sex"], redact=["cost"]).notices
    return any("Some people have several rows" in each for each in notices)


def test_a_copy_of_rows_says_that_three_of_them_are_one_person(opened):
    with opened() as curator:
        assert repeats(curator)
    with opened(TEXTS) as curator:
        assert not repeats(curator)
