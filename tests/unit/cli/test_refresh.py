"""`discreet refresh`: it begins versions, or says what questions read and whether that is still so."""

import json

import pytest

from discreet.cli.app import run
from discreet.curator import open as open_curator

TOML = """
[datasets.shop]
epsilon = 9
refresh = "manual"
{tables}
[datasets.clinic]
epsilon = 9
refresh = "daily"
[datasets.clinic.tables.visits]
source = "visits.csv"
unit = "who"
max_rows = 1
[datasets.clinic.tables.visits.columns]
who = {{ type = "identifier" }}
size = {{ type = "integer", lower = 0, upper = 9 }}
"""
TABLE = """
[datasets.shop.tables.{name}]
source = "{name}.csv"
unit = "row"
[datasets.shop.tables.{name}.columns]
size = {{ type = "integer", lower = 0, upper = 9 }}
"""


@pytest.fixture
def place(tmp_path):
    tables = "".join(TABLE.format(name=name) for name in ("east", "west"))
    (tmp_path / "discreet.toml").write_text(TOML.format(tables=tables))
    for name in ("east", "west"):
        (tmp_path / f"{name}.csv").write_text("size\n1\n2\n")
    (tmp_path / "visits.csv").write_text("who,size\na,1\n")
    return tmp_path


@pytest.fixture
def refresh(place, capsys):
    """Return a function that runs the command and gives status, output and error."""

    def command(*words):
        status = run(["refresh", *words, "--config", str(place)])
        said = capsys.readouterr()
        return status, said.out, said.err

    return command


def lines(said):
    status, out, err = said
    assert (status, err) == (0, ""), err
    return out.splitlines()


def test_the_list_says_what_is_read_and_begins_nothing(place, refresh):
    for _ in range(2):
        assert lines(refresh("--list")) == [
            'shop east, west: nobody has asked yet (refresh = "manual")',
            'clinic visits: nobody has asked yet (refresh = "daily")',
        ]
    with open_curator(place) as curator:
        curator.query("SELECT COUNT(*) AS n FROM east", epsilon=1)
    (place / "west.csv").write_text("size\n1\n")
    (found,) = lines(refresh("shop", "--list"))
    assert found.startswith("shop east, west: version 1 since ")
    assert found.endswith('(refresh = "manual"); other rows by now in west')
    (found,) = json.loads(refresh("shop", "--list", "--json")[1])["versions"]
    assert (found["version"], found["changed"]) == (1, ["west"])


def test_it_begins_versions_of_one_table_of_a_dataset_or_of_all(place, refresh):
    (begun,) = lines(refresh("--table", "visits"))
    assert begun.startswith("clinic visits: version 1 since ")
    begun = [line.split(" since ")[0] for line in lines(refresh())]
    assert begun == ["shop east, west: version 1", "clinic visits: version 2"]
    (place / "west.csv").write_text("size\n1\n")
    # Rows of the two may move from one to the other, so both are read anew.
    (begun,) = lines(refresh("shop", "--table", "east"))
    assert begun.startswith("shop east, west: version 2 since ")
    assert "other rows" not in begun
    with open_curator(place) as curator:
        answer = curator.query("SELECT COUNT(*) AS n FROM west", epsilon=9)
        assert answer.provenance.snapshot == "west:2"


def test_what_does_not_exist_is_refused(refresh):
    for words in (["nowhere"], ["shop", "--table", "north"], ["--table", "north"]):
        status, out, err = refresh(*words)
        assert (status, out) == (1, "")
        assert "There is no" in err or "unknown" in err.lower()
