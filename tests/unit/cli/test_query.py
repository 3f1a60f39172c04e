"""`discreet query`, in this process over an engine without a server, and once for real."""

import json
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

import asking
import discreet.curator
from discreet import errors
from discreet.cli.app import run

BY_SEX = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


@pytest.fixture
def ask(tmp_path, monkeypatch, capsys):
    """Return a function that runs the command and gives status, output and error."""
    monkeypatch.setattr(discreet.curator, "open", lambda _config: asking.curator(tmp_path))

    def command(*arguments):
        status = run(["query", *arguments])
        said = capsys.readouterr()
        return status, said.out, said.err

    return command


def test_a_table_for_people(ask):
    status, out, err = ask(BY_SEX, "--epsilon", "0.5")
    assert (status, err) == (0, "")
    assert out.splitlines()[0].split() == ["sex", "n", "noise", "±"]
    assert "uses 0.5, leaves 9.5 of 10" in out


def test_one_json_object(ask):
    status, out, _ = ask(BY_SEX, "--epsilon", "0.5", "--json")
    found = json.loads(out)
    assert status == 0
    assert found["columns"] == ["sex", "n"]
    assert [row[0] for row in found["rows"]] == ["Female", "Male"]
    assert found["error95"] == [[None, 6.0], [None, 6.0]]
    assert found["cost"] == {"epsilon": 0.5, "delta": 0.0}
    assert found["budget"]["after"]["epsilon"] == 0.5
    assert found["free"] is False
    assert found["request_id"]


def test_explain_spends_nothing(ask):
    for _ in range(2):
        status, out, _ = ask(BY_SEX, "--epsilon", "0.5", "--explain", "--json")
        found = json.loads(out)
        assert status == 0
        assert found["spends"] is False
        assert found["budget"]["before"]["epsilon"] == 0.0
        assert "rows" not in found
        assert found["sql"].startswith("SELECT")
        assert found["mechanisms"]
    assert "Nothing was spent." in ask(BY_SEX, "--epsilon", "0.5", "--explain")[1]


def test_explain_says_what_the_worst_hit_person_would_have_left(ask):
    women, men = (f"SELECT COUNT(*) AS n FROM people WHERE sex = '{s}'" for s in ("Female", "Male"))
    assert ask(women, "--epsilon", "0.5")[0] == 0
    found = json.loads(ask(men, "--epsilon", "0.5", "--explain", "--json")[1])
    assert found["dataset"] == "census"
    assert found["budget"]["after"]["epsilon"] == 0.5, "0.5 each, of different people"
    limit = found["budget"]["limit"]["epsilon"]
    told = ask(men, "--epsilon", "0.5", "--explain")[1]
    assert f"Would use epsilon 0.5, leaving {limit - 0.5:g} of {limit:g}." in told
    much = ask(women, "--epsilon", f"{limit:g}", "--explain", "--fresh")[1]
    assert f"more than is left of {limit:g} for the people it asks about" in much


def test_the_same_request_id_is_paid_once(ask):
    first = ask(BY_SEX, "--epsilon", "0.5", "--request-id", "a", "--json")
    again = ask(BY_SEX, "--epsilon", "0.5", "--request-id", "a", "--json")
    assert first == again
    status, _, err = ask(BY_SEX, "--epsilon", "0.6", "--request-id", "a", "--json")
    assert status == 1
    assert json.loads(err)["error"]["kind"] == "RequestConflict"


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (["SELECT age FROM people", "--epsilon", "1"], "QueryRefused"),
        (["SELECT COUNT(*) FROM nowhere", "--epsilon", "1"], "UnknownName"),
        (["SELECT COUNT(*) FROM people", "--epsilon", "0"], "InvalidInput"),
        (["SELECT COUNT(*) FROM people"], "InvalidInput"),
        (["SELECT COUNT(*) FROM people", "--epsilon", "1", "--within", "5"], "InvalidInput"),
        (["SELECT COUNT(*) FROM people", "--epsilon", "11"], "BudgetExceeded"),
        (["SELECT AVG(age) FROM people", "--within", "5"], "QueryRefused"),
    ],
)
def test_mistakes_are_one_line_or_one_object_and_status_one(ask, arguments, kind):
    status, out, err = ask(*arguments)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("discreet: ")
    status, out, err = ask(*arguments, "--json")
    assert (status, out) == (1, "")
    error = json.loads(err)["error"]
    assert error["kind"] == kind
    assert error["message"]
    assert set(error) == {"kind", "message", "hint", *getattr(errors, kind).MORE}


