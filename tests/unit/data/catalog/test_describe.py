import pytest

from discreet.base.event import EVERYONE, NULL, Positions, Region
from discreet.data.catalog import axes, loads
from discreet.data.catalog.axes import axis_name

TEXT = """
[datasets.census]
epsilon = 1
[datasets.census.tables.people]
source = "people.csv"
unit = "row"
[datasets.census.tables.people.columns]
age = { type = "integer", lower = 0, upper = 120 }
sex = { type = "category", values = ["Female", "Male"] }
job = { type = "category", values = ["A", "B", "C", "D", "E", "F", "G", "it's"] }
income = { type = "number", lower = 0, upper = 1000, step = 0.5 }
smoker = { type = "boolean" }
born = { type = "date", lower = 1900-01-01, upper = 2020-12-31 }
seen = { type = "timestamp", lower = 2020-01-01T00:00:00, upper = 2020-12-31T23:59:59 }
"""


@pytest.fixture
def catalog(tmp_path):
    return loads(TEXT, base=tmp_path)


def axis(catalog, column, snapshot="v1"):
    dataset = catalog.dataset("census")
    people = dataset.tables[0]
    return axis_name(dataset, people, people.column(column), snapshot)


def words(catalog, **spans):
    region = Region.of({axis(catalog, c): Positions.of(s) for c, s in spans.items()})
    return catalog.describe_region(region)


def test_the_mission_example(catalog):
    assert words(catalog, age=[(21, 120)], sex=[(0, 0)]) == "sex = 'Female' AND age > 20"


CASES = [
    ({}, "everyone"),
    ({"age": [(NULL, 120)]}, "everyone"),
    ({"age": []}, "nobody"),
    ({"age": [(20, 30)]}, "age 20 to 30"),
    ({"age": [(0, 20)]}, "age <= 20"),
    ({"age": [(30, 30)]}, "age = 30"),
    ({"age": [(0, 120)]}, "age is known"),
    ({"age": [(NULL, NULL)]}, "age is missing"),
    ({"age": [(NULL, 20)]}, "(age <= 20 or unknown)"),
    ({"age": [(1, 2), (50, 120)]}, "(age 1 to 2 or age > 49)"),
    ({"age": [(i, i) for i in range(0, 20, 2)]}, "age in 10 ranges"),
    ({"age": [(500, 600)]}, "age is nothing that was declared"),
    ({"sex": [(NULL, 0)]}, "(sex = 'Female' or unknown)"),
    ({"sex": [(0, 1)]}, "sex is known"),
    ({"job": [(0, 1)]}, "job in ('A', 'B')"),
    ({"job": [(7, 7)]}, "job = 'it''s'"),
    ({"job": [(0, 6)]}, "job in ('A', 'B', 'C', 'D', 'E' and 2 more)"),
    ({"job": [(NULL, 5), (7, 7)]}, "job other than 'G'"),
    ({"income": [(3, 2000)]}, "income >= 1.5"),
    ({"income": [(3, 10)]}, "income 1.5 to 5"),
    ({"smoker": [(1, 1)]}, "smoker = true"),
    ({"born": [(0, 30)]}, "born <= 1900-01-31"),
    ({"seen": [(60, 61)]}, "seen 2020-01-01 00:01:00 to 2020-01-01 00:01:01"),
]


@pytest.mark.parametrize(("spans", "expected"), CASES)
def test_plain_words(catalog, spans, expected):
    assert words(catalog, **spans) == expected


def test_everyone(catalog):
    assert catalog.describe_region(EVERYONE) == "everyone"


def test_an_earlier_domain_is_worded_as_such(catalog, tmp_path):
    region = Region.of({axis(catalog, "age"): Positions.of([(21, 120)])})
    for new in (TEXT.replace("120", "130"), TEXT.replace("\nage =", "\nyears =")):
        assert loads(new, base=tmp_path).describe_region(region) == "age as it was declared earlier"


TWO = """
[datasets.{d}.tables.visits]
source = "{d}visits.csv"
unit = "{unit}"
[datasets.{d}.tables.visits.columns]
age = {{ type = "integer", lower = 0, upper = 120, constant = true }}
"""


def test_tables_are_named_where_rows_are_told_apart(tmp_path):
    catalog = loads(TEXT + TWO.format(d="census", unit="row"), base=tmp_path)
    dataset = catalog.dataset("census")
    people, _ = dataset.tables
    home = axes.home(dataset, people, "3")
    assert catalog.describe_region(home) == "everyone in people"
    old = Region.of({axis(catalog, "age"): Positions.of([(21, 120)])})
    assert catalog.describe_region(home & old) == "in people: age > 20"


def test_only_as_much_prefix_as_is_needed(tmp_path):
    person = TEXT.replace('"row"', '"who"').replace("upper = 120", "upper = 120, constant = true")
    text = person + TWO.format(d="census", unit="who")
    text += "[datasets.tax]\nepsilon = 1\n" + TWO.format(d="tax", unit="who")
    catalog = loads(text, base=tmp_path)
    named = {}
    for dataset in catalog.datasets.values():
        for one in dataset.tables:
            name = axis_name(dataset, one, one.column("age"), "v1")
            named[dataset.name, one.name] = Region.of({name: Positions.of([(21, 120)])})
    people, visits = named["census", "people"], named["census", "visits"]
    assert catalog.describe_region(visits) == "age > 20"
    assert catalog.describe_region(people & visits) == "people.age > 20 AND visits.age > 20"
    both = catalog.describe_region(visits & named["tax", "visits"])
    assert both == "census.visits.age > 20 AND tax.visits.age > 20"
