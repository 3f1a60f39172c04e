"""The impact sheet: what was declared and spent, what remains, and not one cell."""

import datetime as dt
import json
import re
from pathlib import Path

import pytest

from discreet.base.schema import Refresh
from discreet.cli.app import run
from discreet.curator import open as open_curator
from discreet.tasks.sheet import sheet

ROOT = Path(__file__).resolve().parents[3]

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


SAYS = {
    Refresh.MANUAL: "when the owner says so",
    Refresh.HOURLY: "every hour",
    Refresh.DAILY: "every day",
    Refresh.WEEKLY: "every week",
    Refresh.MONTHLY: "every month",
    Refresh.ON_CHANGE: "whenever rows change: anyone who may ask can see that the data changed.",
}


@pytest.mark.parametrize("refresh", Refresh)
def test_the_sheet_says_what_newer_rows_reveal(tmp_path, refresh):
    file = tmp_path / "discreet.toml"
    file.write_text(TOML.replace("epsilon = 2\n", f'epsilon = 2\nrefresh = "{refresh.value}"\n'))
    sheet(tmp_path).write(tmp_path / "sheet.json")
    sections = json.loads((tmp_path / "sheet.json").read_text())["sections"]
    (said,) = (
        block["text"]
        for block in next(s for s in sections if s["title"] == "Data set town")["blocks"]
        if "newer rows" in block.get("text", "")
    )
    assert f"Questions read newer rows {SAYS[refresh]}" in said
    hidden = "nobody who asks can see whether rows have changed" in said
    assert hidden is (refresh is not Refresh.ON_CHANGE)


def test_the_page_on_security_says_it_of_every_policy():
    text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    part = text.split("## What changes in the data tell\n")[1].split("\n## ")[0]
    rows = {
        name: (when, seen)
        for name, when, seen in re.findall(r"^\| (`.+?) \| (.+?) \| (.+?) \|$", part, re.MULTILINE)
    }
    rows.pop("`refresh` of a dataset")
    assert rows['`"manual"`'] == ("the owner says so", "that the owner said so")
    assert rows['`"hourly"` to `"monthly"`'] == ("a period (in UTC) begins", "the time")
    when, seen = rows['`"on-change"`']
    assert when == "rows have changed"
    assert "that the data changed" in seen
    assert len(rows) == 3
    periods = [each.value for each in Refresh if each.period(dt.datetime.now(dt.UTC))]
    assert (periods[0], periods[-1]) == ("hourly", "monthly")
    assert {each.value for each in Refresh} == {"manual", "on-change", *periods}
