"""A command on a bare file that is refused leaves nothing in the way of the next one."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import discreet
from discreet.cli.app import run
from discreet.data.catalog import bare_file
from discreet.tasks import bare_file as bare_synth
from discreet.tasks import bare_file as unpaid
from sittings import FULL

ROWS = "age,sex,job\n" + "".join(f"{20 + i % 50},{'FM'[i % 2]},{'ab'[i % 2]}\n" for i in range(300))
REFUSED = {
    "too few rows": "learn classify p.csv --target job --epsilon 0.01 --delta 1e-9 --rows 300",
    "no delta": "learn classify p.csv --target job --epsilon 0.01",
    "no column": "learn classify p.csv --target nope --epsilon 0.01 --delta 1e-9",
    "no rule": "synth p.csv --epsilon 0.01 --delta 1e-9 --where 'nope=1'",
    "no classes": "anonymize p.csv --quasi age --k 9000",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "p.csv").write_text(ROWS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _charges(capsys: pytest.CaptureFixture[str]) -> dict[str, float]:
    capsys.readouterr()
    assert run(["budget", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["datasets"]
    return {name: float(each["epsilon"]["spent"]) for name, each in found.items()}


def _asked(line: str) -> list[str]:
    return line.replace("'", "").split()


@pytest.mark.parametrize("line", REFUSED.values(), ids=REFUSED)
def test_a_refusal_leaves_no_declaration(folder: Path, line: str, capsys):
    assert run(_asked(line)) == 1
    assert not (folder / "discreet.toml").exists()


def test_after_a_refusal_the_next_command_brings_its_own_budget(folder: Path, capsys):
    assert run(_asked(REFUSED["too few rows"])) == 1
    assert run(_asked("learn select p.csv --target job --epsilon 1 --accept")) == 0
    assert "epsilon = 1" in (folder / "discreet.toml").read_text()
    assert _charges(capsys) == {"p": 1.0}


def test_a_refusal_puts_back_what_stood_there_to_the_byte(folder: Path, capsys):
    (folder / "q.csv").write_text(ROWS)
    assert run(_asked("learn select p.csv --target job --epsilon 1 --accept")) == 0
    before = (folder / "discreet.toml").read_bytes()
    assert run(_asked(REFUSED["too few rows"].replace("p.csv", "q.csv"))) == 1
    assert (folder / "discreet.toml").read_bytes() == before


def test_a_limit_under_which_something_was_paid_stays(folder: Path, monkeypatch, capsys):
    """The twin that forgets to ask the ledger would let a second command raise the limit."""

    def pay_and_fail(bare: bare_synth.BareTable, *_: object) -> None:
        with bare_synth.open_curator(bare.config) as curator:
            curator.query("SELECT COUNT(*) AS n FROM p", epsilon="0.01")
        raise unpaid.DiscreetError("after the charge")

    monkeypatch.setattr(bare_synth, "pay_types", pay_and_fail)
    line = "synth p.csv --epsilon 0.5 --delta 1e-9"
    assert run(_asked(line)) == 1
    assert _charges(capsys)["p"] > 0
    monkeypatch.setattr(unpaid, "_nothing_left", lambda _: True)
    assert (folder / "discreet.toml").exists()
    (folder / "discreet.toml").unlink()
    assert run(_asked(line)) == 1
    assert not (folder / "discreet.toml").exists(), "the broken twin forgets"


def test_a_declaration_that_somebody_changed_since_stays(folder: Path, monkeypatch, capsys):
    def edit_and_fail(bare: bare_synth.BareTable, *_: object) -> None:
        bare.config.write_text(bare.config.read_text() + "# mine\n")
        raise unpaid.DiscreetError("no")

    monkeypatch.setattr(bare_synth, "pay_types", edit_and_fail)
    assert run(_asked("synth p.csv --epsilon 0.5 --delta 1e-9")) == 1
    assert "# mine" in (folder / "discreet.toml").read_text()


def test_a_budget_without_delta_says_that_it_is_delta_that_is_missing(folder: Path, capsys):
    assert run(_asked("learn select p.csv --target job --epsilon 1 --accept")) == 0
    text = (folder / "discreet.toml").read_text()
    (folder / "discreet.toml").write_text(text.replace("epsilon = 1", "epsilon = 3"))
    capsys.readouterr()
    asked = "learn classify p --target job --epsilon 1 --delta"
    assert run(_asked(f"{asked} 1e-9")) == 1
    said = capsys.readouterr().err
    assert "has no delta" in said
    assert "nothing is left" not in said
    assert run(_asked(f"{asked} 0")) == 0


def test_impact_of_a_bare_file_has_a_budget_for_all_its_models(folder: Path, capsys):
    line = "learn impact p.csv --target job --epsilons 1,2 --test p.csv --test-public --accept"
    assert run(_asked(line)) == 0
    assert _charges(capsys) == {"p": 3.0}


ODD = ROWS + "unknown,F,true\n"
FREE = {
    "values": "learn select p.csv --target age --epsilon 1",
    "prices": "learn select p.csv --target age --kind price --epsilon 1",
    "truth values": "learn select p.csv --target job --epsilon 1",
    "ratings": "learn recommend p.csv --item job --rating age --unit row --epsilon 1",
    "columns": "learn regress p.csv --target nope --epsilon 1",
    "models": "learn impact p.csv --target age --epsilons 1 --test p.csv --test-public",
}


def _told(folder: Path, line: str, rows: str, capsys) -> tuple[int, str]:
    """Return all that a command tells about a file in a folder of its own."""
    (folder / "p.csv").write_text(rows)
    capsys.readouterr()
    code = run(_asked(line))
    assert not (folder / "discreet.toml").exists()
    return code, "".join(capsys.readouterr())


@pytest.mark.parametrize("line", FREE.values(), ids=FREE)
def test_a_free_refusal_tells_nothing_of_the_rows(folder: Path, line: str, capsys):
    """One row with an odd cell changes the type of a column, and so what was refused, and how."""
    told = _told(folder, line, ROWS, capsys)
    assert told[0] == 1
    assert told == _told(folder, line, ODD, capsys)


def test_the_twin_that_takes_types_for_free_is_caught(folder: Path, capsys, monkeypatch):
    whole = bare_file._found_or_written

    def typed(*args, untyped, **more):
        return whole(*args, untyped=False, **more)

    monkeypatch.setattr(bare_file, "_found_or_written", typed)
    line = FREE["values"]
    assert _told(folder, line, ROWS, capsys) != _told(folder, line, ODD, capsys)


PAID = [
    "learn regress p.csv --target age --epsilon 1",
    "learn impact p.csv --target job --epsilons 0.4,0.6 --delta 1e-6 --test t.csv --test-public",
    "learn regress p.csv --target age --epsilon 1 --delta 1e-6",
]


@pytest.mark.parametrize("line", PAID if FULL else PAID[:2])
def test_types_are_paid_for_first_and_all_of_it_fits(folder: Path, line: str, capsys):
    rows = "age,size,job\n" + "".join(
        f"{20 + i % 50},{i % 7},{'ab'[i % 2]}\n" for i in range(10_000)
    )
    (folder / "p.csv").write_text(rows)
    (folder / "t.csv").write_text(rows)
    assert run(_asked(line)) == 0
    with discreet.open(folder / "discreet.toml") as curator:
        notes = [entry["sql"] for entry in curator.history() if entry["kind"] == "charge"]
    assert notes[-1] == "types of the columns of p"
    assert notes[-2] == "ranges of the numbers of p" or "impact" in line
    assert len(notes) == 3
    (spent,) = _charges(capsys).values()
    assert 0.6 < spent <= 1


FILES = [("p.csv", 20.5), ("p.parquet", 1), ("p.csv", 1), ("p.parquet", 0.5)]


@pytest.mark.parametrize(("name", "scale"), FILES if FULL else FILES[:2])
def test_ranges_are_learned_so_that_a_regression_says_something(folder: Path, name, scale, capsys):
    """Over the range of a type it would spend everything and be off by 10^10."""
    rows = (
        f"{20 + i % 50},{(3 * (i % 50) + i % 7) * scale},{'ab'[i % 2]}\n" for i in range(10_000)
    )
    (folder / "p.csv").write_text("age,size,job\n" + "".join(rows))
    pq.write_table(csv.read_csv(folder / "p.csv"), folder / "p.parquet")
    asked = f"learn regress {name} --target size --epsilon 1 --test p.csv --test-public --json"
    assert run(_asked(asked)) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["cost"]["epsilon"] == 1
    assert found["rmse"]["value"] < 20 * scale < found["baseline"] < 80 * scale
    (spent,) = _charges(capsys).values()
    assert spent == 1
    text = (folder / "discreet.toml").read_text()
    assert str(10**12) not in text
    (folder / f"{Path(name).stem}-size-model.zip").unlink()
    assert run(_asked(asked)) == 1  # nothing is left, and ranges are known already
    assert _charges(capsys) == {"p": 1.0}
    assert (folder / "discreet.toml").read_text() == text


def test_a_target_that_is_not_there_costs_no_ranges(folder: Path, capsys):
    pq.write_table(csv.read_csv(folder / "p.csv"), folder / "p.parquet")
    assert run(_asked("learn regress p.parquet --target nope --epsilon 1")) == 1
    assert not (folder / "discreet.toml").exists()


def test_ranges_that_drown_in_noise_are_not_guessed(folder: Path, capsys):
    assert run(_asked("learn regress p.csv --target age --epsilon 0.01")) == 1
    said = capsys.readouterr().err
    assert "not known between which numbers" in said or "not a number" in said
