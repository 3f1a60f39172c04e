"""A bound of 20 rows turned 100,000 rows into 16,854 with an error bar of 60: the rest is told once it is paid for."""

import json

import pytest

from discreet.cli.app import run
from discreet.cli.query import trade_words
from discreet.curator import Curator
from discreet.data.catalog.policy_file import load
from discreet.errors import BudgetExceeded, InvalidInput
from discreet.testing import SeededRng

TOML = """
[engine]
url = "duckdb:"
[ledger]
url = "sqlite:ledger.db"
[datasets.clinic]
epsilon = 5
[datasets.clinic.tables.visits]
source = "visits.csv"
unit = "person"
max_rows = 20
[datasets.clinic.tables.visits.columns]
person = { type = "identifier" }
ward = { type = "category", values = ["a", "b"] }
[datasets.clinic.tables.beds]
source = "beds.csv"
unit = "person"
max_rows = 1
[datasets.clinic.tables.beds.columns]
person = { type = "identifier" }
"""
COUNT = "SELECT COUNT(*) AS n FROM visits"
LOST = 100_000 - 16_854


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clinic")
    rows = [4 + (i < 54) for i in range(200)] + [123 + (i < 746) for i in range(800)]
    assert (sum(rows), sum(min(n, 20) for n in rows)) == (100_000, 16_854)
    lines = "".join(f"p{i},{'ab'[i % 2]}\n" * n for i, n in enumerate(rows))
    (folder / "visits.csv").write_text(f"person,ward\n{lines}")
    (folder / "beds.csv").write_text("person\np1\n")
    (folder / "discreet.toml").write_text(TOML)
    return folder / "discreet.toml"


def test_the_loss_stands_beside_the_noise_once_it_is_paid_for(config):
    with Curator(load(config), rng=SeededRng(7)) as curator:
        first = curator.query(COUNT, epsilon=1)
        assert abs(first.rows[0][0] - 16_854) < 300
        assert first.error95[0][0] == 60
        assert "how many rows that leaves out is not known" in first.provenance.notes[0]

        assert float(curator.explain_bounds("visits", epsilon=0.5).cost.epsilon) == 0.5
        assert curator.share_report()["datasets"]["clinic"]["epsilon"]["spent"] == 1
        found = curator.bounds("visits", epsilon=0.5)
        assert curator.share_report()["datasets"]["clinic"]["epsilon"]["spent"] == 1.5
        told = {each.lost.bound: each for each in found.bounds}
        assert told[20].lost.low <= LOST <= told[20].lost.high
        assert told[20].lost.low > LOST / 2
        assert (told[20].noise, told[1].noise) == (60, 3)
        assert found.best in (100, 200)
        assert "declared" in "\n".join(trade_words(found.to_json()))

        words = told[20].lost.words()
        same = curator.query(COUNT, epsilon=1)
        assert same.free
        assert "not known" not in str(same.provenance.notes)
        assert words in same.provenance.notes[0]
        other = curator.query("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=0.2)
        assert words in other.provenance.notes[0]
        fewer = curator.query(COUNT, epsilon=0.2, max_rows=5)
        assert told[5].lost.words() in fewer.provenance.notes[0]
        assert words in curator.explain(COUNT, epsilon=2).notes[0]

        again = curator.bounds("visits", epsilon=0.5)
        assert again.answer.free
        assert again.bounds == found.bounds
        others = curator.query("SELECT COUNT(*) AS n FROM beds", epsilon=0.1)
        assert "not known" in others.provenance.notes[0], "another table's look says nothing here"


def test_more_than_is_left_is_refused_before_any_look(config):
    with Curator(load(config)) as curator, pytest.raises(BudgetExceeded):
        curator.bounds("visits", epsilon=50)


def test_what_makes_no_sense_is_refused_before_it_is_paid(config):
    with Curator(load(config)) as curator:
        before = curator.share_report()
        for wrong in ({"at": "-1"}, {"epsilon": 0}, {"epsilon": None}):
            with pytest.raises(InvalidInput):
                curator.bounds("visits", **{"epsilon": 0.25} | wrong)
        assert curator.share_report() == before


def test_a_table_of_rows_has_no_bound(tmp_path):
    (tmp_path / "visits.csv").write_text("person,ward\np1,a\n")
    (tmp_path / "beds.csv").write_text("person\np1\n")
    text = TOML.replace('unit = "person"\nmax_rows = 20', 'unit = "row"')
    text = text.replace('unit = "person"\nmax_rows = 1', 'unit = "row"')
    (tmp_path / "discreet.toml").write_text(text)
    with (
        Curator(load(tmp_path / "discreet.toml")) as curator,
        pytest.raises(InvalidInput, match="no bound leaves rows out"),
    ):
        curator.bounds("visits", epsilon=1)


def test_the_command_says_the_price_and_then_the_trade(config, capsys):
    words = ["bounds", "visits", "--epsilon", "0.5", "--config", str(config)]
    assert run([*words, "--explain"]) == 0
    assert "Would use" in capsys.readouterr().out
    assert run([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["max_rows"] for each in found["bounds"]][:5] == [1, 2, 5, 10, 20]
    left = {when: found["budget"][when]["epsilon"] for when in ("limit", "after")}
    assert found["left"] == left["limit"] - left["after"]
    assert found["cost"] == {"epsilon": 0.0 if found["free"] else 0.5, "delta": 0.0}
