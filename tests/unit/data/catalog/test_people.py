"""Tables of one dataset read their people alike, or are refused with the line to write."""

from __future__ import annotations

import tomllib

import pytest

import discreet
from discreet.data.catalog import policy_file
from discreet.data.catalog.edits import declared_tables
from discreet.data.catalog.policy_file import loads
from discreet.errors import CatalogError
from discreet.tasks.init import init

TOML = """
[datasets.d]
epsilon = 100000
[datasets.d.tables.a]
source = "a.csv"
unit = "person"
max_rows = 1
[datasets.d.tables.a.columns]
%s
x = { type = "integer", lower = 0, upper = 1000 }
[datasets.d.tables.b]
source = "b.csv"
unit = "Who"
max_rows = 1
[datasets.d.tables.b.columns]
%s
x = { type = "integer", lower = 0, upper = 1000 }
"""
WHOLE = 'type = "integer", lower = 0, upper = 1000'
DIFFERENT = [
    (WHOLE, 'type = "identifier"'),
    (WHOLE, ""),
    ("", WHOLE),
    ('type = "identifier", trim = true', 'type = "identifier"'),
    ('type = "identifier", trim = true', WHOLE),
    ('type = "identifier", empty = ["n/a"]', 'type = "identifier", empty = ["none"]'),
    (f'{WHOLE}, thousands = ".", decimal = ","', WHOLE),
    ('type = "category", values = ["A"], any_case = true', 'type = "identifier"'),
    ('type = "category", values = ["\U0001f600"], any_case = true', 'type = "identifier"'),
]
ALIKE = [
    (WHOLE, 'type = "integer", lower = -5, upper = 7'),
    ("", 'type = "identifier"'),
    ('type = "identifier", trim = true, hidden = true', 'type = "identifier", trim = true'),
]


def line(name, declared):
    return f"{name} = {{ {declared} }}" if declared else ""


def written(one, two):
    return TOML % (line("person", one), line("Who", two))


@pytest.mark.parametrize(("one", "two"), DIFFERENT)
def test_two_readings_are_refused_and_the_line_to_write_mends_it(tmp_path, one, two):
    with pytest.raises(CatalogError, match=r"table 'a'.*table 'b'|table 'b'.*table 'a'") as refused:
        loads(written(one, two), base=tmp_path)
    place, _, hint = refused.value.hint.removeprefix("Write under ").partition(": ")
    name, said = next(iter(tomllib.loads(hint).items()))
    assert said["type"]
    told = hint.partition(" = ")[2].strip("{} ")
    first = place == "[datasets.d.tables.a.columns]"
    assert name == ("person" if first else "Who")
    mended = (told, two) if first else (one, told)
    assert loads(written(*mended), base=tmp_path).table("a")


@pytest.mark.parametrize(("one", "two"), ALIKE)
def test_what_reads_alike_is_accepted(tmp_path, one, two):
    assert loads(written(one, two), base=tmp_path).table("b")


def test_the_review_says_the_same_before_a_budget_is_there(tmp_path):
    text = written(WHOLE, "").replace("epsilon = 100000", "")
    with pytest.raises(CatalogError, match="one person in the first could be several"):
        declared_tables(text, base=tmp_path, file="discreet.toml")


@pytest.mark.parametrize("declared", [WHOLE, f"{WHOLE}, trim = true"])
def test_one_person_is_one_in_both_tables_and_in_their_join(tmp_path, declared):
    for name, column in (("a", "person"), ("b", "Who")):
        rows = "".join(f'"{who}",1000\n' for who in ("7", "07", "007", "7.0"))
        (tmp_path / f"{name}.csv").write_text(f"{column},x\n{rows}")
    (tmp_path / "discreet.toml").write_text(written(declared, declared))
    with discreet.open(tmp_path / "discreet.toml") as curator:
        for asked in (
            "SELECT COUNT(DISTINCT person) AS p, COUNT(*) AS n FROM a",
            "SELECT COUNT(DISTINCT Who) AS p, COUNT(*) AS n FROM b",
            "SELECT COUNT(DISTINCT person) AS p, COUNT(*) AS n FROM a JOIN b ON a.person = b.Who",
        ):
            assert curator.query(asked, epsilon=10000).rows == ((1, 1),)


def test_init_proposes_one_reading(tmp_path):
    (tmp_path / "a.csv").write_text("person,x\n" + "".join(f"p{i} ,{i}\n" for i in range(30)))
    (tmp_path / "b.csv").write_text("person,y\nn/a,1\n" + "".join(f"p{i},{i}\n" for i in range(30)))
    out = tmp_path / "discreet.toml"
    init(tmp_path / "a.csv", tmp_path / "b.csv", unit="person", epsilon=1, out=out)
    tables = tomllib.loads(out.read_text())["datasets"]["a"]["tables"]
    people = [table["columns"]["person"] for table in tables.values()]
    assert people[0] == people[1] == {"type": "identifier", "trim": True, "empty": ["n/a"]}


SHARED = """
[budgets.people]
epsilon = 10
[datasets.clinic]
budget = "people"
[datasets.clinic.tables.visits]
source = "visits.csv"
unit = "person"
max_rows = 1
[datasets.clinic.tables.visits.columns]
%s
[datasets.shop]
budget = "%s"
%s
[datasets.shop.tables.orders]
source = "orders.csv"
unit = "%s"
max_rows = 1
[datasets.shop.tables.orders.columns]
%s
"""


def sharing(one, two, *, budget="people", name="Person"):
    own = "" if budget == "people" else "epsilon = 1"
    place = f'budget = "{budget}"' if budget == "people" else ""
    text = SHARED % (line("person", one), budget, own, name, line(name, two))
    return text.replace(f'budget = "{budget}"\n{own}', f"{place}\n{own}")


@pytest.mark.parametrize(("one", "two"), DIFFERENT)
def test_datasets_that_share_a_budget_read_their_people_alike(tmp_path, one, two):
    with pytest.raises(CatalogError, match="share a budget") as refused:
        loads(sharing(one, two), base=tmp_path)
    assert "one person in the first could be several" in refused.value.message
    place, _, hint = refused.value.hint.removeprefix("Write under ").partition(": ")
    told = hint.partition(" = ")[2].strip("{} ")
    first = place == "[datasets.clinic.tables.visits.columns]"
    assert first or place == "[datasets.shop.tables.orders.columns]"
    mended = (told, two) if first else (one, told)
    assert loads(sharing(*mended), base=tmp_path).table("orders")


@pytest.mark.parametrize(("one", "two"), ALIKE)
def test_what_reads_alike_may_share_a_budget(tmp_path, one, two):
    assert loads(sharing(one, two), base=tmp_path).table("orders")


def test_other_names_and_other_budgets_may_read_as_they_like(tmp_path):
    assert loads(sharing(WHOLE, "", name="household"), base=tmp_path).table("orders")
    assert loads(sharing(WHOLE, "", budget="shop"), base=tmp_path).table("orders")


def test_the_twin_that_looks_at_datasets_alone_is_caught(tmp_path, monkeypatch):
    monkeypatch.setattr(policy_file, "check_shared", lambda _datasets: None)
    assert loads(sharing(WHOLE, ""), base=tmp_path).table("orders")
