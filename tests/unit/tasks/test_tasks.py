"""The commands as functions: by name from the package, also when a folder has that name."""

import importlib

import discreet


def test_an_attack_is_a_function_although_there_is_a_folder_of_that_name():
    first = discreet.attack("differencing", people=1000)
    importlib.import_module("discreet.lab.attacks.attacks")  # from now on the folder is in the way
    again = discreet.attack("differencing", people=1000)
    assert first.score.baseline == again.score.baseline == 0.5


def test_a_promise_in_words():
    assert 2.718 < discreet.explain(1).factor < 2.719
    assert discreet.explain("0.1", total=1).sentences


def test_a_policy_is_proposed_and_a_copy_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{20 + n % 3},{'MF'[n % 2]}\n" for n in range(60))
    (tmp_path / "people.csv").write_text("age,sex\n" + rows, encoding="utf-8")
    done = discreet.init("people.csv", epsilon="1", unit="row")
    assert "people" in done["tables"]
    made = discreet.anonymize("people.csv", k=5, quasi=["age", "sex"], out="safe.csv")
    assert made.to_json()["k"] == 5
    assert (tmp_path / "safe.csv").is_file()


def test_an_audit_bounds_a_mechanism_from_below(tmp_path):
    (tmp_path / "my.py").write_text(
        "EPSILON = 1.0\n\n\ndef told(data):\n    return sum(data)\n",
        encoding="utf-8",
    )
    found = discreet.audit(f"{tmp_path / 'my.py'}:told", samples=2000, seconds=20)
    assert found.refuted
