import json

import pytest
import typer
from typer.testing import CliRunner

from discreet.cli.commands.explain import explain
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


@pytest.mark.parametrize("wrong", ["0", "-1", "many", "inf"])
def test_nonsense_is_refused_with_a_sentence(wrong):
    # Click would read -1 as an option: the end of options is marked.
    result = run("--", wrong)
    assert isinstance(result.exception, InvalidInput)
    assert "epsilon" in str(result.exception)
