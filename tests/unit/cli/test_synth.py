"""`discreet synth`, in this process, over a real file and the real engine."""

import json

import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest

from discreet.cli.app import run

JOBS = ["baker", "clerk", "nurse"]


def people(rows=600, rare=""):
    lines = ["age,sex,job,wage"]
    for i in range(rows):
        job = JOBS[i % 3] if i or not rare else rare
        lines.append(f"{20 + (i * 7) % 45},{'F' if i % 2 else 'M'},{job},{(i * 13) % 500 + 0.5}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def synth(tmp_path, monkeypatch, capsys):
    """Return a function that runs the command and gives status, output and error."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(people(), encoding="utf-8")

    def command(*arguments):
        status = run(["synth", *arguments])
        said = capsys.readouterr()
        return status, said.out, said.err

    return command


BUDGET = ("--epsilon", "5", "--delta", "1e-6")
QUICK = ("--method", "independent")


def test_a_bare_file(synth, tmp_path):
    status, out, err = synth("people.csv", *BUDGET, "--out", "copy.csv", "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found["columns"] == ["age", "sex", "job", "wage"]
    assert found["method"] == "adaptive"
    assert found["cost"] == {"epsilon": 5.0, "delta": 1e-6}
    assert found["out"] == "copy.csv"
    assert found["seconds"] > 0
    assert found["free"] is False
    rows = arrow_csv.read_csv(tmp_path / "copy.csv")
    assert rows.num_rows == found["rows"] > 400
    assert set(rows["job"].to_pylist()) <= {*JOBS, ""}
    assert {"discreet.toml", "ledger.db"} <= {path.name for path in tmp_path.iterdir()}
    # The budget is remembered beside the file: a second copy does not fit.
    status, _, err = synth("people.csv", *BUDGET, "--out", "copy.csv")
    assert status == 1
    assert "budget" in err.lower()


def test_words_for_people_and_a_model_for_later(synth, tmp_path):
    files = ("--out", "copy.parquet", "--save-model", "m.json")
    status, out, _ = synth("people.csv", *BUDGET, *QUICK, *files, "--accept")
    assert status == 0
    assert out.startswith("Wrote ")
    assert "of 5." in out
    assert "declared public by --accept" in out
    assert pq.read_table(tmp_path / "copy.parquet").column_names == ["age", "sex", "job", "wage"]
    for name in ("people.csv", "discreet.toml", "ledger.db"):
        (tmp_path / name).unlink()  # a model needs none of them
    where = ("--where", "sex = 'F' AND age < 40", "--rule", "wage < 100 if job = 'baker'")
    status, out, err = synth("--model", "m.json", "--rows", "30", *where, "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found["free"] is True
    assert found["rows"] == 30
    rows = arrow_csv.read_csv(tmp_path / found["out"])
    assert set(rows["sex"].to_pylist()) == {"F"}
    assert max(rows["age"].to_pylist()) < 40
    for job, wage in zip(rows["job"].to_pylist(), rows["wage"].to_pylist(), strict=True):
        assert job != "baker" or wage < 100


def test_a_declared_table_a_method_and_its_settings(synth, tmp_path):
    little = ("--epsilon", "1", "--delta", "1e-6")
    synth("people.csv", *little, *QUICK, "--out", "a.csv", "--accept")
    toml = tmp_path / "discreet.toml"
    toml.write_text(toml.read_text().replace("epsilon = 1.0", "epsilon = 9.0"))
    arguments = ("people", "--method", "privbayes", "--set", "parents=1", "--epsilon", "2")
    status, out, err = synth(*arguments, "--rows", "50", "--out", "b.csv", "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert (found["method"], found["rows"]) == ("privbayes", 50)
    assert found["cost"]["epsilon"] == 2.0


def test_reports(synth, tmp_path):
    arguments = ("--out", "a.csv", "--report", "r.json", "--compare", "c.json", "--accept")
    status, out, err = synth("people.csv", *BUDGET, *QUICK, *arguments, "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert (found["report"], found["compare"]) == ("r.json", "c.json")
    assert "Do not publish" in (tmp_path / "c.json").read_text()
    assert "Do not publish" not in (tmp_path / "r.json").read_text()


def test_a_canary_of_one_person_is_nowhere(synth, tmp_path):
    (tmp_path / "people.csv").write_text(people(rare="CANARY-7351"), encoding="utf-8")
    # One person's word is shown with a chance of a twentieth of delta.
    budget = ("--epsilon", "5", "--delta", "1e-12")
    status, out, err = synth(
        "people.csv", *budget, "--out", "copy.csv", "--save-model", "m.json", "--report", "r.json"
    )
    assert (status, err) == (0, "")
    for name in ("copy.csv", "m.json", "r.json", "discreet.toml"):
        assert "CANARY" not in (tmp_path / name).read_text()
    assert "CANARY" not in out


BAD = {
    "Say what to copy": (),
    "Say how much budget": ("people.csv",),
    "There is no file": ("nothing.csv", *BUDGET),
    "There is no discreet.toml": ("people", *BUDGET),
    "neither a .csv nor": ("people.csv", *BUDGET, "--out", "x.xlsx"),
    "There is no folder": ("people.csv", *BUDGET, "--save-model", "nowhere/m.json"),
    "neither a .html nor": ("people.csv", *BUDGET, "--report", "r.pdf"),
    "There is no method": ("people.csv", *BUDGET, "--method", "magic"),
    "nothing could be seen": ("people.csv", "--epsilon", "1e-12"),
    "epsilon must be a number": ("people.csv", "--epsilon", "much"),
    "NAME=VALUE": ("people.csv", *BUDGET, "--set", "parents"),
    "cannot be read": ("--model", "nothing.json"),
    "leave out the epsilon": ("--model", "m.json", "--epsilon", "1"),
    "no column 'shoe'": ("people.csv", *BUDGET, "--where", "shoe = 3"),
}


@pytest.mark.parametrize("words", BAD)
def test_mistakes_are_one_sentence_and_cost_nothing(words, synth, tmp_path):
    status, out, err = synth(*BAD[words])
    assert (status, out) == (1, "")
    assert words in err
    assert len(err.strip().splitlines()) == 1
    assert not (tmp_path / "discreet.toml").exists(), "a refusal leaves no limit behind"


def test_one_column_and_one_without_values(synth, tmp_path):
    (tmp_path / "one.csv").write_text("x\n" + "\n".join(["1", "2"] * 300), encoding="utf-8")
    status, out, _ = synth("one.csv", *BUDGET, "--out", "o.csv", "--json")
    assert (status, json.loads(out)["columns"]) == (0, ["x"])
    (tmp_path / "gaps.csv").write_text("x,y\n" + ",1\n,2\n" * 300, encoding="utf-8")
    status, out, _ = synth("gaps.csv", *BUDGET, *QUICK, "--out", "o.csv", "--json")
    found = json.loads(out)
    assert (status, found["columns"]) == (0, ["y"])
    assert any("'x' was left out" in notice for notice in found["notices"])


@pytest.mark.slow
def test_nothing_but_gaps_and_very_many_words(synth, tmp_path):
    (tmp_path / "void.csv").write_text("x,z\n" + ",\n" * 300, encoding="utf-8")
    status, _, err = synth("void.csv", *BUDGET, "--out", "o.csv")
    assert status == 1
    assert "too small to learn anything" in err
    words = "w,y\n" + "".join(f"word{i},{i % 2}\n" for i in range(1_000_000))
    (tmp_path / "words.csv").write_text(words, encoding="utf-8")
    status, out, _ = synth("words.csv", *BUDGET, "--out", "o.csv", "--json")
    found = json.loads(out)
    assert (status, found["columns"]) == (0, ["y"])


def test_help_has_an_example(synth):
    status, out, _ = synth("--help")
    assert status == 0
    assert "discreet synth people.csv --epsilon 1" in out
