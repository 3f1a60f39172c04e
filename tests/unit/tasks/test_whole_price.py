"""Types of a bare file are paid for first: they are in the bill, and what needs no row is refused before them."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import discreet
from discreet.base.bill import NOTHING_SPENT, Spent
from discreet.base.numbers import Epsilon
from discreet.cli.app import run
from discreet.curator import Curator
from discreet.data.catalog.bare_file import bare_table
from discreet.errors import DiscreetError, InvalidInput, RequestConflict, UnknownName
from discreet.tasks.bare_file import WrittenSource
from discreet.tasks.learn import impact, regress_kept
from discreet.tasks.model_test import HeldOutFile

ROWS = "age,size,job\n" + "".join(
    f"{20 + i % 50},{i % 50 + i % 7},{'ab'[i % 2]}\n" for i in range(3_000)
)
PAID = {"epsilon": "8", "delta": "1e-6"}
ASKED = Spent(Fraction(8), Fraction(1, 10**6))
REGRESSION = {"target": "size", "features": ["age"], "epsilon": "8", "delta": None}
TRAINING = {"target": "job", "delta": "1e-6", "model": "bayes"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "p.csv").write_text(ROWS)
    (tmp_path / "t.csv").write_text(ROWS)
    pq.write_table(csv.read_csv(tmp_path / "p.csv"), tmp_path / "p.parquet")
    (tmp_path / "lack.csv").write_text("age\n30\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def spent(folder: Path) -> Spent:
    with discreet.open(folder) as curator:
        return curator.ledger.balance("p").spent


def charges(folder: Path) -> int:
    with discreet.open(folder) as curator:
        return sum(entry["kind"] == "charge" for entry in curator.history())


def test_a_copy_tells_the_whole_price(folder: Path):
    found = discreet.synthesize("p.csv", epsilon="8", method="independent")
    assert (found.cost, found.before) == (spent(folder), NOTHING_SPENT)
    assert found.cost == found.after == Spent(Fraction(8), Fraction(0))


@pytest.mark.parametrize("asked", [discreet.synthesize, discreet.learn], ids=["synth", "learn"])
def test_with_a_delta_the_price_is_what_was_asked_for(folder: Path, asked):
    """Squares of the parts add up: the ledger counts a little less than was asked for."""
    kind = {"method": "tree"} if asked is discreet.synthesize else {"target": "job"}
    found = asked("p.csv", **PAID, **kind)
    assert (found.cost, found.before) == (ASKED, NOTHING_SPENT)
    assert found.after == spent(folder)
    assert 7.5 < found.after.epsilon <= 8


def test_a_copy_that_is_free_tells_what_its_types_have_cost(folder: Path):
    found = discreet.synthesize("p.csv", epsilon="8", method="random", rows=10)
    assert not found.free
    assert found.cost == spent(folder) == Spent(Fraction(8, 10), Fraction(0))


def test_who_accepts_pays_for_no_types(folder: Path):
    found = discreet.synthesize("p.csv", **PAID, method="tree", accept=True)
    assert found.cost == ASKED
    assert charges(folder) == 1


def test_a_regression_tells_the_whole_price(folder: Path):
    test = HeldOutFile(folder / "t.csv", public=True)
    kept = regress_kept(WrittenSource("p.csv"), REGRESSION, test=test)
    assert kept.found.cost == spent(folder) == Spent(Fraction(8), Fraction(0))
    assert kept.to_json()["rmse"]["value"] > 0


def test_an_impact_tells_the_whole_price(folder: Path):
    test = HeldOutFile(folder / "t.csv", public=True)
    found = impact(WrittenSource("p.csv"), ["2", "6"], TRAINING, test=test, out=folder / "i.json")
    assert found.cost == Spent(Fraction(8), Fraction(2, 10**6))
    assert (found.before, found.after) == (NOTHING_SPENT, spent(folder))


COMMANDS = {
    "synth": "synth p.csv --method independent --epsilon 8",
    "synth with a delta": "synth p.csv --method independent --epsilon 8 --delta 1e-6",
    "classify": "learn classify p.csv --target job --epsilon 8 --delta 1e-6",
    "regress": "learn regress p.csv --target size --features age --epsilon 8",
    "regress with a delta": "learn regress p.csv --target size --epsilon 8 --delta 1e-6",
    "impact": "learn impact p.csv --target job --test t.csv --test-public --model bayes "
    "--epsilons 2,6 --delta 1e-6",
}


@pytest.mark.parametrize("line", COMMANDS.values(), ids=COMMANDS)
def test_a_command_tells_the_whole_price(folder: Path, line: str, capsys):
    assert run([*line.split(), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["cost"]["epsilon"] == 8
    counted = spent(folder)
    assert 7 < counted.epsilon <= 8
    if "delta" not in line:
        assert counted.epsilon == 8
    if "budget" in told:
        assert told["budget"]["before"]["epsilon"] == 0
        assert told["budget"]["after"] == counted.to_json()


NO_COPY = {
    "method": {"method": "nosuchmethod"},
    "setting": {"method": "privbayes", "options": {"nosuch": 1}},
    "value of a setting": {"method": "privbayes", "options": {"parents": "many"}},
    "workload": {"method": "adaptive", "options": {"workload": [["nosuch", "age"]]}},
    "condition": {"where": "nosuch > 1"},
    "broken condition": {"where": "age >"},
    "broken rule": {"rules": ["age >= 16 if size >"]},
    "rows of a copy that reads none": {"method": "random"},
    "choice": {"choose": ["tree"]},
    **{
        f"condition {text!r}": {"where": text}
        for text in ("nosuch(age) > 1", "max(age) > 1", "age", "", "1", "age > (select 1)")
    },
    **{
        f"rule {text!r}": {"rules": [text]}
        for text in (
            "random() > 0.5",
            "age := 3",
            "age > 3 if job",
            "age -> age, job",
            "-> age",
            "nosuch(age) > 1",
        )
    },
}


@pytest.mark.parametrize("asked", NO_COPY.values(), ids=NO_COPY)
def test_a_copy_that_is_refused_costs_nothing(folder: Path, asked: dict[str, object]):
    with pytest.raises(InvalidInput):
        discreet.synthesize("p.csv", **PAID, **asked)
    assert not (folder / "discreet.toml").exists()


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"model": "nosuch"}, InvalidInput),
        ({"features": ["nosuch"]}, UnknownName),
        ({"rows": 2, "epsilon": "0.01"}, InvalidInput),
    ],
)
def test_a_training_that_is_refused_costs_nothing(folder: Path, asked, error):
    with pytest.raises(error):
        discreet.learn("p.csv", **{"target": "job", **PAID, **asked})
    assert not (folder / "discreet.toml").exists()


REFUSED = {
    "a copy with no ending": "synth p.csv --epsilon 8 --out copy",
    "a broken condition": "synth p.csv --epsilon 8 --where age>",
    "a test without a column": "learn classify p.csv --target job --epsilon 8 --delta 1e-6 "
    "--test lack.csv --test-public",
    "an impact without a column": "learn impact p.csv --target job --epsilons 1,2 --delta 1e-6 "
    "--test lack.csv --test-public",
    "an impact as a picture": "learn impact p.csv --target job --epsilons 1,2 --delta 1e-6 "
    "--test t.csv --test-public --out i.png",
    "a regression tested on no such column": "learn regress p.csv --target size --features age "
    "--epsilon 8 --test lack.csv --test-public",
    "a regression tested on rows that may lack what it needs": "learn regress p.csv --target age "
    "--epsilon 8 --test lack.csv --test-public",
    "a regression of text": "learn regress p.parquet --target job --epsilon 8",
    "a regression on text": "learn regress p.parquet --target size --features job --epsilon 8",
    "a regression of known types tested on too few columns": "learn regress p.parquet --target age "
    "--epsilon 8 --test lack.csv --test-public",
    "a regression of whom it protects": "learn regress p.csv --unit size --target size --epsilon 8",
    "an exact test on private rows": "learn regress p.csv --target size --features age "
    "--epsilon 8 --test t.csv",
}


@pytest.mark.parametrize("line", REFUSED.values(), ids=REFUSED)
def test_a_command_that_is_refused_costs_nothing(folder: Path, line: str, capsys):
    assert run(line.split()) == 1
    assert "our own mistake" not in capsys.readouterr().err
    assert not (folder / "discreet.toml").exists()


LINKED = """
[datasets.town]
epsilon = 9
delta = 1e-6
[datasets.town.tables.people]
source = "people.csv"
unit = "id"
max_rows = 1
[datasets.town.tables.people.columns]
sex = { type = "category", values = ["F", "M"] }
[datasets.town.tables.visits]
source = "visits.csv"
unit = "id"
max_rows = 3
[datasets.town.tables.visits.columns]
kind = { type = "category", values = ["a", "b"] }
"""


@pytest.mark.parametrize("out", ["nowhere/c.zip", "p.csv/c", "c.csv"])
def test_linked_tables_that_cannot_be_written_cost_nothing(folder: Path, out: str, capsys):
    (folder / "discreet.toml").write_text(LINKED)
    (folder / "people.csv").write_text("id,sex\n1,F\n2,M\n")
    (folder / "visits.csv").write_text("id,kind\n1,a\n2,b\n")
    assert run(["synth", "town", "--epsilon", "1", "--delta", "1e-7", "--out", out]) == 1
    assert "our own mistake" not in capsys.readouterr().err
    assert charges(folder) == 0


PRIVATE_IMPACT = "learn impact p.csv --target job --test t.csv --out i.json --model bayes"


def test_an_impact_tested_on_private_rows_declares_a_limit_for_all_its_tests(folder: Path, capsys):
    """With a limit for the first test alone the second was refused, after its training was paid."""
    assert run([*PRIVATE_IMPACT.split(), "--delta", "1e-6", "--epsilons", "2,3"]) == 0
    assert (folder / "i.json").exists()
    with discreet.open(folder) as curator:
        tests = curator.ledger.balance("t")
    assert tests.limit_epsilon == tests.epsilon == Fraction(9, 2)


BEFORE_IT_IS_PAID = {
    "an impact whose last epsilon says nothing": f"{PRIVATE_IMPACT} --test-public --epsilons 3,1e-9 "
    "--delta 1e-6",
    "an impact tested on its own private rows": "learn impact p.csv --target job --test p.csv "
    "--out i.json --model bayes --epsilons 1,2 --delta 1e-6",
    "a network for an epsilon that is too small": "learn impact p.csv --target job --test t.csv "
    "--test-public --out i.json --model network --epsilons 1,0.001 --delta 1e-6",
    "a choice among one": "learn classify p.csv --target job --epsilon 1 --delta 1e-6 --choose bayes",
    "a choice of nothing": "learn classify p.csv --target job --epsilon 1 --delta 1e-6 "
    "--choose nope,bayes",
    "a test on the training rows, private": "learn classify p.csv --target job --epsilon 1 "
    "--delta 1e-6 --test p.csv",
    "a request id too long for its test": "learn classify p.csv --target job --epsilon 1 "
    f"--delta 1e-6 --test t.csv --request-id {'i' * 197}",
}


@pytest.mark.parametrize("line", BEFORE_IT_IS_PAID.values(), ids=BEFORE_IT_IS_PAID)
def test_what_a_later_training_or_test_is_refused_for_costs_nothing(
    folder: Path, line: str, capsys
):
    assert run(line.split()) == 1


AGAIN = {name: line for name, line in COMMANDS.items() if name != "impact"}


@pytest.mark.parametrize("line", AGAIN.values(), ids=AGAIN)
def test_a_request_asked_again_is_free(folder: Path, line: str, capsys):
    """Types are there by then, so only the ledger knows that a part of epsilon was left for the rest."""
    out = ["--out", "o.csv"] if line.startswith("synth") else ["--out", "o.zip"]
    asked = [*line.split(), *out, "--request-id", "r", "--json"]
    assert run(asked) == 0
    first, counted, made = capsys.readouterr().out, spent(folder), charges(folder)
    assert run(asked) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["cost"]["epsilon"] == 0
    assert (
        again["columns" if "synth" in line else "model"]
        == json.loads(first)["columns" if "synth" in line else "model"]
    )
    assert (spent(folder), charges(folder)) == (counted, made)


def test_a_copy_in_python_asked_again_is_free(folder: Path):
    asked = {**PAID, "method": "independent", "request_id": "r"}
    first = discreet.synthesize("p.csv", **asked)
    again = discreet.synthesize("p.csv", **asked)
    assert (again.free, again.cost) == (True, NOTHING_SPENT)
    assert again.saved.measured[0].values.tolist() == first.saved.measured[0].values.tolist()
    with pytest.raises(RequestConflict):
        discreet.synthesize("p.csv", **{**asked, "epsilon": "7"})


@pytest.mark.parametrize("what", ["synthesize", "regress"])
def test_a_command_that_was_ended_after_its_types_is_finished_by_the_same_again(
    folder: Path, what: str, monkeypatch
):
    lines = {
        "synthesize": "synth p.csv --method independent --epsilon 8 --request-id r",
        "regress": "learn regress p.csv --target size --features age --epsilon 8 --request-id r",
    }

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Curator, what, killed)
        run(lines[what].split())
    assert 0 < spent(folder).epsilon < 8
    assert run(lines[what].split()) == 0
    assert spent(folder).epsilon == 8


def test_types_are_not_paid_for_where_the_rest_does_not_fit(folder: Path, capsys):
    bare_table(folder / "p.csv", epsilon=Epsilon.of("1"), untyped=True)
    counted = spent(folder)
    assert run(["synth", "p.csv", "--method", "independent", "--epsilon", "3"]) == 1
    assert "Nothing was charged" in capsys.readouterr().err
    assert spent(folder) == counted


def test_a_copy_of_texts_that_is_free_again_says_so(folder: Path):
    (folder / "p.csv").write_text("job,town\n" + "baker,Bern\nsmith,Basel\n" * 500)
    asked = {**PAID, "method": "independent", "request_id": "r"}
    assert discreet.synthesize("p.csv", **asked).cost == ASKED
    again = discreet.synthesize("p.csv", **asked)
    assert (again.free, again.cost) == (True, NOTHING_SPENT)


@pytest.mark.parametrize("line", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize(
    "who", [["--as", "bob"], ["--request-id", "r" * 201], ["--request-id", "r\n"]]
)
def test_whoever_the_ledger_would_refuse_pays_for_no_types(
    folder: Path, line: str, who: list[str], capsys
):
    if "impact" in line and who[0] == "--request-id":
        pytest.skip("an impact has no request id: it is several trainings")
    assert run([*line.split(), *who]) == 1
    assert "our own mistake" not in capsys.readouterr().err
    assert not (folder / "discreet.toml").exists()


def test_a_declared_table_is_not_charged_for_the_first_of_several_epsilons(folder: Path, capsys):
    first = "learn classify p.csv --target job --epsilon 1 --model bayes --accept"
    assert run(first.split()) == 0
    (folder / "discreet.toml").write_text(
        (folder / "discreet.toml").read_text().replace("epsilon = 1.0", "epsilon = 9.0")
    )
    before = charges(folder)
    line = "learn impact p --target job --model bayes --test t.csv --test-public --epsilons"
    assert run([*line.split(), "0.5,1e-7"]) == 1
    assert charges(folder) == before
    assert run([*line.split(), "0.5,1"]) == 0
    assert charges(folder) == before + 2


def test_a_test_that_its_own_budget_has_no_room_for_costs_no_training(folder: Path, capsys):
    learn = "learn classify {} --target job --delta 1e-6 --model bayes --epsilon {} --out m.zip"
    assert run(learn.format("t.csv", 1).split()) == 0
    told = charges(folder)
    assert run([*learn.format("p.csv", 1).split(), "--test", "t.csv"]) == 1
    assert "--test-public" in capsys.readouterr().err
    assert charges(folder) == told


def test_a_model_that_is_no_text_is_refused_in_a_sentence(folder: Path):
    for wrong in ({"model": 3}, {"target": 3}):
        with pytest.raises(InvalidInput):
            discreet.learn("p.csv", **{"target": "job", "epsilon": 1, **wrong})
    assert not (folder / "discreet.toml").exists()


RATED = """
[datasets.town]
epsilon = 9
delta = 1e-6
[datasets.town.tables.ratings]
source = "ratings.csv"
unit = "user_id"
max_rows = 5
[datasets.town.tables.ratings.columns]
item = { type = "integer", lower = 1, upper = 20 }
rating = { type = "integer", lower = 1, upper = 5 }
"""


@pytest.mark.parametrize("viewer", ["1=nan", "999=5", "1=6"])
def test_a_viewer_whom_no_recommender_could_serve_costs_nothing(folder: Path, viewer: str, capsys):
    (folder / "discreet.toml").write_text(RATED)
    (folder / "ratings.csv").write_text("user_id,item,rating\n1,1,5\n2,2,3\n")
    asked = ["learn", "recommend", "ratings", "--epsilon", "1", "--delta", "1e-7", "--for"]
    assert run([*asked, viewer]) == 1
    assert "our own mistake" not in capsys.readouterr().err
    assert charges(folder) == 0
    assert run([*asked, "1=5"]) == 0
    assert charges(folder) == 1


def test_a_private_test_that_is_refused_tells_that_its_types_are_paid_for(folder: Path, capsys):
    """Columns of other kinds than the model's are seen once types are known, and these cost something."""
    (folder / "t.csv").write_text("age,size,job\n" + "old,large,a\nnew,small,b\n" * 2_000)
    line = "learn classify p.csv --target job --epsilon 8 --delta 1e-6 --model bayes --test t.csv"
    assert run(line.split()) == 1
    with discreet.open(folder) as curator:
        paid = curator.ledger.balance("t").epsilon
    told = capsys.readouterr().err
    assert paid > 0
    assert "types of 't.csv' are paid for" in told
    assert "Nothing was charged" not in told


