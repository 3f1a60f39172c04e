import json
from itertools import pairwise

import pytest
import typer
from typer.testing import CliRunner

from discreet.cli.privacy_loss import explain
from discreet.errors import InvalidInput


def run(*arguments):
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command()(explain)
    return CliRunner().invoke(app, list(arguments))


def test_json_has_the_contracts_keys():
    result = run("1.0", "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["epsilon"] == 1.0
    assert round(found["factor"], 3) == 2.718
    assert "not taking part" in found["text"]


def test_words_and_a_table_of_beliefs():
    result = run("0.5", "--total", "3")
    assert result.exit_code == 0
    assert "epsilon 0.5: strong" in result.stdout
    assert "All questions together may use 3" in result.stdout
    assert "50.0%" in result.stdout


TOML = """
[datasets.census]
epsilon = 1
neighbours = "replace-one"
[datasets.census.tables.people]
source = "people.csv"
unit = "row"
[datasets.census.tables.people.columns]
age = { type = "integer", lower = 0, upper = 120 }
"""


def test_the_json_has_every_comparison_beside_the_old_keys():
    found = json.loads(run("1", "--delta", "1e-9", "--json").stdout)
    assert [round(each["factor"], 2) for each in found["promises"]] == [2.72, 7.39, 2.72]
    assert [each["delta"] for each in found["promises"]] == pytest.approx(
        [1e-9, 3.718e-9, 1e-9], rel=1e-3
    )
    assert found["beliefs"] == found["promises"][0]["beliefs"]
    assert all(each["worlds"] in each["text"].lower() for each in found["promises"])


def test_a_table_of_beliefs_says_how_often_it_does_not_hold():
    def headings(*arguments):
        lines = run("1", *arguments).stdout.splitlines()
        return [above for above, line in pairwise(lines) if "believed before" in line]

    given, bare = headings("--delta", "0.3"), headings()
    assert len(given) == len(bare) == 3
    assert all("except with probability about " in each for each in given)
    assert given[0].endswith("except with probability about 3e-1:")
    assert not any("except" in each for each in bare)


def test_the_neighbours_of_a_dataset_decide(tmp_path):
    path = tmp_path / "discreet.toml"
    path.write_text(TOML)
    found = run("1", "--dataset", "census", "--config", str(path))
    assert "your row (or rows) replaced by any other" in found.stdout
    assert "taking part" not in found.stdout
    assert "taking part" in run("1", "--config", str(path)).stdout
    wrong = run("1", "--dataset", "sensus", "--config", str(path)).exception
    assert "There is no dataset 'sensus'" in str(wrong)


@pytest.mark.parametrize("wrong", ["0", "-1", "many", "inf"])
def test_nonsense_is_refused_with_a_sentence(wrong):
    # Click would read -1 as an option: the end of options is marked.
    result = run("--", wrong)
    assert isinstance(result.exception, InvalidInput)
    assert "epsilon" in str(result.exception)