def test_usage_is_status_two(ask):
    assert ask()[0] == 2
    assert ask("SELECT 1", "--epsilon")[0] == 2
    assert ask("SELECT 1", "--max-rows", "many")[0] == 2


def test_files_beside_the_answer(ask, tmp_path):
    status, _, _ = ask(
        BY_SEX,
        "--epsilon",
        "1",
        "--csv",
        str(tmp_path / "a.csv"),
        "--plot",
        str(tmp_path / "a.json"),
    )
    assert status == 0
    assert (tmp_path / "a.csv").read_text(encoding="utf-8").startswith("sex,n,n ±")
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["data"]


def spent(ask):
    _, out, _ = ask(BY_SEX, "--epsilon", "0.5", "--explain", "--json")
    return json.loads(out)["budget"]["before"]["epsilon"]


@pytest.mark.parametrize("option", ["--plot", "--csv"])
@pytest.mark.parametrize("place", ["nowhere/a.json", "folder.json"])
def test_a_place_that_cannot_be_written_costs_nothing(ask, tmp_path, option, place):
    (tmp_path / "folder.json").mkdir()
    status, out, err = ask(BY_SEX, "--epsilon", "1", option, str(tmp_path / place))
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert "folder" in err
    assert spent(ask) == 0


def test_a_picture_that_cannot_be_drawn_costs_nothing(ask, tmp_path, monkeypatch):
    assert ask(BY_SEX, "--epsilon", "1", "--plot", str(tmp_path / "a.pdf"))[0] == 1
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    status, _, err = ask(BY_SEX, "--epsilon", "1", "--plot", str(tmp_path / "a.svg"))
    assert status == 1
    assert "plot" in err
    assert spent(ask) == 0


def test_an_answer_with_nothing_to_draw_is_told_all_the_same(ask, tmp_path):
    only_keys = "SELECT sex FROM people GROUP BY sex"
    status, out, err = ask(only_keys, "--epsilon", "1", "--plot", str(tmp_path / "a.json"))
    assert (status, "Female" in out) == (1, True)
    assert "nothing noisy to draw" in err


def test_within_finds_the_epsilon(ask):
    _, out, _ = ask("SELECT COUNT(*) AS n FROM people", "--within", "20", "--json")
    assert json.loads(out)["cost"]["epsilon"] == 0.147


def test_the_whole_way_in_a_process_of_its_own(tmp_path):
    pq.write_table(asking.people(60, 40), tmp_path / "people.parquet")
    text = asking.TOML.format(epsilon=1, delta=0, neighbours="add-remove")
    only_census = text.split("[datasets.clinic]")[0]
    (tmp_path / "discreet.toml").write_text(only_census, encoding="utf-8")
    # pyarrow imports pandas by itself in places, which takes a second.
    code = (
        "import json, sys; from discreet.cli.app import run; "
        "print([run(line) for line in json.loads(sys.argv[1])]); "
        "sys.exit('pandas was imported' if 'pandas' in sys.modules else 0)"
    )
    median = "SELECT sex, COUNT(*) AS n, MEDIAN(age) AS m FROM people GROUP BY sex"
    lines = [
        ["query", median, "--epsilon", "1", "--json"],
        ["query", BY_SEX, "--epsilon", "0.1", "--fresh", "--json"],
    ]
    command = [sys.executable, "-c", code, json.dumps(lines)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said, statuses = done.stdout.rstrip().rsplit("\n", 1)
    assert statuses == "[0, 1]"
    found = json.loads(said)
    assert sum(row[1] for row in found["rows"]) == pytest.approx(100, abs=60)
    assert found["provenance"]["private"] is True
    assert json.loads(done.stderr)["error"]["kind"] == "BudgetExceeded"


@pytest.mark.parametrize("option", [["--as", "alice"], ["--request-id", "r1"], ["--fresh"]])
def test_a_rehearsal_refuses_what_it_would_ignore(option, capsys):
    assert run(["query", "SELECT 1", "--epsilon", "1", "--rehearse", "7", *option]) == 1
    assert f"A rehearsal knows no {option[0]}" in capsys.readouterr().err