def test_an_analyst_without_a_share_pays_for_no_types(folder: Path):
    bare_table(folder / "p.csv", epsilon=Epsilon.of("99"), untyped=True)
    bare_table(folder / "t.csv", epsilon=Epsilon.of("9"), untyped=True)
    text = (folder / "discreet.toml").read_text()
    (folder / "discreet.toml").write_text(text + "\n[analysts.ann.datasets]\nt = { epsilon = 1 }\n")
    made = charges(folder)
    for analyst in (None, "bob", "ann"):
        with pytest.raises(DiscreetError):
            discreet.synthesize("p.csv", **PAID, analyst=analyst)
    assert charges(folder) == made


@pytest.mark.parametrize("option", ["--report", "--compare"])
@pytest.mark.parametrize("declared", [False, True])
def test_a_report_on_no_such_column_costs_nothing(folder: Path, option: str, declared: bool):
    if declared:
        assert run(["synth", "p.csv", "--method", "random", "--rows", "5", "--epsilon", "8"]) == 0
    line = f"synth p.csv --method independent --epsilon 7 --target zz {option} r.json"
    counted = charges(folder) if declared else 0
    assert run(line.split()) == 1
    if declared:
        assert charges(folder) == counted
    else:
        assert not (folder / "discreet.toml").exists()
