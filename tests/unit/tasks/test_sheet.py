"""The impact sheet: what was declared and spent, what remains, and not one cell."""

import json

import pytest

from discreet.api import open as open_curator
from discreet.cli.app import run

TOML = """
[datasets.town]
epsilon = 2
delta = 1e-6
renew = { every = "year", since = "2026", epsilon = 1, at_most = 3 }

[datasets.town.tables.people]
source = "people.csv"
unit = "row"

[datasets.town.tables.people.columns]
age = { type = "integer", lower = 0, upper = 99 }
note = { type = "text", hidden = true }

[analysts.alice]
datasets = { town = { epsilon = 0.75 } }
"""
CANARY = "CANARY-55"


@pytest.fixture
def place(tmp_path):
    rows = "".join(f"{n},{CANARY}\n" for n in range(60))
    (tmp_path / "people.csv").write_text("age,note\n" + rows)
    (tmp_path / "discreet.toml").write_text(TOML)
    with open_curator(tmp_path) as curator:
        curator.query("SELECT COUNT(*) AS n FROM people", epsilon="0.5", analyst="alice")
        curator.ledger.record_exposure("town", reason="a copy", columns=["age"])
    return tmp_path


def test_the_sheet_says_what_the_catalog_and_the_ledger_say(place):
    (place / "people.csv").unlink()  # nothing is read from rows: there are none
    out = place / "sheet.json"
    assert run(["sheet", "--out", str(out), "--config", str(place)]) == 0
    text = out.read_text()
    sections = {section["title"]: section["blocks"] for section in json.loads(text)["sections"]}
    words = " ".join(block["text"] for block in sections["Data set town"] if "text" in block)
    assert "at most epsilon 2 and delta 0.000001" in words
    assert "0.5 is spent" in words
    assert "can lose epsilon 5" in words  # over all periods
    assert "They exposed: age" in words
    grids = [block for block in sections["Data set town"] if block["kind"] == "grid"]
    assert ["people", "note", "hidden: no question reads it", 1] in grids[0]["rows"]
    assert grids[1]["rows"] == [["alice", "0.75"]]
    happened = {row[0]: row[2] for row in sections["What happened so far"][0]["rows"]}
    assert happened["answers paid for"] == 1
    assert happened["releases without a guarantee"] == 1
    assert all(row[1] == "" for row in sections["For people to answer"][0]["rows"])
    assert CANARY not in text


def test_it_is_a_page_too(place):
    out = place / "sheet.html"
    assert run(["sheet", "--out", str(out), "--config", str(place)]) == 0
    assert "Data-protection impact sheet" in out.read_text()
    assert run(["sheet", "--out", str(place / "sheet.txt"), "--config", str(place)]) == 1


def test_the_sheet_says_that_a_question_may_ask_for_more_rows(tmp_path):
    """Of a table with 10 rows a person, a question that asks for 20 counts 20, unless the table is bounded as a whole."""
    rows = "".join(f"{n % 3},{n}\n" for n in range(60))
    (tmp_path / "v.csv").write_text("person,age\n" + rows)
    table = 'source = "v.csv"\nunit = "person"\nmax_rows = 10\n{bound}\n'
    columns = (
        'person = { type = "identifier" }\nage = { type = "integer", lower = 0, upper = 99 }\n'
    )
    text = "[datasets.d]\nepsilon = 100000\n"
    for name, bound in (("v", ""), ("w", 'bound = "table"')):
        text += f"[datasets.d.tables.{name}]\n{table.format(bound=bound)}"
        text += f"[datasets.d.tables.{name}.columns]\n{columns}"
    (tmp_path / "discreet.toml").write_text(text)
    with open_curator(tmp_path) as curator:
        counted = {
            name: curator.query(f"SELECT COUNT(*) AS n FROM {name}", epsilon=1000, max_rows=20)
            for name in "vw"
        }
    assert {name: answer.rows[0][0] for name, answer in counted.items()} == {"v": 60, "w": 30}
    assert run(["sheet", "--out", str(tmp_path / "sheet.html"), "--config", str(tmp_path)]) == 0
    said = (tmp_path / "sheet.html").read_text()
    assert "10 unless a question asks for another number" in said
    assert said.count("unless a question asks") == 2
