"""The planting of mistakes: one at a time, each still Python, the same ones for the same seed."""

import ast
import importlib
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _script(name):
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


@pytest.fixture(scope="module")
def changes():
    return _script("mutant_changes")


@pytest.fixture(scope="module")
def mutants():
    return _script("mutants")


def test_every_mutant_of_a_module_is_one_change_that_parses(changes):
    path = ROOT / "src" / "discreet" / "privacy" / "noise" / "random_response.py"
    text = path.read_text(encoding="utf-8")
    found = list(changes.mutants_of("noise", path))
    assert len(found) > 10
    for mutant in found:
        made = changes.changed(text, mutant)
        assert made != text
        assert ast.dump(ast.parse(made)) != ast.dump(ast.parse(text))


def test_the_seed_alone_decides(changes):
    assert changes.drawn("noise", 20, 1) == changes.drawn("noise", 20, 1)
    assert changes.drawn("noise", 20, 1) != changes.drawn("noise", 20, 2)
    assert changes.drawn("noise", 10, 1) == changes.drawn("noise", 20, 1)[:10]


def test_the_kinds_of_mistakes(changes):
    def now(code):
        return {changed for _, _, changed in changes._placed(ast.parse(code), "")}

    assert "a <= b" in now("x = a < b")
    assert "(a - b)" in now("x = a + b")
    assert "((a) or (b))" in now("x = a and b")
    assert "not (a)" in now("if a:\n    x = y")
    assert "pass" in now("raise E()")
    assert "2" in now("x = 1")
    assert not now("@dataclass(frozen=True)\nclass A: ...")


def test_a_mutant_keeps_its_name_wherever_its_function_goes(changes, tmp_path, monkeypatch):
    monkeypatch.setattr(changes, "ROOT", tmp_path)
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    one.write_text("def f(x):\n    return x < 1 or x < 1\n")
    two.write_text("import os\n\n\ndef f(x):\n    return x < 1 or x < 1\n")
    first, second = (
        [each.as_key().replace(path.name, "") for each in changes.mutants_of("noise", path)]
        for path in (one, two)
    )
    assert first == second
    assert len(set(first)) == len(first) == 5


def _double(number):
    return number + number


def test_the_code_of_a_function_is_exchanged(mutants, changes):
    """Only in the child that asks for it; what runs on import is told apart."""
    here = Path(__file__).resolve()
    found = {
        each.inside: each
        for each in changes.mutants_of("noise", here)
        if each.was == "number + number"
    }

    def work():
        assert changes.exchange(found["_double"])
        return mutants.PASSED if _double(4) == 0 else mutants.FAILED

    assert mutants.in_a_child(work, 60) == mutants.PASSED
    assert _double(4) == 8
    roots = [each for each in changes.mutants_of("noise", here) if each.inside == ""]
    assert roots
    assert mutants.in_a_child(lambda: changes.exchange(roots[0]), 60) == 0


def test_a_child_that_hangs_is_stopped(mutants):
    assert mutants.in_a_child(lambda: time.sleep(600), 0.2) is None


def test_outcomes_are_of_rooms_that_there_are(mutants):
    for each in mutants.read(mutants.OUT):
        assert each["mutant"]["room"] in mutants.TESTS
        assert each["killed"] == bool(each["by"])


def test_the_interval_holds_the_share(mutants):
    low, high = mutants.interval(17, 20)
    assert low < 17 / 20 < high < 1
    assert mutants.interval(20, 20)[1] == pytest.approx(1)
